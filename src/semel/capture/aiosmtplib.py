"""Records the mail that ``aiosmtplib`` sends: each message is one exchange, as with ``smtplib``.

In a body, connecting, greeting, securing the connection and logging in are put off until a message is sent, and are
done then if that is live; a replay needs no server. ``aiosmtplib.send`` is a client that sends one message. The
exchange gives the refused recipients and the server's last words, or fails as the library does.
"""

from __future__ import annotations

import asyncio
import contextlib
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

MODULES = ("aiosmtplib",)

#: What is put off, and the code and text that it gives in place of the server's own.
_PUT_OFF = {
    "ehlo": (250, "ok"),
    "helo": (250, "ok"),
    "starttls": (220, "go ahead"),
    "login": (235, "authenticated"),
    "auth_crammd5": (235, "authenticated"),
    "auth_plain": (235, "authenticated"),
    "auth_login": (235, "authenticated"),
    "auth_xoauth2": (235, "authenticated"),
}


def install(module: ModuleType) -> None:
    """Patches the client. Idempotent."""
    smtp: Any = module.SMTP
    if hasattr(smtp.sendmail, "_semel_records"):
        return
    seam = _Seam(module)
    smtp.connect = seam.connect(smtp.connect)
    for name, answer in _PUT_OFF.items():
        if hasattr(smtp, name):  # XOAUTH2 is not in every version
            setattr(smtp, name, seam.put_off(getattr(smtp, name), answer))
    for name in ("noop", "rset"):
        setattr(smtp, name, seam.left_out(getattr(smtp, name)))
    for name in ("supports_extension", "get_transport_info"):
        setattr(smtp, name, seam.asking(name, getattr(smtp, name)))
    smtp.is_connected = property(seam.is_connected(smtp.is_connected.fget))
    smtp.execute_command = seam.command(smtp.execute_command)
    smtp.data = seam.data(smtp.data)
    smtp.quit = seam.quit(smtp.quit)
    smtp.close = closing(smtp.close)
    smtp.sendmail = seam.sendmail(smtp.sendmail)
    smtp.send_message = seam.send_message(smtp.send_message)


class _Session:
    """What a client in a body has put off, in order; ``done`` of it was done on the connection that is open now."""

    def __init__(self) -> None:
        self.steps: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
        self.done = 0
        self.connects = False
        self.lock = asyncio.Lock()
        self.opening: object = None


def _session(client: Any) -> _Session:
    session: _Session = vars(client).setdefault(SESSION, _Session())
    return session


