// Puts what is known onto the page. Each function replaces one part.
import { $, h, t, duration, ago, bytes, rate, clock } from "./page.js";

const ROWS_MAX = 240;
const SVG = "http://www.w3.org/2000/svg";

/** A small curve of values; null leaves a gap. */
function curve(values) {
  const svg = document.createElementNS(SVG, "svg"), top = Math.max(...values.map((v) => v ?? 0), 1e-9);
  svg.setAttribute("viewBox", "0 0 120 28");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  let d = "", pen = "M";
  values.forEach((v, i) => {
    if (v === null) { pen = "M"; return; }
    d += `${pen}${(120 - (values.length - 1 - i) * 2.03).toFixed(1)} ${(26 - 23 * v / top).toFixed(1)}`;
    pen = "L";
  });
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", d);
  svg.append(path);
  return svg;
}

function tile(name, value, note, values) {
  return h("div", { class: "tile" }, h("span", { class: "name" }, name), h("strong", {}, value), note && h("span", { class: "note" }, note), values && curve(values));
}

export function drawTiles(m) {
  const { history } = m.load, last = (name) => history[name].at(-1) ?? null;
  const time = (name) => (last(name) === null ? t("idle") : last(name) === 0 ? "< 1 ms" : duration(last(name)));
  const copies = m.rows.flatMap((r) => r.copies), active = copies.filter((c) => c.state === "STARTED" || c.state === "RELOCATING").length;
  const publication = m.events.findLast((e) => e.type === "published" && e.took_us !== undefined);
  $("tiles").replaceChildren(
    tile(t("master"), m.nodes.get(m.master)?.name ?? t("noMaster"), t("term", { term: m.term })),
    tile(t("nodesFigure"), String(m.nodes.size), t("dataNodes", { n: [...m.nodes.values()].filter((n) => n.roles.includes("data")).length })),
    tile(t("copies"), t("of", { active, all: copies.length })),
    tile(t("version"), String(m.version), publication && t("publication", { took: duration(publication.took_us / 1000) })),
    tile(t("queries"), rate(last("queries") ?? 0), null, history.queries),
    tile(t("latency"), time("queryMs"), null, history.queryMs),
    tile(t("writes"), rate(last("writes") ?? 0), null, history.writes),
    tile(t("writeLatency"), time("writeMs"), null, history.writeMs));
}

export function drawHealth(m) {
  const health = m.master ? m.health : "red";
  document.body.dataset.health = health;
  $("health").replaceChildren(h("i", { "aria-hidden": "true" }), t(`${health}Long`));
  $("cluster").textContent = m.cluster;
  $("seen").textContent = t("seenFrom", { node: m.self.name });
  document.title = t("title", { cluster: m.cluster });
}

/* ---- nodes ---- */

function bar(name, part, text) {
  const percent = Math.round(100 * Math.min(1, Math.max(0, part)));
  return h("div", { class: "bar", vars: { "--part": `${percent}%` }, "data-high": percent >= 85 }, h("span", {}, name), h("b", {}, text));
}

function roles(n) {
  const names = [n.roles.includes("master") && t("roleMaster"), n.roles.includes("data") && t("roleData")].filter(Boolean);
  return h("p", { class: "roles" }, ...(names.length ? names : [t("roleNone")]).map((r) => h("span", {}, r)));
}

function nodeCard(m, id, n) {
  const f = m.load.nodes.get(id), master = id === m.master, here = id === m.self.id;
  return h("li", { class: "node", "data-id": id, "data-name": n.name, "data-master": master, "data-fresh": n.fresh > Date.now() - 2500 },
    h("h3", {}, n.name, master && h("span", { class: "crown" }, t("isMaster")), here && h("span", { class: "here" }, t("thisNode"))),
    roles(n),
    f ? h("div", { class: "bars" }, bar(t("cpu"), f.cpu / 100, `${f.cpu} %`), bar(t("disk"), f.disk, `${Math.round(100 * f.disk)} %`)) : h("p", { class: "note" }, t("noFigures")),
    f && h("dl", {}, h("dt", {}, t("memory")), h("dd", {}, bytes(f.memory)), h("dt", {}, t("docs")), h("dd", {}, f.docs.toLocaleString()),
      h("dt", {}, t("queries")), h("dd", {}, rate(f.queries)), h("dt", {}, t("writes")), h("dd", {}, rate(f.writes))),
    !here && n.http && h("a", { href: `http://${n.http}/_console/`, "aria-label": `${t("open")}: ${n.name}` }, n.http));
}

function ghostCard(n) {
  return h("li", { class: "node ghost", "data-name": n.name }, h("h3", {}, n.name), h("p", { class: "note" }, t("left", { ago: ago(Date.now() - n.left) })));
}

export function drawNodes(m) {
  const all = [...[...m.nodes].map(([id, n]) => [n.name, nodeCard(m, id, n)]), ...m.ghosts.map((n) => [n.name, ghostCard(n)])];
  all.sort((a, b) => a[0].localeCompare(b[0], undefined, { numeric: true }));
  const focused = document.activeElement?.closest?.(".node")?.dataset.id; // links keep the focus
  $("nodes").replaceChildren(...all.map((x) => x[1]));
  if (focused) $("nodes").querySelector(`[data-id="${CSS.escape(focused)}"] a`)?.focus();
}

