// The page: state in, requests out, results drawn. One render for everything; the address holds the state.
import { find, findAgain, version } from "./api.js";
import { card, notice, skeletons } from "./cards.js";
import { completion } from "./complete.js";
import { $, h, redraw } from "./dom.js";
import { drawChosen, drawGroups } from "./filters.js";
import { currentLanguage, firstLanguage, otherLanguage, setLanguage, t, translatePage } from "./i18n.js";
import { drawMap } from "./map.js";
import { drawPages } from "./pages.js";
import { priceSlider, priceText } from "./slider.js";
import { PAGE_SIZE, WINDOW, empty, pricesOk, readAddress, requestOf, writeAddress } from "./state.js";

const WIDE = matchMedia("(min-width: 641px)"); // below, the map and the filters are folded at first
const WATCH_MS = 900; // between looks at whether hotels have changed
const SETTLE_MS = 1500; // until every copy shows a change that one shows
const LANDMARKS = [
  ["上海 人民广场", "31.2304,121.4737"], ["北京 天安门", "39.9087,116.3975"], ["深圳 市民中心", "22.5431,114.0579"],
  ["广州 珠江新城", "23.1193,113.3213"], ["杭州 西湖", "30.2500,120.1500"], ["成都 春熙路", "30.6560,104.0810"],
];

let state = readAddress();
let lastList = null; // what was found last
let typing = false; // the last entry of the history is what is being typed
let slider = null;
let watched = ""; // what is shown, as it came
let lastVersion = null; // of the hotels, when it was looked at last
let away = false; // does the service not answer?
const stored = {
  get: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
  set: (name, value) => { try { localStorage.setItem(name, value); } catch { /* private windows */ } },
};

function change(part, { replace = false, keepPage = false } = {}) {
  state = { ...state, ...(keepPage ? {} : { page: 1 }), ...part };
  writeAddress(state, replace);
  load();
}

// ---- results ----

function number(n) {
  return n.toLocaleString(currentLanguage());
}

function totalText(total) {
  return state.key.trim() ? t("countOf", number(total), state.key.trim()) : t("count", number(total));
}

/** What the key may have meant, or how hotels were found that do not have all of it. */
function drawMeant() {
  const { match, didYouMean, total } = lastList;
  const meant = didYouMean ? h("button", { type: "button", class: "link", "data-focus": "meant", onclick: () => change({ key: didYouMean }) }, didYouMean) : null;
  const parts = match === "corrected" ? [t("correctedBefore", state.key.trim()), meant, t("correctedAfter")]
    : match === "some" && total > 0 ? [t("some"), ...(meant ? [" ", t("didYouMean"), meant] : [])]
      : meant ? [t("didYouMean"), meant] : [];
  $("meant").hidden = parts.length === 0;
  redraw($("meant"), parts);
}

function placeText() {
  if (!state.location) return "";
  const known = LANDMARKS.find(([, at]) => at === state.location);
  return t("nearOn", known ? known[0] : stored.get("mine") === state.location ? t("mine") : state.location);
}

/** Everything around the list that depends on what was found. */
function drawFilters() {
  if (!lastList) return;
  const prices = state.minPrice || state.maxPrice ? priceText(state) : "";
  const { n, texts } = drawChosen($("chosen"), state, lastList, change, prices, placeText());
  drawGroups($("filters"), state, lastList, change);
  $("filterToggle").textContent = n > 0 ? `${t("filters")} (${n})` : t("filters");
  const what = [state.key.trim(), ...texts].filter(Boolean).join(" "), page = state.page > 1 ? t("page", state.page) : "";
  document.title = [what, page, t("title")].filter(Boolean).join(" · ");
}

function drawList(changed = new Set()) {
  const results = $("results");
  results.setAttribute("aria-busy", "false");
  const { total, hotels } = lastList;
  $("total").textContent = totalText(total);
  const pictures = stored.get("pictures") === "on", map = mapShown();
  results.replaceChildren(...hotels.map((hotel, i) => card(hotel, pictures, map ? i + 1 : 0)));
  for (const id of changed) results.querySelector(`[data-id="${id}"]`)?.classList.add("changed");
  if (hotels.length === 0) {
    results.append(notice("empty", t("none"), t("noneHint"), t("clearAll"), () => change({ ...empty, location: state.location })));
  }
  $("pictures").hidden = !hotels.some((hotel) => hotel.pic) && !pictures;
  drawMeant();
  drawFilters();
  drawPositions();
  drawPages($("pages"), state.page, Math.ceil(Math.min(total, WINDOW) / PAGE_SIZE), goTo);
}

