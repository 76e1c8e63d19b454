#!/usr/bin/env python3
"""Dictionaries that change under a running node: IK's words, extension words and extension stop words, pinyin's readings. New
requests analyse with the new ones within seconds, searches and writes go on meanwhile, and a node under changes without end
does not grow."""
import os
import shutil
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import HANG_SECONDS, Node  # noqa: E402

CFG = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd">
<properties>
  <comment>words of our own</comment>
  <entry key="ext_dict">{words}</entry>
  <entry key="ext_stopwords">{stop}</entry>
</properties>
"""
ROUNDS = 30 if os.environ.get("LONG") == "1" else 8


def write(conf, path, text):
    """As a careful operator does: beside it, then into its place."""
    full = os.path.join(conf, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(full + ".new", full)


def tokens(node, analyzer, text, path="/_analyze", **more):
    status, answer = node.call("POST", path, {"analyzer": analyzer, "text": text, **more})
    assert status == 200, answer
    return [t["token"] for t in answer["tokens"]]


def becomes(what, get, want, seconds=HANG_SECONDS):
    end = time.monotonic() + seconds
    while True:
        got = get()
        if got == want:
            return
        if time.monotonic() > end:
            raise AssertionError(f"{what}: {got}, not {want}")
        time.sleep(0.1)


def hits(node, text):
    status, answer = node.call("POST", "/words/_search", {"query": {"match": {"t": text}}, "size": 100})
    assert status == 200 and answer["_shards"]["failed"] == 0, answer
    return answer["hits"]["total"]["value"]


class Traffic(threading.Thread):
    def __init__(self, node):
        super().__init__(daemon=True)
        self.node, self.stop, self.failure, self.n = node, False, None, 0

    def run(self):
        try:
            while not self.stop:
                self.n += 1
                status, answer = self.node.call("PUT", f"/words/_doc/x{self.n % 50}", {"t": f"北京云端旅舍 {self.n}", f"f{self.n % 40}": "云"})
                assert status in (200, 201), answer
                hits(self.node, "云端")
        except Exception as e:
            self.failure = e


def words_and_stop_words(conf, node):
    smart = lambda text, path="/_analyze": tokens(node, "ik_smart", text, path)
    assert smart("云端旅舍的窗") == ["云", "端", "旅舍", "的", "窗"], smart("云端旅舍的窗")
    node.call("PUT", "/words", {"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"t": {"type": "text", "analyzer": "ik_smart"}}}})
    node.call("PUT", "/words/_doc/old?refresh=true", {"t": "云端旅舍"})
    write(conf, "analysis-ik/IKAnalyzer.cfg.xml", CFG.format(words="own/hotel.dic;own/more.dic", stop="own/stop.dic"))
    write(conf, "analysis-ik/own/hotel.dic", "云端\n")
    write(conf, "analysis-ik/own/more.dic", "")
    write(conf, "analysis-ik/own/stop.dic", "的\n")
    becomes("the node's own analysis", lambda: smart("云端旅舍的窗"), ["云端", "旅舍", "窗"])
    becomes("an index's analysis", lambda: smart("云端旅舍的窗", "/words/_analyze"), ["云端", "旅舍", "窗"])
    # What is indexed keeps its tokens; what comes from now on has the new ones.
    becomes("what searches look for", lambda: hits(node, "云端"), 0)

    def indexed():
        node.call("PUT", "/words/_doc/new?refresh=true", {"t": "云端旅舍"})
        return hits(node, "云端")

    becomes("what is indexed", indexed, 1)
    status, answer = node.call("PUT", "/other/_doc/1?refresh=true", {"t": "云端"})
    assert status == 201, answer
    write(conf, "analysis-ik/own/more.dic", "云端旅舍\n")
    becomes("a second extension", lambda: smart("云端旅舍的窗"), ["云端旅舍", "窗"])
    # A configuration that is none is complained of, and nothing changes.
    write(conf, "analysis-ik/IKAnalyzer.cfg.xml", "<properties><entry")
    becomes("a complaint", lambda: "cannot be used" in node.tail(200), True)
    assert smart("云端旅舍的窗") == ["云端旅舍", "窗"]
    write(conf, "analysis-ik/IKAnalyzer.cfg.xml", CFG.format(words="", stop=""))
    becomes("without extensions", lambda: smart("云端旅舍的窗"), ["云", "端", "旅舍", "的", "窗"])


def readings(conf, node):
    pinyin = lambda: tokens(node, "pinyin", "重庆")
    before = pinyin()
    assert any("zhong" in t for t in before), before
    write(conf, "analysis-pinyin/polyphone.txt", "重庆=chong2 qing4\n")
    becomes("a phrase's readings", lambda: any("chong" in t for t in pinyin()), True)


def under_traffic(conf, node):
    """Many changes under load: nothing fails, and memory comes back."""
    traffic = [Traffic(node) for _ in range(2)]
    for t in traffic:
        t.start()
    sizes = []
    for n in range(ROUNDS):
        word = f"云端{'甲乙丙丁'[n % 4]}"
        write(conf, "analysis-ik/main.dic", BASE + word + "\n")
        becomes(f"change {n}", lambda: tokens(node, "ik_smart", word), [word])
        sizes.append(node.memory()[1])
    for t in traffic:
        t.stop = True
        t.join()
        assert t.failure is None, t.failure
    assert sizes[-1] < sizes[len(sizes) // 2] + (32 << 20), sizes
    print(f"{sum(t.n for t in traffic)} writes and searches during {ROUNDS} changes")


BASE = "北京\n上海\n旅舍\n"


def main():
    conf = tempfile.mkdtemp(prefix="serai-conf-")
    passed = failed = 0
    try:
        write(conf, "analysis-ik/main.dic", BASE)
        write(conf, "analysis-ik/quantifier.dic", "个\n")
        write(conf, "analysis-ik/stopword.dic", "the\n")
        write(conf, "analysis-ik/IKAnalyzer.cfg.xml", CFG.format(words="", stop=""))
        write(conf, "analysis-pinyin/pinyin.txt", "重=zhong4,chong2\n庆=qing4\n")
        write(conf, "analysis-pinyin/polyphone.txt", "")
        write(conf, "analysis-pinyin/pinyin_alphabet.dict", "zhong\nchong\nqing\n")
        with Node(conf=conf) as node:
            for test in (words_and_stop_words, readings, under_traffic):
                try:
                    test(conf, node)
                    passed += 1
                except AssertionError as e:
                    print(f"FAILED: {test.__name__}: {e}")
                    failed += 1
    finally:
        shutil.rmtree(conf)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
