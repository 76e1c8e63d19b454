#!/usr/bin/env python3
"""The hotel services in containers, as a visitor starts them: `docker-compose up` with database and broker from Debian's packages. Health and start order,
schema and sample rows at the first start, both pages, a change that is followed within two seconds, promotion; then each container dies of itself, and is
killed by hand, while hotels change, and nothing is lost; and all is kept over `down` and `up`. How and where: containers.py."""
import http.client
import os
import sys
import time

import containers
import node
from checks import Checks

sys.path.insert(0, os.path.join(node.ROOT, "tests", "hotel"))
import application  # noqa: E402
from services import QUEUES, record, wanted  # noqa: E402
from writer import Writer  # noqa: E402

PORTS = {name: node.free_port() for name in ("APP_PORT", "ADMIN_PORT", "BROKER_PORT", "SEARCH_PORT", "N1_PORT", "N2_PORT", "N3_PORT")}
SERVICES = ("n1", "n2", "n3", "search", "mysql", "rabbitmq", "hotel", "hotel-admin")
SAMPLES = 300
# Megabytes that an image adds to its base, at most.
IMAGES = {"serai": 150, "serai-mariadb": 150, "serai-rabbitmq": 150}
check = Checks()


def ask(port, method, path, body=None):
    """(status, body) of who listens at this port."""
    return application.call(f"127.0.0.1:{PORTS[port]}", method, path, body)[:2]


def admin(method, path, body=None):
    return ask("ADMIN_PORT", method, path, body)


def search(body):
    return ask("APP_PORT", "POST", "/hotel/list", body)[1]


def answers(port, path="/"):
    try:
        return ask(port, "GET", path)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def healthy(docker):
    return all(docker.inspect(s, "{{.State.Health.Status}}") == "healthy" for s in SERVICES)


def test_images(docker):
    docker.compose("build")
    base = docker.megabytes(containers.BASE)
    for image, most in IMAGES.items():
        own = docker.megabytes(image) - base
        print(f"{image} adds {own} MB to the {base} of its base", flush=True)
        check(own < most, f"{image} is small", own)
        check(docker.run("docker", "run", "--rm", image, "id", "-u").strip() != "0", f"{image} is not root's")


def start(docker):
    """As `up -d` leaves it; how long that took."""
    begun = time.monotonic()
    docker.compose("up", "-d")
    node.wait_for("all to be healthy", lambda: healthy(docker))
    print(f"up and healthy after {time.monotonic() - begun:.0f} s", flush=True)


def test_first_start(docker):
    start(docker)
    at = lambda service, what: docker.inspect(service, f"{{{{.State.{what}}}}}")
    check.equal(at("hotel-import", "ExitCode"), "0", "the rows were imported")
    check(max(at(s, "StartedAt") for s in ("mysql", "rabbitmq", "search")) < at("hotel", "StartedAt") < at("hotel-admin", "StartedAt"), "they start in order")
    for service in SERVICES:
        check(int(docker.inspect(service, "{{.HostConfig.Memory}}")) > 0 and int(docker.inspect(service, "{{.HostConfig.PidsLimit}}")) > 0, f"{service} has limits")
        check(docker.execute(service, "id", "-u")[1].strip() != "0", f"{service} does not run as root")
    for port, words in (("APP_PORT", "<html"), ("ADMIN_PORT", "<html"), ("BROKER_PORT", "RabbitMQ")):
        status, page = ask(port, "GET", "/")
        check(status == 200 and words in page, f"the page at {port}", (status, str(page)[:200]))
    check.equal(admin("GET", "/hotel/list?size=1")[1]["total"], SAMPLES, "the sample rows are there")
    check.equal(search({"size": 1})["total"], SAMPLES, "and found")


