#!/usr/bin/env python3
"""The web page in headless Chromium: typing, completions, filters, order, places, pages, languages, phones, failures.
Screenshots are left in <build>/screenshots."""
import csv
import os
import re
import subprocess
import tempfile
import time

import application
from application import App, Checks, Search, command
from browser import Browser
from cluster import Cluster

check = Checks()
HOTELS = 1200
READY = "document.getElementById('results').getAttribute('aria-busy') === 'false' && !document.querySelector('.ghost')"
CARDS = "document.querySelectorAll('.card:not(.ghost)').length"


class Page:
    def __init__(self, browser, app):
        self.b, self.app = browser, app

    def go(self, path="/"):
        self.b.open(self.app.url + path)
        self.ready()

    def ready(self):
        check(self.b.wait(READY), "the page comes to rest", self.b.text("main")[:200])

    def total(self):
        return int("".join(c for c in re.sub("“.*”", "", self.b.text("#total")) if c.isdigit()) or -1)

    def cards(self):
        return self.b.script("""return [...document.querySelectorAll('.card')].map(e => ({id: +e.dataset.id, name: e.querySelector(".title").innerText,
            promoted: !!e.querySelector('.badge'), price: +e.querySelector('.price').innerText.replace(/\\D/g, ''), score: e.querySelector('.score').innerText,
            distance: e.querySelector('.distance')?.innerText ?? null, text: e.innerText}))""")

    def chip(self, text, where=".group"):
        """Presses the chip of this text, and waits for the search that follows."""
        self.b.script(f"""const c = [...document.querySelectorAll('{where} .chip')].find(e => e.firstChild.data === arguments[0]);
            document.getElementById('results').setAttribute('aria-busy', 'true'); c.click()""", text)
        self.ready()

    def titles(self):
        return self.b.script("return document.title")

    def pressed(self, kind):
        return self.b.script("return [...document.querySelectorAll(`.group[data-kind=${arguments[0]}] .chip[aria-pressed=true]`)].map(e => e.firstChild.data)", kind)

    def counts(self, kind):
        """Of the values that a group shows."""
        return self.b.script("""return Object.fromEntries([...document.querySelectorAll(`.group[data-kind=${arguments[0]}] .chip:not(.more)`)].map(
            e => [e.firstChild.data, +e.querySelector('small').innerText.replace(/,/g, '')]))""", kind)

    def query(self):
        return self.b.script("return Object.fromEntries(new URLSearchParams(location.search))")


def test_first_look(p, rows, promoted):
    p.go()
    check.equal(p.total(), len(rows), "the total of all hotels")
    cards = p.cards()
    check.equal(len(cards), 10, "ten cards")
    check.equal({c["id"] for c in cards if c["promoted"]}, set(promoted), "promoted hotels carry the badge")
    row = next(r for r in rows if int(r["id"]) == cards[0]["id"])
    check(str(int(row["score"]) / 10) == cards[0]["score"] and int(row["price"]) == cards[0]["price"] and row["name"] == cards[0]["name"], "a card says what the row says", cards[0])
    check.equal(p.b.script("return document.querySelector('.group .chips').children.length > 5"), True, "cities to choose from")
    p.b.screenshot("desktop")
    other = [u for u in p.b.requested() if not u.startswith((p.app.url, "data:", "chrome", "about:"))]
    check.equal(other, [], "nothing is asked of other hosts")
    unnamed = p.b.script("""return [...document.querySelectorAll('button, input, select, [role=listbox]')].filter(e => e.offsetParent &&
        !(e.getAttribute('aria-label') || e.innerText?.trim() || e.labels?.length)).map(e => e.id || e.className)""")
    check.equal(unnamed, [], "every control has a name")


OFFERED = "[...document.querySelectorAll('#completions li')].map(e => e.dataset.text)"


