"""Everything at once: database, broker, search service, management service and search application."""
import contextlib
import os
import signal
import time

import amqp
import application
import node
import servers
from application import App, Search

ADMIN = os.path.join(node.BUILD, "bin", "serai-hotel-admin")
QUEUES = ("hotel.insert.queue", "hotel.delete.queue", "hotel.dead")


class Admin(App):
    """One serving serai-hotel-admin."""

    def __init__(self, search_url, index, *args):
        super().__init__(search_url, index, *args)
        self.args[0] = ADMIN

    def call(self, method, path, body=None, headers=None):
        """Returns (status, body)."""
        return application.call(self.host, method, path, body, headers)[:2]


def kill(service):
    service.process.send_signal(signal.SIGKILL)
    service.process.wait()


class World:
    """All five, with the application following the database. args: further settings of both services."""

    def __init__(self, *args):
        application.need("serai-node", "serai-hotel", "serai-hotel-admin")
        self.args = args
        self.db, self.broker, self.search = servers.MariaDB(), servers.RabbitMQ(), Search()
        self.search.url = None  # a node of its own: it is killed, too

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.db = stack.enter_context(self.db)
            self.broker = stack.enter_context(self.broker)
            stack.enter_context(self.search)
            urls = ["--mysql-url", self.db.url, "--rabbitmq-url", self.broker.url, *self.args]
            self.admin = stack.enter_context(Admin(self.search.url, self.search.index, *urls))
            self.app = stack.enter_context(App(self.search.url, self.search.index, *urls))
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *exception):
        self.stack.__exit__(*exception)

    def document(self, ident):
        """The document's source, or None."""
        status, body, _ = self.search.call("GET", f"/{self.search.index}/_doc/{ident}")
        return body["_source"] if status == 200 else None

    def until(self, condition, seconds=node.HANG_SECONDS):
        """Waits until the condition holds; returns its last value."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                value = condition()
            except OSError:
                value = None
            if value or time.monotonic() > deadline:
                return value
            time.sleep(0.02)

    def idle(self):
        """Nothing waits: neither in the outbox, nor in a queue, nor in the application's hands. Seen twice: a message may have been between two of them."""
        return self._idle() and (time.sleep(0.1) or self._idle())

    def _idle(self):
        status, state = self.admin.call("GET", "/status")
        if status != 200 or state["outbox"] != {"waiting": 0, "oldestMs": 0} or self.messages() != [0, 0]:
            return False
        status, health, _ = self.app.get("/health")
        return status == 200 and health["sync"]["held"] == 0 and health["sync"]["state"] == "running"

    def messages(self):
        with amqp.Client(self.broker.url) as c:
            return [c.declare(q)[0] for q in QUEUES[:2]]

    def command(self, *args):
        """serai-hotel with the database; returns (exit status, stdout, stderr)."""
        return application.command(self.search.url, self.search.index, "--mysql-url", self.db.url, *args, check=False)

    def send(self, key, body, content_type=None):
        with amqp.Client(self.broker.url) as c:
            c.publish("hotel.topic", key, body, content_type)


def record(ident, **changed):
    """A hotel as the management service takes it."""
    return {"id": ident, "name": f"如家酒店(上海外滩{ident}店)", "address": "中山东一路1号", "price": 289, "score": 45, "brand": "如家", "city": "上海", "starName": "二钻",
            "business": "外滩/南京东路", "latitude": "31.2397", "longitude": "121.4998", "pic": None, **changed}


def wanted(hotel):
    """The document that the interface wants for a record, without what only the index has."""
    d = {k: v for k, v in hotel.items() if k not in ("latitude", "longitude")}
    d["location"] = f"{hotel['latitude']}, {hotel['longitude']}"
    d["suggestion"] = [hotel["brand"], *[p for p in (hotel["business"] or "").split("/") if p]]
    return d
