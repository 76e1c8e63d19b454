// The application's requests. A newer call of a kind cancels the older one.
const running = {};
const visitor = newVisitor(); // the same copies of the index answer it: its pages do not overlap

function newVisitor() {
  let name = null;
  try { name = localStorage.getItem("visitor"); } catch { /* private windows */ }
  name ??= Array.from(crypto.getRandomValues(new Uint32Array(3)), (n) => n.toString(36)).join("");
  try { localStorage.setItem("visitor", name); } catch { /* it lasts as long as the page, then */ }
  return name;
}

export class ApiError extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status; // 0: no answer came
  }
}

async function call(kind, path, options) {
  running[kind]?.abort();
  const mine = (running[kind] = new AbortController());
  let response;
  try {
    response = await fetch(path, { ...options, signal: mine.signal, headers: { "content-type": "application/json", "x-visitor": visitor } });
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new ApiError(0, "");
  }
  const body = await response.json().catch((e) => {
    if (e.name === "AbortError") throw e;
    throw new ApiError(response.ok ? 0 : response.status, "");
  });
  if (!response.ok) throw new ApiError(response.status, body.reason ?? "");
  return { body };
}

/** { total, hotels, match, didYouMean, understood, words, facets } */
export async function find(request) {
  return (await call("find", "/hotel/find", { method: "POST", body: JSON.stringify(request) })).body;
}

/** Another one when hotels have changed. */
export async function version() {
  return (await call("version", "/hotel/version", { method: "GET" })).body.version;
}

/** The same once more, beside what the visitor asks for. */
export async function findAgain(request) {
  return (await call("again", "/hotel/find", { method: "POST", body: JSON.stringify(request) })).body;
}

/** [{ text, kind, count }] */
export async function completions(key) {
  return (await call("completions", `/hotel/complete?key=${encodeURIComponent(key)}`, { method: "GET" })).body;
}