def test_completion(p, rows):
    p.go()
    p.b.click("#key")
    p.b.type("#key", "ru")
    check(p.b.wait(f"{OFFERED}.includes('如家')"), "pinyin is completed", p.b.texts("#completions li"))
    check(p.b.wait("[...document.querySelectorAll('#completions small')].some(e => e.innerText.startsWith('品牌 · '))"), "with kind and number", p.b.texts("#completions li"))
    check.equal(p.b.script("return document.getElementById('key').getAttribute('aria-expanded')"), "true", "the list is announced")
    p.b.type("#key", "down")
    check.equal(p.b.script("return document.querySelector('[aria-selected=true]').id === document.getElementById('key').getAttribute('aria-activedescendant')"), True, "arrows choose")
    p.b.screenshot("completion")
    p.b.type("#key", "escape")
    check.equal(p.b.script("return document.getElementById('completions').hidden"), True, "Escape closes the list")
    p.b.type("#key", "down")
    check(p.b.wait("!document.getElementById('completions').hidden"), "an arrow opens it again")
    for _ in range(20):
        if p.b.script("return document.querySelector('[aria-selected=true]')?.dataset.text") == "如家":
            break
        p.b.type("#key", "down")
    p.b.type("#key", "enter")
    check(p.b.wait("new URLSearchParams(location.search).get('q') === '如家'"), "Enter takes the completion")
    p.ready()
    check.equal(p.query(), {"q": "如家"}, "the address says so")
    want = sum(r["brand"] == "如家" for r in rows)
    check(p.total() == want and all("如家" in c["name"] for c in p.cards()), "and its hotels are found", (p.total(), want))
    p.b.click("#clear")
    p.b.wait("location.search === ''")
    p.ready()
    check.equal(p.total(), len(rows), "clearing shows all again")
    p.go()
    before = p.b.script("return history.length")
    p.b.type("#key", "上海")
    check(p.b.wait("document.getElementById('total').innerText.includes('上海')"), "results follow while typing", p.b.text("#total"))
    check(p.b.wait(f"{OFFERED}[0] === '上海'"), "a city is offered first", p.b.texts("#completions li"))
    p.b.type("#key", " 如家")
    p.b.wait("document.getElementById('total').innerText.includes('如家')")
    p.ready()
    both = [r for r in rows if r["city"] == "上海" and r["brand"] == "如家"]
    check.equal((p.total(), p.b.script("return history.length")), (len(both), before + 1), "what is typed is one entry of the history")
    check.equal(p.b.script("return document.activeElement.id"), "key", "the field keeps the focus")


def test_understood(p, rows):
    both = [r for r in rows if r["city"] == "上海" and r["brand"] == "如家"]
    p.go("/?q=上海如家酒店")
    check.equal((p.total(), p.pressed("city"), p.pressed("brand")), (len(both), ["上海"], ["如家"]), "words of the key are filters")
    check.equal(p.b.texts("#chosen .chip[aria-pressed]"), ["上海×", "如家×"], "which are shown")
    check.equal(p.titles(), "上海如家酒店 · 酒店搜索", "the title says it")
    p.chip("北京")
    found = [r for r in rows if r["city"] in ("上海", "北京") and r["brand"] == "如家"]
    check.equal((p.total(), sorted(p.pressed("city"))), (len(found), ["上海", "北京"]), "a second value beside what was said")
    p.go("/?q=上海如家酒店")
    p.chip("上海", "#chosen")
    check.equal((p.query(), p.total()), ({"q": "如家酒店"}, sum(r["brand"] == "如家" for r in rows)), "taken off, it leaves the key")
    p.go("/?q=如佳")
    check.equal(p.total(), sum(r["brand"] == "如家" for r in rows), "a slip is mended")
    check("如佳" in p.b.text("#meant") and p.b.text("#meant button") == "如家", "and said", p.b.text("#meant"))
    p.b.screenshot("corrected")
    p.b.click("#meant button")
    p.b.wait("new URLSearchParams(location.search).get('q') === '如家'")
    p.ready()
    check.equal(p.b.script("return document.getElementById('meant').hidden"), True, "what was meant can be taken")
    p.go("/?q=五星级 如家")
    check("部分符合" in p.b.text("#meant") and p.b.texts("#chosen .chip") == [], "hotels with some of the words are said to be so", p.b.text("#meant"))
    p.go("/?q=<img src=x onerror=alert(1)>如家")
    check.equal(p.b.script("return document.querySelectorAll('main img').length"), 0, "a key is text")