function goTo(page) {
  change({ page }, { keepPage: true });
  $("results").focus({ preventScroll: true });
  scrollTo({ top: 0, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

// ---- the map ----

function mapShown() {
  return (stored.get("map") ?? (WIDE.matches ? "on" : "off")) === "on";
}

function pointAt(id, focus) {
  for (const e of document.querySelectorAll(".card.pointed")) e.classList.remove("pointed");
  const chosen = id === null ? null : document.querySelector(`.card[data-id="${id}"]`);
  chosen?.classList.add("pointed");
  if (chosen && focus) chosen.focus();
}

function drawPositions() {
  const hotels = lastList?.hotels ?? [];
  const on = mapShown() && hotels.some((hotel) => hotel.location);
  $("map").hidden = !on;
  if (on) {
    drawMap($("positions"), hotels, state.location, {
      onPlace: ([lat, lon]) => change({ location: `${lat.toFixed(4)},${lon.toFixed(4)}` }), onHotel: pointAt,
    });
  }
}

function drawFailure(error) {
  const reason = error.status === 0 ? t("network") : error.status === 503 ? t("unavailable") : t("badHint");
  lastList = null;
  watched = "";
  away = error.status === 0 || error.status === 503;
  $("map").hidden = true;
  $("meant").hidden = true;
  $("total").textContent = "";
  $("pages").hidden = true;
  $("results").setAttribute("aria-busy", "false");
  $("results").replaceChildren(notice("error", t(error.status === 400 ? "badRequest" : "failed"), reason, t("retry"), load));
}

// ---- loading ----

async function load() {
  drawControls();
  const request = requestOf(state);
  $("results").setAttribute("aria-busy", "true");
  const slow = setTimeout(() => {
    $("total").textContent = t("loading");
    $("results").replaceChildren(...skeletons(5));
  }, lastList ? 250 : 0);
  try {
    lastList = await find(request);
    watched = JSON.stringify(lastList);
    clearTimeout(slow);
    drawList();
  } catch (e) {
    clearTimeout(slow);
    if (e.name !== "AbortError") drawFailure(e);
  }
}

// ---- following ----

/** Ids of hotels that are new or different. */
function changes(before, now) {
  const old = new Map(before.hotels.map((hotel) => [hotel.id, JSON.stringify(hotel)]));
  return new Set(now.hotels.filter((hotel) => old.get(hotel.id) !== JSON.stringify(hotel)).map((hotel) => hotel.id));
}

/** Looks whether hotels have changed; a page that could not be filled is filled when the service is back. */
async function watch() {
  const busy = $("results").getAttribute("aria-busy") === "true";
  if (document.hidden || busy || (!watched && !away)) return;
  try {
    const now = await version(), before = lastVersion, wasAway = away;
    lastVersion = now;
    away = false;
    if (!watched) return load();
    if (wasAway) say(t("back"));
    if (before === now && !wasAway) return;
    await look();
    setTimeout(look, SETTLE_MS);
  } catch (e) {
    if (e.name === "AbortError" || away) return;
    away = true;
    if (watched) say(t("stale"), true);
  }
}

/** Shows what is found now. */
async function look() {
  if (!watched) return;
  const request = requestOf(state), before = watched;
  try {
    const now = await findAgain(request);
    if (watched !== before || JSON.stringify(request) !== JSON.stringify(requestOf(state)) || JSON.stringify(now) === before) return;
    const changed = changes(lastList, now), focused = document.activeElement?.closest?.(".card")?.dataset.id;
    lastList = now;
    watched = JSON.stringify(now);
    drawList(changed);
    if (focused) document.querySelector(`.card[data-id="${focused}"]`)?.focus({ preventScroll: true });
    say(t("updated"));
  } catch { /* the next search says what is wrong */ }
}

/** A line that is read out, and goes away, unless it stays until the next one. */
function say(text, stays = false) {
  $("toast").textContent = text;
  $("toast").classList.add("shown");
  clearTimeout(say.timer);
  if (!stays) say.timer = setTimeout(() => $("toast").classList.remove("shown"), 2500);
}

// ---- controls ----

function drawControls() {
  if ($("key").value.trim() !== state.key) $("key").value = state.key;
  $("clear").hidden = $("key").value === "";
  $("sort").value = ["score", "price", "priceDesc"].includes(state.sortBy) ? state.sortBy : "";
  $("sort").options[0].textContent = t(state.location ? "sortDistance" : "sortDefault");
  $("min").value = state.minPrice;
  $("max").value = state.maxPrice;
  slider.show(state);
  $("priceError").hidden = true;
  $("mapToggle").textContent = t("map");
  $("mapToggle").setAttribute("aria-pressed", String(mapShown()));
  const known = LANDMARKS.some(([, at]) => at === state.location);
  $("near").textContent = placeText() || t("near");
  $("near").setAttribute("aria-pressed", String(state.location !== ""));
  $("coordinates").value = state.location;
  $("landmark").replaceChildren(h("option", { value: "" }, t("chooseLandmark")), ...LANDMARKS.map(([name, at]) => h("option", { value: at }, name)));
  $("landmark").value = known ? state.location : "";
  const pictures = stored.get("pictures") === "on";
  $("pictures").textContent = t(pictures ? "picturesOn" : "picturesOff");
  $("pictures").title = t("picturesHint");
  $("pictures").setAttribute("aria-pressed", String(pictures));
  $("language").textContent = t("language");
  $("language").setAttribute("aria-label", t("languageLabel"));
}

/** The filters of a phone; they are always there where there is room. */
function showPanel(open) {
  $("side").classList.toggle("open", open);
  $("filterToggle").setAttribute("aria-expanded", String(open));
  $("filterToggle").textContent ||= t("filters");
}

/** Prices as typed: a lowest one above the highest one is refused. */
function setPrices() {
  const prices = { minPrice: digits($("min").value), maxPrice: digits($("max").value) }, ok = pricesOk(prices);
  $("priceError").hidden = ok;
  $("priceError").textContent = ok ? "" : t("badPrices");
  for (const id of ["min", "max"]) $(id).setAttribute("aria-invalid", String(!ok));
  if (ok) change(prices);
  else $("min").focus();
}

/** What is being typed is one entry of the history. */
function setKey(key) {
  if (key === state.key) return;
  change({ key }, { replace: typing });
  typing = true;
}

function showPlace(open, error = "") {
  $("place").hidden = !open;
  $("near").setAttribute("aria-expanded", String(open));
  $("placeError").hidden = !error;
  $("placeError").textContent = error;
}

function setPlace(text) {
  const m = /^\s*(-?\d+(?:\.\d+)?)\s*[,，]\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text);
  if (!m || Math.abs(m[1]) > 90 || Math.abs(m[2]) > 180) return showPlace(true, t("badPlace"));
  showPlace(false);
  change({ location: `${m[1]},${m[2]}` });
}

function locate() {
  if (!navigator.geolocation) return showPlace(true, t("noPlace"));
  navigator.geolocation.getCurrentPosition(({ coords }) => {
    const at = `${coords.latitude.toFixed(4)},${coords.longitude.toFixed(4)}`;
    stored.set("mine", at);
    setPlace(at);
  }, () => showPlace(true, t("noPlace")), { timeout: 10000, maximumAge: 300000 });
}

function useLanguage(code) {
  setLanguage(code);
  translatePage();
  drawControls();
  showPanel($("filterToggle").getAttribute("aria-expanded") === "true");
  if (lastList) drawList();
}

async function share() {
  try {
    await navigator.clipboard.writeText(location.href);
    say(t("shared"));
  } catch {
    say(t("shareFailed"));
  }
}

/** "/" goes to the search field, arrows from hotel to hotel. */
function onKey(e) {
  if (e.key === "Escape" && !$("place").hidden) {
    showPlace(false);
    $("near").focus();
  }
  const typing = e.target.closest?.("input, select, textarea");
  if (e.key === "/" && !typing && !e.ctrlKey && !e.metaKey) {
    e.preventDefault();
    $("key").focus();
    $("key").select();
  }
  const at = e.target.classList?.contains("card") ? e.target : null;
  const next = at && e.key === "ArrowDown" ? at.nextElementSibling : at && e.key === "ArrowUp" ? at.previousElementSibling : null;
  if (next?.classList.contains("card")) {
    e.preventDefault();
    next.focus();
  }
}

function digits(text) {
  return text.replace(/\D/g, "").slice(0, 6);
}

function wire() {
  const completions = completion(setKey, (text) => { setKey(text); typing = false; });
  slider = priceSlider((prices, again) => change(prices, { replace: again }));
  $("search").addEventListener("submit", (e) => {
    e.preventDefault();
    completions.close();
    setKey($("key").value.trim());
    typing = false;
  });
  $("key").addEventListener("blur", () => { typing = false; });
  $("filterToggle").addEventListener("click", () => showPanel($("filterToggle").getAttribute("aria-expanded") !== "true"));
  $("key").addEventListener("input", () => { $("clear").hidden = $("key").value === ""; });
  $("clear").addEventListener("click", () => { $("key").value = ""; $("key").focus(); change({ key: "" }); });
  $("sort").addEventListener("change", () => change({ sortBy: $("sort").value }));
  $("prices").addEventListener("submit", (e) => {
    e.preventDefault();
    setPrices();
  });
  $("near").addEventListener("click", () => showPlace($("place").hidden));
  $("place").addEventListener("submit", (e) => { e.preventDefault(); setPlace($("coordinates").value); });
  $("landmark").addEventListener("change", () => { if ($("landmark").value) setPlace($("landmark").value); });
  $("locate").addEventListener("click", locate);
  $("nearMe").addEventListener("click", locate);
  $("share").addEventListener("click", share);
  $("mapToggle").addEventListener("click", () => {
    stored.set("map", mapShown() ? "off" : "on");
    drawControls();
    if (lastList) drawList();
  });
  $("nowhere").addEventListener("click", () => { showPlace(false); change({ location: "" }); });
  $("pictures").addEventListener("click", () => {
    stored.set("pictures", stored.get("pictures") === "on" ? "off" : "on");
    drawControls();
    if (lastList) drawList();
  });
  $("language").addEventListener("click", () => useLanguage(otherLanguage()));
  document.addEventListener("keydown", onKey);
  document.addEventListener("pointerdown", (e) => { if (!e.target.closest(".near")) showPlace(false); });
  addEventListener("resize", drawPositions);
  addEventListener("popstate", () => { state = readAddress(); $("key").value = state.key; load(); });
}

wire();
useLanguage(firstLanguage());
writeAddress(state, true); // as it was understood
load();
setInterval(watch, WATCH_MS);
