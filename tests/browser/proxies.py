"""What may lie between a browser and a studio: a port forwarded as `ssh -L` does, and a reverse proxy."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOP_HEADERS = {"connection", "keep-alive", "transfer-encoding"}


@contextmanager
def forwarded(target: int) -> Iterator[int]:
    """Forwards a free port, which is returned, to the port `target`."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", target))
            except OSError:
                return
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=_pump, args=(source, sink), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


@contextmanager
def reverse_proxy(target: int, prefix: str) -> Iterator[int]:
    """Serves another application at a free port, which is returned, and the port `target` below `prefix`."""

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if not self.path.startswith(prefix):
                return self._answer_itself()
            size = int(self.headers.get("Content-Length") or 0)
            upstream = http.client.HTTPConnection("127.0.0.1", target)
            upstream.request(self.command, self.path, self.rfile.read(size), dict(self.headers))
            answer = upstream.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_HEADERS:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            try:
                while data := answer.read1(65536):
                    self.wfile.write(data)
                    self.wfile.flush()
            except OSError:
                pass  # the browser has closed the page
            self.close_connection = True
            upstream.close()
            return None

        do_POST = do_GET

        def _answer_itself(self) -> None:
            body = b"another application"
            self.send_response(404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
