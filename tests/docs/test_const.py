#!/usr/bin/env python3
"""Holds the product to its consts. The compiler refuses a cast that takes one away (-Wcast-qual); what gets around it is listed
here with the reason: UNCONST (common/base/defs.h), for libraries whose prototypes lack a const, and pointers made of numbers."""
import collections
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ["common", "proto", "engine", "master", "data", "coordinator", "node", "hotel", "tools"]
# Of each file: how many uses there are, and why.
UNCONST = {
    "common/base/defs.h": (1, "what it is"),
    "common/sys/fs_posix.c": (1, "POSIX: munmap() takes what mmap() gave, and the map is for reading alone"),
    "common/sys/http.c": (2, "zlib: next_in lacks the const unless ZLIB_CONST is set"),
    "common/sys/http_conn.c": (2, "libevent: a clean-up gets the bytes as const, and its argument as void *"),
    "hotel/broker/publish.c": (1, "RabbitMQ: amqp_bytes_t is for sending and receiving"),
    "hotel/mysql/db_run.c": (1, "MariaDB: MYSQL_BIND is for parameters and results"),
}
OF_NUMBERS = {
    "common/base/defs.h": (1, "UNCONST"),
    "common/sys/fs_posix.c": (1, "the page of an address that a signal brought"),
    "engine/query/field_pattern.c": (1, "a map's value that is a number"),
}
POINTER_OF_NUMBER = re.compile(r"\(\s*[\w ]+\*+\s*\)\s*\(*\s*\(uintptr_t\)|\(type\)\(uintptr_t\)|\(void \*\)page\b")
COPIED = re.compile(r"\*\s*(\w+);\s*memcpy\(&\1,")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def uses(text):
    """Of a file's text: how often it has UNCONST, and makes pointers of numbers; and the pointers that it copies as bytes."""
    code = COMMENT.sub("", text)
    return len(re.findall(r"\bUNCONST\(", code)), len(POINTER_OF_NUMBER.findall(code)), COPIED.findall(code)


def check(name, listed, found):
    for path in sorted(set(listed) | set(found)):
        want, got = listed.get(path, (0, ""))[0], found[path]
        if want != got:
            yield f"{path}: {name} {got} times, and {want} are listed"


def main():
    assert uses("x = (struct a *)(uintptr_t)p; y = UNCONST(char *, p);")[:2] == (1, 1)
    assert uses("struct a *s;\n    memcpy(&s, &v->s, sizeof(s));")[2] == ["s"]
    failed, unconst, numbers, files = [], collections.Counter(), collections.Counter(), 0
    for folder in FOLDERS:
        for full in glob.glob(os.path.join(ROOT, folder, "**", "*.[ch]"), recursive=True):
            path = os.path.relpath(full, ROOT)
            with open(full, encoding="utf-8") as f:
                unconst[path], numbers[path], copied = uses(f.read())
            failed += [f"{path}: the pointer {name} is copied as bytes" for name in copied]
            files += 1
    failed += check("UNCONST", UNCONST, +unconst)
    failed += check("pointers are made of numbers", OF_NUMBERS, +numbers)
    for line in failed:
        print(line)
    print(f"{files - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
