// The dialog in which a hotel is added or changed; what the service finds wrong is shown at its field.
import { add, change } from "./api.js";
import { $, h } from "./dom.js";
import { t } from "./i18n.js";

const STARS = ["一星", "二星", "三星", "三星级", "四星级", "五星级", "一钻", "二钻", "三钻", "四钻", "五钻"];
const FIELDS = [
  { name: "id", kind: "number", required: true }, { name: "name", max: 255, required: true, wide: true }, { name: "brand", max: 32, required: true }, { name: "city", max: 32, required: true },
  { name: "address", max: 255, required: true, wide: true }, { name: "business", max: 255, wide: true }, { name: "price", kind: "number", required: true }, { name: "score", kind: "number", required: true },
  { name: "starName", max: 16, list: STARS }, { name: "latitude", max: 32, required: true }, { name: "longitude", max: 32, required: true }, { name: "pic", max: 255, wide: true },
];

function control(field) {
  const id = `f-${field.name}`;
  const input = h("input", { id, name: field.name, type: "text", inputmode: field.kind === "number" ? "numeric" : null, list: field.list ? `${id}-list` : null, maxlength: field.max ? 2 * field.max : null,
    "aria-required": field.required ? "true" : null, "aria-describedby": `${id}-rule`, autocomplete: "off", spellcheck: "false" });
  input.addEventListener("input", () => mark(field, ""));
  return h("div", { class: field.wide ? "entry wide" : "entry" },
    h("label", { for: id }, t(field.name), field.required ? null : h("small", {}, ` ${t("optional")}`)), input,
    field.list ? h("datalist", { id: `${id}-list` }, ...field.list.map((v) => h("option", { value: v }))) : null,
    h("p", { id: `${id}-rule`, class: "rule" }, t(`rule_${field.name}`)));
}

/** reason "": nothing is wrong. The rule is said in the page's language. */
function mark(field, reason) {
  const input = $(`f-${field.name}`), rule = $(`f-${field.name}-rule`);
  input.setAttribute("aria-invalid", String(reason !== ""));
  rule.classList.toggle("wrong", reason !== "");
  rule.title = reason;
}

/** What stands in the form: numbers that are none go as they are, for the service to refuse. */
function read() {
  const hotel = {};
  for (const { name } of FIELDS) hotel[name] = $(`f-${name}`).value.trim();
  return hotel;
}

function showProblem(error) {
  const wrong = FIELDS.filter((field) => error.fields.some((f) => f.field === field.name));
  for (const field of FIELDS) mark(field, error.fields.find((f) => f.field === field.name)?.reason ?? "");
  if (error.status === 409) {
    mark(FIELDS[0], error.message);
    wrong.push(FIELDS[0]);
  }
  const text = error.status === 409 ? t("taken") : error.status === 404 ? t("gone") : error.status === 0 ? t("network") : wrong.length ? t("wrongFields", wrong.length) : error.message;
  $("formError").hidden = false;
  $("formError").textContent = text;
  if (wrong.length) $(`f-${wrong[0].name}`).focus();
}

/** Opens it for a hotel, or for a new one (null); onDone(stored hotel, isNew). */
export function openForm(hotel, onDone) {
  const dialog = $("form");
  $("formTitle").textContent = t(hotel ? "editTitle" : "addTitle");
  $("formError").hidden = true;
  $("entries").replaceChildren(...FIELDS.map(control));
  for (const { name } of FIELDS) $(`f-${name}`).value = hotel?.[name] ?? "";
  $("f-id").readOnly = hotel !== null;
  dialog.querySelector("form").onsubmit = async (e) => {
    e.preventDefault();
    $("save").disabled = true;
    try {
      const given = read();
      const stored = hotel ? await change(hotel.id, given) : await add(given);
      dialog.close();
      onDone(stored, hotel === null);
    } catch (error) {
      showProblem(error);
    } finally {
      $("save").disabled = false;
    }
  };
  dialog.showModal();
  $(hotel ? "f-name" : "f-id").focus();
}

/** Asks once more; onYes() when it is meant. */
export function askToRemove(hotel, onYes) {
  const dialog = $("ask");
  $("askText").textContent = t("removeText", hotel.name, hotel.id);
  dialog.querySelector("form").onsubmit = (e) => {
    e.preventDefault();
    dialog.close();
    onYes();
  };
  dialog.showModal();
  $("no").focus();
}
