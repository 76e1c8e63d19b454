// Texts in Chinese and English: each page has its own in texts.js. Hotels' own texts stay as they are.
import { texts } from "./texts.js";

const digits = { "一": 1, "二": 2, "三": 3, "四": 4, "五": 5 };
let language = "zh";

export function currentLanguage() {
  return language;
}

export function setLanguage(code) {
  language = code === "en" ? "en" : "zh";
  document.documentElement.lang = language === "en" ? "en" : "zh-CN";
}

/** The text of `name`, with {0}, {1} replaced. */
export function t(name, ...values) {
  const text = texts[language][name] ?? name;
  return text.replace(/\{(\d)\}/g, (_, i) => values[i]);
}

/** Class names are data ("五星级", "二钻"); in English they are said in English. */
export function starText(name) {
  const m = /^([一二三四五])(星级|星|钻)$/.exec(name);
  return language === "en" && m ? `${digits[m[1]]}-${m[2] === "钻" ? "diamond" : "star"}` : name;
}

/** Puts the texts of the current language wherever the page asks for one. */
export function translatePage() {
  document.title = t("title");
  for (const e of document.querySelectorAll("[data-i18n]")) e.textContent = t(e.dataset.i18n);
  for (const e of document.querySelectorAll("[data-i18n-label]")) e.setAttribute("aria-label", t(e.dataset.i18nLabel));
  for (const e of document.querySelectorAll("[data-i18n-placeholder]")) e.placeholder = t(e.dataset.i18nPlaceholder);
}

const stored = {
  get: () => { try { return localStorage.getItem("language"); } catch { return null; } },
  set: (code) => { try { localStorage.setItem("language", code); } catch { /* private windows */ } },
};

/** The visitor's choice, or the browser's language. */
export function firstLanguage() {
  return stored.get() ?? (/^zh/i.test(navigator.language) ? "zh" : "en");
}

/** Takes the other one, and keeps that for the next visit. */
export function otherLanguage() {
  const code = language === "en" ? "zh" : "en";
  stored.set(code);
  return code;
}