class _Seam:
    """What takes the places of the library's methods."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._failures = _Failures(module)

    def connect(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def connect(client: Any, **options: Any) -> Any:
            if not is_recorded():
                return await original(client, **options)
            if client.is_connected:
                raise self._module.SMTPException("SMTP instance is already connected")
            session = _session(client)
            session.steps, session.done, session.connects = [(original, (), options)], 0, True
            return self._module.SMTPResponse(220, "ready")

        return connect

    def put_off(self, original: Callable[..., Any], answer: tuple[int, str]) -> Callable[..., Any]:
        @wraps(original)
        async def method(client: Any, *args: Any, **options: Any) -> Any:
            if not is_recorded():
                return await original(client, *args, **options)
            self._must_be_connected(client)
            _session(client).steps.append((original, args, options))
            return self._module.SMTPResponse(*answer)

        return method

    def left_out(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def method(client: Any, **options: Any) -> Any:
            if not is_recorded():
                return await original(client, **options)
            self._must_be_connected(client)
            return self._module.SMTPResponse(250, "ok")

        return method

    def _must_be_connected(self, client: Any) -> None:
        if not client.is_connected:
            raise self._module.SMTPServerDisconnected("Server not connected")

    def is_connected(self, original: Callable[[Any], bool]) -> Callable[[Any], bool]:
        @wraps(original)
        def is_connected(client: Any) -> bool:
            session: _Session | None = vars(client).get(SESSION)
            return original(client) or (session is not None and session.connects and is_recorded())

        return is_connected

    def asking(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def method(client: Any, *args: Any) -> Any:
            if SESSION in vars(client) and is_recorded():
                raise not_asked(f"{name}()")
            return original(client, *args)

        return method

    def command(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What every command but the text of a message goes through."""

        @wraps(original)
        async def execute_command(client: Any, *words: bytes, **options: Any) -> Any:
            if is_recorded():
                raise not_asked(words[0].decode("latin-1") if words else "it")
            await self.open(client)
            return await original(client, *words, **options)

        return execute_command

    def data(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def data(client: Any, *args: Any, **options: Any) -> Any:
            if is_recorded():
                raise not_asked("DATA")
            return await original(client, *args, **options)

        return data

    def quit(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def quit(client: Any, **options: Any) -> Any:
            if not is_recorded():
                return await original(client, **options)
            self._must_be_connected(client)
            if _is_open(client):
                # What the server says to it is nobody's concern.
                with unrecorded(), contextlib.suppress(OSError, self._module.SMTPException):
                    await original(client, **options)
            client.close()
            return self._module.SMTPResponse(221, "bye")

        return quit

    def sendmail(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def sendmail(client: Any, sender: str, recipients: Any, message: Any, /, **options: Any) -> Any:
            async def send() -> Any:
                await self.open(client)
                return await original(client, sender, recipients, message, **options)

            if is_recorded():
                return await self._exchange(client, sender, recipients, message, send)
            return await send()

        sendmail.__dict__["_semel_records"] = True
        return sendmail

    def send_message(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def send_message(client: Any, message: Any, /, **options: Any) -> Any:
            async def send() -> Any:
                await self.open(client)
                return await original(client, message, **options)

            if is_recorded():
                sender, recipients = options.get("sender"), options.get("recipients")
                return await self._exchange(client, sender, recipients, message, send)
            return await send()

        return send_message

    async def _exchange(self, client: Any, sender: Any, recipients: Any, message: Any, send: Callable[[], Any]) -> Any:
        host, port = _where(client)
        call = begin(mail_request(host, port, sender, recipients, message), self._failures)
        if call is None:
            with unrecorded():
                return await send()

        async def sent() -> tuple[dict[str, tuple[int, str]], str]:
            refused, text = await send()
            return {address: (answer.code, answer.message) for address, answer in refused.items()}, text

        refused, text = await call.perform_async(sent)
        return {address: self._module.SMTPResponse(*answer) for address, answer in refused.items()}, text

    async def open(self, client: Any) -> None:
        """Does what was put off, as far as the connection that is open has not seen it."""
        session: _Session | None = vars(client).get(SESSION)
        me = asyncio.current_task()
        if session is None or session.opening is me:
            return
        async with session.lock:
            session.opening = me
            try:
                if not _is_open(client):
                    session.done = 0
                while session.done < len(session.steps):
                    original, args, options = session.steps[session.done]
                    await original(client, *args, **options)
                    session.done += 1
            finally:
                session.opening = None


def _is_open(client: Any) -> bool:
    return client.protocol is not None and client.protocol.is_connected


def _where(client: Any) -> tuple[str, int]:
    """Host and port of the connection, as far as they were said."""
    session: _Session | None = vars(client).get(SESSION)
    options = session.steps[0][2] if session is not None and session.connects else {}
    host, port = options.get("hostname", client.hostname), options.get("port", client.port)
    return str(host or "localhost"), port if isinstance(port, int) else 0


class _Failures:
    """The library's exceptions, and those of connecting."""

    def __init__(self, module: ModuleType) -> None:
        own = [kind for kind in vars(module).values() if isinstance(kind, type)]
        self._kinds = Kinds({*SYSTEM, *(kind for kind in own if issubclass(kind, module.SMTPException))})

    def flatten(self, error: BaseException) -> Flat | None:
        return self._kinds.flatten(error)

    def restore(self, data: Flat, request: Request) -> BaseException:
        return self._kinds.restore(data)
