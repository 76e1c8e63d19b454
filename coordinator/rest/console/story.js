// The last failover as a story: from the loss until all is well again, told from events. Pure.

const BEGINS = new Set(["no_master", "node_left", "copy_failed"]);

/** null, or { at, ended, took, how (once ended), serves (ms until every primary served again, if one did not), steps: [{ at, type, ... }] }. */
export function lastFailover(events) {
  let story = null, health = "green";
  for (const e of events) {
    if (e.type === "health") health = e.status;
    if (BEGINS.has(e.type) && (story === null || story.ended)) story = { at: e.at, steps: [], ended: false, sick: false };
    if (story === null || story.ended) continue;
    add(story, e);
    if (e.type === "no_master" || e.status === "red") delete story.serves;
    story.sick ||= e.type === "health" && e.status !== "green";
    if (e.type === "health" && e.status === "yellow" && e.was === "red") {
      story.serves = e.at - story.at;
      story.steps.push({ at: e.at, type: "serves" });
    }
    if (e.type === "health" && e.status === "green") end(story, e.at, "green");
    else if (e.type === "master" && !story.sick && health === "green") end(story, e.at, "master");
  }
  if (story && !story.ended && !story.sick && health === "green") end(story, story.steps.at(-1).at, "master");
  return story;
}

function end(story, at, how) {
  story.ended = true;
  story.took = at - story.at;
  story.how = how;
  if (how === "green") story.steps.push({ at, type: "green" });
}

/** Many copies that are promoted at one time are one step. */
function add(story, e) {
  const last = story.steps.at(-1);
  const type = e.type === "recovery_done" ? "recovered" : e.type === "node_restarted" ? "node_joined" : e.type;
  if (type === "promoted" || type === "recovered") {
    if (last?.type === type) Object.assign(last, { n: last.n + 1, at: type === "recovered" ? e.at : last.at });
    else story.steps.push({ at: e.at, type, n: 1 });
  } else if (BEGINS.has(type) || type === "master" || type === "node_joined") {
    if (!(last && last.type === type && last.node === e.node)) story.steps.push({ at: e.at, type, node: e.node });
  }
}
