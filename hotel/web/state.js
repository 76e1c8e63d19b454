// What is searched for: kept in the page's address, so that back, forward, reload and links work.
export const PAGE_SIZE = 10;
export const WINDOW = 10000; // results that can be paged to

const VALUES_MAX = 50; // of a list that an address may give
const names = { key: "q", minPrice: "min", maxPrice: "max", sortBy: "sort", location: "at", page: "page" };
const lists = { cities: "city", districts: "district", stars: "star", brands: "brand" };

export const unfiltered = Object.freeze({ cities: [], districts: [], stars: [], brands: [], minPrice: "", maxPrice: "", location: "" });
export const empty = Object.freeze({ ...unfiltered, key: "", sortBy: "", page: 1 });

export function pricesOk({ minPrice, maxPrice }) {
  return minPrice === "" || maxPrice === "" || Number(minPrice) <= Number(maxPrice);
}

export function readAddress() {
  const query = new URLSearchParams(location.search);
  const state = { ...empty };
  for (const [field, name] of Object.entries(names)) state[field] = query.get(name) ?? empty[field];
  for (const [field, name] of Object.entries(lists)) state[field] = [...new Set(query.getAll(name).filter(Boolean))].slice(0, VALUES_MAX);
  const page = Number.parseInt(state.page, 10);
  state.page = page >= 1 && page <= WINDOW / PAGE_SIZE ? page : 1;
  for (const bound of ["minPrice", "maxPrice"]) state[bound] = /^\d{1,6}$/.test(state[bound]) ? state[bound] : "";
  return pricesOk(state) ? state : { ...state, minPrice: "", maxPrice: "" };
}

export function writeAddress(state, replace) {
  const query = new URLSearchParams();
  for (const [field, name] of Object.entries(names)) {
    if (state[field] && !(field === "page" && state.page === 1)) query.set(name, state[field]);
  }
  for (const [field, name] of Object.entries(lists)) for (const value of state[field]) query.append(name, value);
  const address = query.toString() ? `/?${query}` : "/";
  if (address !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", address);
}

/** The request object. The service filters by price only when both bounds are given: the other one is filled in. */
export function requestOf(state) {
  const { key, cities, districts, stars, brands, sortBy, location: at, page } = state;
  const priced = state.minPrice !== "" || state.maxPrice !== "";
  return {
    key: key.trim(), highlight: key.trim() !== "", cities, districts, stars, brands, sortBy, location: at, page, size: PAGE_SIZE,
    minPrice: priced ? Number(state.minPrice || 0) : null,
    maxPrice: priced ? Number(state.maxPrice || 2147483647) : null,
  };
}
