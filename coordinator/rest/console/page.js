// Helpers around the document, texts and numbers. Texts go in as text, never as markup.
import { texts } from "./texts.js";

export const $ = (id) => document.getElementById(id);

/** h("li", { class: "x", onclick: f, vars: { "--v": 1 } }, "text", child, ...) */
export function h(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "vars") for (const [key, v] of Object.entries(value)) e.style.setProperty(key, v);
    else if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

let language = "en";

export function setLanguage(code) {
  language = code === "zh" ? "zh" : "en";
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const e of document.querySelectorAll("[data-i18n]")) e.textContent = t(e.dataset.i18n);
  for (const e of document.querySelectorAll("[data-i18n-label]")) e.setAttribute("aria-label", t(e.dataset.i18nLabel));
  for (const e of document.querySelectorAll("[data-i18n-placeholder]")) e.placeholder = t(e.dataset.i18nPlaceholder);
}

/** The visitor's choice, or the browser's language. */
export function firstLanguage() {
  try {
    const kept = localStorage.getItem("serai-console-language");
    if (kept) return kept;
  } catch { /* private windows */ }
  return /^zh/i.test(navigator.language) ? "zh" : "en";
}

export function otherLanguage() {
  const code = language === "zh" ? "en" : "zh";
  try { localStorage.setItem("serai-console-language", code); } catch { /* private windows */ }
  return code;
}

/** The text of `name`, with {x} replaced by values.x. */
export function t(name, values = {}) {
  const text = texts[language][name] ?? name;
  return text.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
}

export function duration(ms) {
  if (ms === 0) return "0 ms";
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
}

/** Whole seconds, or minutes: how long ago something was. */
export function ago(ms) {
  const s = Math.max(1, Math.round(ms / 1000));
  return s < 60 ? `${s} s` : `${Math.round(s / 60)} min`;
}

export function bytes(n) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  for (; n >= 1000 && at < units.length - 1; at++) n /= 1024;
  return `${n < 10 && at > 0 ? n.toFixed(1) : Math.round(n)} ${units[at]}`;
}

export function rate(n) {
  return n >= 1000 ? `${(n / 1000).toFixed(1)}k` : n >= 10 || n === 0 ? String(Math.round(n)) : n.toFixed(1);
}

export function clock(ms) {
  const d = new Date(ms), two = (n) => String(n).padStart(2, "0");
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.${String(d.getMilliseconds()).padStart(3, "0")}`;
}