def test_filters(p, rows):
    p.go()
    check.equal(p.counts("brand").items() <= {b: sum(r["brand"] == b for r in rows) for b in {r["brand"] for r in rows}}.items(), True, "values have counts")
    check.equal(p.b.script("return document.querySelector('.group[data-kind=district]')"), None, "districts are shown with a city")
    p.chip("上海")
    found = [r for r in rows if r["city"] == "上海"]
    check.equal((p.query(), p.total()), ({"city": "上海"}, len(found)), "a city")
    check(len(p.counts("city")) > 5, "other cities can still be chosen")
    check(set(p.counts("brand")) <= {r["brand"] for r in found} and set(p.counts("district")) <= {r["business"] for r in found}, "brands and districts are those of the city")
    p.chip("四钻")
    p.chip("五钻")
    found = [r for r in found if r["star_name"] in ("四钻", "五钻")]
    check.equal(p.total(), len(found), "a city and two classes")
    p.b.type("#min", "300")
    p.b.type("#max", "900")
    p.b.click("#prices button")
    p.b.wait("location.search.includes('max=900')")
    p.ready()
    found = [r for r in found if 300 <= int(r["price"]) <= 900]
    check.equal(p.total(), len(found), "and a price range")
    check.equal(p.titles(), "上海 四钻 五钻 ¥300 – ¥900 · 酒店搜索", "the title says it all")
    p.b.screenshot("filters")
    p.chip("上海")
    check.equal(p.query(), {"star": "五钻", "min": "300", "max": "900"}, "a second press takes a filter away")
    p.b.back()
    p.b.wait("location.search.includes('city')")
    p.ready()
    check.equal(p.total(), len(found), "back goes back")
    p.chip("四钻", "#chosen")
    check.equal(p.pressed("star"), ["五钻"], "a condition is taken off where all are shown")
    p.b.click("#clearAll")
    p.b.wait("location.search === ''")
    p.ready()
    check.equal((p.total(), p.b.script("return document.getElementById('chosen').hidden")), (len(rows), True), "or all are")
    p.go("/?min=500")
    check.equal(p.total(), sum(int(r["price"]) >= 500 for r in rows), "one bound alone")


def test_prices(p, rows):
    p.go()
    p.b.type("#min", "500")
    p.b.type("#max", "300")
    p.b.click("#prices button")
    check(p.b.wait("document.getElementById('priceError').innerText !== ''"), "a lowest price above the highest is refused")
    check.equal((p.query(), p.b.script("return document.activeElement.id")), ({}, "min"), "and not searched for")
    p.go("/?min=500&max=300")
    check.equal((p.total(), p.query()), (len(rows), {}), "nor as an address")
    p.go("/?page=99999")
    check.equal(p.query(), {}, "a page that there is not is the first one, also in the address")
    p.go()
    before = p.b.script("document.getElementById('low').focus(); return history.length")
    for _ in range(4):
        p.b.type("#low", "\ue014")
    check(p.b.wait("location.search === '?min=200'"), "keys move a thumb", p.query())
    p.ready()
    check.equal(p.b.script("return [history.length, document.activeElement.id]"), [before + 1, "low"], "by as many steps as one entry of the history")


def test_keyboard(p):
    """What is pressed by key has the focus afterwards, or what is there in its place."""
    p.go()
    for selector in (".group[data-kind=city] .chip", ".group[data-kind=city] .more"):
        name = p.b.script("const e = document.querySelector(arguments[0]); e.focus(); return e.dataset.focus", selector)
        p.b.script("document.getElementById('results').setAttribute('aria-busy', 'true')" if "more" not in selector else "")
        p.b.type(selector, "enter")
        p.ready()
        check.equal(p.b.script("return document.activeElement.dataset.focus"), name, f"{selector} keeps the focus")
    p.b.script("document.querySelector('#chosen .chip').focus(); document.getElementById('results').setAttribute('aria-busy', 'true')")
    p.b.type("#chosen .chip", "enter")
    p.ready()
    check.equal(p.b.script("return document.activeElement.id"), "results", "the last condition gone, the results have it")
    check.equal(p.b.script("return [...document.querySelectorAll('h1')].map(e => e.innerText)"), ["酒店搜索"], "one heading of the page")


def test_weight(p):
    p.b.cdp("Network.enable")
    p.b.cdp("Network.clearBrowserCache")
    p.go("/?weight")
    bytes_sent = p.b.script("return performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).reduce((n, e) => n + e.transferSize, 0)")
    check(8000 < bytes_sent < 60000, "the page with its first results weighs less than 60 KB", bytes_sent)
    print(f"the page weighs {bytes_sent} bytes")


def choose(p, selector, value):
    p.b.script("""const s = document.querySelector(arguments[0]); s.value = arguments[1];
        document.getElementById('results').setAttribute('aria-busy', 'true'); s.dispatchEvent(new Event('change', {bubbles: true}))""", selector, value)
    p.ready()


def test_order_and_place(p):
    p.go()
    choose(p, "#sort", "price")
    prices = [c["price"] for c in p.cards()]
    check(prices == sorted(prices), "cheapest first", prices)
    choose(p, "#sort", "")
    p.b.click("#near")
    p.b.screenshot("place")
    choose(p, "#landmark", "31.2304,121.4737")
    cards = p.cards()
    check(all(c["distance"] for c in cards) and "上海" in cards[0]["text"], "nearest hotels with their distances", cards[0])
    check.equal(p.query(), {"at": "31.2304,121.4737"}, "the place is in the address")
    p.b.click("#near")
    p.b.script("document.getElementById('coordinates').value = 'somewhere'")
    p.b.click("#place .go")
    check(p.b.text("#placeError") != "", "a bad place is explained")
    p.b.type("#key", "escape")
    p.b.click("#near")
    p.b.click("#nowhere")
    p.b.wait("!location.search.includes('at=')")
    p.ready()
    check(all(c["distance"] is None for c in p.cards()), "no place, no distances")


