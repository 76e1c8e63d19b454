#!/usr/bin/env python3
"""The management service and the synchronisation against real MariaDB, RabbitMQ and a node: every endpoint, every
validation, all payload forms, promotion, services that are away, import and verify."""
import concurrent.futures
import os
import struct
import subprocess
import time
from urllib.parse import quote

import amqp
import application
import node
import services
from application import Checks
from services import World, record, wanted

check = Checks()
JAVA_LONG = bytes.fromhex("aced00057372000e6a6176612e6c616e672e4c6f6e673b8be490cc8f23df0200014a000576616c7565787200106a6176612e6c616e672e4e756d62657286ac951d0b94e08b0200007870")


def test_endpoints(w):
    a = w.admin
    check.equal(a.call("GET", "/hotel/list"), (200, {"total": 0, "hotels": []}), "an empty table")
    r = record(36934)
    status, body, headers = application.call(a.host, "POST", "/hotel", r)
    check.equal((status, body, headers["location"]), (201, r, "/hotel/36934"), "a hotel is added, and answered as it is stored")
    check.equal(a.call("GET", "/hotel/36934"), (200, r), "and is there")
    status, body = a.call("POST", "/hotel", r)
    check.equal((status, body["error"], body["field"]), (409, "conflict", "id"), "an id that is taken")
    check.equal(a.call("PUT", "/hotel/36934", {"price": 300, "name": None})[1], {**r, "price": 300}, "absent and null properties stay")
    check.equal(a.call("PUT", "/hotel", {"id": 36934, "price": 301, "pic": "/p.jpg"}), (200, {**r, "price": 301, "pic": "/p.jpg"}), "the id may be in the body")
    check.equal(a.call("PUT", "/hotel/36934", {"id": 36934, "business": "", "pic": ""})[1], {**r, "price": 301, "business": None, "pic": None}, "an empty text empties what may be empty")
    check.equal(a.call("PUT", "/hotel/36934", {}), (200, {**r, "price": 301, "business": None, "pic": None}), "nothing to change")
    for method, path, body in (("GET", "/hotel/5", None), ("PUT", "/hotel/5", {"price": 1}), ("PUT", "/hotel", {"id": 5, "price": 1}), ("DELETE", "/hotel/5", None)):
        status, answer = a.call(method, path, body)
        check.equal((status, answer["error"]), (404, "not_found"), f"{method} {path}: no such hotel")
    check.equal(a.call("DELETE", "/hotel/36934"), (204, ""), "a hotel is deleted")
    check.equal(a.call("GET", "/hotel/36934")[0], 404, "and is gone")
    for method, path, allowed in (("DELETE", "/hotel", "POST, PUT"), ("POST", "/hotel/1", "GET, PUT, DELETE"), ("POST", "/hotel/list", "GET"), ("POST", "/status", "GET"), ("GET", "/hotel/1/promotion", "PUT")):
        status, _, headers = application.call(a.host, method, path, {})
        check.equal((status, headers["allow"]), (405, allowed), f"{method} {path} is not allowed")
    check.equal(a.call("GET", "/nothing")[0], 404, "a path that leads nowhere")
    check.equal(a.call("GET", "/health")[0], 200, "it is well")
    check.equal(a.call("POST", "/hotel", record(1), {"Sec-Fetch-Site": "cross-site"})[0], 403, "pages of other sites change nothing")
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example", "Origin": "http://evil.example"}, {"Host": "evil.example", "Sec-Fetch-Site": "same-origin"}):
        check.equal(a.call("POST", "/hotel", record(1), headers)[0], 403, f"nor with {headers}")
        check.equal(a.call("DELETE", "/hotel/36934", None, headers)[0], 403, f"nor delete with {headers}")
    check.equal(a.call("POST", "/hotel", record(1), {"Content-Type": "text/plain"})[0], 415, "what a form may send is no JSON")
    for ident in (-(1 << 63), (1 << 63) - 1):
        check.equal(a.call("POST", "/hotel", record(ident))[1]["id"], ident, f"id {ident}")
        check.equal(a.call("DELETE", f"/hotel/{ident}")[0], 204, f"and away with {ident}")
    check.equal(a.call("POST", "/hotel", record("77", price="5", latitude=31.5))[1], record(77, price=5, latitude="31.5"), "whole numbers as text, degrees as numbers")
    text = "'; DROP TABLE tb_hotel; -- \\ \" 𠮷🏨"
    check.equal(a.call("PUT", "/hotel/77", {"name": text})[1]["name"], text, "texts are texts")
    check.equal(a.call("GET", "/hotel/77")[1]["name"], text, "four-byte characters too")
    a.call("PUT", "/hotel/77", {"name": "a\\b!c%d_e"})
    for key, found in (("a\\b", 1), ("!c", 1), ("%d", 1), ("d_e", 1), ("a_b", 0), ("a%b", 0), ("a\\\\b", 0), ("!!c", 0)):
        check.equal(a.call("GET", f"/hotel/list?size=0&key={quote(key)}")[1]["total"], found, f"what looks like a pattern, {key!r}, is text")
    a.call("DELETE", "/hotel/77")


