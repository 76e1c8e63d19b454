// The management page's texts. Hotels' own texts stay as they are.
export const texts = {
  zh: {
    title: "酒店管理", skip: "跳到列表", search: "搜索", searchLabel: "按名称、品牌、城市、商圈或编号查找", placeholder: "名称、品牌、城市、商圈或编号", add: "新增酒店",
    state: "同步状态", outbox: "待发消息", insertQueue: "更新队列", deleteQueue: "删除队列", deadQueue: "无法处理", database: "数据库", broker: "消息队列服务", up: "正常", away: "不可用", oldest: "最早 {0} 秒前",
    noConsumer: "无消费者", unknown: "—", table: "酒店列表", id: "编号", name: "名称", address: "地址", price: "价格", score: "评分", brand: "品牌", city: "城市", starName: "星级", business: "商圈",
    latitude: "纬度", longitude: "经度", pic: "图片", promotion: "推广", actions: "操作", edit: "编辑", editOf: "编辑 {0}", remove: "删除", removeOf: "删除 {0}", promote: "推广 {0}",
    notIndexed: "尚未进入索引", noSearch: "搜索服务不可用", count: "共 {0} 家酒店", pages: "分页", previous: "上一页", next: "下一页", page: "第 {0} 页", none: "没有酒店", noneHint: "换个关键词，或新增一家酒店。",
    failed: "暂时无法读取", retry: "重试", network: "无法连接到服务器。", language: "English", languageLabel: "Switch to English", addTitle: "新增酒店", editTitle: "编辑酒店", save: "保存", cancel: "取消",
    removeTitle: "删除酒店？", removeText: "“{0}”（编号 {1}）将从数据库和搜索结果中删除，无法恢复。", added: "已新增：{0}", saved: "已保存：{0}", removed: "已删除：{0}", promoted: "已推广：{0}", notPromoted: "已取消推广：{0}",
    wrongFields: "有 {0} 处需要修改", taken: "此编号已被使用", gone: "这家酒店已不存在", optional: "选填", keys: "快捷键：/ 查找，n 新增", loading: "正在加载…",
    rule_id: "整数；保存后不可修改", rule_name: "必填，最多 255 个字", rule_address: "必填，最多 255 个字", rule_price: "必填，不小于 0 的整数（元）", rule_score: "必填，0 到 50 的整数：45 即 4.5 分", rule_brand: "必填，最多 32 个字",
    rule_city: "必填，最多 32 个字", rule_starName: "一星到五星级，或一钻到五钻", rule_business: "最多 255 个字；多个商圈用 / 分隔", rule_latitude: "必填，-90 到 90 的度数", rule_longitude: "必填，-180 到 180 的度数", rule_pic: "图片地址，最多 255 个字",
  },
  en: {
    title: "Hotel management", skip: "Skip to the list", search: "Search", searchLabel: "Find by name, brand, city, district or id", placeholder: "Name, brand, city, district or id", add: "Add a hotel",
    state: "State of the synchronisation", outbox: "Outbox", insertQueue: "Update queue", deleteQueue: "Delete queue", deadQueue: "Put aside", database: "Database", broker: "Message broker", up: "up", away: "away", oldest: "oldest {0} s",
    noConsumer: "no consumer", unknown: "—", table: "Hotels", id: "Id", name: "Name", address: "Address", price: "Price", score: "Score", brand: "Brand", city: "City", starName: "Class", business: "District",
    latitude: "Latitude", longitude: "Longitude", pic: "Picture", promotion: "Promoted", actions: "Actions", edit: "Edit", editOf: "Edit {0}", remove: "Delete", removeOf: "Delete {0}", promote: "Promote {0}",
    notIndexed: "not in the index yet", noSearch: "the search service is not available", count: "{0} hotels", pages: "Pages", previous: "Previous", next: "Next", page: "Page {0}", none: "No hotels", noneHint: "Try another word, or add a hotel.",
    failed: "Cannot be read just now", retry: "Try again", network: "The server cannot be reached.", language: "中文", languageLabel: "切换到中文", addTitle: "Add a hotel", editTitle: "Edit a hotel", save: "Save", cancel: "Cancel",
    removeTitle: "Delete this hotel?", removeText: "“{0}” (id {1}) goes from the database and from the search results, and cannot be brought back.", added: "Added: {0}", saved: "Saved: {0}", removed: "Deleted: {0}", promoted: "Promoted: {0}",
    notPromoted: "Not promoted any more: {0}", wrongFields: "{0} fields need a change", taken: "This id is taken", gone: "This hotel is not there any more", optional: "optional", keys: "Keys: / to find, n to add", loading: "Loading…",
    rule_id: "A whole number; stays once saved", rule_name: "Required, up to 255 characters", rule_address: "Required, up to 255 characters", rule_price: "Required, a whole number from 0 (yuan)", rule_score: "Required, a whole number from 0 to 50: 45 is 4.5",
    rule_brand: "Required, up to 32 characters", rule_city: "Required, up to 32 characters", rule_starName: "一星 to 五星级 (stars), or 一钻 to 五钻 (diamonds)", rule_business: "Up to 255 characters; districts separated by /",
    rule_latitude: "Required, degrees from -90 to 90", rule_longitude: "Required, degrees from -180 to 180", rule_pic: "The picture's address, up to 255 characters",
  },
};
