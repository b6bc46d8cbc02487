# SPDX-License-Identifier: BSD-2-Clause
"""firefox.py: a page in Firefox without a screen, by WebDriver BiDi (w3.org/TR/webdriver-bidi): JSON over one WebSocket (RFC 6455)."""
import base64
import json
import os
import re
import secrets
import socket
import struct
import time

from browser import Page

# No first-run pages, and nothing that is fetched by the browser for itself.
SETTINGS = {
    "app.normandy.enabled": False, "app.update.disabledForTesting": True, "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False, "browser.shell.checkDefaultBrowser": False, "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False, "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "services.settings.server": "", "toolkit.telemetry.enabled": False, "network.proxy.type": 0,
}
KEYS = {"Enter": "\ue006", "Escape": "\ue00c", "Tab": "\ue004", "ArrowDown": "\ue015", "ArrowRight": "\ue014", "ArrowLeft": "\ue012",
        "ArrowUp": "\ue013", "Home": "\ue011", "PageDown": "\ue00f"}
SHIFT, CONTROL = "\ue008", "\ue009"


class WebSocket:
    """Texts, one way and back."""

    def __init__(self, host, port, path):
        self.socket, self.left = socket.create_connection((host, port), 60), b""
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        head = self.head()
        if " 101 " not in head.split("\r\n", 1)[0]:
            raise RuntimeError(head)

    def head(self):
        while b"\r\n\r\n" not in self.left:
            self.more()
        head, self.left = self.left.split(b"\r\n\r\n", 1)
        return head.decode()

    def more(self):
        some = self.socket.recv(1 << 20)
        if not some:
            raise EOFError("the browser ended")
        self.left += some

    def take(self, size):
        while len(self.left) < size:
            self.more()
        some, self.left = self.left[:size], self.left[size:]
        return some

    def send(self, data, opcode=1):
        mask, size = secrets.token_bytes(4), len(data)
        length = bytes([128 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size) if size < 1 << 16 else \
            b"\xff" + struct.pack(">Q", size)
        masked = bytes(byte ^ mask[i & 3] for i, byte in enumerate(data))
        self.socket.sendall(bytes([128 | opcode]) + length + mask + masked)

    def receive(self):
        parts = []
        while True:
            first, size = self.take(2)
            if size >= 126:
                size, = struct.unpack(">H" if size == 126 else ">Q", self.take(2 if size == 126 else 8))
            data = self.take(size)
            if first & 15 == 9:
                self.send(data, 10)
            elif first & 15 < 3:
                parts.append(data)
                if first & 128:
                    return b"".join(parts).decode()


class Firefox(Page):
    """Firefox, of the distribution or upstream."""

    def __enter__(self):
        profile = f"{self.folder}/profile"
        os.mkdir(profile)
        with open(f"{profile}/user.js", "w", encoding="utf-8") as out:
            out.writelines(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in SETTINGS.items())
        self.process = self.run(os.environ.get("FIREFOX", "firefox-esr"), "--headless", "--no-remote", "--profile", profile,
                                "--remote-debugging-port", "0", "about:blank", start_new_session=True)
        self.socket = WebSocket("127.0.0.1", self.port(), "/session")
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        # In the tab that is there the address has the focus, and the page does not get it.
        self.context = self.ask("browsingContext.create", type="tab")["context"]
        self.ask("browsingContext.activate", context=self.context)
        self.window(*self.size, self.ratio)
        return self

    def port(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            found = re.search(r"BiDi listening on ws://127.0.0.1:(\d+)", self.complaints())
            if found:
                return int(found[1])
            time.sleep(0.05)
        raise EOFError("the browser does not listen: " + self.complaints())

    def __exit__(self, *_):
        self.end()
        self.socket.socket.close()

    def window(self, width, height, ratio=1):
        self.ask("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height},
                 devicePixelRatio=ratio)

    def note(self, message):
        method, values = message.get("method"), message.get("params", {})
        if method == "log.entryAdded" and values["level"] == "error":
            self.said.append(f"{values['type']} {values['text']}")
        elif method == "network.beforeRequestSent":
            self.said.append("asks for " + values["request"]["url"])

    def ask(self, method, **values):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": values}).encode())
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") != self.number:
                self.note(answer)
            elif answer["type"] == "error":
                raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
            else:
                return answer["result"]

    def value(self, expression):
        answer = self.ask("script.evaluate", expression=f"(async () => JSON.stringify((await ({expression})) ?? null))()",
                          target={"context": self.context}, awaitPromise=True)
        if answer["type"] == "exception":
            raise RuntimeError(expression + ": " + answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def go(self, address):
        self.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def act(self, *sources):
        self.ask("input.performActions", context=self.context, actions=list(sources))
        self.drawn()

    @staticmethod
    def keys(*keys):
        """Pressed in that order, let go in the other."""
        return {"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": key} for key in keys] +
                [{"type": "keyUp", "value": key} for key in reversed(keys)]}

    def key(self, key, shift=False):
        self.act(self.keys(*[SHIFT] * shift, KEYS.get(key, key)))

    def type(self, words):
        self.act({"type": "key", "id": "keys", "actions": [
            {"type": kind, "value": key} for key in words for kind in ("keyDown", "keyUp")]})

    @staticmethod
    def pointer(kind, name, places):
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y)} for x, y in places]
        return {"type": "pointer", "id": name, "parameters": {"pointerType": kind}, "actions": [
            moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]}

    def click(self, x, y):
        self.act(self.pointer("mouse", "mouse", [(x, y)]))

    def drag(self, x0, y0, x1, y1):
        self.act(self.pointer("mouse", "mouse", [(x0 + (x1 - x0) * step / 4, y0 + (y1 - y0) * step / 4) for step in range(5)]))

    def wheel(self, x, y, dx, dy, ctrl=False):
        scroll = {"type": "scroll", "x": round(x), "y": round(y), "deltaX": dx, "deltaY": dy}
        pauses = [{"type": "pause"}] * ctrl
        self.act({"type": "wheel", "id": "wheel", "actions": pauses + [scroll] + pauses},
                 *[{"type": "key", "id": "keys", "actions": [
                     {"type": "keyDown", "value": CONTROL}, {"type": "pause"}, {"type": "keyUp", "value": CONTROL}]}] * ctrl)

    def fingers(self, *paths):
        self.act(*[self.pointer("touch", f"finger{i}", path) for i, path in enumerate(paths)])

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.ask("browsingContext.captureScreenshot", context=self.context)["data"]))
