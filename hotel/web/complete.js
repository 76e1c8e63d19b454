// Completion while typing: a combobox with a list (arrows, Enter, Escape, Tab; pointer).
import { completions } from "./api.js";
import { $, h } from "./dom.js";
import { currentLanguage, t } from "./i18n.js";

const WAIT_MS = 120; // after the last key
const REST_MS = 300; // until the results follow

/** onType(text): the visitor rests; onChoose(text): a completion is taken. */
export function completion(onType, onChoose) {
  const input = $("key");
  const list = $("completions");
  let items = [];
  let active = -1;
  let timer = 0;
  let resting = 0;
  let composing = false;

  function close() {
    clearTimeout(timer);
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function mark(index) {
    active = index;
    for (const [i, e] of [...list.children].entries()) e.setAttribute("aria-selected", String(i === index));
    if (index < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", `completion-${index}`);
    list.children[index].scrollIntoView({ block: "nearest" });
  }

  /** The typed part of a completion in bold; pinyin matches have none. */
  function label(text, typed) {
    if (!typed || !text.toLowerCase().startsWith(typed.toLowerCase())) return [text];
    return [h("b", {}, text.slice(0, typed.length)), text.slice(typed.length)];
  }

  function show(found, typed) {
    items = found.map((c) => c.text);
    list.replaceChildren(...found.map(({ text, kind, count }, i) => h("li", {
      "data-text": text,
      id: `completion-${i}`, role: "option", "aria-selected": "false",
      onpointerdown: (e) => e.preventDefault(), // the input keeps the focus
      onclick: () => choose(i),
    }, h("span", {}, ...label(text, typed)), h("small", {}, [t(kind), count?.toLocaleString(currentLanguage())].filter(Boolean).join(" · ")))));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    mark(-1);
  }

  function choose(index) {
    input.value = items[index];
    close();
    onChoose(items[index]);
  }

  async function ask() {
    const typed = input.value.trim();
    if (!typed) return close();
    try {
      const found = await completions(typed);
      if (document.activeElement === input && input.value.trim() === typed) show(found, typed);
    } catch (e) {
      if (e.name !== "AbortError") close(); // searching still works, and says what is wrong
    }
  }

  function later() {
    clearTimeout(timer);
    clearTimeout(resting);
    if (composing) return;
    timer = setTimeout(ask, WAIT_MS);
    resting = setTimeout(() => onType(input.value.trim()), REST_MS);
  }

  input.addEventListener("compositionstart", () => { composing = true; });
  input.addEventListener("compositionend", () => { composing = false; later(); });
  input.addEventListener("input", later);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (e) => {
    if (e.isComposing) return;
    const open = !list.hidden;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      if (!open) return void ask();
      const step = e.key === "ArrowDown" ? 1 : -1;
      mark(((active + 1 + step + items.length + 1) % (items.length + 1)) - 1);
    } else if (e.key === "Enter" && open && active >= 0) {
      e.preventDefault();
      choose(active);
    } else if (e.key === "Escape" && open) {
      e.preventDefault();
      close();
    }
  });
  return { close };
}