def test_validation(w):
    a = w.admin
    cases = [
        ("id", "x"), ("id", 1.5), ("id", 1 << 63), ("id", None), ("id", ""), ("id", True), ("id", []),
        ("name", None), ("name", ""), ("name", "  "), ("name", "字" * 256), ("name", 5), ("name", {}), ("address", None), ("address", "a" * 256), ("address", False),
        ("price", None), ("price", -1), ("price", 1.5), ("price", "cheap"), ("price", 1 << 31), ("price", "1e2"),
        ("score", None), ("score", -1), ("score", 51), ("score", "4.5"), ("score", 4.5),
        ("brand", None), ("brand", "b" * 33), ("brand", 7), ("city", None), ("city", "城" * 33), ("city", ""),
        ("starName", "六星级"), ("starName", "五"), ("starName", "豪华"), ("starName", 5), ("starName", "五星级" * 6), ("business", "b" * 256), ("business", 1),
        ("latitude", None), ("latitude", ""), ("latitude", "90.1"), ("latitude", "-91"), ("latitude", "north"), ("latitude", "NaN"), ("latitude", "1d"), ("latitude", "0x1p3"), ("latitude", True),
        ("latitude", "0" * 33), ("longitude", None), ("longitude", "180.5"), ("longitude", "-180.01"), ("longitude", "1,5"), ("longitude", "∞"), ("pic", "p" * 256), ("pic", []),
    ]
    for field, value in cases:
        status, body = a.call("POST", "/hotel", record(4711, **{field: value}))
        named = [f["field"] for f in body.get("fields", [])] if isinstance(body, dict) else body
        check.equal((status, named), (400, [field]), f"{field} {str(value)[:20]!r} is refused by name")
        check(status == 400 and all(f["reason"] for f in body["fields"]), "with a reason")
        if value is not None and field != "id":
            status, body = a.call("PUT", "/hotel/4711", {field: value})
            check.equal(status, 404 if value == "" and field in ("starName", "business", "pic") else 400, f"PUT: {field} {str(value)[:20]!r}")
    status, body = a.call("POST", "/hotel", {"id": 1, "price": "x", "starName": "none"})
    check.equal({f["field"] for f in body["fields"]}, {"name", "address", "price", "score", "brand", "city", "starName", "latitude", "longitude"}, "every wrong field is named at once")
    for text in (b"", b"{", b"[]", b"5", b"{\"id\":1}{", b"\xff\xfe"):
        status, body = a.call("POST", "/hotel", text)
        check.equal((status, body["error"]), (400, "bad_request"), f"a body {text!r}")
    status, body = a.call("PUT", "/hotel/5", {"id": 6, "price": 1})
    check.equal((status, [f["field"] for f in body["fields"]]), (400, ["id"]), "two ids")
    status, body = a.call("PUT", "/hotel", {"price": 1})
    check.equal((status, [f["field"] for f in body["fields"]]), (400, ["id"]), "no id")
    for path in ("/hotel/abc", "/hotel/1.5", "/hotel/", "/hotel/99999999999999999999"):
        status, body = a.call("GET", path)
        check.equal((status, body.get("field")), (400, "id"), f"{path} is no id")
    for query, field in (("page=0", "page"), ("page=x", "page"), ("size=-1", "size"), ("size=1001", "size"), ("key=" + "k" * 300, "key")):
        status, body = a.call("GET", f"/hotel/list?{query}")
        check.equal((status, body.get("field")), (400, field), f"list?{query}")
    check.equal(a.call("POST", "/hotel", record(4711, **{"name": "字" * 255, "brand": "b" * 32, "starName": "五钻", "latitude": "-90", "longitude": "180", "score": 0, "price": 0}))[0], 201, "all at their limits")
    check.equal(a.call("DELETE", "/hotel/4711")[0], 204, "and away")
    check.equal(w.db.sql("SELECT COUNT(*) FROM tb_hotel"), [["0"]], "nothing that was refused was stored")


