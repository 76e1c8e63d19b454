// The price range as a slider with two thumbs. The last step means: no bound.
import { $ } from "./dom.js";
import { t } from "./i18n.js";

export const PRICE_MAX = 2000;

export function priceText({ minPrice, maxPrice }) {
  if (minPrice === "" && maxPrice === "") return t("anyPrice");
  if (maxPrice === "") return t("priceAbove", minPrice);
  return minPrice === "" ? t("priceBelow", maxPrice) : t("priceRange", minPrice, maxPrice);
}

/** onChange({ minPrice, maxPrice }, again) with texts of digits, "" for no bound; called when a thumb comes to rest. again: the same
 * thumb goes on moving, by keys. */
export function priceSlider(onChange) {
  const low = $("low"), high = $("high");
  let moving = null;

  function bounds() {
    return { minPrice: low.value === "0" ? "" : low.value, maxPrice: Number(high.value) >= PRICE_MAX ? "" : high.value };
  }

  function draw(prices = bounds()) {
    const from = (Number(low.value) / PRICE_MAX) * 100, to = (Number(high.value) / PRICE_MAX) * 100;
    $("range").style.setProperty("--from", `${from}%`);
    $("range").style.setProperty("--to", `${to}%`);
    $("priceText").textContent = priceText(prices);
    low.setAttribute("aria-valuetext", prices.minPrice === "" ? t("anyPrice") : `¥${prices.minPrice}`);
    high.setAttribute("aria-valuetext", prices.maxPrice === "" ? t("anyPrice") : `¥${prices.maxPrice}`);
  }

  /** Thumbs do not pass each other. */
  function moved(e) {
    if (Number(low.value) > Number(high.value)) {
      if (e.target === low) low.value = high.value;
      else high.value = low.value;
    }
    draw();
  }

  for (const thumb of [low, high]) {
    thumb.addEventListener("input", moved);
    thumb.addEventListener("change", () => {
      onChange(bounds(), moving === thumb);
      moving = thumb;
    });
    for (const end of ["blur", "pointerdown"]) thumb.addEventListener(end, () => { moving = null; });
  }
  return {
    show(prices) {
      low.value = Math.min(Number(prices.minPrice || 0), PRICE_MAX);
      high.value = prices.maxPrice === "" ? PRICE_MAX : Math.min(Number(prices.maxPrice), PRICE_MAX);
      draw(prices);
    },
  };
}
