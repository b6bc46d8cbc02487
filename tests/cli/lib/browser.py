# SPDX-License-Identifier: BSD-2-Clause
"""browser.py: a page in a browser without a screen: Chromium, driven as its developer tools are: by messages over a pipe
(--remote-debugging-pipe: file descriptors 3 and 4, JSON, each ended by a NUL), or another that offers the same (firefox.py)."""
import base64
import json
import os
import select
import signal
import subprocess
import time


class Page:
    """One tab. `with Browser(folder) as page: page.open(path)`; the folder is for its files, and is the test's own. Whoever drives it
    has value, go, key, type, click, drag, wheel, fingers, window and screenshot; places are CSS pixels of the window."""

    def __init__(self, folder, width=1400, height=900, ratio=1):
        self.folder, self.size, self.ratio, self.number = folder, (width, height), ratio, 0
        self.said = []  # what the page complained of, and every address that it asked for

    def run(self, *command, **more):
        """In a group of its own, that ends with us."""
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=open(f"{self.folder}/browser.err", "wb"), env={
            **os.environ, "HOME": self.folder, "XDG_CONFIG_HOME": self.folder, "XDG_CACHE_HOME": self.folder}, **more)

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def complaints(self):
        with open(f"{self.folder}/browser.err", encoding="utf-8", errors="replace") as text:
            return text.read()[-600:]

    def until(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def open(self, path, place=""):
        """A page of ours, read and drawn."""
        self.go("about:blank")
        self.go(f"file://{os.path.abspath(path)}{place}")
        self.until("document.documentElement ? document.documentElement.dataset.state || 0 : 0")
        self.drawn()

    def drawn(self):
        """Two frames on: what was asked for is in the picture."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def text(self, selector):
        return self.value(f"(document.querySelector({json.dumps(selector)}) || {{textContent: ''}}).textContent")


class Browser(Page):
    """Chromium."""

    def __enter__(self):
        theirs_in, self.to = os.pipe()
        self.come, theirs_out = os.pipe()
        self.left = b""

        def descriptors():
            os.setsid()
            first, second = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = self.run(
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
            "--no-first-run", f"--window-size={self.size[0]},{self.size[1]}", f"--user-data-dir={self.folder}/profile", "about:blank",
            preexec_fn=descriptors, close_fds=False)
        os.close(theirs_in)
        os.close(theirs_out)
        self.session = None
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")
        self.window(*self.size, self.ratio)
        return self

    def __exit__(self, *_):
        self.end()
        os.close(self.to)
        os.close(self.come)

    def window(self, width, height, ratio=1):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False)

    def media(self, kind="", **features):
        """print, or screen; prefers_color_scheme="dark"."""
        self.ask("Emulation.setEmulatedMedia", media=kind, features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def message(self, seconds=60):
        """The next one; events are kept as far as they are complaints."""
        end = time.monotonic() + seconds
        while b"\0" not in self.left:
            if not select.select([self.come], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            some = os.read(self.come, 1 << 20)
            if not some:
                raise EOFError("the browser ended: " + self.complaints())
            self.left += some
        text, self.left = self.left.split(b"\0", 1)
        return json.loads(text)

    def note(self, message):
        method, values = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.said.append("exception " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and values["entry"]["level"] == "error":
            self.said.append("error " + values["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.said.append("asks for " + values["request"]["url"])

    def ask(self, method, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") != self.number:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def value(self, expression):
        """Of JavaScript; what it promises is waited for."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(expression + ": " + answer["exceptionDetails"].get("exception", {}).get("description", "?"))
        return answer["result"].get("value")

    def go(self, address):
        self.ask("Page.navigate", url=address)

    CODES = {"Enter": (13, "\r"), "Tab": (9, ""), " ": (32, " "), "Escape": (27, "")}

    def key(self, key, shift=False):
        code, text = self.CODES.get(key, (0, key if len(key) == 1 else ""))
        both = {"key": key, "modifiers": 8 * shift, "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **both)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **both)
        self.drawn()

    def type(self, words):
        self.ask("Input.insertText", text=words)
        self.drawn()

    def mouse(self, kind, x, y, **more):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **{"button": "left", "clickCount": 1, **more})

    def click(self, x, y):
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)
        self.drawn()

    def drag(self, x0, y0, x1, y1):
        self.mouse("mousePressed", x0, y0)
        for step in range(1, 5):
            self.mouse("mouseMoved", x0 + (x1 - x0) * step / 4, y0 + (y1 - y0) * step / 4, buttons=1)
        self.mouse("mouseReleased", x1, y1)
        self.drawn()

    def wheel(self, x, y, dx, dy, ctrl=False):
        self.mouse("mouseWheel", x, y, deltaX=dx, deltaY=dy, modifiers=2 * ctrl)
        self.drawn()

    def fingers(self, *paths):
        """Each the places of one finger, all as many."""
        self.ask("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=len(paths))
        for step, places in enumerate(zip(*paths)):
            self.ask("Input.dispatchTouchEvent", type="touchMove" if step else "touchStart",
                     touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)])
        self.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.drawn()
        self.ask("Emulation.setTouchEmulationEnabled", enabled=False)

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))