def test_follows(w):
    a = w.admin
    r = record(1)
    a.call("POST", "/hotel", r)
    seen = lambda: [h["id"] for h in w.app.post("/hotel/list", {})[1].get("hotels", [])] == [1]
    check(w.until(seen), "a new hotel is found")
    check.equal(w.document(1), wanted(r), "its document is made of the row")
    a.call("PUT", "/hotel/1", {"price": 111, "business": "徐家汇"})
    check(w.until(lambda: w.document(1) == wanted({**r, "price": 111, "business": "徐家汇"})), "a change follows", w.document(1))
    check.equal(a.call("PUT", "/hotel/1/promotion", {"isAD": True}), (200, {"id": 1, "isAD": True}), "promoted")
    check.equal(a.call("GET", "/hotel/promotions?ids=1,2"), (200, {"indexed": ["1"], "promoted": ["1"]}), "and shown so")
    a.call("PUT", "/hotel/1", {"price": 112})
    check(w.until(lambda: w.document(1)["price"] == 112), "another change")
    check.equal(w.document(1).get("isAD"), True, "promotion is kept")
    check.equal(w.app.post("/hotel/list", {})[1]["hotels"][0]["isAD"], True, "and searched with")
    a.call("PUT", "/hotel/1/promotion", {"isAD": False})
    check.equal(w.document(1).get("isAD"), False, "promotion is taken away")
    for ident, body, want in ((99, {"isAD": True}, 404), (1, {"isAD": 1}, 400), (1, {}, 400)):
        check.equal(a.call("PUT", f"/hotel/{ident}/promotion", body)[0], want, f"promotion of {ident} with {body}")
    a.call("DELETE", "/hotel/1")
    check(w.until(lambda: w.document(1) is None), "a deletion follows")
    check(w.until(w.idle), "and nothing waits any more")


def test_broker_objects(w):
    with amqp.Client(w.broker.url) as c:
        c.declare_exchange("hotel.topic", "topic")
        for q in ("hotel.insert.queue", "hotel.delete.queue", "hotel.dead"):
            c.declare(q)
        check(True, "exchange and queues agree with plain declarations")
    for q in ("hotel.insert.queue", "hotel.delete.queue"):
        with amqp.Client(w.broker.url) as c:
            check.equal(c.declare(q)[1], 1, f"{q} has one consumer")


