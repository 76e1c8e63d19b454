#!/usr/bin/env python3
"""Connections that only take place: thousands that are idle or stop in a head or body, where a process may open few files; heads, trailers and chunks without
end; requests whose answers nobody reads. Node, search application and management service each answer others meanwhile, and hold little."""
import os
import socket
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "hotel")]
import application  # noqa: E402
import services  # noqa: E402
from node import HANG_SECONDS, Node, free_port  # noqa: E402

FILES = 512         # that the process may open
CONNECTIONS = 1200
MIB = 1 << 20
HELD = 200 * MIB    # that a process may come to have
FEW_FILES = ["bash", "-c", f'ulimit -n {FILES}; exec "$@"', "--"]


class Target:
    """What is attacked: an address, a process, and a path that answers 200."""

    def __init__(self, host, port, pid, path):
        self.host, self.port, self.pid, self.path = host, port, pid, path
        self.get = f"GET {path} HTTP/1.1\r\nhost: {host}:{port}\r\n\r\n".encode()
        self.post = f"POST {path} HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-type: application/json\r\n".encode()

    def connect(self):
        s = socket.create_connection((self.host, self.port))
        s.settimeout(HANG_SECONDS)
        return s

    def answers(self, what):
        for _ in range(3):
            with self.connect() as s:
                s.sendall(self.get)
                assert s.recv(65536).startswith(b"HTTP/1.1 200"), what
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            held = next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) * 1024
        assert held < HELD, (what, held)

    def flooded(self, begin, piece, times):
        """Sends a piece over and over, until the other side has had enough."""
        with self.connect() as s:
            try:
                s.sendall(begin)
                for _ in range(times):
                    s.sendall(piece)
            except OSError:
                pass
            self.answers(piece[:20])


def many_connections(target):
    kinds = [b"", target.get, b"GET / HT", target.post + b"content-length: 1000\r\n\r\n{", target.post + b"transfer-encoding: chunked\r\n\r\n5\r\n{"]
    held = []
    for i in range(CONNECTIONS):
        held.append(target.connect())
        try:
            held[-1].sendall(kinds[i % len(kinds)])
        except OSError:  # it has given way already
            pass
        if i % 200 == 199:
            target.answers(f"{i + 1} connections")
    assert len(os.listdir(f"/proc/{target.pid}/fd")) < FILES * 3 // 4
    return held


def pipelined(target):
    """Answers that nobody reads stop the reading of requests; then all come."""
    with target.connect() as s:
        sender = threading.Thread(target=lambda: s.sendall(target.get * 10000))
        sender.start()
        target.answers("pipelined requests")
        n, last = 0, b""
        while n < 10000:
            more = s.recv(MIB)
            assert more, n
            text = last + more
            n += text.count(b"HTTP/1.1 200")
            last = text[-11:]
        sender.join()


def attack(target):
    target.answers("at first")
    held = many_connections(target)
    target.answers("many connections")
    for s in held:
        s.close()
    target.flooded(b"GET / HTTP/1.1\r\n", (b"x: " + b"a" * 1000 + b"\r\n") * 1000, 20)
    target.flooded(b"", b"a" * MIB, 20)
    target.flooded(target.post + b"transfer-encoding: chunked\r\n\r\n0\r\n", b"t: " + b"a" * MIB + b"\r\n", 20)
    target.flooded(target.post + b"transfer-encoding: chunked\r\n\r\n", b"1\r\na\r\n" * 100000, 5)
    target.flooded(target.post + b"transfer-encoding: chunked\r\n\r\n1;", b"e" * MIB, 20)
    for size in (b"7fffffffffffffff", b"ffffffffffffffff", b"fffffffff", b"-1", b"0x10", b"1" * 5000):
        with target.connect() as s:
            s.sendall(target.post + b"transfer-encoding: chunked\r\n\r\n" + size + b"\r\n{}")
            assert s.recv(100)[:12] in (b"HTTP/1.1 413", b"HTTP/1.1 400"), size[:20]
    pipelined(target)
    target.answers("at last")


def attack_node():
    node = Node()
    node.prefix = FEW_FILES
    with node:
        target = Target(node.host, node.port, node.process.pid, "/")
        held = many_connections(target)
        assert node.call("PUT", "/i/_doc/1?refresh=true", {"a": 1})[0] == 201  # it has files for an index
        assert node.call("GET", "/i/_count")[1]["count"] == 1
        for s in held:
            s.close()
        attack(target)


def attack_service(service):
    service.args = FEW_FILES + service.args
    with service:
        attack(Target("127.0.0.1", service.port, service.process.pid, "/icon.svg"))


def main():
    attack_node()
    nobody = f"127.0.0.1:{free_port()}"
    attack_service(application.App(f"http://{nobody}", "hotels"))
    attack_service(services.Admin(f"http://{nobody}", "hotels", "--mysql-url", f"mysql://root@{nobody}/hotels", "--rabbitmq-url", f"amqp://guest:guest@{nobody}"))
    print("3 passed, 0 failed")


if __name__ == "__main__":
    main()
