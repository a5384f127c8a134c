# SPDX-License-Identifier: BSD-3-Clause
"""A server for pages with threads on this machine, `python serve.py FOLDER [PORT]`: browsers give memory that threads
share to pages that come with these headers."""

from __future__ import annotations

import http.server
import sys
from functools import partial

ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}


class Handler(http.server.SimpleHTTPRequestHandler):
    headers_of_all = ISOLATED
    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript", ".wasm": "application/wasm",
    }  # fmt: skip

    def end_headers(self) -> None:
        for name, value in self.headers_of_all.items():
            self.send_header(name, value)
        super().end_headers()


def main(argv: list[str]) -> None:
    address = ("127.0.0.1", int(argv[1]) if len(argv) > 1 else 8000)
    handler = partial(Handler, directory=argv[0])
    with http.server.ThreadingHTTPServer(address, handler) as server:
        host, port = server.server_address[:2]
        print(f"http://{host!s}:{port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