def test_messages_published(w):
    """What the management service sends, seen with the application away."""
    w.app.__exit__()
    w.admin.call("POST", "/hotel", record(5))
    w.admin.call("PUT", "/hotel/5", {"price": 1})
    w.admin.call("DELETE", "/hotel/5")
    check(w.until(lambda: w.messages() == [2, 1]), "messages wait for the application", w.messages())
    with amqp.Client(w.broker.url) as c:
        for queue, key in (("hotel.insert.queue", "hotel.insert"), ("hotel.insert.queue", "hotel.insert"), ("hotel.delete.queue", "hotel.delete")):
            m = c.get(queue)
            check.equal((m.key, m.body, m.content_type, m.delivery_mode), (key, b"5", "text/plain", 2), f"a message of {queue}")
        # A message that no queue takes stays in the outbox, until the queue is bound again.
        c.unbind("hotel.insert.queue", "hotel.topic", "hotel.insert")
    w.admin.call("POST", "/hotel", record(6))
    check(w.until(lambda: w.messages() == [1, 0]), "a message without a queue is not lost", w.messages())
    w.app.__enter__()
    check(w.until(lambda: w.document(6) is not None), "and arrives")
    w.admin.call("DELETE", "/hotel/6")
    check(w.until(lambda: w.document(6) is None and w.idle()), "and away")


def insert_row(w, r):
    """Past the management service: only a message tells of it."""
    q = lambda v: "NULL" if v is None else "'" + str(v).replace("'", "''") + "'"
    w.db.sql(f"REPLACE INTO tb_hotel VALUES ({','.join(q(v) for v in r.values())})")


def test_payloads(w):
    forms = [(b"%d", "text/plain"), (b"%d", None), (b" %d\n", "text/plain"), (b"%d", "application/json"), (b"%d.0", "application/json"), (b'"%d"', "application/json")]
    ident = 100
    for form, kind in forms:
        ident += 1
        insert_row(w, record(ident))
        w.send("hotel.insert", form % ident, kind)
        check(w.until(lambda: w.document(ident) == wanted(record(ident))), f"payload {form!r} of type {kind}", w.document(ident))
    for value in (ident + 1, (1 << 40) + 1, -7):
        insert_row(w, record(value))
        w.send("hotel.insert", JAVA_LONG + struct.pack(">q", value), "application/x-java-serialized-object")
        check(w.until(lambda: w.document(value) is not None), f"a serialised java.lang.Long {value}")
        w.db.sql(f"DELETE FROM tb_hotel WHERE id = {value}")
        w.send("hotel.delete", JAVA_LONG + struct.pack(">q", value), "application/x-java-serialized-object")
        check(w.until(lambda: w.document(value) is None), f"and its deletion {value}")
    bad = [(b"", "text/plain"), (b"abc", "text/plain"), (b"{}", "application/json"), (b"1.5", "application/json"), (b"99999999999999999999", "text/plain"), (JAVA_LONG[:50], "application/x-java-serialized-object"),
           (b"\xac\xed\x00\x05t\x00\x03abc", "application/x-java-serialized-object"), (b"12", "application/x-java-serialized-object")]
    for body, kind in bad:
        w.send("hotel.insert", body, kind)
    check(w.until(lambda: w.idle() and w.app.get("/health")[1]["sync"]["dead"] == len(bad)), "what means nothing is put aside", w.app.get("/health")[1])
    with amqp.Client(w.broker.url) as c:
        for body, kind in bad:
            m = c.get("hotel.dead")
            check(m is not None and (m.body, m.content_type, m.delivery_mode) == (body, kind, 2) and m.headers["x-reason"] and m.headers["x-original-routing-key"] == "hotel.insert",
                  f"{body!r} is in hotel.dead, with its reason", m and (m.body, m.headers))
        check.equal(c.get("hotel.dead"), None, "and nothing else")


def test_database_decides(w):
    """Messages that lie, repeat, or come in another order."""
    insert_row(w, record(200))
    w.send("hotel.delete", b"200")
    check(w.until(lambda: w.document(200) is not None), "a deletion of a row that is there indexes it")
    w.db.sql("DELETE FROM tb_hotel WHERE id = 200")
    for _ in range(3):
        w.send("hotel.insert", b"200")
    check(w.until(lambda: w.document(200) is None), "an insertion of a row that is gone deletes")
    for ident in range(201, 231):
        insert_row(w, record(ident, price=ident))
    with amqp.Client(w.broker.url) as c:
        for n in range(300):
            c.publish("hotel.topic", "hotel.delete" if n % 3 else "hotel.insert", b"%d" % (201 + n % 30))
        c.declare("hotel.dead")
    check(w.until(w.idle), "three hundred messages of thirty hotels")
    check(all(w.document(i) == wanted(record(i, price=i)) for i in range(201, 231)), "all of them as the database has them")
    check.equal(w.command("verify")[0], 0, "verify agrees", )


