// The results' positions to scale, without a map's tiles: rings of round distances around the searched place, or around the middle
// of the results. Nothing is asked of other hosts.
import { t } from "./i18n.js";

const EDGE = 26; // pixels that stay free around the points
const KM_A_DEGREE = 111.32;
const RINGS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000];
const NS = "http://www.w3.org/2000/svg";

function s(tag, attributes, ...children) {
  const e = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) e.setAttribute(name, value);
  }
  e.append(...children);
  return e;
}

/** "31.2, 121.5" as [31.2, 121.5]; null when it is no place. */
export function placeOf(text) {
  const m = /^\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text ?? "");
  return m ? [Number(m[1]), Number(m[2])] : null;
}

function middle(places) {
  const span = (i) => [Math.min(...places.map((p) => p[i])), Math.max(...places.map((p) => p[i]))];
  const [[south, north], [west, east]] = [span(0), span(1)];
  return [(south + north) / 2, (west + east) / 2];
}

/** Kilometres east and north of the centre; flat, which does at the size of a city. */
function offset([lat, lon], [lat0, lon0]) {
  const east = ((lon - lon0 + 540) % 360) - 180;
  return [east * KM_A_DEGREE * Math.cos((lat0 * Math.PI) / 180), (lat - lat0) * KM_A_DEGREE];
}

function ringText(km) {
  return km < 1 ? t("m", km * 1000) : t("km", km.toLocaleString());
}

/** The scale at which all points fit, and the rings that are to be seen. */
function fit(points, width, height) {
  const across = Math.max(0.05, ...points.map(([x]) => Math.abs(x)));
  const up = Math.max(0.05, ...points.map(([, y]) => Math.abs(y)));
  const scale = Math.min((width / 2 - EDGE) / across, (height / 2 - EDGE) / up);
  const reach = height / 2 / scale;
  const largest = RINGS.findLastIndex((km) => km <= reach * 0.98);
  return { scale, rings: RINGS.slice(Math.max(0, largest - 2), largest + 1) };
}

/** Draws into the svg. onPlace([lat, lon]): an empty spot was clicked; onHotel(id, focus): a hotel is pointed at or chosen. */
export function drawMap(svg, hotels, location, { onPlace, onHotel }) {
  const width = svg.clientWidth, height = svg.clientHeight;
  const shown = hotels.map((hotel, i) => ({ hotel, number: i + 1, place: placeOf(hotel.location) })).filter((x) => x.place);
  const searched = placeOf(location);
  if (shown.length === 0 && !searched) return svg.replaceChildren();
  const centre = searched ?? middle(shown.map((x) => x.place));
  const points = shown.map((x) => offset(x.place, centre));
  const { scale, rings } = fit(points, width, height);
  const at = ([x, y]) => [width / 2 + x * scale, height / 2 - y * scale];
  const ground = s("rect", { x: 0, y: 0, width: width, height: height, class: "ground" }, s("title", {}));
  ground.firstChild.textContent = t("mapHint");
  ground.addEventListener("click", (e) => {
    const box = svg.getBoundingClientRect();
    const x = ((e.clientX - box.left) / box.width) * width, y = ((e.clientY - box.top) / box.height) * height;
    const lat = centre[0] + (height / 2 - y) / scale / KM_A_DEGREE;
    onPlace([lat, centre[1] + (x - width / 2) / scale / (KM_A_DEGREE * Math.cos((centre[0] * Math.PI) / 180))]);
  });
  const parts = [ground];
  for (const km of rings) {
    parts.push(s("circle", { class: "ring", cx: width / 2, cy: height / 2, r: km * scale }),
      s("text", { class: "ring-text", x: width / 2 + 4, y: Math.max(12, height / 2 - km * scale - 4) }, ringText(km)));
  }
  parts.push(s("path", { class: searched ? "cross searched" : "cross", d: `M${width / 2 - 7} ${height / 2}h14M${width / 2} ${height / 2 - 7}v14` }));
  for (const [i, { hotel, number }] of [...shown.entries()].reverse()) {
    const [x, y] = at(points[i]);
    const name = t("mapNumber", number, hotel.name ?? "");
    parts.push(s("g", { class: hotel.isAD === true ? "spot promoted" : "spot", "data-id": hotel.id, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, role: "button", tabindex: "-1", "aria-label": name,
      onclick: () => onHotel(hotel.id, true), onpointerenter: () => onHotel(hotel.id, false), onpointerleave: () => onHotel(null, false) },
    s("title", {}, name), s("circle", { r: 11 }), s("text", { y: 4 }, number)));
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren(...parts);
}
