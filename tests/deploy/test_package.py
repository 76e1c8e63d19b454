#!/usr/bin/env python3
"""The Debian package in a fresh Debian: it installs with what it needs, three nodes run by its units as the user that it makes, an upgrade
node by node loses nothing, a removal keeps settings and data, a purge keeps data. Long: only with LONG=1, as root."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import containers  # noqa: E402
import node  # noqa: E402
import packaged  # noqa: E402
from checks import Checks  # noqa: E402

MARK = "SERAI_TEST_PACKAGE"
NAMES = ("n1", "n2", "n3")
check = Checks()


def enter():
    """Goes on in a mount namespace of its own: nothing stays mounted."""
    if os.environ.get("LONG") != "1":
        node.skip("the package is tried in the long form alone (LONG=1)")
    missing = [p for p in ("debootstrap", "dpkg-deb", "dpkg-shlibdeps") if not shutil.which(p)]
    if os.geteuid() != 0 or missing:
        node.skip(f"it needs root{''.join(', ' + m for m in missing)}")
    if not os.environ.get(MARK):
        os.environ[MARK] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])


def run(*args, ok=True, **more):
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL, **more)
    if ok and p.returncode != 0:
        raise RuntimeError(f"{' '.join(args)} ended with {p.returncode}:\n{p.stdout[-3000:]}")
    return p.stdout


def apt(root, *args):
    return run("chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "--no-install-recommends", *args)


def packages(folder):
    """The package, and one of a later version."""
    run(os.path.join(node.ROOT, "deploy", "deb"), env={**os.environ, "BUILD": os.path.relpath(node.BUILD, node.ROOT)})
    first = glob.glob(os.path.join(node.BUILD, "serai_*_*.deb"))[0]
    tree = os.path.join(folder, "later")
    run("dpkg-deb", "-R", first, tree)
    control = os.path.join(tree, "DEBIAN", "control")
    with open(control, encoding="utf-8") as f:
        text = f.read()
    with open(control, "w", encoding="utf-8") as f:
        f.write(text.replace("Version: ", "Version: 1"))
    later = os.path.join(folder, "later.deb")
    run("dpkg-deb", "--root-owner-group", "-Znone", "-b", tree, later)
    return first, later


def call(port, method, path, body=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method, headers={"content-type": "application/json"},
                                     data=json.dumps(body).encode() if body is not None else None)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=node.HANG_SECONDS) as r:
        return json.loads(r.read())


def green(port):
    return call(port, "GET", "/_cluster/health?wait_for_status=green&wait_for_nodes=3&timeout=60s")["status"] == "green"


def configure(root):
    http, transport = {n: node.free_port() for n in NAMES}, {n: node.free_port() for n in NAMES}
    for n in NAMES:
        os.makedirs(f"{root}/etc/serai/{n}")
        with open(f"{root}/etc/serai/{n}/serai.yml", "w", encoding="utf-8") as f:
            f.write(f"node.name: {n}\ncluster.name: packaged\npath.data: /var/lib/serai/{n}/data\npath.logs: /var/log/serai/{n}\n"
                    f"http.port: {http[n]}\ntransport.port: {transport[n]}\ncluster.initial_master_nodes: [{', '.join(NAMES)}]\n"
                    f"discovery.seed_hosts: [{', '.join(f'127.0.0.1:{p}' for p in transport.values())}]\n")
    return http


def start_all(root):
    """All at once: none is ready before a master is elected."""
    from concurrent.futures import ThreadPoolExecutor
    services = {n: packaged.Service(root, "serai@", n) for n in NAMES}
    with ThreadPoolExecutor(len(NAMES)) as pool:
        list(pool.map(lambda s: s.start(), services.values()))
    return services


def test_nodes(root, later):
    http = configure(root)
    services = start_all(root)
    port = http["n1"]
    call(port, "PUT", "/kept", {"settings": {"number_of_shards": 3, "number_of_replicas": 1}})
    for i in range(50):
        call(port, "PUT", f"/kept/_doc/{i}", {"n": i})
    check(green(port), "three nodes by their units are one green cluster")
    owner = os.stat(f"{root}/var/lib/serai/n1/data").st_uid
    check(owner != 0 and str(owner) in run("chroot", root, "id", "-u", "serai"), "the data is the user's", owner)
    with open(f"{root}/etc/serai/serai.yml", "a", encoding="utf-8") as f:
        f.write("node.name: edited\n")
    shutil.copy(later, f"{root}/later.deb")
    apt(root, "install", "/later.deb")
    with open(f"{root}/etc/serai/serai.yml", encoding="utf-8") as f:
        check("edited" in f.read(), "an upgrade keeps the settings")
    for n in NAMES:
        check.equal(services[n].stop(), 0, f"{n} ends for the upgrade")
        services[n] = packaged.Service(root, "serai@", n).start()
        check(green(http[n]), f"green after {n} runs the later version")
    call(port, "POST", "/kept/_refresh")
    check.equal(call(port, "GET", "/kept/_count")["count"], 50, "nothing is lost")
    for n in NAMES:
        services[n].stop()


def test_hotel(root):
    """The hotel application's unit, over a node by the plain unit, with the settings as they are installed but for the ports."""
    search, app = node.free_port(), node.free_port()
    service = packaged.Service(root, "serai", arguments=["-E", f"http.port={search}", "-E", f"transport.port={node.free_port()}"]).start()
    with open(f"{root}/hotels.csv", "w", encoding="utf-8") as f:
        f.write(run("chroot", root, "serai-hotel", "generate", "100"))
    run("chroot", root, "serai-hotel", "--search-url", f"http://127.0.0.1:{search}", "import", "/hotels.csv")
    hotel = packaged.Service(root, "serai-hotel", arguments=["--search-url", f"http://127.0.0.1:{search}", "--port", str(app)]).start()
    check.equal(call(app, "GET", "/health")["hotels"], 100, "the hotel application by its unit")
    check.equal((hotel.stop(), service.stop()), (0, 0), "both end when they are told to")


def test_removal(root):
    apt(root, "remove", "serai")
    check(not os.path.exists(f"{root}/usr/bin/serai-node") and os.path.exists(f"{root}/etc/serai/serai.yml") and os.path.isdir(f"{root}/var/lib/serai/n1/data"),
          "a removal takes the programs and leaves settings and data")
    said = apt(root, "purge", "serai")
    check("is kept" in said and os.path.isdir(f"{root}/var/lib/serai/n1/data") and not os.path.exists(f"{root}/etc/serai/serai.yml") and not os.path.exists(f"{root}/var/log/serai"),
          "a purge takes settings and logs, and says that it leaves the data", said[-500:])


def main():
    enter()
    folder = tempfile.mkdtemp(prefix="serai-package-")
    root = os.path.join(folder, "root")
    try:
        first, later = packages(folder)
        containers.debian(root)
        os.makedirs(f"{root}/proc", exist_ok=True)
        run("mount", "-t", "proc", "proc", f"{root}/proc")
        shutil.copy(first, f"{root}/serai.deb")
        apt(root, "update")
        apt(root, "install", "/serai.deb")
        check("0." in run("chroot", root, "serai-node", "--version"), "it is installed with its libraries")
        test_nodes(root, later)
        test_hotel(root)
        test_removal(root)
    finally:
        packaged.end_all()
        run("umount", "--lazy", f"{root}/proc", ok=False)
        run("rm", "-rf", "--one-file-system", folder)
    check.end()


if __name__ == "__main__":
    main()
