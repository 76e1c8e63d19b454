// Hotels as cards, and what stands in their place while there are none.
import { h } from "./dom.js";
import { starText, t } from "./i18n.js";

/** A steady colour for each brand. */
function hue(text) {
  let n = 7;
  for (const c of text) n = (n * 31 + c.codePointAt(0)) % 360;
  return n;
}

function placeholder(hotel) {
  const box = h("div", { class: "pic drawn", "aria-hidden": "true" }, [...(hotel.brand || hotel.name || "?")].slice(0, 2).join(""));
  box.style.setProperty("--hue", hue(hotel.brand || hotel.name || ""));
  return box;
}

/** Pictures are on other hosts: they are asked for only when the visitor has said so. */
function picture(hotel, allowed) {
  const drawn = placeholder(hotel);
  if (!allowed || !/^https:\/\//.test(hotel.pic ?? "")) return drawn;
  const img = h("img", { class: "pic", alt: "", loading: "lazy", decoding: "async", referrerpolicy: "no-referrer", width: 200, height: 200 });
  img.addEventListener("error", () => img.replaceWith(drawn));
  img.src = hotel.pic;
  return img;
}

export function distanceText(km) {
  if (km < 1) return t("m", Math.max(10, Math.round(km * 100) * 10));
  return t("km", km < 100 ? km.toFixed(1) : Math.round(km).toLocaleString());
}

function score(hotel) {
  if (hotel.score === null) return null;
  const value = (hotel.score / 10).toFixed(1);
  return h("span", { class: "score", "aria-label": t("score", value), role: "img" }, value);
}

function price(hotel) {
  if (hotel.price === null) return null;
  return h("span", { class: "price" }, h("small", { class: "from" }, t("priceBefore")), h("small", {}, "¥"),
    hotel.price.toLocaleString(), h("small", { class: "from" }, t("priceAfter")));
}

/** A field's text, with what matches the search in <mark>: the service puts U+E000 and U+E001 around it. */
export function marked(hotel, field) {
  const text = hotel.highlight?.[field];
  if (typeof text !== "string") return [hotel[field] ?? ""];
  return text.split(/(\uE000[^\uE001]*\uE001)/).map((part) => part.startsWith("\uE000") ? h("mark", {}, part.slice(1, -1)) : part);
}

/** number: its place on the map, or 0. */
export function card(hotel, allowed, number) {
  const away = typeof hotel.distance === "number" ? h("span", { class: "distance" }, distanceText(hotel.distance)) : null;
  return h("article", { class: hotel.isAD === true ? "card promoted" : "card", "data-id": hotel.id, tabindex: 0,
    "aria-label": [hotel.name, hotel.isAD === true ? t("promoted") : null].filter(Boolean).join(", ") },
    picture(hotel, allowed),
    h("div", { class: "about" },
      h("h2", {}, number ? h("span", { class: "number", "aria-hidden": "true" }, number) : null, h("span", { class: "title" }, ...marked(hotel, "name")), hotel.isAD === true ? h("span", { class: "badge" }, t("promoted")) : null),
      h("p", { class: "tags" },
        hotel.starName ? h("span", { class: "star" }, starText(hotel.starName)) : null,
        hotel.brand ? h("span", {}, ...marked(hotel, "brand")) : null,
        hotel.business ? h("span", {}, ...marked(hotel, "business")) : null),
      h("p", { class: "address" }, [hotel.city, hotel.address].filter(Boolean).join(" · ")),
      away),
    h("div", { class: "figures" }, score(hotel), price(hotel)));
}

export function skeletons(n) {
  return Array.from({ length: n }, () => h("div", { class: "card ghost", "aria-hidden": "true" },
    h("div", { class: "pic" }), h("div", { class: "about" }, h("i"), h("i"), h("i")), h("div", { class: "figures" }, h("i"))));
}

/** An empty or failed list: a headline, a hint, and a button that may help. */
export function notice(kind, title, hint, button, onclick) {
  return h("div", { class: `notice ${kind}`, role: kind === "error" ? "alert" : null },
    h("h2", {}, title), h("p", {}, hint), button ? h("button", { type: "button", class: "go", onclick }, button) : null);
}
