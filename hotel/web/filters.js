// Conditions: groups of values with counts, several of each, and those that hold in a row where each can be taken off. A condition
// may come from the key; what is chosen in its group takes its place there.
import { h, redraw } from "./dom.js";
import { currentLanguage, starText, t } from "./i18n.js";
import { unfiltered } from "./state.js";

const GROUPS = [["city", "cities"], ["district", "districts"], ["star", "stars"], ["brand", "brands"]];
const CHIPS = 10; // of a group before "more"
const unfolded = new Set();

function valueText(kind, value) {
  return kind === "star" ? starText(value) : value;
}

function saidOf(found, kind) {
  return found.understood.filter((u) => u.kind === kind);
}

/** The values that hold: those chosen, or those that the key says. */
function holding(state, found, kind, list) {
  return state[list].length > 0 || found.match === "some" ? state[list] : [...new Set(saidOf(found, kind).flatMap((u) => u.terms))];
}

/** The key without some of its parts. */
function without(key, parts) {
  for (const { text } of parts) key = key.replace(text, " ");
  return key.replace(/\s+/g, " ").trim();
}

/** The key that was searched with. */
function searched(state, found) {
  return found.match === "corrected" ? found.didYouMean : state.key;
}

/** What changes when a value is chosen, or not any more: its group is chosen from then on, and the key says nothing of it. */
function toggled(state, found, kind, list, value) {
  const now = holding(state, found, kind, list), said = state[list].length > 0 ? [] : saidOf(found, kind);
  return { [list]: now.includes(value) ? now.filter((v) => v !== value) : [...now, value],
    ...(said.length > 0 ? { key: without(searched(state, found), said) } : {}) };
}

function group(state, found, change, again, [kind, list]) {
  const now = holding(state, found, kind, list), facet = found.facets[kind];
  if (kind === "district" && holding(state, found, "city", "cities").length === 0 && now.length === 0) return null;
  const counts = new Map(facet.map((v) => [v.value, v.count]));
  const values = [...facet.map((v) => v.value), ...now.filter((v) => !counts.has(v))];
  if (values.length === 0) return null;
  const all = unfolded.has(kind) || values.length <= CHIPS + 2;
  const shown = all ? values : [...values.slice(0, CHIPS), ...values.slice(CHIPS).filter((v) => now.includes(v))];
  const fold = () => { unfolded[all ? "delete" : "add"](kind); again(); };
  return h("div", { class: "group", role: "group", "aria-label": t(kind), "data-kind": kind },
    h("span", { class: "name" }, t(kind)),
    h("div", { class: "chips" }, ...shown.map((value) => h("button", { type: "button", class: "chip", "aria-pressed": String(now.includes(value)), "data-focus": `${kind}:${value}`,
      onclick: () => change(toggled(state, found, kind, list, value)) }, valueText(kind, value), h("small", {}, (counts.get(value) ?? 0).toLocaleString(currentLanguage())))),
    values.length > CHIPS + 2 ? h("button", { type: "button", class: "chip more", "aria-expanded": String(all), "data-focus": `${kind}:`, onclick: fold }, t(all ? "less" : "more")) : null));
}

export function drawGroups(container, state, found, change) {
  const again = () => drawGroups(container, state, found, change);
  redraw(container, GROUPS.map((g) => group(state, found, change, again, g)).filter(Boolean));
}

/** [text, what changes when it is taken off, is it in the key?] of each condition. */
function conditions(state, found, priceText, placeText) {
  const all = [];
  for (const [kind, list] of GROUPS) {
    for (const v of state[list]) all.push([valueText(kind, v), { [list]: state[list].filter((x) => x !== v) }]);
    if (found.match === "some") continue;
    for (const u of saidOf(found, kind)) all.push([valueText(kind, u.value), { key: without(searched(state, found), [u]) }, true]);
  }
  if (priceText) all.push([priceText, { minPrice: "", maxPrice: "" }]);
  if (placeText) all.push([placeText, { location: "" }]);
  return all;
}

/** Draws the row of conditions; returns their number, and the texts of those that the key does not say. */
export function drawChosen(container, state, found, change, priceText, placeText) {
  const all = conditions(state, found, priceText, placeText);
  const chips = all.map(([text, part], i) => h("button", { type: "button", class: "chip", "aria-pressed": "true", "aria-label": t("remove", text), "data-focus": `chosen:${i}`,
    onclick: () => change(part) }, text, h("span", { "aria-hidden": "true" }, "×")));
  const said = found.match === "some" ? [] : found.understood;
  const clear = () => change({ ...unfiltered, key: without(searched(state, found), said) });
  if (all.length > 0) chips.push(h("button", { type: "button", id: "clearAll", class: "chip more", "data-focus": "chosen:all", onclick: clear }, t("clearAll")));
  container.hidden = all.length === 0;
  redraw(container, chips);
  return { n: all.length, texts: all.filter(([, , said]) => !said).map(([text]) => text) };
}