def test_refused_row(w):
    """A row that is no document, put there past the management service."""
    with_reason = lambda: w.app.get("/health")[1]["sync"]["dead"]
    for ident in (300, 301):
        insert_row(w, record(ident, latitude="not a number"))
        before = with_reason()
        w.send("hotel.insert", b"%d" % ident)
        check(w.until(lambda: w.idle() and with_reason() > before or None), "a row that cannot be indexed does not stop the others")
        with amqp.Client(w.broker.url) as c:
            m = c.get("hotel.dead")
            check(m is not None and m.body == b"%d" % ident and "refused" in m.headers["x-reason"], "it is put aside with what the search service says", m and m.headers)
        w.db.sql(f"DELETE FROM tb_hotel WHERE id = {ident}")
        # The second time, the broker has given up the connections that say nothing: those that consume nothing.
        for connection, consumers in w.broker.control("list_channels", "connection", "consumer_count", "--no-table-headers"):
            if consumers == "0":
                w.broker.control("close_connection", connection, "silent")


def test_services_away(w):
    a = w.admin
    w.search.node.kill()
    check.equal(a.call("POST", "/hotel", record(400))[0], 201, "hotels are managed without the search service")
    check(w.until(lambda: application.call(w.app.host, "GET", "/health")[0] == 503), "the application says that it is away")
    time.sleep(1)
    check.equal(a.call("PUT", "/hotel/400/promotion", {"isAD": True})[0], 503, "promotion is not possible meanwhile")
    w.search.node.start()
    check(w.until(lambda: w.document(400) is not None), "and follow when it is back")
    w.broker.kill()
    check.equal(a.call("POST", "/hotel", record(401))[0], 201, "hotels are managed without the broker")
    check(w.until(lambda: a.call("GET", "/status")[1]["publisher"]["broker"] == "away"), "which is said to be away", a.call("GET", "/status")[1])
    check.equal(a.call("GET", "/status")[1]["outbox"]["waiting"], 1, "the change waits")
    w.broker.start()
    check(w.until(lambda: w.document(401) is not None), "and follows when it is back")
    w.db.kill()
    for method, path, body in (("GET", "/hotel/400", None), ("GET", "/hotel/list", None), ("POST", "/hotel", record(402)), ("PUT", "/hotel/400", {"price": 1}), ("DELETE", "/hotel/400", None)):
        status, answer = a.call(method, path, body)
        check.equal((status, answer["error"]), (503, "database_unavailable"), f"{method} {path} without the database")
    check.equal(a.call("GET", "/health")[0], 503, "it is not well")
    check.equal(a.call("GET", "/status")[1]["database"], "away", "and says why")
    w.send("hotel.insert", b"400")
    check(w.until(lambda: w.app.get("/health")[1]["sync"]["state"] == "paused"), "synchronisation pauses", w.app.get("/health")[1])
    w.db.start()
    check.equal(a.call("GET", "/hotel/400")[1], record(400), "at once when it is back")
    check(w.until(w.idle), "and synchronisation goes on")
    check(w.document(400) is not None, "nothing was deleted meanwhile")


