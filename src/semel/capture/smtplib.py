"""Records the mail that ``smtplib`` sends: each message is one exchange.

In a body, connecting, greeting, securing the connection and logging in are put off until a message is sent, and are
done then if that is live; a replay needs no server. The exchange gives the recipients that were refused, or fails as
the library does. A connection that was opened stays open for the next message. What else a server could be asked for
is refused. Nothing is kept of what was put off but in the ``SMTP`` object itself: credentials are in no record.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from semel.capture._deferral import is_recorded
from semel.capture._flat import SYSTEM, Kinds
from semel.capture._mail import SESSION, closing, mail_request, not_asked
from semel.capture.exchange import Flat, Request
from semel.capture.recorder import begin
from semel.compiler import unrecorded

MODULES = ("smtplib",)

#: What is put off, and what it gives in place of the server's own words, whether they would have been different or not.
_PUT_OFF = {
    "connect": (220, b"ready"),
    "ehlo": (250, b"ok"),
    "helo": (250, b"ok"),
    "ehlo_or_helo_if_needed": None,
    "starttls": (220, b"go ahead"),
    "login": (235, b"authenticated"),
    "auth": (235, b"authenticated"),
}
#: What a connection that may not be there yet has nothing to do for.
_NOTHING_TO_DO = {"noop": (250, b"ok"), "rset": (250, b"ok")}
_BYE = (221, b"bye")
_READY = 220


def install(module: ModuleType) -> None:
    """Patches the clients. Idempotent."""
    smtp: Any = module.SMTP
    if hasattr(smtp.sendmail, "_semel_records"):
        return
    seam = _Seam(module)
    for name, answer in _PUT_OFF.items():
        setattr(smtp, name, seam.put_off(name, getattr(smtp, name), answer))
    module.LMTP.connect = seam.put_off("connect", module.LMTP.connect, _PUT_OFF["connect"])
    for name, answer in _NOTHING_TO_DO.items():
        setattr(smtp, name, seam.left_out(getattr(smtp, name), answer))
    smtp.__init__ = seam.unnamed(smtp.__init__)
    smtp.has_extn = seam.asking("has_extn", smtp.has_extn)
    smtp.docmd = seam.command(smtp.docmd)
    smtp.send = seam.sending(smtp.send)
    smtp.quit = seam.quit(smtp.quit)
    smtp.close = closing(smtp.close)
    smtp.sendmail = seam.sendmail(smtp.sendmail)
    smtp.send_message = seam.send_message(smtp.send_message)


class _Session:
    """What a client in a body has put off, in order; ``done`` of it was done on the connection that is open now."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
        self.done = 0
        self.unnamed = False
        self.busy = False

    def where(self) -> tuple[str, int]:
        """Host and port of the connection, as far as they were said."""
        for name, _, args, kwargs in self.steps:
            if name == "connect":
                given = dict(zip(("host", "port"), args, strict=False)) | kwargs
                return str(given.get("host") or "localhost"), int(given.get("port") or 0)
        return "", 0


def _session(client: Any) -> _Session:
    session: _Session = vars(client).setdefault(SESSION, _Session())
    return session


