"""Show the built site at a local address: python tools/serve.py book/_build/html --port 8000"""

from __future__ import annotations

import argparse
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """A line for each of a page's dozens of files helps nobody."""

    def handle(self) -> None:
        """Nor does a traceback for a reader who leaves a page before all of it has come."""
        with suppress(BrokenPipeError, ConnectionResetError):
            super().handle()


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server on this machine only; port 0 takes any free one. Its address: `address(server)`."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(QuietHandler, directory=str(folder)))


def address(http: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{http.server_port}/"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    try:
        http = server(arguments.folder, arguments.port)
    except OSError as error:
        raise SystemExit(f"port {arguments.port}: {error.strerror}. Choose another: make serve PORT=8001") from None
    print(f"the course is at {address(http)} (stop with Ctrl+C)", flush=True)
    try:
        http.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
