"""A ``WireServer`` with more ways to answer, for libraries and SDKs that are given a path of it as their address."""

from __future__ import annotations

import socket

from wire_server import Request, WireServer, answer


class CellsServer(WireServer):
    """``/to/…`` sends on to ``target``, keeping the method and the body."""

    target = ""

    def give_to(self, request: Request, connection: socket.socket) -> bool:
        location = f"{self.target}/{request.path.split('/', 2)[2]}"
        connection.sendall(answer(b"", f"Location: {location}", status="307 Temporary Redirect"))
        return True

    def give_longer(self, request: Request, connection: socket.socket) -> bool:
        """More than it says that it sends."""
        connection.sendall(answer(b"the answer", "Content-Type: text/plain") + b", and what nobody asked for")
        return False

    def give_rpc_at_last(self, request: Request, connection: socket.socket) -> bool:
        """Closes without an answer, once."""
        return self.counts[request.path] > 1 and self.give_RPC2(request, connection)

    def give_moved_bucket(self, request: Request, connection: socket.socket) -> bool:
        """S3, as long as it is asked in the name of another region than its own."""
        if "/eu-west-1/" in request.headers["authorization"]:
            connection.sendall(answer(b"in Ireland", 'ETag: "e"', "x-amz-request-id: 2"))
            return True
        error = b"<Error><Code>PermanentRedirect</Code><Message>It is elsewhere.</Message></Error>"
        headers = ("Content-Type: application/xml", "x-amz-bucket-region: eu-west-1", "x-amz-request-id: 1")
        connection.sendall(answer(error, *headers, status="301 Moved Permanently"))
        return True