class _Seam:
    """What takes the places of the library's methods."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._failures = _Failures(module)

    def put_off(self, name: str, original: Callable[..., Any], answer: Any) -> Callable[..., Any]:
        @wraps(original)
        def method(client: Any, *args: Any, **kwargs: Any) -> Any:
            if not is_recorded():
                return original(client, *args, **kwargs)
            _session(client).steps.append((name, original, args, kwargs))
            return answer

        return method

    def left_out(self, original: Callable[..., Any], answer: Any) -> Callable[..., Any]:
        @wraps(original)
        def method(client: Any) -> Any:
            return answer if is_recorded() else original(client)

        return method

    def unnamed(self, original: Callable[..., None]) -> Callable[..., None]:
        """Puts off looking up the name of this host, too, which may ask a name server."""

        @wraps(original)
        def made(client: Any, host: str = "", port: int = 0, local_hostname: Any = None, *args: Any, **kw: Any) -> None:
            if local_hostname is None and is_recorded():
                _session(client).unnamed = True
                local_hostname = "localhost"
            original(client, host, port, local_hostname, *args, **kw)

        return made

    def asking(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def method(client: Any, *args: Any) -> Any:
            if SESSION in vars(client):
                if is_recorded():
                    raise not_asked(f"{name}()")
                self.open(client)
            return original(client, *args)

        return method

    def command(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def docmd(client: Any, cmd: str, args: str = "") -> Any:
            if is_recorded() and cmd.upper() == "QUIT":  # as leaving a ``with`` does
                self._hang_up(client)
                return _BYE
            return original(client, cmd, args)

        return docmd

    def sending(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What every command goes through."""

        @wraps(original)
        def send(client: Any, data: Any) -> Any:
            if is_recorded():
                command = (data if isinstance(data, str) else bytes(data).decode("latin-1")).split(maxsplit=1)
                raise not_asked(command[0] if command else "it")
            self.open(client)
            return original(client, data)

        return send

    def quit(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def quit(client: Any) -> Any:
            if not is_recorded():
                return original(client)
            self._hang_up(client)
            client.close()
            return _BYE

        return quit

    def sendmail(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def sendmail(client: Any, from_addr: str, to_addrs: Any, msg: Any, *args: Any, **kwargs: Any) -> Any:
            to_addrs = _listed(to_addrs)

            def send() -> Any:
                self.open(client)
                return original(client, from_addr, to_addrs, msg, *args, **kwargs)

            return self._exchange(client, from_addr, to_addrs, msg, send) if is_recorded() else send()

        sendmail.__dict__["_semel_records"] = True
        return sendmail

    def send_message(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def send_message(
            client: Any, msg: Any, from_addr: Any = None, to_addrs: Any = None, *args: Any, **kw: Any
        ) -> Any:
            to_addrs = _listed(to_addrs)

            def send() -> Any:
                self.open(client)
                return original(client, msg, from_addr, to_addrs, *args, **kw)

            return self._exchange(client, from_addr, to_addrs, msg, send) if is_recorded() else send()

        return send_message

    def _exchange(self, client: Any, sender: Any, recipients: Any, message: Any, send: Callable[[], Any]) -> Any:
        session = vars(client).get(SESSION)
        host, port = session.where() if session is not None else ("", 0)
        call = begin(mail_request(host or client._host, port, sender, recipients, message), self._failures)
        if call is None:
            with unrecorded():
                return send()
        return call.perform(send)

    def open(self, client: Any) -> None:
        """Does what was put off, as far as the connection that is open has not seen it."""
        session: _Session | None = vars(client).get(SESSION)
        if session is None or session.busy:
            return
        if client.sock is None:
            session.done = 0
        session.busy = True
        try:
            if session.unnamed:
                session.unnamed = False
                client.local_hostname = _name_of_this_host()
            while session.done < len(session.steps):
                name, original, args, kwargs = session.steps[session.done]
                answer = original(client, *args, **kwargs)
                if name == "connect" and answer[0] != _READY:
                    client.close()
                    raise self._module.SMTPConnectError(*answer)
                session.done += 1
        finally:
            session.busy = False

    def _hang_up(self, client: Any) -> None:
        """Ends the connection if one is open; what the server says to that is nobody's concern."""
        if client.sock is not None:
            with unrecorded():
                try:
                    client.docmd("QUIT")
                except OSError:
                    return


def _listed(addresses: Any) -> Any:
    """Addresses that may be read twice."""
    return addresses if addresses is None or isinstance(addresses, str) else [*addresses]


def _name_of_this_host() -> str:
    """As the library finds it."""
    name = socket.getfqdn()
    if "." in name:
        return name
    try:
        return f"[{socket.gethostbyname(socket.gethostname())}]"
    except socket.gaierror:
        return "[127.0.0.1]"


class _Failures:
    """The library's exceptions, and those of connecting."""

    def __init__(self, module: ModuleType) -> None:
        own = [kind for kind in vars(module).values() if isinstance(kind, type)]
        self._kinds = Kinds({*SYSTEM, *(kind for kind in own if issubclass(kind, module.SMTPException))})

    def flatten(self, error: BaseException) -> Flat | None:
        return self._kinds.flatten(error)

    def restore(self, data: Flat, request: Request) -> BaseException:
        return self._kinds.restore(data)
