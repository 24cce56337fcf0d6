"""The local server of the site."""

from __future__ import annotations

import socket

import serve


def test_a_reader_who_leaves_early_costs_no_traceback(tmp_path, capfd):
    (tmp_path / "large.bin").write_bytes(bytes(16_000_000))  # far more than a socket holds
    with serve.server(tmp_path) as http:
        reader, there = socket.socketpair()
        reader.sendall(b"GET /large.bin HTTP/1.1\r\n\r\n")
        reader.close()
        http.process_request_thread(there, ("a reader", 0))
    assert capfd.readouterr() == ("", "")
