"""A ``WireServer`` with more ways to answer, for libraries and SDKs that are given a path of it as their address."""

from __future__ import annotations

import socket

from wire_server import Request, WireServer, answer


class CellsServer(WireServer):
    """``/to/…`` sends on to ``target``, keeping the method and the body."""

    target = ""

    def __enter__(self) -> CellsServer:
        super().__enter__()
        return self

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

    def give_express__usw2_az1__x_s3(self, request: Request, connection: socket.socket) -> bool:
        """A directory bucket of S3: it gives a session to who asks, and each object once."""
        if "session" not in request.path:
            if self.counts[request.path] > 1:
                return False
            connection.sendall(answer(b"in a directory bucket", 'ETag: "e"'))
            return True
        told = "".join(
            f"<{name}>{text}</{name}>"
            for name, text in {
                "SessionToken": "the-session-of-the-bucket",
                "SecretAccessKey": "the-secret-of-the-session",
                "AccessKeyId": "AKIDS3X",
                "Expiration": "2099-01-01T00:00:00Z",
            }.items()
        )
        body = f"<CreateSessionResult><Credentials>{told}</Credentials></CreateSessionResult>".encode()
        connection.sendall(answer(body, "Content-Type: application/xml"))
        return True