def test_pages(p, rows):
    p.go("/?city=北京")
    first = p.cards()
    p.b.click("#pages button[aria-label='下一页']")
    p.b.wait("location.search.includes('page=2')")
    p.ready()
    second = p.cards()
    check(not {c["id"] for c in first} & {c["id"] for c in second}, "the second page is another")
    check.equal(p.b.text("#pages [aria-current]"), "2", "and marked")
    want = sum(r["city"] == "北京" for r in rows)
    last = p.b.texts("#pages button")[-2]
    check.equal(int(last), (want + 9) // 10, "as many pages as hotels need")
    p.chip("五钻")
    check.equal(p.query().get("page"), None, "a filter goes back to the first page")


def test_languages(p):
    p.go("/?q=外滩")
    check.equal(p.b.script("return [document.documentElement.lang, document.title]"), ["zh-CN", "外滩 · 酒店搜索"], "Chinese for a Chinese browser")
    p.b.click("#language")
    check.equal(p.b.script("return [document.documentElement.lang, document.title]"), ["en", "外滩 · Hotel search"], "English when asked")
    check("hotels for" in p.b.text("#total") and "City" in p.b.text("#filters"), "texts follow")
    p.b.screenshot("english")
    p.go("/")
    check.equal(p.b.script("return document.documentElement.lang"), "en", "the choice is kept")
    p.b.click("#language")
    check.equal(p.b.script("return document.documentElement.lang"), "zh-CN", "and can be taken back")


def test_phone(p):
    for width, height in ((360, 740), (414, 896)):
        p.b.viewport(width, height, phone=True)
        for path in ("/", "/?city=上海&at=31.2304,121.4737", "/?page=50", "/?q=zzqqxx"):
            p.go(path)
            check.equal(p.b.script("return document.documentElement.scrollWidth"), width, f"{path} fits {width} pixels")
        for path in ("/", "/?q=上海如家", "/?city=上海&city=北京&star=五钻&min=100"):
            p.go(path)
            top = p.b.script("return document.querySelector('.card').getBoundingClientRect().bottom")
            check(top < height, f"{path}: a hotel is in the first screen of {height} pixels", top)
    p.b.viewport(360, 740, phone=True)
    p.go("/?at=31.2304,121.4737")
    p.b.screenshot("phone")
    p.b.click("#filterToggle")
    check(p.b.wait("document.querySelector('.group .chip').offsetParent !== null"), "filters unfold")
    p.b.click("#near")
    box = p.b.script("const r = document.getElementById('place').getBoundingClientRect(); return [r.left >= 0, r.right <= innerWidth]")
    check.equal(box, [True, True], "the choice of a place is within the page")
    p.b.screenshot("phone-filters")
    p.b.type("#coordinates", "escape")
    small = p.b.script("return [...document.querySelectorAll('button, input, select')].filter(e => e.offsetParent && e.getBoundingClientRect().height < 32).map(e => e.id)")
    check.equal(small, [], "fingers find every control")
    p.b.dark(True)
    p.go("/")
    check.equal(p.b.script("return getComputedStyle(document.body).backgroundColor"), "rgb(20, 23, 26)", "dark where the system is")
    p.b.screenshot("phone-dark")
    p.b.dark(False)
    p.b.viewport(1200, 900)


def test_empty(p, rows):
    p.go("/?q=zzqqxx")
    check("没有" in p.b.text(".notice"), "nothing found is said")
    p.b.screenshot("empty")
    p.b.click(".notice button")
    p.b.wait("location.search === ''")
    p.ready()
    check.equal(p.total(), len(rows), "and leads back")


def test_pictures(p, search, ident):
    """Pictures on other hosts are asked for when the visitor says so, and drawn when they do not come."""
    search.call("POST", f"/{search.index}/_update/{ident}?refresh=true", {"doc": {"pic": "https://pictures.example/a.jpg"}})
    p.go()
    p.b.requested()
    check.equal(p.b.script("return document.querySelectorAll('img').length"), 0, "no pictures unless asked for")
    p.b.click("#pictures")
    check(p.b.wait("document.querySelectorAll('img').length === 0 && document.querySelectorAll('.drawn').length === 10"), "a picture that fails is drawn")
    check(any("pictures.example" in u for u in p.b.requested()), "then they are asked for")
    p.b.click("#pictures")
    p.go()
    check(not any("pictures.example" in u for u in p.b.requested()), "and not any more")


def test_failures(b, search):
    with App("http://127.0.0.1:9", search.index) as app:
        p = Page(b, app)
        p.go()
        check("搜索服务" in p.b.text(".notice.error"), "an absent search service is said", p.b.text("main")[-200:])
        p.b.screenshot("unavailable")
    check(b.script("document.querySelector('.notice button').click(); return true") and b.wait("document.querySelector('.notice.error p').innerText.includes('服务器')"),
          "an absent application too")


def test_comes_back(b):
    """Over three nodes: a page stands still, says that what it shows is old while none answers, and goes on by itself."""
    with tempfile.TemporaryDirectory() as folder, Cluster(3) as cluster:
        path = os.path.join(folder, "hotels.csv")
        with open(path, "w", encoding="utf-8") as f:
            subprocess.run([application.HOTEL, "generate", "1000"], stdout=f, check=True)
        url, index = ",".join(n.url for n in cluster.nodes), "pages"
        command(url, index, "import", path)
        cluster.wait_green(index)
        with App(url, index) as app:
            p = Page(b, app)
            p.go("/?sort=score")
            b.script("""window.drawn = 0; new MutationObserver(() => window.drawn++).observe(document.getElementById('results'), {childList: true, subtree: true});
                new MutationObserver(() => window.drawn++).observe(document.getElementById('toast'), {childList: true, attributes: true})""")
            time.sleep(10)
            check.equal(b.script("return window.drawn"), 0, "a page stands still for ten seconds")
            cluster.nodes[0].kill()
            time.sleep(2)
            check.equal((b.script("return window.drawn"), b.texts(".notice.error")), (0, []), "a killed node is not seen")
            for n in cluster.nodes[1:]:
                n.kill()
            check(b.wait("document.getElementById('toast').innerText.includes('之前的结果')"), "a page says that its results are old", b.text("#toast"))
            check.equal(b.script(f"return {CARDS}"), 10, "which it goes on to show")
            b.open(app.url + "/?city=上海")
            check(b.wait("!!document.querySelector('.notice.error')"), "a new one cannot be filled", b.text("main")[:200])
            Cluster.together(lambda n: n.start(), cluster.nodes)
            check(b.wait(f"{CARDS} === 10"), "and is filled when the nodes are back", b.text("main")[:200])


def test_more_than_the_window(b, search, folder):
    path = os.path.join(folder, "many.csv")
    with open(path, "w", encoding="utf-8") as f:
        subprocess.run([application.HOTEL, "generate", "10050", "--seed", "3"], stdout=f, check=True)
    command(search.url, search.index, "import", path, "--recreate")
    with App(search.url, search.index) as app:
        p = Page(b, app)
        p.go()
        check("10,050" in p.b.text("#total"), "totals above 10,000", p.b.text("#total"))
        check.equal(p.b.texts("#pages button")[-2], "1000", "pages end at 10,000")
        p.go("/?page=1000")
        check.equal(len(p.cards()), 10, "the last page that can be reached")


def main():
    application.need("serai-hotel")
    with Browser() as b, tempfile.TemporaryDirectory() as folder, Search() as search:
        path = os.path.join(folder, "hotels.csv")
        with open(path, "w", encoding="utf-8") as f:
            subprocess.run([application.HOTEL, "generate", str(HOTELS)], stdout=f, check=True)
        with open(path, encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f))
        promoted = [int(rows[i]["id"]) for i in (5, 50, 500)]
        command(search.url, search.index, "import", path)
        command(search.url, search.index, "promote", *map(str, promoted))
        with App(search.url, search.index) as app:
            p = Page(b, app)
            test_first_look(p, rows, promoted)
            test_completion(p, rows)
            test_understood(p, rows)
            test_filters(p, rows)
            test_prices(p, rows)
            test_keyboard(p)
            test_weight(p)
            test_order_and_place(p)
            test_pages(p, rows)
            test_languages(p)
            test_phone(p)
            test_empty(p, rows)
            errors = [e["message"] for e in b.logs("browser") if e["level"] == "SEVERE"]
            check.equal(errors, [], "the browser complains about nothing")
            test_pictures(p, search, promoted[0])
        test_failures(b, search)
        test_comes_back(b)
        test_more_than_the_window(b, search, folder)
    check.end()


if __name__ == "__main__":
    main()
