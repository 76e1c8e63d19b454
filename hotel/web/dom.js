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