/* ---- shards ---- */

function copyTile(m, c) {
  const kind = t(c.primary ? "primary" : "replica"), node = m.nodes.get(c.node)?.name;
  const label = t("copyLabel", { kind, state: t(c.state), node: node ? t("onNode", { node }) : "" });
  return h("span", { class: `copy ${c.state.toLowerCase()}${c.primary ? " primary" : ""}`, role: "img", "aria-label": label, title: label, "data-changed": c.changed > Date.now() - 2500 },
    t(c.primary ? "P" : "R"));
}

function shardRow(m, ids, r) {
  const cell = (copies) => h("td", {}, ...copies.map((c) => copyTile(m, c)));
  return h("tr", { "data-shard": `${r.index}/${r.shard}` }, h("th", { scope: "row" }, r.index, h("small", {}, ` ${r.shard}`)), ...ids.map((id) => cell(r.copies.filter((c) => c.node === id))),
    cell(r.copies.filter((c) => !c.node || !m.nodes.has(c.node))));
}

export function drawShards(m) {
  const wanted = $("filter").value.trim().toLowerCase();
  const rows = m.rows.filter((r) => r.index.toLowerCase().includes(wanted));
  const holders = new Set(m.rows.flatMap((r) => r.copies.map((c) => c.node)));
  const ids = [...m.nodes.keys()].filter((id) => m.nodes.get(id).roles.includes("data") || holders.has(id))
    .sort((a, b) => m.nodes.get(a).name.localeCompare(m.nodes.get(b).name, undefined, { numeric: true }));
  if (rows.length === 0) {
    $("shards").replaceChildren(h("p", { class: "note" }, t("noShards")));
    return;
  }
  const head = h("tr", {}, h("th", { scope: "col" }, t("shard")), ...ids.map((id) => h("th", { scope: "col", "data-master": id === m.master }, m.nodes.get(id).name)), h("th", { scope: "col" }, t("unassigned")));
  const table = h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows.slice(0, ROWS_MAX).map((r) => shardRow(m, ids, r))));
  $("shards").replaceChildren(table, rows.length > ROWS_MAX ? h("p", { class: "note" }, t("moreRows", { n: rows.length - ROWS_MAX })) : "");
}

export function drawLegend() {
  const item = (cls, letter, text) => h("li", {}, h("span", { class: `copy ${cls}`, "aria-hidden": "true" }, letter), text);
  $("legend").replaceChildren(item("started primary", t("P"), t("primary")), item("started", t("R"), t("replica")), item("initializing", " ", t("INITIALIZING")), item("relocating", " ", t("RELOCATING")),
    item("unassigned", " ", t("UNASSIGNED")));
}

/* ---- events ---- */

export function eventText(e) {
  const values = { ...e, copy: e.copy && t(e.copy), source: e.source && t(e.source === "disk" ? "existing" : e.source), status: e.status && t(e.status),
    without: e.without_ms !== undefined && duration(e.without_ms) };
  const name = e.type === "master" && e.without_ms !== undefined ? "ev_master_after" : e.type === "health" && e.status === "green" ? "ev_health_again" : `ev_${e.type}`;
  return t(name, values);
}

function took(e) {
  return e.took_us !== undefined ? duration(e.took_us / 1000) : e.took_ms !== undefined ? duration(e.took_ms) : null;
}

export function drawEvents(m, withPublications) {
  const shown = m.events.filter((e) => withPublications || e.type !== "published").slice(-200).reverse();
  const item = (e) => h("li", { class: `event ${e.type}${e.status ? ` ${e.status}` : ""}`, "data-seq": e.seq, "data-fresh": e.seen > Date.now() - 2500 },
    h("time", { datetime: new Date(e.at).toISOString() }, clock(e.at)), h("span", {}, eventText(e)), took(e) && h("b", {}, took(e)));
  $("events").replaceChildren(...(shown.length ? shown.map(item) : [h("li", { class: "note" }, t("noEvents"))]));
}

export function drawStory(story) {
  $("story").hidden = story === null;
  if (story === null) return;
  $("story").dataset.open = !story.ended;
  const title = story.ended ? (story.how === "green" ? "storyDone" : "storyMaster") : story.serves !== undefined ? "storyServes" : "storyOpen";
  $("storyTitle").textContent = t(title, { took: duration(story.took ?? story.serves ?? 0) });
  $("steps").replaceChildren(...story.steps.map((s, i) => h("li", { class: s.type }, h("b", {}, i === 0 ? t("begin") : `+${duration(s.at - story.at)}`), h("span", {}, t(`st_${s.type}`, s)))));
}

export function drawLost(m) {
  const others = [...m.nodes].filter(([id, n]) => id !== m.self.id && n.http);
  $("lost").hidden = !m.lost;
  if (!m.lost) return;
  $("lost").replaceChildren(t(others.length ? "lost" : "lostAlone", { node: m.self.name }), ...others.map(([, n]) => h("a", { href: `http://${n.http}/_console/` }, n.name)));
}
