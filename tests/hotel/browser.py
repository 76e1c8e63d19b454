"""Headless Chromium over the WebDriver protocol, with Python's standard library alone."""
import base64
import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

import node

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
# Commands go through a pipe: nothing has to know the name localhost.
FLAGS = ["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
         "--disable-default-apps", "--disable-sync", "--no-first-run", "--no-default-browser-check", "--metrics-recording-only", "--hide-scrollbars",
         # Nothing but this machine can be reached: what the page asks of others fails, and shows.
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
KEYS = {"down": "\ue015", "up": "\ue013", "enter": "\ue007", "escape": "\ue00c", "tab": "\ue004"}


class WebDriverError(Exception):
    pass


class Browser:
    def __init__(self, width=1200, height=900, language="zh-CN", dark=False):
        driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
        if not driver or not chromium:
            node.skip("chromium and chromium-driver are not installed (BROWSER=1 tools/deps)")
        self.port = node.free_port()
        self.folder = tempfile.mkdtemp(prefix="serai-browser-")  # the driver and its browser leave nothing anywhere else
        env = dict(os.environ, HOME=self.folder, TMPDIR=self.folder)
        self.driver = subprocess.Popen([driver, f"--port={self.port}"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        args = FLAGS + [f"--user-data-dir={os.path.join(self.folder, 'profile')}", f"--window-size={width},{height}", f"--lang={language}", f"--accept-lang={language}"]
        args += ["--force-dark-mode"] if dark else []
        self.session = None
        options = {"binary": chromium, "args": args, "prefs": {"intl.accept_languages": language}}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"}}
        try:
            self.session = self._wait_for_driver({"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        except WebDriverError as e:
            self.close()
            node.skip(f"chromium does not start here: {e}".replace("\n", " "))
        except BaseException:
            self.close()
            raise

    def _wait_for_driver(self, body):
        deadline = time.monotonic() + node.HANG_SECONDS
        while True:
            try:
                return self._send("POST", "/session", body)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _send(self, method, path, body=None):
        conn = http.client.HTTPConnection("127.0.0.1", self.port, timeout=node.HANG_SECONDS)
        try:
            prefix = f"/session/{self.session}" if self.session else ""
            conn.request(method, prefix + path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
            value = json.loads(conn.getresponse().read())["value"]
        finally:
            conn.close()
        if isinstance(value, dict) and "error" in value:
            raise WebDriverError(f"{value['error']}: {value['message'][:300]}")
        return value

    def open(self, url):
        self._send("POST", "/url", {"url": url})

    def back(self):
        self._send("POST", "/back", {})

    def script(self, text, *args):
        return self._send("POST", "/execute/sync", {"script": text, "args": list(args)})

    def find(self, selector):
        return self._send("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def _until(self, action, errors):
        """What `action` returns, once it fails with none of these errors of the driver any more."""
        deadline = time.monotonic() + node.HANG_SECONDS
        while True:
            try:
                return action()
            except WebDriverError as e:
                if time.monotonic() > deadline or not str(e).startswith(errors):
                    raise
            time.sleep(0.03)

    def _on(self, selector, action, body):
        """Waits for the element. A page that draws itself anew may have replaced what was just found: then it is found again."""
        not_yet = ("no such element", "stale element reference", "element not interactable", "element click intercepted")
        return self._until(lambda: self._send("POST", f"/element/{self.find(selector)}/{action}", body), not_yet)

    def click(self, selector):
        self._on(selector, "click", {})

    def type(self, selector, text):
        self._on(selector, "value", {"text": KEYS.get(text, text)})

    def text(self, selector):
        return self.script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def texts(self, selector):
        return self.script("return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)", selector)

    def wait(self, text, *args, seconds=node.HANG_SECONDS):
        """Until the script's condition holds; returns its value. A condition that reads an element that is not there yet does not hold."""
        deadline = time.monotonic() + seconds
        while True:
            value = self._until(lambda: self.script("return " + text, *args), "javascript error")
            if value or time.monotonic() > deadline:
                return value
            time.sleep(0.03)

    def viewport(self, width, height, phone=False):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)

    def dark(self, on):
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def cdp(self, command, **params):
        return self._send("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def logs(self, kind):
        return self._send("POST", "/se/log", {"type": kind})

    def requested(self):
        """Addresses that the page asked for since the last call."""
        found = []
        for entry in self.logs("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def screenshot(self, name):
        folder = os.path.join(node.BUILD, "screenshots")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + ".png"), "wb") as f:
            f.write(base64.b64decode(self._send("GET", "/screenshot")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            if self.session:
                self._send("DELETE", "")
        except (OSError, WebDriverError):
            pass
        try:
            os.killpg(self.driver.pid, signal.SIGTERM)  # the driver and its browser: a group of their own
        except ProcessLookupError:
            pass
        self.driver.wait(timeout=node.HANG_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)