def test_import_and_verify(w):
    rows = "".join(f"INSERT INTO tb_hotel VALUES ({i},'n{i}','a',{i},45,'b','c',NULL,NULL,'1','2',NULL);" for i in range(1000, 3500))
    w.db.sql("START TRANSACTION;" + rows + "COMMIT;")
    status, out, _ = w.command("verify")
    check(status == 1 and "hotel 1000: is not in the index" in out and "2500 differences" in out, "verify finds what is missing", out[-200:])
    state = os.path.join(w.db.folder, "state")
    with open(state, "w") as f:
        f.write(f"serai-hotel import {w.search.index} 2999 2000\n")
    status, out, err = w.command("import", "--from-mysql", "--state", state)
    check(status == 0 and "going on behind hotel 2999" in err and not os.path.exists(state), "an import goes on where another ended", err)
    check.equal((w.document(1000) is None, w.document(3000) is None), (True, False), "and only there")
    status, out, err = w.command("import", "--from-mysql", "--state", state)
    check(status == 0 and "%" in err and w.document(1000) is not None, "all rows, with progress", err)
    check.equal(w.command("verify")[0], 0, "no difference")
    index = f"/{w.search.index}"
    w.search.call("POST", f"{index}/_update/1000", {"doc": {"price": 9, "isAD": True}})
    w.search.call("PUT", f"{index}/_doc/9999", {"id": 9999})
    w.search.call("PUT", f"{index}/_doc/x", {"id": "x"})
    w.search.call("DELETE", f"{index}/_doc/1001")
    status, out, _ = w.command("verify")
    check.equal((status, sorted(out.splitlines())), (1, sorted(["document [x]: has an id that is no hotel's", "hotel 1000: differs in price", "hotel 1001: is not in the index",
                "hotel 9999: is in the index, and not in the database", out.splitlines()[-1]])), "verify names what differs")
    w.command("import", "--from-mysql", "--state", state)
    check.equal((w.document(1000)["price"], w.document(1000)["isAD"]), (1000, True), "an import repairs, and keeps promotion")
    w.search.call("DELETE", f"{index}/_doc/9999")
    w.search.call("DELETE", f"{index}/_doc/x")
    check.equal(w.command("verify")[0], 0, "no difference again")
    check.equal(application.command(w.search.url, w.search.index, "verify", check=False)[0], 64, "verify needs a database")
    w.db.sql("DELETE FROM tb_hotel WHERE id >= 1000")
    w.search.call("POST", f"{index}/_delete_by_query?refresh=true", {"query": {"range": {"price": {"gte": 1000}}}})


