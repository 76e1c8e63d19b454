// What waits between the database and the index: the outbox, the queues, who is away.
import { status } from "./api.js";
import { $, h } from "./dom.js";
import { t } from "./i18n.js";

const EVERY_MS = 1000;

function tile(name, value, note, kind) {
  return h("div", { class: `tile ${kind}`, "data-name": name }, h("span", { class: "what" }, t(name)), h("b", {}, value), note ? h("small", {}, note) : null);
}

/** Its color: nothing waits, something does, or nobody takes it. */
function queueTile(name, queue, consumed) {
  if (!queue) return tile(name, t("unknown"), "", "unknown");
  const alone = consumed && queue.consumers === 0;
  return tile(name, queue.messages.toLocaleString(), alone ? t("noConsumer") : "", alone ? "bad" : queue.messages === 0 ? "good" : consumed ? "busy" : "bad");
}

function draw(state) {
  const up = (ok) => [t(ok ? "up" : "away"), "", ok ? "good" : "bad"];
  const queue = (name) => state?.queues?.find((q) => q.name === name);
  const outbox = state?.outbox;
  const seconds = Math.round((outbox?.oldestMs ?? 0) / 1000);
  const tiles = [
    tile("database", ...up(state?.database === "up")),
    tile("broker", ...up(state?.publisher.broker === "up")),
    outbox ? tile("outbox", outbox.waiting.toLocaleString(), outbox.waiting > 0 ? t("oldest", seconds) : "", outbox.waiting > 0 ? "busy" : "good") : tile("outbox", t("unknown"), "", "unknown"),
    queueTile("insertQueue", queue("hotel.insert.queue"), true),
    queueTile("deleteQueue", queue("hotel.delete.queue"), true),
    queueTile("deadQueue", queue("hotel.dead"), false),
  ];
  // Only what is different is drawn anew: screen readers and selections stay.
  for (const [i, next] of tiles.entries()) {
    const now = $("state").children[i];
    if (!now) $("state").append(next);
    else if (now.outerHTML !== next.outerHTML) now.replaceWith(next);
  }
}

/** Looks every second while the page is seen; onLook() after each. */
export function watchState(onLook) {
  const look = async () => {
    if (document.hidden) return;
    draw(await status().catch(() => null));
    onLook();
  };
  look();
  setInterval(look, EVERY_MS);
  return look;
}
