#!/usr/bin/env python3
"""The full demo as a visitor starts it: all services with sample hotels, a change that is followed, Ctrl-C, and the same data at a second start."""
import os
import re
import signal
import subprocess
import tempfile
import time

import application
import node
import servers
from application import Checks

check = Checks()
HOTELS = 300


class Demo:
    def __init__(self, folder):
        self.log = os.path.join(folder, "log")
        port = node.free_port
        self.env = dict(os.environ, FULL="1", HOTELS=str(HOTELS), DEMO=os.path.join(folder, "demo"), BUILD=node.BUILD, SEARCH_PORT=str(port(3)), APP_PORT=str(port()),
                        ADMIN_PORT=str(port()), MYSQL_PORT=str(port()), RABBITMQ_PORT=str(port()))

    def start(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["env", "--default-signal=INT", "deploy/demo"], cwd=node.ROOT, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + node.HANG_SECONDS
        while "Ctrl-C ends it" not in self.said() and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        check("Ctrl-C ends it" in self.said(), "the demo starts", self.said()[-1500:])
        self.admin, self.app = (re.search(rf"The {name} page +http://([\d.:]+)/", self.said()).group(1) for name in ("management", "search"))

    def said(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        check.equal(self.process.wait(timeout=node.HANG_SECONDS), 0, "Ctrl-C ends it")

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=node.HANG_SECONDS)


def main():
    application.need("serai-node", "serai-hotel", "serai-hotel-admin")
    servers.need("mariadbd", "mariadb-install-db", servers.RabbitMQ.HOME, "epmd")
    with tempfile.TemporaryDirectory() as folder:
        demo = Demo(folder)
        try:
            demo.start()
            status, found, _ = application.call(demo.app, "POST", "/hotel/list", {"key": "如家", "size": 1})
            check(status == 200 and found["total"] > 0, "hotels can be searched", found)
            ident = found["hotels"][0]["id"]
            check.equal(application.call(demo.admin, "GET", "/hotel/list?size=0")[1]["total"], HOTELS, "and managed")
            application.call(demo.admin, "PUT", f"/hotel/{ident}", {"price": 12345})
            seen = lambda: application.call(demo.app, "POST", "/hotel/list", {"minPrice": 12345, "maxPrice": 12345})[1]["total"]
            deadline = time.monotonic() + node.HANG_SECONDS
            while seen() != 1 and time.monotonic() < deadline:
                time.sleep(0.05)
            check.equal(seen(), 1, "a change is followed")
            demo.stop()
            demo.start()
            check("holds 300 hotels already" in demo.said() and seen() == 1, "a second start finds it all again", demo.said()[-600:])
            demo.stop()
        finally:
            demo.close()
    check.end()


if __name__ == "__main__":
    main()
