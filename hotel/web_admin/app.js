// The management page: hotels as a table, with paging and search; the address holds both.
import { list, promote, promotions, remove } from "./api.js";
import { $, h } from "./dom.js";
import { askToRemove, openForm } from "./form.js";
import { firstLanguage, otherLanguage, setLanguage, starText, t, translatePage } from "./i18n.js";
import { drawPages } from "./pages.js";
import { watchState } from "./status.js";

const SIZE = 10;
const COLUMNS = ["id", "name", "city", "starName", "price", "score", "promotion", "actions"];

let state = readAddress();
let shown = null; // { total, hotels }
let index = null; // { indexed, promoted } of the hotels shown; null: not known
let look = () => {};

function readAddress() {
  const query = new URLSearchParams(location.search), page = Number.parseInt(query.get("page") ?? "1", 10);
  return { key: query.get("q") ?? "", page: page >= 1 ? page : 1 };
}

function change(part) {
  state = { ...state, ...part };
  const query = new URLSearchParams();
  if (state.key) query.set("q", state.key);
  if (state.page > 1) query.set("page", state.page);
  const address = query.toString() ? `/?${query}` : "/";
  if (address !== location.pathname + location.search) history.pushState(null, "", address);
  load();
}

/** A line that is read out, and goes away. */
function say(text) {
  $("toast").textContent = text;
  $("toast").classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => $("toast").classList.remove("shown"), 3000);
}

// ---- the table ----

function promotionSwitch(hotel) {
  const id = String(hotel.id), known = index !== null, indexed = known && index.indexed.includes(id), on = indexed && index.promoted.includes(id);
  return h("button", { type: "button", role: "switch", class: "switch", "aria-checked": String(on), disabled: !indexed, "aria-label": t("promote", hotel.name),
    title: !known ? t("noSearch") : indexed ? null : t("notIndexed"), onclick: () => setPromotion(hotel, !on) }, h("i", { "aria-hidden": "true" }));
}

function row(hotel) {
  const cell = (name, ...content) => h("td", { "data-label": t(name), class: `c-${name}` }, ...content);
  return h("tr", { "data-id": hotel.id },
    cell("id", String(hotel.id)),
    h("th", { scope: "row", "data-label": t("name"), class: "c-name" }, h("b", {}, hotel.name), h("small", {}, [hotel.brand, hotel.business, hotel.address].filter(Boolean).join(" · "))),
    cell("city", hotel.city), cell("starName", hotel.starName ? starText(hotel.starName) : t("unknown")),
    cell("price", `¥${hotel.price.toLocaleString()}`), cell("score", (hotel.score / 10).toFixed(1)), cell("promotion", promotionSwitch(hotel)),
    cell("actions", h("button", { type: "button", class: "quiet edit", "aria-label": t("editOf", hotel.name), onclick: () => edit(hotel) }, t("edit")),
      h("button", { type: "button", class: "quiet remove", "aria-label": t("removeOf", hotel.name), onclick: () => askToRemove(hotel, () => drop(hotel)) }, t("remove"))));
}

function draw() {
  $("columns").replaceChildren(...COLUMNS.map((name) => h("th", { scope: "col", class: `c-${name}` }, t(name))));
  $("rows").replaceChildren(...shown.hotels.map(row));
  $("total").textContent = t("count", shown.total.toLocaleString());
  $("notice").hidden = shown.hotels.length > 0;
  $("notice").replaceChildren(h("h2", {}, t("none")), h("p", {}, t("noneHint")));
  $("table").hidden = shown.hotels.length === 0;
  $("table").setAttribute("aria-busy", "false");
  drawPages($("pages"), state.page, Math.ceil(shown.total / SIZE), (page) => change({ page }));
}

function drawFailure(error) {
  $("notice").hidden = false;
  $("notice").replaceChildren(h("h2", {}, t("failed")), h("p", { role: "alert" }, error.status === 0 ? t("network") : error.message),
    h("button", { type: "button", class: "go", onclick: load }, t("retry")));
  $("table").hidden = true;
  $("table").setAttribute("aria-busy", "false");
  $("pages").hidden = true;
  $("total").textContent = "";
}

async function load() {
  $("key").value = state.key;
  $("table").setAttribute("aria-busy", "true");
  try {
    shown = await list(state.key, state.page, SIZE);
    const last = Math.max(1, Math.ceil(shown.total / SIZE));
    if (state.page > last) return change({ page: last });
    draw();
    await loadPromotions();
  } catch (error) {
    shown = null;
    drawFailure(error);
  }
}

/** Which of the hotels shown are in the index, and promoted there. */
async function loadPromotions() {
  if (!shown || shown.hotels.length === 0) return;
  const asked = shown, next = await promotions(shown.hotels.map((hotel) => hotel.id)).catch(() => null);
  if (asked !== shown || JSON.stringify(next) === JSON.stringify(index)) return;
  index = next;
  for (const hotel of shown.hotels) {
    const cell = document.querySelector(`tr[data-id="${hotel.id}"] .c-promotion`), focused = cell?.contains(document.activeElement);
    cell?.replaceChildren(promotionSwitch(hotel));
    if (focused) cell.firstChild.focus();
  }
}

// ---- changes ----

function done(text) {
  say(text);
  look();
}

async function edit(hotel) {
  openForm(hotel, async (stored, isNew) => {
    done(t(isNew ? "added" : "saved", stored.name));
    await load();
    document.querySelector(`tr[data-id="${stored.id}"]`)?.classList.add("changed");
  });
}

async function drop(hotel) {
  try {
    await remove(hotel.id);
    done(t("removed", hotel.name));
  } catch (error) {
    say(error.status === 404 ? t("gone") : error.message || t("network"));
  }
  load();
}

async function setPromotion(hotel, on) {
  try {
    await promote(hotel.id, on);
    done(t(on ? "promoted" : "notPromoted", hotel.name));
  } catch (error) {
    say(error.message || t("network"));
  }
  loadPromotions();
}

// ---- controls ----

function useLanguage(code) {
  setLanguage(code);
  translatePage();
  $("language").textContent = t("language");
  $("language").setAttribute("aria-label", t("languageLabel"));
  $("state").replaceChildren();
  if (shown) draw();
  look();
}

function onKey(e) {
  if (e.target.closest?.("input, select, textarea, dialog") || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "/") {
    e.preventDefault();
    $("key").focus();
  } else if (e.key === "n") {
    e.preventDefault();
    edit(null);
  }
}

$("search").addEventListener("submit", (e) => { e.preventDefault(); change({ key: $("key").value.trim(), page: 1 }); });
$("key").addEventListener("search", () => { if ($("key").value === "") change({ key: "", page: 1 }); });
$("add").addEventListener("click", () => edit(null));
$("cancel").addEventListener("click", () => $("form").close());
$("no").addEventListener("click", () => $("ask").close());
$("language").addEventListener("click", () => useLanguage(otherLanguage()));
document.addEventListener("keydown", onKey);
addEventListener("popstate", () => { state = readAddress(); load(); });
useLanguage(firstLanguage());
load();
look = watchState(() => loadPromotions());
