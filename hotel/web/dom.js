// Small helpers around the document. Texts go in as text, never as markup.
export const $ = (id) => document.getElementById(id);

/** h("li", { class: "x", onclick: f, hidden: true }, "text", child, ...) */
export function h(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/** Puts new children in place of the old ones; what had the focus has it again: the one with the same data-focus, or the last one. */
export function redraw(container, children) {
  const name = container.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
  container.replaceChildren(...children);
  if (name === undefined) return;
  const all = [...container.querySelectorAll("[data-focus]")];
  (all.find((e) => e.dataset.focus === name) ?? all.at(-1) ?? $("results")).focus({ preventScroll: true });
}
