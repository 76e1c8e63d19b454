#!/usr/bin/env python3
"""The search application over a real search service, checked against the rows of the CSV file that was imported: what
a request must find is computed here, from the rows alone."""
import gzip
import http.client
import json
import math
import os
import tempfile

import application
from application import App, Checks, Search, call, command

check = Checks()
KEYS = ["id", "name", "address", "price", "score", "brand", "city", "starName", "business", "location", "pic", "distance", "isAD", "suggestion"]
COLUMNS = {"name": "name", "address": "address", "brand": "brand", "city": "city", "star_name": "starName", "business": "business", "pic": "pic"}


def document(row):
    """What the application must answer for a row."""
    d = {field: row[column] or None for column, field in COLUMNS.items()}
    d.update(id=int(row["id"]), price=int(row["price"]), score=int(row["score"]), location=f"{row['latitude']}, {row['longitude']}",
             suggestion=[row["brand"]] + [p for p in row["business"].split("/") if p], distance=None, isAD=None)
    return d


def km(row, at):
    """Haversine; the earth's mean radius."""
    lat, lon = (math.radians(float(row[k])) for k in ("latitude", "longitude"))
    lat2, lon2 = map(math.radians, at)
    a = math.sin((lat2 - lat) / 2) ** 2 + math.cos(lat) * math.cos(lat2) * math.sin((lon2 - lon) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(a))


def chosen(rows, **want):
    """The rows that filters leave."""
    low, high = want.pop("minPrice", None), want.pop("maxPrice", None)
    columns = {"starName": "star_name"}
    found = [r for r in rows if all(not v or r[columns.get(k, k)] == v for k, v in want.items())]
    if low is not None and high is not None:
        found = [r for r in found if low <= int(r["price"]) <= high]
    return found


