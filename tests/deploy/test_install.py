#!/usr/bin/env python3
"""`make install` into a folder: programs, manual pages that have every option, completion, units whose commands run, settings that are
kept when it is done again."""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import node  # noqa: E402
import packaged  # noqa: E402
from checks import Checks  # noqa: E402

PROGRAMS = ("serai-node", "serai-hotel", "serai-hotel-admin")
check = Checks()


def install(root):
    return subprocess.run([os.path.join(node.ROOT, "deploy", "install")], env={**os.environ, "BUILD": node.BUILD, "DESTDIR": root, "PREFIX": "/usr"},
                          capture_output=True, text=True)


def test_pages(root):
    for program in PROGRAMS:
        path = os.path.join(root, "usr/share/man/man1", f"{program}.1.gz")
        with gzip.open(path, "rt", encoding="utf-8") as f:
            text = f.read().replace("\\-", "-")
        usage = subprocess.run([os.path.join(root, "usr/bin", program), "--help"], capture_output=True, text=True).stdout
        version = subprocess.run([os.path.join(root, "usr/bin", program), "--version"], capture_output=True, text=True).stdout
        for option in sorted(set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", usage))):
            check(option in text, f"{program}(1) has {option}")
        number = re.search(r"\d+\.\d+\.\d+", version).group()
        check(f"Serai {number}" in text, f"{program}(1) is of version {number}")
        if shutil.which("groff"):
            warned = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-b"], input=text, capture_output=True, text=True)
            check(warned.returncode == 0 and "macro" not in warned.stderr, f"{program}(1) is formatted", warned.stderr[:300])


def complete(root, *words):
    path = os.path.join(root, "usr/share/bash-completion/completions", words[0])
    script = '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _serai 2>/dev/null; echo "${COMPREPLY[@]}"'
    return subprocess.run(["bash", "-c", script, "bash", path, *words], capture_output=True, text=True).stdout.split()


def test_completion(root):
    check.equal(complete(root, "serai-node", "--v"), ["--version"], "an option")
    check("http.port=" in complete(root, "serai-node", "-E", "http.p"), "a setting")
    check.equal(complete(root, "serai-hotel", "ver"), ["verify"], "a command")
    check("--mysql-url" in complete(root, "serai-hotel-admin", "--my"), "an option of the management service")


def test_units(root):
    for unit in ("serai", "serai-hotel", "serai-hotel-admin"):
        program, *rest = packaged.read_unit(root, unit)["ExecStart"].split()
        check(os.access(root + program, os.X_OK), f"{unit}.service runs what is there", program)
        for path in [r.split("=")[-1] for r in rest if "/etc/" in r]:
            check(os.path.exists(root + path), f"{unit}.service has its settings", path)
    one = packaged.read_unit(root, "serai@", "n1")
    check.equal((one["ExecStart"].split()[-1], one["WorkingDirectory"], one["StateDirectory"], one["LogsDirectory"]),
                ("path.conf=/etc/serai/n1", "/var/lib/serai/n1", "serai/n1", "serai/n1"), "a node of several has folders of its own")
    with tempfile.TemporaryDirectory() as data:
        port = node.free_port()
        arguments = ["-E", f"path.conf={root}/etc/serai", "-E", f"path.data={data}/data", "-E", f"path.logs={data}/log",
                     "-E", f"http.port={port}", "-E", f"transport.port={node.free_port()}"]
        service = packaged.Service(root, "serai", chroot=False, arguments=arguments).start()
        tokens = subprocess.run(["curl", "-s", f"http://127.0.0.1:{port}/_analyze", "-H", "content-type: application/json", "-d", '{"analyzer":"ik_smart","text":"上海外滩"}'],
                                capture_output=True, text=True).stdout
        check("外滩" in tokens, "an installed node has its dictionaries", tokens[:300])
        check.equal(service.stop(), 0, "it ends when it is told to")
        check(os.path.exists(f"{data}/log/elasticsearch_server.json"), "its log is where the settings say", os.listdir(data))


def main():
    if not all(os.path.exists(os.path.join(node.BUILD, "bin", p)) for p in PROGRAMS):
        node.skip("the programs are not built")
    with tempfile.TemporaryDirectory() as root:
        done = install(root)
        check(done.returncode == 0, "make install", done.stderr[-500:])
        check.equal(packaged.leftovers(root), [], "everything is filled in")
        test_pages(root)
        test_completion(root)
        test_units(root)
        settings = os.path.join(root, "etc/serai/serai.yml")
        with open(settings, "a", encoding="utf-8") as f:
            f.write("node.name: mine\n")
        check.equal(install(root).returncode, 0, "a second time")
        with open(settings, encoding="utf-8") as f:
            check("node.name: mine" in f.read(), "settings are kept")
        shared = os.path.join(root, "usr/share/doc/serai/copyright")
        with open(shared, encoding="utf-8") as f:
            text = f.read()
        check(all(word in text for word in ("Apache License", "Sun Junyi", "Android")), "the notices of the dictionaries' sources go along")
    check.end()


if __name__ == "__main__":
    main()
