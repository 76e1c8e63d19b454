// The management service's requests.
export class ApiError extends Error {
  constructor(status, body) {
    super(body?.reason ?? "");
    this.status = status; // 0: no answer came
    this.fields = body?.fields ?? []; // those that are wrong
  }
}

/** Ids have 64 bits, browsers' numbers 53: long ones stay texts, which the service takes as well. */
function parse(text) {
  return JSON.parse(text.replace(/"id":(-?\d{16,})/g, '"id":"$1"'));
}

async function call(method, path, body) {
  let response;
  try {
    response = await fetch(path, { method, headers: { "content-type": "application/json" }, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new ApiError(0);
  }
  const answer = response.status === 204 ? null : await response.text().then(parse).catch(() => null);
  if (!response.ok) throw new ApiError(response.status, answer);
  return answer;
}

export const list = (key, page, size) => call("GET", `/hotel/list?${new URLSearchParams({ key, page, size })}`);
export const add = (hotel) => call("POST", "/hotel", hotel);
export const change = (id, hotel) => call("PUT", `/hotel/${id}`, hotel);
export const remove = (id) => call("DELETE", `/hotel/${id}`);
export const promote = (id, isAD) => call("PUT", `/hotel/${id}/promotion`, { isAD });
export const promotions = (ids) => call("GET", `/hotel/promotions?ids=${ids.join(",")}`);
export const status = () => call("GET", "/status");