def every(app, request, total):
    """All pages of a request."""
    hotels = []
    for page in range(1, min(total, 10000) // 50 + 2):
        status, body = app.post("/hotel/list", {**request, "page": page, "size": 50})
        if status != 200:
            return hotels
        hotels += body["hotels"]
    return hotels


def test_documents(app, rows):
    status, body = app.post("/hotel/list", {})
    check.equal(status, 200, "a request without conditions")
    check.equal(sorted(body), ["hotels", "total"], "a page result's keys")
    check.equal(body["total"], len(rows), "its total")
    check.equal(len(body["hotels"]), 10, "ten hotels unless said otherwise")
    hotels = {h["id"]: h for h in every(app, {}, len(rows))}
    check.equal(len(hotels), len(rows), "every hotel is on one page")
    check(all(sorted(h) == sorted(KEYS) for h in hotels.values()), "every hotel has every key")
    wrong = [r["id"] for r in rows if hotels.get(int(r["id"])) != document(r)]
    check.equal(wrong[:3], [], "hotels are as their rows say")


def test_filters_of_lists(app, rows):
    cities, brands = sorted({r["city"] for r in rows}), sorted({r["brand"] for r in rows})
    stars = sorted({r["star_name"] for r in rows if r["star_name"]})
    prices = sorted(int(r["price"]) for r in rows)
    low, high = prices[len(prices) // 4], prices[len(prices) * 3 // 4]
    requests = [{"city": c} for c in cities] + [{"brand": b} for b in brands] + [{"starName": s} for s in stars]
    requests += [{"city": c, "brand": b} for c in cities[:3] for b in brands[:5]]
    requests += [{"city": cities[0], "brand": "", "starName": None}, {"city": "nowhere"}, {"brand": brands[0][:1]}]
    requests += [{"minPrice": low, "maxPrice": high}, {"minPrice": low, "maxPrice": low}, {"minPrice": high, "maxPrice": low},
                 {"minPrice": str(low), "maxPrice": str(high)}, {"minPrice": low}, {"maxPrice": low}, {"minPrice": low, "maxPrice": ""},
                 {"city": cities[-1], "minPrice": low, "maxPrice": high, "starName": stars[0]}]
    for request in requests:
        number = {k: int(v) if k.endswith("Price") and v not in (None, "") else v or None for k, v in request.items()}
        want = {int(r["id"]) for r in chosen(rows, **number)}
        status, body = app.post("/hotel/list", {**request, "size": 1000})
        check(status == 200 and body["total"] == len(want) and ({h["id"] for h in body["hotels"]} == want or len(want) > 1000),
              f"list {request}", f"{status}, {body.get('total')} of {len(want)}")
        status, body = app.post("/hotel/filters", request)
        found = chosen(rows, **number)
        for key, column in (("品牌", "brand"), ("城市", "city"), ("星级", "star_name")):
            values = {r[column] for r in found if r[column]}
            check(sorted(body) == ["品牌", "城市", "星级"] and set(body[key]) == values and len(body[key]) == len(values),
                  f"filters {request}: {key}", f"{body.get(key)} is not {values}")
            counts = [sum(r[column] == v for r in found) for v in body[key]]
            check(counts == sorted(counts, reverse=True), f"filters {request}: {key} by number of hotels")


def test_order(app, rows):
    by_id = {int(r["id"]): r for r in rows}
    for at in ((31.2304, 121.4737), (39.9, 116.4), (-33.5, 151.25)):
        text = f"{at[0]},{at[1]}"
        hotels = every(app, {"location": text}, len(rows))
        distances = [h["distance"] for h in hotels]
        check.equal(len(hotels), len(rows), f"all hotels near {text}")
        check(all(type(d) in (int, float) for d in distances), f"bare numbers near {text}", distances[:3])
        check(distances == sorted(distances), f"nearest first from {text}")
        off = max(abs(h["distance"] - km(by_id[h["id"]], at)) / max(1, h["distance"]) for h in hotels)
        check(off < 1e-3, f"distances from {text} are kilometres", off)
        for sort, key in (("score", lambda h: -h["score"]), ("price", lambda h: h["price"])):
            hotels = every(app, {"location": text, "sortBy": sort}, len(rows))
            order = [(key(h), h["distance"]) for h in hotels]
            check(order == sorted(order), f"{sort} first, then distance from {text}")
    for sort, key in (("score", lambda h: -h["score"]), ("price", lambda h: h["price"])):
        hotels = every(app, {"sortBy": sort}, len(rows))
        check([key(h) for h in hotels] == sorted(key(h) for h in hotels), f"sorted by {sort}")
        check(all(h["distance"] is None for h in hotels), f"no distance without a location, by {sort}")
    plain = app.post("/hotel/list", {"size": 50})[1]["hotels"]
    for sort in ("default", "", None, "name"):
        check.equal(app.post("/hotel/list", {"size": 50, "sortBy": sort})[1]["hotels"], plain, f"sortBy {sort!r} is by relevance")


def test_keywords(app, rows):
    brand = max({r["brand"] for r in rows if r["brand"].isalpha()}, key=lambda b: (sum(r["brand"] == b for r in rows), b))
    status, body = app.post("/hotel/list", {"key": brand, "size": 1000})
    found = {h["id"] for h in body["hotels"]}
    want = {int(r["id"]) for r in rows if r["brand"] == brand}
    check(status == 200 and want <= found, f"every hotel of {brand} is found by its name", f"{len(want - found)} are not")
    first = [h["brand"] for h in body["hotels"][:5]]
    check(all(brand in f or brand in h["name"] for f, h in zip(first, body["hotels"])), f"hotels of {brand} come first", first)
    name = rows[7]["name"]
    body = app.post("/hotel/list", {"key": name, "size": 3})[1]
    check(rows[7]["id"] in [str(h["id"]) for h in body["hotels"]], "a whole name finds its hotel", name)
    check.equal(app.post("/hotel/list", {"key": "zzqqxxvv"})[1], {"total": 0, "hotels": []}, "a word that no hotel has")
    city = rows[0]["city"]
    both = app.post("/hotel/list", {"key": brand, "city": city, "size": 1000})[1]
    check(all(h["city"] == city for h in both["hotels"]) and both["total"] == sum(1 for h in body_all(app, brand) if h["city"] == city),
          "a keyword and a city")
    filters = app.post("/hotel/filters", {"key": brand})[1]
    hotels = body_all(app, brand)
    check.equal((set(filters["品牌"]), set(filters["城市"]), set(filters["星级"])),
                ({h["brand"] for h in hotels}, {h["city"] for h in hotels}, {h["starName"] for h in hotels if h["starName"]}),
                "filters reflect the keyword's hotels")


def body_all(app, key):
    return app.post("/hotel/list", {"key": key, "size": 10000})[1]["hotels"]


def test_promotion(app, search, rows):
    ids = sorted(int(r["id"]) for r in rows)[3:40:12]
    check.equal(command(search.url, search.index, "promote", *map(str, ids))[0], 0, "promote")
    hotels = app.post("/hotel/list", {"size": 50})[1]["hotels"]
    check.equal({h["id"] for h in hotels[:len(ids)]}, set(ids), "promoted hotels come first")
    check([h["isAD"] for h in hotels] == [True] * len(ids) + [None] * (50 - len(ids)), "and are marked")
    check.equal(app.post("/hotel/list", {})[1]["total"], len(rows), "promotion changes no total")
    hotels = app.post("/hotel/list", {"sortBy": "price", "size": 50})[1]["hotels"]
    check([h["price"] for h in hotels] == sorted(h["price"] for h in hotels), "promotion does not outdo a sort")
    status, _, text = command(search.url, search.index, "promote", "1", check=False)
    check(status == 1 and "no hotel 1" in text, "promoting a hotel that is not there", (status, text))
    check.equal(command(search.url, search.index, "promote", "--off", *map(str, ids))[0], 0, "promote --off")
    hotels = app.post("/hotel/list", {"size": 1000})[1]["hotels"]
    check({h["isAD"] for h in hotels if h["id"] in ids} <= {False}, "not promoted any more")
    status, _, text = command(search.url, search.index + "-none", "promote", "1", check=False)
    check(status == 1 and "no index" in text and search.call("GET", f"/{search.index}-none")[0] == 404, "no index is made by promoting", text)


def test_suggestions(app, rows):
    all_texts = {t for r in rows for t in document(r)["suggestion"]}
    for typed in sorted({t[:n] for t in all_texts for n in (1, 2, 3) if len(t) > n})[:60]:
        status, texts, _ = app.get("/hotel/suggestion?key=" + quote(typed))
        want = {t for t in all_texts if t.startswith(typed) and all("\u4e00" <= c <= "\u9fff" for c in t)}  # pinyin mends other characters
        check(status == 200 and isinstance(texts, list) and set(texts) <= all_texts and len(texts) == len(set(texts)) <= 10,
              f"suggestion {typed}: at most ten texts of the index, once each", texts)
        check(want <= set(texts) or len(texts) == 10, f"suggestion {typed}: what begins so", f"{want - set(texts)} of {texts}")
    for typed, some in (("rj", "如家"), ("rujia", "如家"), ("ru", "如家")):
        if some in all_texts:
            check(some in app.get(f"/hotel/suggestion?key={typed}")[1], f"pinyin {typed} offers {some}")
    check.equal(app.get("/hotel/suggestion?key=zzqqxx")[1], [], "nothing begins with zzqqxx")


def counts(rows, column):
    found = {}
    for r in rows:
        if r[column]:
            found[r[column]] = found.get(r[column], 0) + 1
    return found


FACETS = {"city": "city", "brand": "brand", "star": "star_name", "district": "business"}


def facets_of(body):
    return {kind: {v["value"]: v["count"] for v in body["facets"][kind]} for kind in FACETS}


def test_find(app, rows):
    """What the page asks: conditions, words of the key that become conditions, facets."""
    def find(**request):
        status, body = app.post("/hotel/find", request)
        check.equal(status, 200, f"find {request}")
        return body

    def same(body, found, name):
        check.equal(body["total"], len(found), f"{name}: total")
        check({h["id"] for h in body["hotels"]} <= {int(r["id"]) for r in found} and len(body["hotels"]) == min(10, len(found)), f"{name}: hotels")

    body = find()
    same(body, rows, "find without conditions")
    check.equal((body["match"], body["didYouMean"], body["understood"], body["words"]), ("all", None, [], []), "nothing was said")
    for kind, column in FACETS.items():
        check(facets_of(body)[kind].items() <= counts(rows, column).items() and len(facets_of(body)[kind]) == min(100, len(counts(rows, column))), f"facet {kind}")
    cities = sorted(counts(rows, "city"), key=lambda c: -counts(rows, "city")[c])
    brand = max((b for b in counts(rows, "brand") if not any(c.isascii() for c in b)), key=lambda b: counts(rows, "brand")[b])
    body = find(cities=cities[:2], brands=[brand])
    of_brand = [r for r in rows if r["brand"] == brand]
    same(body, [r for r in of_brand if r["city"] in cities[:2]], "two cities and a brand")
    check.equal(facets_of(body)["city"], counts(of_brand, "city"), "a group's own choice leaves its other values")
    check.equal(facets_of(body)["brand"], counts([r for r in rows if r["city"] in cities[:2]], "brand"), "other groups count")
    body = find(key=f"{brand} {cities[0]}市")
    both = [r for r in of_brand if r["city"] == cities[0]]
    same(body, both, "a key of a brand and a city")
    check.equal([(u["kind"], u["value"], u["text"]) for u in body["understood"]], [("brand", brand, brand), ("city", cities[0], cities[0] + "市")], "they are named")
    check.equal(facets_of(body)["city"], counts(of_brand, "city"), "as facets that can be taken off")
    same(find(key=f"{cities[0]}{brand}", cities=[cities[1]]), [r for r in of_brand if r["city"] == cities[1]], "what is chosen counts, not what the key says of it")
    prices = sorted(int(r["price"]) for r in both)
    same(find(key=f"{cities[0]} {brand}", minPrice=prices[0], maxPrice=prices[0]), [r for r in both if int(r["price"]) == prices[0]], "and a price")
    street = rows[0]["address"].split("号")[0].rstrip("0123456789")
    here = [r for r in rows if street in r["address"]]
    body = find(key=street, size=1000)
    check({int(r["id"]) for r in here} <= {h["id"] for h in body["hotels"]}, f"addresses are searched: {street}")
    first = [h["address"] or "" for h in find(key=street)["hotels"][:3]]
    check(any(street in a for a in first), "and lead", first)
    body = find(key="zzqqxx")
    check.equal((body["total"], body["hotels"], body["words"]), (0, [], ["zzqqxx"]), "a word that no hotel has")
    body = find(key=f"{brand} zzqqxx")
    check(body["match"] == "some" and body["total"] == len(of_brand) and body["hotels"][0]["brand"] == brand, "some words, where all find nothing", body["total"])
    if brand == "如家":
        body = find(key="如佳")
        check.equal((body["match"], body["didYouMean"], body["total"]), ("corrected", "如家", len(of_brand)), "a word that sounds alike")
    if any(r["brand"] == "希尔顿" for r in rows):
        body = find(key="hiltn")
        check.equal((body["didYouMean"], body["understood"][0]["value"]), ("hilton", "希尔顿"), "an English name is mended in English")
    words = " ".join(f"w{i}" for i in range(100))
    check.equal(find(key=words)["words"], [f"w{i}" for i in range(16)], "so many words count")
    find(key="如" * 512)
    check(find(explain=True)["search"]["track_total_hits"], "the search is told")
    check.equal(len({h["id"] for page in range(1, 6) for h in find(page=page, size=20)["hotels"]}), 100, "pages do not overlap")
    distances = [h["distance"] for h in find(location="31.2304,121.4737")["hotels"]]
    check(distances == sorted(distances) and None not in distances, "nearest first", distances)
    hotels = find(key=brand, highlight=True)["hotels"]
    check(all("\ue000" in h["highlight"]["name"] for h in hotels), "what was understood is marked")


def test_complete(app, rows):
    by_city, by_brand = counts(rows, "city"), counts(rows, "brand")
    for kind, values in (("city", by_city), ("brand", by_brand)):
        for value in values:
            found = app.get("/hotel/complete?key=" + quote(value[0]))[1]
            check({"text": value, "kind": kind, "count": values[value]} in found or len(found) >= 10, f"{value[0]} may become {value}", found)
            check(all(f["text"].startswith(value[0]) for f in found[:1]), f"{value[0]}: what is written so is first", found[:2])
    if "上海" in by_city:
        check.equal(app.get("/hotel/complete?key=shangh")[1][0], {"text": "上海", "kind": "city", "count": by_city["上海"]}, "pinyin")
        check.equal(app.get("/hotel/complete?key=" + quote("上海"))[1][0]["text"], "上海", "a city")
        check(any(c["kind"] == "hotel" and "上海" in c["text"] for c in app.get("/hotel/complete?key=" + quote("上海"))[1]), "and hotels")
    check.equal(app.get("/hotel/complete?key=zzqqxx")[1], [], "nothing begins with zzqqxx")
    check.equal(app.get("/hotel/complete?key=")[0], 200, "nothing typed")
    check.equal(app.get("/hotel/complete")[0], 400, "no key")


def quote(text):
    import urllib.parse
    return urllib.parse.quote(text)


def test_refusals(app):
    bad = [(b"", None), (b"{", None), (b"[]", None), (b"\xff", None), (b'{"page":1}x', None), ({"page": 0}, "page"), ({"page": -3}, "page"), ({"page": "x"}, "page"),
           ({"size": -1}, "size"), ({"page": 1001}, "page"), ({"page": 2, "size": 5001}, "page"), ({"size": 10001}, "page"),
           ({"location": "91,0"}, "location"), ({"location": "0,181"}, "location"), ({"location": "here"}, "location"), ({"location": "1"}, "location"),
           ({"key": {"a": 1}}, "key"), ({"minPrice": "cheap"}, "minPrice"), ({"key": "酒" * 600}, "key")]
    for body, field in (({"cities": "上海"}, "cities"), ({"brands": [1, {}]}, "brands"), ({"stars": ["x"] * 101}, "stars"), ({"districts": ["酒" * 600]}, "districts")):
        status, answer = app.post("/hotel/find", body)
        check(status == 400 and answer["field"] == field, f"/hotel/find {str(body)[:40]}", (status, answer))
    for path in ("/hotel/list", "/hotel/filters", "/hotel/find"):
        for body, field in bad:
            status, answer = app.post(path, body)
            check(status == 400 and answer.get("status") == 400 and answer.get("field") == field and answer.get("reason"), f"{path} {str(body)[:40]}", (status, answer))
    check.equal(app.post("/hotel/list", {"page": 1000})[0], 200, "the last page that can be asked for")
    check.equal(app.post("/hotel/list", {"page": 10, "size": 0})[1]["hotels"], [], "size 0")
    check.equal(app.get("/hotel/suggestion")[0], 400, "a suggestion without key")
    check.equal(app.post("/hotel/list", b"{" + b" " * 70000 + b"}")[0], 413, "a body past the limit")
    check.equal(app.get("/nothing")[0], 404, "an unknown path")
    for method, path, allowed in (("GET", "/hotel/list", "POST"), ("PUT", "/hotel/filters", "POST"), ("POST", "/hotel/suggestion?key=a", "GET"), ("DELETE", "/", "GET"), ("GET", "/hotel/find", "POST"), ("POST", "/hotel/complete?key=a", "GET")):
        status, _, headers = call(app.host, method, path)
        check.equal((status, headers["allow"]), (405, allowed), f"{method} {path}")


def test_page_files(app):
    for path, kind in (("/", "text/html"), ("/app.js", "text/javascript"), ("/style.css", "text/css"), ("/icon.svg", "image/svg+xml")):
        status, body, headers = app.get(path)
        policy = headers.get("content-security-policy", "")
        check(status == 200 and headers["content-type"].startswith(kind) and "default-src 'none'" in policy and headers["etag"], path)
        check.equal(app.get(path, {"If-None-Match": headers["etag"]})[0], 304, f"{path} again")
        packed = http.client.HTTPConnection(app.host)
        packed.request("GET", path, headers={"Accept-Encoding": "gzip"})
        r = packed.getresponse()
        raw = r.read()
        text = gzip.decompress(raw).decode() if r.headers["content-encoding"] == "gzip" else raw.decode()
        packed.close()
        check(text == body if isinstance(body, str) else True, f"{path} packed")
        if kind != "image/svg+xml":
            check("http://" not in text and "https://" not in text.replace("http:\\/\\/", ""), f"{path} names no other host")


def test_import(search, folder, path, rows):
    index = search.index
    status, _, text = command(search.url, index, "import", path, check=True)
    check("created the index" in text, "the first import makes the index", text)
    status, out, _ = command(search.url, index, "import", path)
    check(f"{len(rows)} hotels imported" in out and f"holds {len(rows)}" in out, "importing again replaces", out)
    bad = os.path.join(folder, "bad.csv")
    for content, why in ((b"id,name\n1,a\n", "no column named"), (b"", "empty"), (open(path, "rb").read() + b"\n1,2,3\n", "fields, the header has")):
        with open(bad, "wb") as f:
            f.write(content)
        status, _, text = command(search.url, index, "import", bad, check=False)
        check(status == 65 and why in text and "line " in text, f"a bad file: {why}", (status, text))
    check.equal(command(search.url, index, "import", os.path.join(folder, "none.csv"), check=False)[0], 66, "no such file")
    check.equal(command("http://127.0.0.1:9", index, "import", path, check=False)[0], 69, "no search service")
    check.equal(command(search.url, index, "frobnicate", check=False)[0], 64, "no such command")
    check.equal(command(search.url, "a,b*", "import", path, check=False)[0], 64, "an index that is a pattern")
    test_earlier_form(search, index + "-old", path, rows)


def test_earlier_form(search, index, path, rows):
    text = {"type": "text", "analyzer": "ik_max_word"}
    earlier = {"name": {**text, "copy_to": "all"}, "brand": {"type": "keyword", "copy_to": "all"}, "city": {"type": "keyword", "copy_to": "all"}, "all": text}
    try:
        check.equal(search.call("PUT", f"/{index}", {"mappings": {"properties": earlier}})[0], 200, "an index of the earlier form")
        status, _, text = command(search.url, index, "import", path, check=False)
        check(status == 65 and "earlier form" in text and "--recreate" in text, "is refused", (status, text))
        check.equal(search.call("GET", f"/{index}/_count")[1].get("count"), 0, "and left as it was")
        status, out, _ = command(search.url, index, "import", path, "--recreate")
        check(f"holds {len(rows)}" in out, "unless told to re-create it", out)
        mapping = search.call("GET", f"/{index}")[1][index]["mappings"]["properties"]
        check.equal(mapping["suggestion"]["type"], "completion", "then it has the final form")
    finally:
        search.call("DELETE", f"/{index}")


def test_failures(search):
    with App("http://127.0.0.1:9", search.index) as app:
        for method, path, body in (("POST", "/hotel/list", {}), ("POST", "/hotel/filters", {}), ("GET", "/hotel/suggestion?key=a", None), ("GET", "/hotel/version", None), ("GET", "/health", None)):
            status, answer, _ = call(app.host, method, path, body)
            check(status == 503 and answer["error"] == "search_unavailable" and "hotels" not in answer, f"{path} without a search service", (status, answer))
        check.equal(app.post("/hotel/list", {"page": 0})[0], 400, "what is wrong is refused all the same")
        check.equal(app.get("/")[0], 200, "the page is there all the same")
    with App(search.url, search.index + "-absent") as app:
        for path in ("/hotel/list", "/hotel/find"):
            status, answer = app.post(path, {})
            check(status == 503 and "no index" in answer["reason"], f"{path} without an index", (status, answer))


def test_settings(search, folder):
    path = os.path.join(folder, "hotel.yml")
    with open(path, "w") as f:
        f.write(f"search:\n  url: {search.url}\n  timeout: 5s\nindex: {search.index}\n")
    app = App("unused", "unused")
    app.args = [application.HOTEL, "--config", path, "--port", str(app.port)]
    with app:
        check.equal(app.get("/health")[1].get("status"), "up", "settings out of a file")
    os.environ["SERAI_HOTEL_SEARCH_URL"] = "http://127.0.0.1:9"
    try:
        with app:
            check.equal(app.get("/health")[0], 503, "the environment wins over the file")
        app.args += ["--search-url", search.url]
        with app:
            check.equal(app.get("/health")[0], 200, "flags win over the environment")
    finally:
        del os.environ["SERAI_HOTEL_SEARCH_URL"]
    with open(path, "w") as f:
        f.write("serch.url: x\n")
    status, _, text = command(search.url, "x", "--config", path, "serve", check=False)
    check(status == 64 and "search.url" in text, "an unknown setting", (status, text))


def main():
    application.need("serai-hotel")
    with tempfile.TemporaryDirectory() as folder, Search() as search:
        path, rows = application.hotels_csv(folder)
        test_import(search, folder, path, rows)
        with App(search.url, search.index) as app:
            check.equal(app.get("/health")[1], {"status": "up", "index": search.index, "hotels": len(rows)}, "health")
            test_documents(app, rows)
            test_filters_of_lists(app, rows)
            test_order(app, rows)
            test_keywords(app, rows)
            test_suggestions(app, rows)
            test_find(app, rows)
            test_complete(app, rows)
            test_refusals(app)
            test_page_files(app)
            test_promotion(app, search, rows)
        test_failures(search)
        test_settings(search, folder)
    check.end()


if __name__ == "__main__":
    main()