def test_import_killed(w):
    """kill -9 in the middle of an import: the next one goes on, and in the end all is there."""
    rows = "".join(f"INSERT INTO tb_hotel VALUES ({i},'n{i}','a',{i},45,'b','c',NULL,NULL,'1','2',NULL);" for i in range(10000, 20000))
    w.db.sql("START TRANSACTION;" + rows + "COMMIT;")
    state = os.path.join(w.db.folder, "state")
    p = subprocess.Popen([application.HOTEL, "--search-url", w.search.url, "--index", w.search.index, "--mysql-url", w.db.url, "import", "--from-mysql", "--state", state],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while p.poll() is None and not os.path.exists(state):
        time.sleep(0.005)
    p.kill()
    check(p.wait() != 0 and os.path.exists(state), "an import is killed on its way")
    status, out, err = w.command("import", "--from-mysql", "--state", state)
    check(status == 0 and "going on" in err, "the next one goes on", err[-300:])
    check.equal(w.command("verify")[0], 0, "and everything is there")
    w.db.sql("DELETE FROM tb_hotel WHERE id >= 10000")
    w.search.call("POST", f"/{w.search.index}/_delete_by_query?refresh=true", {"query": {"range": {"price": {"gte": 10000}}}})


def test_two_applications(w):
    """Two consumers share the queues; many changes of few hotels leave no old row behind."""
    with application.App(w.search.url, w.search.index, "--mysql-url", w.db.url, "--rabbitmq-url", w.broker.url):
        for i in range(500, 505):
            w.admin.call("POST", "/hotel", record(i))

        def change(n):
            ident = 500 + n % 5
            if n % 7 == 6:
                w.admin.call("DELETE", f"/hotel/{ident}")
                return w.admin.call("POST", "/hotel", record(ident, price=n))[0] in (201, 409)
            return w.admin.call("PUT", f"/hotel/{ident}", {"price": n})[0] in (200, 404)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            check(all(pool.map(change, range(400))), "four hundred changes at once")
        check(w.until(w.idle), "all are served")
        check.equal(w.command("verify")[0], 0, "and none was lost")
    for i in range(500, 505):
        w.admin.call("DELETE", f"/hotel/{i}")
    check(w.until(w.idle), "and away")


def test_list(w, folder):
    """The real hotels, added one by one; pages and searching against the rows."""
    _, rows = application.hotels_csv(folder, 300)
    w.db.sql("DELETE FROM tb_hotel")
    w.search.call("DELETE", f"/{w.search.index}")
    w.command("import", "--from-mysql")
    hotels = [{"id": int(r["id"]), "name": r["name"], "address": r["address"], "price": int(r["price"]), "score": int(r["score"]), "brand": r["brand"], "city": r["city"], "starName": r["star_name"] or None,
               "business": r["business"] or None, "latitude": r["latitude"], "longitude": r["longitude"], "pic": r["pic"] or None} for r in rows]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        check(all(s == 201 for s, _ in pool.map(lambda h: w.admin.call("POST", "/hotel", h), hotels)), "all hotels are taken")
    hotels.sort(key=lambda h: h["id"])
    check.equal(w.admin.call("GET", "/hotel/list?page=1&size=10"), (200, {"total": len(hotels), "hotels": hotels[:10]}), "the first page")
    check.equal(w.admin.call("GET", "/hotel/list?page=3&size=7")[1]["hotels"], hotels[14:21], "the third page of seven")
    check.equal(w.admin.call("GET", "/hotel/list?page=1000")[1], {"total": len(hotels), "hotels": []}, "behind the last page")
    check.equal(w.admin.call("GET", "/hotel/list?size=0")[1], {"total": len(hotels), "hotels": []}, "no hotels wanted")
    for key in ("如家", "上海", "外滩", "%", "_", str(hotels[5]["id"]), "zzz"):
        found = [h for h in hotels if any(key.lower() in (h[f] or "").lower() for f in ("name", "brand", "city", "business")) or key == str(h["id"])]
        check.equal(w.admin.call("GET", f"/hotel/list?size=1000&key={quote(key)}")[1], {"total": len(found), "hotels": found}, f"hotels with {key}")
    check(w.until(w.idle), "all are served")
    check.equal(w.command("verify")[0], 0, "the index has them all")
    _, answer = w.app.post("/hotel/list", {"city": "上海", "minPrice": 100, "maxPrice": 300, "size": 1000})
    check.equal({h["id"] for h in answer["hotels"]}, {h["id"] for h in hotels if h["city"] == "上海" and 100 <= h["price"] <= 300}, "and the application finds them")


def test_command_line(w):
    for args, want in ((["--help"], 0), (["--version"], 0), ([], 64), (["--mysql-url", "mysql://h/d"], 64), (["x"], 64), (["--mysql-url", "mysql://h", "--rabbitmq-url", "amqp://h"], 64),
                       (["--mysql-url", "http://h/d", "--rabbitmq-url", "amqp://h"], 64), (["-E", "mysql.connection=3"], 64), (["--mysql-url", w.db.url, "--rabbitmq-url", w.broker.url, "--port", str(w.admin.port)], 69)):
        p = subprocess.run([services.ADMIN, *args], capture_output=True, text=True, timeout=node.HANG_SECONDS)
        check.equal(p.returncode, want, f"serai-hotel-admin {' '.join(args)[:60]}")
        check(want == 0 or "p%40ss" not in p.stderr, "a password is not repeated")


def main():
    with World() as w:
        test_command_line(w)
        test_endpoints(w)
        test_validation(w)
        w.until(w.idle)
        test_follows(w)
        test_broker_objects(w)
        test_messages_published(w)
        test_payloads(w)
        test_database_decides(w)
        test_refused_row(w)
        test_services_away(w)
        test_import_and_verify(w)
        test_import_killed(w)
        test_two_applications(w)
        test_list(w, w.db.folder)
    check.end()


if __name__ == "__main__":
    main()
