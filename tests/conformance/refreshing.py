"""A server that passes requests on to a node, each behind a refresh of all indices: through it every search sees what a copy shows that
was recovered just before. Such a copy shows all that it has, refreshed or not, as in Elasticsearch (which refreshes at a recovery's end)."""
import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ENDS = {"connection", "transfer-encoding", "keep-alive"}  # of one connection


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        conn = http.client.HTTPConnection(*self.server.node, timeout=300)
        conn.request("POST", "/_refresh")
        conn.getresponse().read()
        conn.putrequest(self.command, self.path, skip_accept_encoding=True, skip_host=True)
        for name, value in self.headers.items():
            if name.lower() not in ENDS:
                conn.putheader(name, value)
        conn.endheaders(body or None)
        answer = conn.getresponse()
        text = answer.read()
        conn.close()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ENDS:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = pass_on


class Refreshing:
    """with Refreshing(node) as server: server.url"""

    def __init__(self, node):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.node = (node.host, node.port)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
