"""What the two mail libraries have in common: a message as a request, and what a body may not ask of a mail server."""

from __future__ import annotations

import email
from collections.abc import Callable, Iterable
from email.message import Message
from email.utils import getaddresses
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from semel.capture._deferral import is_recorded
from semel.capture._refusing import refused
from semel.capture.exchange import Request
from semel.codec import MAIL
from semel.errors import CallNotRecordable

#: Headers that are new each time that the same message is made.
_VOLATILE = frozenset({"date", "message-id", "mime-version"})


#: The attribute of a client that holds what its calls have put off until a message is sent.
SESSION = "_semel_session"


def closing(original: Callable[..., Any]) -> Callable[..., Any]:
    """The ``close`` of a client."""

    @wraps(original)
    def close(client: Any) -> Any:
        if is_recorded():  # what the library closes inside of an exchange is opened again by the next one
            vars(client).pop(SESSION, None)
        return original(client)

    return close


def mail_request(host: str, port: int, sender: str | None, recipients: Any, message: Any) -> Request:
    """The sending of ``message`` as a request; what only a new attempt of the same would change is left out of it.

    ``recipients`` and ``sender`` are None where the message's own headers tell.
    """
    if isinstance(message, str):
        message = email.message_from_string(message)
    elif not isinstance(message, Message):
        message = email.message_from_bytes(bytes(message))
    to = recipients if recipients is not None else _recipients(message)
    query = urlencode([("to", address) for address in ([to] if isinstance(to, str) else to)])
    told = [str(sender or message.get("Sender") or message.get("From") or ""), *_content(message)]
    return Request(MAIL, f"smtp://{host or 'localhost'}:{port}/?{query}", "\0".join(told).encode("utf-8", "replace"))


def _recipients(message: Any) -> list[str]:
    fields = [str(value) for name in ("To", "Cc", "Bcc") for value in message.get_all(name, [])]
    return [address for _, address in getaddresses(fields)]


def _content(message: Any) -> Iterable[str]:
    """The headers and bodies of all parts. The boundaries between them are new each time, so only the parts count."""
    for part in message.walk():
        for name, value in part.items():
            if name.lower() == "content-type" and part.is_multipart():
                yield f"{name}: {part.get_content_type()}"
            elif name.lower() not in _VOLATILE:
                yield f"{name}: {value}"
        if not part.is_multipart():
            yield str(part.get_payload())


def not_asked(command: str) -> CallNotRecordable:
    """The error of asking a mail server, in a body, for more than to take a message."""
    return refused(
        f"{command} asks the mail server in the body of a run. There only the sending of a message is recorded, and "
        f"the connection for it is opened when it is sent, so that a later attempt needs no server: what the server "
        f"says to {command} would be lost. It was not asked.",
        'Make what needs its answer one step: once("mail", lambda: mail(message))',
    )
