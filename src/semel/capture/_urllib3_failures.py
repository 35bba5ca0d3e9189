"""Transport failures of urllib3, ``http.client``, ``ssl`` and sockets as plain data, and back.

A failure's connection and pool are no data: a restored one has those of the call that reads it back. An answer that
broke off is kept with the bytes that came and what ended them.
"""

from __future__ import annotations

import http.client
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import urllib3.exceptions
from urllib3.util.ssl_match_hostname import CertificateError

from semel.capture._flat import SYSTEM, Kinds
from semel.capture._http_response import BrokenAnswer
from semel.capture.exchange import Answer, Flat, Request
from semel.capture.headers import recorded


def _of(module: Any, *bases: type[Exception]) -> list[type[Exception]]:
    return [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, bases)]


#: What ``urlopen`` takes for a failure of the transport.
_TRANSPORT = (
    urllib3.exceptions.TimeoutError,
    urllib3.exceptions.ProtocolError,
    urllib3.exceptions.ProxyError,
    urllib3.exceptions.SSLError,
)
_KNOWN = Kinds(
    [*_of(urllib3.exceptions, *_TRANSPORT), *_of(http.client, http.client.HTTPException), CertificateError, *SYSTEM],
    causes=_of(urllib3.exceptions, urllib3.exceptions.HTTPError),
)


class Failures(Kinds):
    """Flattens and restores the failures of one exchange over ``connection``."""

    def __init__(self, pool: Any, connection: Any) -> None:
        self._failures, self._kinds = _KNOWN._failures, _KNOWN._kinds
        self._objects = {"pool": pool, "connection": connection}

    def flatten(self, error: BaseException) -> Flat | None:
        if isinstance(error, BrokenAnswer):
            return self._flatten_broken(error)
        data = super().flatten(error)
        if data is not None:
            # urllib3 blames the proxy for what fails before there is a connection to it.
            data["proxied"] = int(getattr(self._objects["connection"], "has_connected_to_proxy", False))
        return data

    def restore(self, data: Flat, request: Request | None = None) -> BaseException:
        if data["class"] == "BrokenAnswer":
            return self._restore_broken(data)
        connection = self._objects["connection"]
        if data.get("proxied") and hasattr(connection, "_has_connected_to_proxy"):
            connection._has_connected_to_proxy = True
        try:
            return super().restore(data)
        except LookupError:  # a version of the library had a class that this one has not
            return urllib3.exceptions.ProtocolError(data["message"])

    def _flatten_broken(self, broken: BrokenAnswer) -> Flat:
        answer = broken.answer
        ending = super().flatten(broken.ending) if broken.ending is not None else None
        return {
            "class": "BrokenAnswer",
            "message": str(broken),
            "status": answer.status,
            "reason": answer.reason,
            "version": answer.version,
            "headers": json.dumps(recorded(answer.headers)),
            "body": b64encode(answer.body).decode("ascii"),
            "ending": None if ending is None else json.dumps(ending),
        }

    def _restore_broken(self, data: Mapping[str, Any]) -> BrokenAnswer:
        headers = tuple((name, value) for name, value in json.loads(data["headers"]))
        answer = Answer(data["status"], headers, b64decode(data["body"]), data["reason"], data["version"])
        return BrokenAnswer(answer, None if data["ending"] is None else super().restore(json.loads(data["ending"])))

    def _told(self, value: Any, depth: int) -> Any:
        for name, known in self._objects.items():
            if value is known:
                return {"is": name}
        return super()._told(value, depth)

    def _made(self, told: Any) -> Any:
        return self._objects[told["is"]] if isinstance(told, dict) and "is" in told else super()._made(told)
