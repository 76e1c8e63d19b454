// The live console: follows the events of this node, and looks at the state whenever there are some; load every two seconds.
import { $, t, setLanguage, firstLanguage, otherLanguage } from "./page.js";
import { Load } from "./load.js";
import { lastFailover } from "./story.js";
import { drawTiles, drawHealth, drawNodes, drawShards, drawLegend, drawEvents, drawStory, drawLost, eventText } from "./draw.js";

const STATE = "../_cluster/state/master_node,nodes,routing_table,metadata,version?local=true&filter_path="
  + "version,master_node,nodes.*.name,routing_table.indices.*.shards,metadata.cluster_coordination.term";
const STATS = "../_nodes/stats/process,fs,jvm,indices,thread_pool?timeout=2s&filter_path=nodes.*.process.cpu,nodes.*.jvm.mem.heap_used_in_bytes,nodes.*.fs.total,"
  + "nodes.*.indices.search,nodes.*.indices.indexing,nodes.*.indices.docs,nodes.*.thread_pool.search";
const ADDRESSES = "../_nodes/http?timeout=2s&filter_path=nodes.*.http.publish_address,nodes.*.roles";
const EVENTS_KEPT = 1000;
const GHOST_MS = 120000;
const SPOKEN = new Set(["no_master", "master", "node_left", "node_joined", "node_restarted", "health", "copy_failed"]);

const model = { cluster: "", self: { id: "", name: location.host }, health: "green", master: null, term: 0, version: 0, nodes: new Map(), known: new Map(), ghosts: [], rows: [], events: [],
  lastSeq: 0, startedAt: 0, load: new Load(), lost: false };
let withPublications = true;

const pause = (ms) => new Promise((go) => setTimeout(go, ms));

async function get(path, ms) {
  const r = await fetch(path, { signal: AbortSignal.timeout(ms), cache: "no-store" });
  if (!r.ok) throw new Error(`${r.status}`);
  return r.json();
}

function draw() {
  drawHealth(model);
  drawTiles(model);
  drawNodes(model);
  drawShards(model);
  drawEvents(model, withPublications);
  drawStory(lastFailover(model.events));
  drawLost(model);
}

/* ---- the state ---- */

const changes = new Map(); // of each copy: what it was, and when it became so

function takeRows(indices) {
  const now = Date.now(), rows = [], there = new Set();
  for (const index of Object.keys(indices).sort()) {
    for (const [shard, copies] of Object.entries(indices[index].shards)) {
      const seen = copies.map((c, i) => {
        const key = c.allocation_id?.id ?? `${index}/${shard}/${i}`, is = `${c.state}/${c.primary}/${c.node}`, was = changes.get(key);
        there.add(key);
        if (was?.is !== is) changes.set(key, { is, at: was || rows.length || model.rows.length ? now : 0 });
        return { state: c.state, primary: c.primary, node: c.node, changed: changes.get(key).at };
      });
      rows.push({ index, shard: Number(shard), copies: seen });
    }
  }
  for (const key of changes.keys()) if (!there.has(key)) changes.delete(key);
  model.rows = rows;
}

function takeNodes(nodes) {
  const now = Date.now(), before = model.nodes;
  model.nodes = new Map(Object.entries(nodes ?? {}).map(([id, n]) => {
    const known = model.known.get(id);
    return [id, { name: n.name, roles: known?.roles ?? ["master", "data"], http: known?.http, fresh: before.get(id)?.fresh ?? (before.size ? now : 0) }];
  }));
  for (const [id, n] of before) if (!model.nodes.has(id)) model.ghosts.push({ id, name: n.name, left: now });
  model.ghosts = model.ghosts.filter((g) => !model.nodes.has(g.id) && now - g.left < GHOST_MS);
}

async function lookAtState() {
  const [state, health] = await Promise.all([get(STATE, 5000), get("../_cluster/health?local=true", 5000)]);
  model.version = state.version ?? model.version;
  model.master = state.master_node ?? null;
  model.term = state.metadata?.cluster_coordination?.term ?? model.term;
  model.health = health.status;
  takeNodes(state.nodes);
  takeRows(state.routing_table?.indices ?? {});
  if ([...model.nodes.keys()].some((id) => !model.known.get(id)?.http)) lookAtAddresses();
}

async function lookAtAddresses() {
  try {
    const { nodes = {} } = await get(ADDRESSES, 5000);
    for (const [id, n] of Object.entries(nodes)) model.known.set(id, { roles: n.roles ?? [], http: n.http?.publish_address });
    for (const [id, n] of model.nodes) Object.assign(n, model.known.get(id));
    draw();
  } catch { /* asked again with the next state */ }
}

/* ---- what happens ---- */

function takeEvents(answer, first) {
  if (answer.started_at !== model.startedAt) { // another process: its numbers begin again
    model.events = [];
    model.startedAt = answer.started_at;
  }
  model.cluster = answer.cluster_name;
  model.self = { id: answer.node_id, name: answer.node };
  model.lastSeq = answer.last;
  const seen = first ? 0 : Date.now();
  model.events = [...model.events, ...answer.events.map((e) => ({ ...e, seen }))].slice(-EVENTS_KEPT);
  for (const e of first ? [] : answer.events) {
    if (e.type === "no_master") model.master = null;
    if (SPOKEN.has(e.type)) speak(eventText(e));
  }
}

function speak(text) {
  const line = document.createElement("p");
  line.textContent = text;
  $("spoken").append(line);
  while ($("spoken").children.length > 8) $("spoken").firstChild.remove();
}

/** What is new; all there is, where numbers mean something else than before: another process answers. */
async function nextEvents() {
  const answer = await get(`events?since=${model.lastSeq}&timeout=10s`, 20000);
  return model.lastSeq > 0 && answer.started_at !== model.startedAt ? get("events?since=0", 20000) : answer;
}

async function follow() {
  for (let first = true; ; first = false) {
    try {
      const answer = await nextEvents();
      takeEvents(answer, first);
      if (answer.events.length || model.lost) {
        await lookAtState().catch(() => {}); // asked again with the next event
        model.lost = false;
        draw();
      }
    } catch {
      if (!model.lost) {
        model.lost = true;
        draw();
        speak($("lost").textContent);
      }
      await pause(1000);
    }
  }
}

async function watchLoad() {
  for (;;) {
    if (!document.hidden && !model.lost) {
      try {
        model.load.add((await get(STATS, 5000)).nodes ?? {}, performance.now());
        drawTiles(model);
        drawNodes(model);
      } catch { /* the next time */ }
    }
    await pause(2000);
  }
}

function speakLanguage(code) {
  setLanguage(code);
  $("language").textContent = t("otherLanguage");
  drawLegend();
  draw();
}

$("language").addEventListener("click", () => speakLanguage(otherLanguage()));
$("filter").addEventListener("input", () => drawShards(model));
$("publications").addEventListener("click", () => {
  withPublications = !withPublications;
  $("publications").setAttribute("aria-pressed", withPublications);
  drawEvents(model, withPublications);
});
speakLanguage(firstLanguage());
follow();
watchLoad();
