# SPDX-License-Identifier: BSD-2-Clause
"""debuginfod.py FOLDER PORT_FILE: a server that behaves badly, in the way that
the first part of the path names: wrong (another file), empty, cut (half of the
file), short (a connection that ends before the file does), error (status 500),
hang (no answer), drip (a byte now and then), flood (200 MB without a word of how
many they are). FOLDER/right is what should be
sent, FOLDER/wrong the other file."""

import http.server
import os
import sys
import time

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

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(port_file + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(port_file + ".new", port_file)
server.serve_forever()
