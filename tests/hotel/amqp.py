"""A small AMQP 0-9-1 client, enough to send and fetch messages: written from the protocol, not with the services' library."""
import socket
import struct
import urllib.parse

END = b"\xce"


def short_text(s):
    data = s.encode()
    return bytes([len(data)]) + data


def long_text(data):
    return struct.pack(">I", len(data)) + data


def read_table(data):
    """Texts and numbers of a field table; returns a dict."""
    found, at = {}, 0
    while at < len(data):
        n = data[at]
        name = data[at + 1:at + 1 + n].decode()
        kind, at = data[at + 1 + n:at + 2 + n], at + 2 + n
        if kind == b"S":
            (n,) = struct.unpack_from(">I", data, at)
            found[name], at = data[at + 4:at + 4 + n].decode("utf-8", "replace"), at + 4 + n
        else:
            raise ValueError(f"a field of kind {kind}")
    return found


class Message:
    def __init__(self, key, body, content_type, headers, delivery_mode):
        self.key, self.body, self.content_type, self.headers, self.delivery_mode = key, body, content_type, headers, delivery_mode


class Client:
    def __init__(self, url):
        u = urllib.parse.urlsplit(url)
        self.confirms = False
        self.sock = socket.create_connection((u.hostname, u.port), timeout=300)
        self.sock.sendall(b"AMQP\x00\x00\x09\x01")
        self._expect(10, 10)
        answer = b"\0" + u.username.encode() + b"\0" + u.password.encode()
        self._method(0, 10, 11, struct.pack(">I", 0) + short_text("PLAIN") + long_text(answer) + short_text("en_US"))
        channels, frame, _ = struct.unpack(">HIH", self._expect(10, 30))
        self._method(0, 10, 31, struct.pack(">HIH", channels, frame, 0))
        self._method(0, 10, 40, short_text("/") + b"\0\0")
        self._expect(10, 41)
        self._method(1, 20, 10, b"\0")
        self._expect(20, 11)

    def _frame(self, kind, channel, payload):
        self.sock.sendall(struct.pack(">BHI", kind, channel, len(payload)) + payload + END)

    def _method(self, channel, cls, method, arguments):
        self._frame(1, channel, struct.pack(">HH", cls, method) + arguments)

    def _read(self, n):
        data = b""
        while len(data) < n:
            part = self.sock.recv(n - len(data))
            if not part:
                raise ConnectionError("the broker has closed the connection")
            data += part
        return data

    def _receive(self):
        while True:
            kind, _, size = struct.unpack(">BHI", self._read(7))
            payload = self._read(size + 1)[:-1]
            if kind != 8:  # a heartbeat
                return kind, payload

    def _expect(self, cls, *methods):
        _, payload = self._receive()
        have = struct.unpack_from(">HH", payload)
        if have[0] != cls or have[1] not in methods:
            raise ConnectionError(f"the broker answered {have}, {payload[4:200]}")
        self.answered = have[1]
        return payload[4:]

    def publish(self, exchange, key, body, content_type=None):
        """Returns once the broker has confirmed it: what was only written may be lost with the connection."""
        if not self.confirms:
            self._method(1, 85, 10, b"\0")
            self._expect(85, 11)
            self.confirms = True
        flags, properties = 0x1000, b"\x02"
        if content_type:
            flags, properties = flags | 0x8000, short_text(content_type) + properties
        self._method(1, 60, 40, struct.pack(">H", 0) + short_text(exchange) + short_text(key) + b"\0")
        self._frame(2, 1, struct.pack(">HHQH", 60, 0, len(body), flags) + properties)
        if body:
            self._frame(3, 1, body)
        self._expect(60, 80)

    def get(self, queue):
        """The queue's next message, acknowledged; None when it is empty."""
        self._method(1, 60, 70, struct.pack(">H", 0) + short_text(queue) + b"\1")
        answer = self._expect(60, 71, 72)
        if self.answered == 72:
            return None
        at = 9 + 1 + answer[9]
        key = answer[at + 1:at + 1 + answer[at]].decode()
        _, header = self._receive()
        size, flags = struct.unpack_from(">QH", header, 4)
        at, content_type, headers, mode = 14, None, {}, None
        if flags & 0x8000:
            content_type, at = header[at + 1:at + 1 + header[at]].decode(), at + 1 + header[at]
        if flags & 0x2000:
            (n,) = struct.unpack_from(">I", header, at)
            headers, at = read_table(header[at + 4:at + 4 + n]), at + 4 + n
        if flags & 0x1000:
            mode = header[at]
        body = b""
        while len(body) < size:
            body += self._receive()[1]
        return Message(key, body, content_type, headers, mode)

    def declare(self, queue):
        """Declares it durable and without arguments; returns (messages, consumers)."""
        self._method(1, 50, 10, struct.pack(">H", 0) + short_text(queue) + b"\2" + struct.pack(">I", 0))
        answer = self._expect(50, 11)
        return struct.unpack_from(">II", answer, 1 + answer[0])

    def declare_exchange(self, name, kind):
        self._method(1, 40, 10, struct.pack(">H", 0) + short_text(name) + short_text(kind) + b"\2" + struct.pack(">I", 0))
        self._expect(40, 11)

    def unbind(self, queue, exchange, key):
        self._method(1, 50, 50, struct.pack(">H", 0) + short_text(queue) + short_text(exchange) + short_text(key) + struct.pack(">I", 0))
        self._expect(50, 51)

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
