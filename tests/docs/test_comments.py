#!/usr/bin/env python3
"""Names in comments and pages exist: a function with an underscore that a comment names stands in code somewhere, and a file that a
comment or a page names is in the tree. Names of Java's, which have no underscore, are not checked; NAME stands for any.

The product's comments and names use no metaphors of the list below, and the first comment of a file begins with a noun phrase
("declarations shared by ...", not "what ... share")."""
import glob
import os
import re
import sys

TOPS = ("common", "proto", "engine", "master", "data", "coordinator", "node", "hotel", "tests", "tools", "bench")
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
CALL = re.compile(r"(?<![\w.\"])([a-z]\w*_\w+)\(\)")
FILE = re.compile(r"(?<![\w/.*-])((?:[\w-]+/)*[\w-]+\.(?:c|h|py|md|def))\b(?!\()")
IN_PAGE = re.compile(r"`((?:[\w-]+/)*[\w-]+\.(?:c|h|py|def))`")
WORD = re.compile(r"\w+")
PRODUCT = ("common", "proto", "engine", "master", "data", "coordinator", "node", "hotel")
METAPHOR = re.compile(r"\b(journey|hears?|heard of|lets? go|letting go)\b", re.I)
CALLED = re.compile(r"^[a-z][\w \t*]*?\b(told|tell|let_go|go_on|journey|meet_\w+|look_(?:at|again)\w*|(?:some|no)body_\w+)\([^;]*?\)\s*\{", re.M)
CLAUSE = re.compile(r"/\* (?:[\w.]+ - )?(by (?:how|which)|what|how|which|whether|who|whom|whose|where) ", re.I)


def split(text):
    """(code, [(offset, comment)]): the text without comments, strings and all, and its comments."""
    code, comments, at = [], [], 0
    for m in COMMENT.finditer(text):
        if m.group(0).startswith("/*"):
            code.append(text[at:m.start()])
            comments.append((m.start(), m.group(0)))
            at = m.end()
    code.append(text[at:])
    return " ".join(code), comments


def check(sources, files):
    """Complaints about {path: text}; `files` are the paths of all files of the tree."""
    words, remarks = set(), []
    for path, text in sources.items():
        code, comments = split(text)
        words.update(WORD.findall(code))
        remarks += [(path, text.count("\n", 0, at) + 1, c) for at, c in comments]
    names = {os.path.basename(f) for f in files}
    bad = []
    for path, line, comment in remarks:
        for m in CALL.finditer(comment):
            if m.group(1) not in words:
                bad.append(f"{path}:{line + comment.count(chr(10), 0, m.start())}: {m.group(1)}() is nowhere")
        for m in FILE.finditer(comment):
            there = m.group(1) in files if "/" in m.group(1) else m.group(1) in names
            if not there and os.path.join(os.path.dirname(path), m.group(1)) not in files:
                bad.append(f"{path}:{line + comment.count(chr(10), 0, m.start())}: {m.group(1)} is nowhere")
    return bad


def check_words(sources):
    """Complaints about metaphors in comments and in names of functions, and about first comments that begin with a clause."""
    bad = []
    for path, text in sources.items():
        bad += [f"{path}:{text.count(chr(10), 0, at + m.start()) + 1}: [{m.group(0)}] is a metaphor"
                for at, c in split(text)[1] for m in METAPHOR.finditer(c)]
        bad += [f"{path}: {m.group(1)}() names nothing of the domain" for m in CALLED.finditer(text)]
        m = CLAUSE.match(text)
        bad += [f"{path}:1: the first comment begins with [{m.group(1)}], not with a noun"] if m else []
    return bad


def check_pages(pages, files):
    """Complaints about {path: text} of pages, where a name may begin at any folder."""
    ends = {f[at:] for f in files for at in [0, *(m.end() for m in re.finditer("/", f))]}
    return [f"{path}: {m.group(1)} is nowhere" for path, text in pages.items() for m in IN_PAGE.finditer(text)
            if m.group(1) not in ends and "NAME" not in m.group(1)]


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    files = {os.path.join(d, f) for top in (*TOPS, "docs") for d, _, fs in os.walk(top) for f in fs} | set(os.listdir("."))
    sources = {f: open(f, encoding="utf-8").read() for f in files if f.endswith((".c", ".h"))}
    pages = {f: open(f, encoding="utf-8").read() for f in [*glob.glob("docs/**/*.md", recursive=True), *glob.glob("*.md")]}
    product = {f: t for f, t in sources.items() if f.split("/")[0] in PRODUCT}
    bad = check(sources, files) + check_pages(pages, files) + check_words(product)
    print("\n".join(sorted(bad)), end="\n" if bad else "")
    lie = {"a.c": "/* b_gone() is called, see gone.c */ int a_here;"}
    finds = check(lie, set(lie)) + check_pages({"a.md": "see `b/gone.c`, `a.c`"}, set(lie))
    finds += check_words({"b.c": "/* What b does. */\nstatic void go_on(struct b *b)\n{\n    /* b hears of it */\n}\n"})
    print(f"{len(sources) + len(pages) + (len(finds) == 6)} passed, {len(bad) + (len(finds) != 6)} failed")
    sys.exit(1 if bad or len(finds) != 6 else 0)


if __name__ == "__main__":
    main()
