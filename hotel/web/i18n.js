// The page's texts in Chinese and English. Hotels' own texts stay as they are.
const texts = {
  zh: {
    title: "酒店搜索", skip: "跳到结果", search: "搜索", searchLabel: "搜索酒店、品牌或商圈",
    placeholder: "酒店、品牌、商圈，也可用拼音", clearKey: "清空", completions: "建议", controls: "排序、价格和位置",
    sort: "排序", sortDefault: "综合", sortDistance: "距离最近", sortScore: "评分最高", sortPrice: "价格最低", price: "价格",
    minPrice: "最低价", maxPrice: "最高价", apply: "应用", near: "附近", nearOn: "附近：{0}", useMine: "使用我的位置", landmark: "地标",
    chooseLandmark: "选择…", coordinates: "坐标（纬度,经度）", forget: "不限位置", badPlace: "请输入“纬度,经度”，例如 31.2304,121.4737",
    noPlace: "无法取得您的位置。", mine: "我的位置", filters: "筛选", "城市": "城市", "星级": "星级", "品牌": "品牌", more: "更多", less: "收起",
    clearAll: "清除全部", count: "共 {0} 家酒店", countOf: "“{1}”：共 {0} 家酒店", pages: "分页", previous: "上一页", next: "下一页", page: "第 {0} 页",
    promoted: "推广", priceBefore: "", priceAfter: " 起", score: "{0} 分", km: "{0} 公里", m: "{0} 米", loading: "正在加载…",
    none: "没有符合条件的酒店", noneHint: "换个关键词，或去掉一些筛选条件。", failed: "暂时无法搜索", badRequest: "无法按此搜索", retry: "重试",
    network: "无法连接到服务器。", unavailable: "搜索服务暂不可用，请稍后再试。", language: "English", languageLabel: "Switch to English",
    picturesOn: "图片：开", picturesOff: "图片：关", picturesHint: "图片来自其他网站，开启后浏览器会向它们请求", remove: "去掉 {0}",
  },
  en: {
    title: "Hotel search", skip: "Skip to results", search: "Search", searchLabel: "Search hotels, brands or districts",
    placeholder: "Hotel, brand or district; pinyin works", clearKey: "Clear", completions: "Suggestions", controls: "Order, price and place",
    sort: "Sort", sortDefault: "Best match", sortDistance: "Nearest", sortScore: "Best rated", sortPrice: "Cheapest", price: "Price",
    minPrice: "Lowest price", maxPrice: "Highest price", apply: "Apply", near: "Near", nearOn: "Near: {0}", useMine: "Use my location", landmark: "Landmark",
    chooseLandmark: "Choose…", coordinates: "Coordinates (latitude,longitude)", forget: "Anywhere",
    badPlace: "Give latitude,longitude, such as 31.2304,121.4737", noPlace: "Your location cannot be found out.", mine: "my location",
    filters: "Filters", "城市": "City", "星级": "Class", "品牌": "Brand", more: "More", less: "Fewer", clearAll: "Clear all",
    count: "{0} hotels", countOf: "{0} hotels for “{1}”", pages: "Pages", previous: "Previous", next: "Next", page: "Page {0}",
    promoted: "Promoted", priceBefore: "from ", priceAfter: "", score: "{0} of 5", km: "{0} km", m: "{0} m", loading: "Loading…",
    none: "No hotel matches", noneHint: "Try another word, or take some filters away.", failed: "Search is not possible just now",
    badRequest: "This cannot be searched for", retry: "Try again", network: "The server cannot be reached.",
    unavailable: "The search service is not available. Please try again soon.", language: "中文", languageLabel: "切换到中文",
    picturesOn: "Pictures: on", picturesOff: "Pictures: off", picturesHint: "Pictures come from other sites, which your browser then asks for them",
    remove: "Remove {0}",
  },
};

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
