// Buttons for pages: first, last, and those around the current one.
import { h } from "./dom.js";
import { t } from "./i18n.js";

/** Fills nav with buttons for pages 1 to last; hides it when there is one page alone. */
export function drawPages(nav, at, last, goTo) {
  const button = (page, label, attributes) => h("button", { type: "button", "aria-label": t("page", page), onclick: () => goTo(page), ...attributes }, label);
  const shown = [...new Set([1, at - 1, at, at + 1, last])].filter((p) => p >= 1 && p <= last).sort((a, b) => a - b);
  const buttons = shown.flatMap((p, i) => [
    i > 0 && p > shown[i - 1] + 1 ? h("span", { "aria-hidden": "true" }, "…") : null,
    button(p, String(p), p === at ? { "aria-current": "page" } : {}),
  ]);
  nav.hidden = last <= 1;
  nav.replaceChildren(
    button(at - 1, "‹", { "aria-label": t("previous"), disabled: at <= 1 }),
    ...buttons.filter(Boolean),
    button(at + 1, "›", { "aria-label": t("next"), disabled: at >= last }));
}
