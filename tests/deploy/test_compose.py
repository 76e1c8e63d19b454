#!/usr/bin/env python3
"""The cluster in containers: `docker-compose up` from this tree gives a green cluster, and the service goes on answering when any one of them is
killed. How and where: containers.py."""
import http.client
import json
import time

import containers
import node
from checks import Checks

NODES = {name: node.free_port() for name in ("search", "n1", "n2", "n3")}
DOCS = 50
check = Checks()


def call(service, method, path, body=None):
    """(status, answer) of a node; (None, why) when it does not answer."""
    conn = http.client.HTTPConnection("127.0.0.1", NODES[service], timeout=60)
    try:
        conn.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
        r = conn.getresponse()
        text = r.read().decode()
        return r.status, json.loads(text) if text[:1] in "{[" else text
    except (OSError, http.client.HTTPException) as e:
        return None, str(e)
    finally:
        conn.close()


def green(service):
    status, answer = call(service, "GET", "/_cluster/health?wait_for_status=green&wait_for_nodes=4&timeout=10s")
    return status == 200 and answer["number_of_nodes"] == 4


def wait_green(service):
    node.wait_for(f"a green cluster of four at {service}", lambda: green(service))


def try_without(docker, service, written):
    """The others answer all the same, and take what is written."""
    docker.kill(service)
    killed = time.monotonic()
    others = [s for s in NODES if s != service]
    for other in others:
        number = written + others.index(other)
        node.wait_for(f"{other} writes without {service}", lambda: call(other, "PUT", f"/t/_doc/{number}?refresh=true", {"n": number})[0] in (200, 201))
        status, answer = call(other, "POST", "/t/_search", {"size": 0, "track_total_hits": True})
        check(status == 200 and answer["hits"]["total"]["value"] == number + 1 and answer["_shards"]["failed"] == 0, f"{other} finds everything without {service}", answer)
    print(f"without {service}: all others answered within {time.monotonic() - killed:.2f} s", flush=True)
    docker.compose("start", service)
    wait_green(others[0])
    wait_green(service)
    return written + len(others)


def main():
    containers.need()
    with containers.Docker(**{f"{name.upper()}_PORT": port for name, port in NODES.items()}) as docker:
        docker.compose("build", "search")
        size, base = docker.megabytes("serai"), docker.megabytes(containers.BASE)
        print(f"the image has {size} MB, {base} of them its base", flush=True)
        check(size - base < 150, "the image is small", size - base)
        check.equal(docker.run("docker", "run", "--rm", "serai", "id", "-u").strip(), "1000", "not root")
        docker.compose("up", "-d", "search")
        wait_green("search")
        check.equal(call("search", "PUT", "/t", {"settings": {"number_of_shards": 3, "number_of_replicas": 1}})[0], 200, "an index")
        for i in range(DOCS):
            call("search", "PUT", f"/t/_doc/{i}", {"n": i})
        call("search", "POST", "/t/_refresh")
        wait_green("search")
        roles = {n: r for n, r in (line.split() for line in call("search", "GET", "/_cat/nodes?h=name,node.role")[1].splitlines())}
        check(roles["search"] == "-" and "m" in roles["n1"], "who holds data and who only coordinates", roles)
        written = DOCS
        for service in NODES:
            written = try_without(docker, service, written)
        node.wait_for("containers that call themselves healthy", lambda: all(docker.inspect(name, "{{.State.Health.Status}}") == "healthy" for name in NODES))
    check.end()


if __name__ == "__main__":
    main()
