# SPDX-License-Identifier: BSD-2-Clause
"""debuginfod.py FOLDER PORT_FILE: a server that behaves badly, in the way that
the first part of the path names: wrong (another file), empty, cut (half of the
file), short (a connection that ends before the file does), error (status 500),
hang (no answer), drip (a byte now and then), flood (200 MB without a word of how
many they are), chunks (HTTP's, without end), bomb (64 MB that come as 64 KB
of gzip), loop (a redirection to itself), file (one to /etc/passwd), gopher (one to
another scheme). FOLDER/right is what should be sent, FOLDER/wrong the other file."""

import http.server
import os
import sys
import time
import zlib

folder, port_file = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        way = self.path.split("/")[1]
        name = "wrong" if way == "wrong" else "right"
        data = open(os.path.join(folder, name), "rb").read()
        if way == "error":
            return self.send_error(500)
        if way == "hang":
            return time.sleep(60)
        if way == "empty":
            data = b""
        if way == "flood":
            return self.flood()
        if way == "chunks":
            return self.chunks()
        if way == "bomb":
            return self.bomb()
        if way in ("loop", "file", "gopher"):
            return self.lead({"loop": self.path, "file": "file:///etc/passwd",
                              "gopher": "gopher://127.0.0.1/"}[way])
        size = len(data)
        if way == "cut":
            data = data[:size // 2]
            size = len(data)
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        if way == "short":
            data = data[:size // 2]
        if way != "drip":
            return self.wfile.write(data)
        for byte in data[:600]:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.1)

    def flood(self):
        self.send_response(200)
        self.end_headers()
        for _ in range(200):
            self.wfile.write(bytes(1 << 20))

    def chunks(self):
        self.protocol_version = "HTTP/1.1"
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            self.wfile.write(b"100000\r\n" + bytes(1 << 20) + b"\r\n")

    def bomb(self):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(packed)))
        self.end_headers()
        self.wfile.write(packed)

    def lead(self, where):
        self.protocol_version = "HTTP/1.1"  # over one connection
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(port_file + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(port_file + ".new", port_file)
server.serve_forever()
