# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium, driven through the DevTools protocol over two pipes."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile


def find():
    """The path of Chromium or Chrome, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    """One browser with one tab. Collects what goes wrong in it and what it asks for."""

    def __init__(self, path):
        self.faults = []    # errors and warnings of the console, uncaught exceptions
        self.requests = []  # addresses
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._number = 0
        self._buffer = b""
        self._events = []
        inward, self._to = os.pipe()
        self._from, outward = os.pipe()
        self._log = open(os.path.join(self._profile.name, "log"), "w+", encoding="utf-8")
        # The browser reads commands from 3 and answers on 4; the copies keep clear of both.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (inward, outward)]

        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--hide-scrollbars", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", f"--user-data-dir={self._profile.name}/profile",
             "about:blank"],
            stdout=self._log, stderr=self._log, preexec_fn=place, close_fds=False)
        for end in (inward, outward, *high):
            os.close(end)
        try:
            self._attach()
        except Exception:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the browser."""
        os.close(self._to)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
        self._log.close()
        self._profile.cleanup()

    def open(self, address, width, height, dark=False):
        """Loads a page into a window of this size."""
        self.size(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url="about:blank")
        self._wait("Page.loadEventFired")
        self.call("Page.navigate", url=address)
        self._wait("Page.loadEventFired")

    def size(self, width, height):
        """Sets the window's size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)

    def script(self, enabled):
        """Whether pages loaded from now on may run scripts."""
        self.call("Emulation.setScriptExecutionDisabled", value=not enabled)

    def value(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def screenshot(self, path, whole=False):
        """Writes what the window shows, or the whole page, as PNG."""
        image = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))

    def call(self, method, **parameters):
        """The answer to one command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if method.partition(".")[0] not in ("Target", "Browser"):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _attach(self):
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page["targetId"],
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _wait(self, event):
        while event not in self._events:
            self._read()
        self._events.clear()

    def _read(self):
        """The next message; events are noted."""
        while b"\0" not in self._buffer:
            data = os.read(self._from, 1 << 16)
            if not data:
                self._log.seek(0)
                raise RuntimeError(f"the browser ended:\n{self._log.read()[-2000:]}")
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method"), message.get("params"))
        return message

    def _note(self, method, event):
        if method == "Runtime.exceptionThrown":
            self.faults.append(event["exceptionDetails"]["exception"].get("description"))
        elif method == "Runtime.consoleAPICalled":
            self.faults.append(f"console: {event['args']}")
        elif method == "Log.entryAdded":
            self.faults.append(f"{event['entry']['level']}: {event['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method:
            self._events.append(method)
