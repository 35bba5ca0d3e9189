"""A small SMTP server on threads: it keeps what it is sent, and says what a test wants it to say.

``with MailServer() as server``: ``server.host``, ``server.port``; ``server.messages`` are the mails that came, as
``(sender, recipients, text)``, ``server.commands`` all commands, ``server.sessions`` how often somebody connected.
Recipients that begin with ``no`` are refused, senders that do so too; a text with ``spam`` in it as well. A password
other than ``right`` is wrong. ``server.dropping`` drops the connection at the next mail.
"""

from __future__ import annotations

import base64
import contextlib
import socket
import ssl
import threading
from pathlib import Path
from types import TracebackType
from typing import Any


class MailServer:
    """The server. ``certificate`` lets it do STARTTLS, ``at_once`` speak TLS from the start."""

    def __init__(self, certificate: tuple[Path, Path] | None = None, *, at_once: bool = False) -> None:
        self.messages: list[tuple[str, list[str], str]] = []
        self.commands: list[str] = []
        self.sessions = 0
        self.greeting = "220 mail.test ready"
        self.dropping = False
        self.host = "127.0.0.1"
        self._tls: ssl.SSLContext | None = None
        if certificate is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(*certificate)
        self.at_once = at_once
        self._open: set[socket.socket] = set()
        self._socket = socket.create_server((self.host, 0), backlog=32)
        self.port: int = self._socket.getsockname()[1]

    def __enter__(self) -> MailServer:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in [*self._open]:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def count(self, command: str) -> int:
        """How often this command came."""
        return sum(line.upper().startswith(command) for line in self.commands)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.sessions += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        self._open.add(connection)
        with contextlib.suppress(OSError, EOFError):
            if self._tls is not None and self.at_once:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with contextlib.closing(_Session(self, connection, self._tls)) as session:
                session.run()
        self._open.discard(connection)
        connection.close()


class _Session:
    """One connection."""

    def __init__(self, server: MailServer, connection: Any, tls: ssl.SSLContext | None) -> None:
        self.server = server
        self.tls = tls
        self.sender = ""
        self.recipients: list[str] = []
        self._use(connection)

    def _use(self, connection: Any) -> None:
        self.connection = connection
        self.file = connection.makefile("rb")

    def close(self) -> None:
        self.file.close()
        self.connection.close()

    def say(self, *lines: str) -> None:
        for index, line in enumerate(lines):
            code, text = line[:3], line[4:]
            self.connection.sendall(f"{code}{'-' if index < len(lines) - 1 else ' '}{text}\r\n".encode())

    def read(self) -> str:
        line = self.file.readline()
        if not line:
            raise EOFError
        return str(line.decode("utf-8").rstrip("\r\n"))

    def run(self) -> None:
        self.say(self.server.greeting)
        while True:
            line = self.read()
            self.server.commands.append(line)
            word = line.split(maxsplit=1)[0].upper()
            getattr(self, f"do_{word.lower()}", self.do_unknown)(line)
            if word == "QUIT":
                return

    def do_ehlo(self, line: str) -> None:
        secured = isinstance(self.connection, ssl.SSLSocket)
        offers = ["250 STARTTLS"] if self.tls is not None and not secured else []
        self.say("250 mail.test", *offers, "250 SIZE 1000000", "250 8BITMIME", "250 AUTH PLAIN LOGIN")

    def do_starttls(self, line: str) -> None:
        assert self.tls is not None
        self.say("220 go ahead")
        self.file.close()
        self._use(self.tls.wrap_socket(self.connection, server_side=True))

    def do_auth(self, line: str) -> None:
        given = base64.b64decode(line.split()[2]).decode().split("\0")
        self.say("235 welcome" if given[-1] == "right" else "535 wrong password")

    def do_mail(self, line: str) -> None:
        if self.server.dropping:
            self.server.dropping = False
            raise EOFError
        self.sender = line.partition("<")[2].partition(">")[0]
        self.recipients = []
        self.say("550 not from you" if self.sender.startswith("no") else "250 ok")

    def do_rcpt(self, line: str) -> None:
        address = line.partition("<")[2].partition(">")[0]
        if address.startswith("no"):
            self.say("550 nobody of that name")
        else:
            self.recipients.append(address)
            self.say("250 ok")

    def do_data(self, line: str) -> None:
        self.say("354 go on")
        lines = []
        while (text := self.read()) != ".":
            lines.append(text)
        message = "\n".join(lines)
        if "spam" in message:
            self.say("554 we do not like it")
            return
        self.server.messages.append((self.sender, self.recipients, message))
        self.say(f"250 kept as {len(self.server.messages)}")

    def do_rset(self, line: str) -> None:
        self.say("250 ok")

    do_noop = do_rset

    def do_quit(self, line: str) -> None:
        self.say("221 bye")

    def do_unknown(self, line: str) -> None:
        self.say("500 what?")