def test_changes(docker):
    r = record(1, name="小城里的新旅店", city="小城")
    find = lambda: search({"city": "小城"}).get("hotels")
    steps = (("POST", "/hotel", r, 201, lambda: find() and find()[0]["price"] == r["price"]), ("PUT", "/hotel/1", {"price": 777}, 200, lambda: find() and find()[0]["price"] == 777),
             ("DELETE", "/hotel/1", None, 204, lambda: find() == []))
    for method, path, body, status, seen in steps:
        changed = time.monotonic()
        check.equal(admin(method, path, body)[0], status, f"{method} {path}")
        node.wait_for(f"{method} to be followed", seen)
        took = time.monotonic() - changed
        print(f"{method} was followed after {took:.2f} s", flush=True)
        check(took < node.promised(2), f"{method} is followed within two seconds", took)
    ident = search({"city": "上海", "sortBy": "price"})["hotels"][-1]["id"]
    check.equal(admin("PUT", f"/hotel/{ident}/promotion", {"isAD": True})[0], 200, "promoted")
    node.wait_for("the promoted hotel to be first", lambda: search({"city": "上海"})["hotels"][0]["id"] == ident)
    return ident


def idle():
    """Nothing waits: neither in the outbox, nor in a queue, nor in the application's hands."""
    try:
        (status, state), (well, health) = admin("GET", "/status"), ask("APP_PORT", "GET", "/health")
    except (OSError, http.client.HTTPException):
        return False
    return status == well == 200 and state["outbox"] == {"waiting": 0, "oldestMs": 0} and state["queues"] and [q["messages"] for q in state["queues"]] == [0] * len(QUEUES) \
        and health["sync"]["held"] == 0 and health["sync"]["state"] == "running"


def settle(docker, why):
    """Waits until nothing is under way; index and database must agree then."""
    node.wait_for(f"all to be healthy {why}", lambda: healthy(docker))
    node.wait_for(f"nothing to wait {why}", lambda: idle() and (time.sleep(1) or idle()))
    status, out = docker.execute("hotel", "serai-hotel", "verify")
    check.equal(status, 0, f"verify finds no difference {why}: {out[-500:]}")


def test_deaths(docker):
    """Each container dies of itself (Docker starts it again), then by a user's hand (who starts it again), while hotels change."""
    writer = Writer(admin, os.getpid())
    writer.start()
    for service in SERVICES:
        before = int(docker.inspect(service, "{{.RestartCount}}"))
        docker.crash(service)
        node.wait_for(f"{service} to be started again", lambda: int(docker.inspect(service, "{{.RestartCount}}")) > before and docker.inspect(service, "{{.State.Health.Status}}") == "healthy")
        docker.kill(service)
        time.sleep(1)
        check.equal(docker.inspect(service, "{{.State.Running}}"), "false", f"{service} stays killed")
        docker.compose("start", service)
        node.wait_for(f"{service} to be healthy again", lambda: docker.inspect(service, "{{.State.Health.Status}}") == "healthy")
        print(f"{service} died twice; {writer.done} changes were answered, {writer.failed} were not", flush=True)
    time.sleep(1)
    writer.end()
    check(writer.done > 100, "changes were made", writer.done)
    check.equal(writer.wrong, [], "no answer contradicts an earlier one")
    settle(docker, "after all deaths")
    check.equal(writer.lost(), {}, "the database has what was answered")


def test_kept(docker, promoted):
    """All data is in volumes."""
    total = admin("GET", "/hotel/list?size=1")[1]["total"]
    docker.compose("down")
    check(not answers("APP_PORT"), "down is down")
    start(docker)
    check.equal(admin("GET", "/hotel/list?size=1")[1]["total"], total, "all rows are kept")
    check.equal(search({"size": 1})["total"], total, "and found")
    check.equal(search({"city": "上海"})["hotels"][0]["id"], promoted, "promotion is kept")
    settle(docker, "after down and up")
    r = record(61)
    check.equal(admin("POST", "/hotel", r)[0], 201, "and a change")
    have = lambda: ask("SEARCH_PORT", "GET", "/hotel/_doc/61")[1].get("_source")
    check.equal(node.wait_for("the change to be followed", have), wanted(r), "is followed")


def main():
    containers.need()
    with containers.Docker("docker-compose.yml", "docker-compose.debian.yml", **PORTS) as docker:
        test_images(docker)
        test_first_start(docker)
        promoted = test_changes(docker)
        test_deaths(docker)
        test_kept(docker, promoted)
    check.end()


if __name__ == "__main__":
    main()
