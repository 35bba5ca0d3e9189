"""Transport failures of aiohttp as plain data, and back.

A failure to connect holds the key of the connection, and a malformed answer the request; a restored one has those of
the call that reads it back.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
from aiohttp import client_exceptions, http_exceptions

from semel.capture._flat import SYSTEM, Kinds
from semel.capture.exchange import Answer, Flat, Request

_CLASSES: dict[str, type[BaseException]] = {
    name: kind
    for name, kind in vars(client_exceptions).items()
    if isinstance(kind, type) and issubclass(kind, aiohttp.ClientError)
}
_PLAIN = Kinds(
    {
        *SYSTEM,
        *(
            kind
            for kind in _CLASSES.values()
            if not issubclass(kind, (aiohttp.ClientConnectorError, aiohttp.ClientResponseError))
        ),
    },
    causes=[
        asyncio.CancelledError,
        *(
            kind
            for kind in vars(http_exceptions).values()
            if isinstance(kind, type) and issubclass(kind, http_exceptions.HttpProcessingError)
        ),
    ],
)


class BrokenOff(Exception):
    """An answer that began, and whose body ended with a failure. ``answer`` has no body: reading it raises."""

    def __init__(self, answer: Answer, failure: BaseException) -> None:
        super().__init__(f"the answer broke off: {failure}")
        self.answer = answer
        self.failure = failure


class FailuresOf:
    """The failures of one exchange: of ``request``, an ``aiohttp.ClientRequest``, and its ``info``."""

    malformed = aiohttp.ClientResponseError
    of_transport = (aiohttp.ClientError, OSError)
    broken_off = BrokenOff

    def __init__(self, request: Any, info: Any) -> None:
        self._request = request
        self._info = info

    def keep_info(self, error: aiohttp.ClientResponseError) -> None:
        """Gives the failure the request's info as it was before sending, which adds headers that a replay does not."""
        error.request_info = self._info
        error.args = (self._info, error.history)

    def flatten(self, error: BaseException) -> Flat | None:
        told: Flat
        if isinstance(error, BrokenOff):
            answer, failure = error.answer, self.flatten(error.failure)
            if failure is None:
                return None
            told = {"class": failure["class"], "message": failure["message"], "broken_off": json.dumps(failure)}
            told |= {"status": answer.status, "reason": answer.reason, "version": answer.version}
            return {**told, "headers": json.dumps(answer.headers)}
        name = type(error).__name__
        if _CLASSES.get(name) is not type(error):
            return _PLAIN.flatten(error)
        if isinstance(error, aiohttp.ClientConnectorError):
            return _flat_connector_error(name, error)
        if isinstance(error, aiohttp.ClientResponseError):
            told = {"class": name, "message": str(error), "status": error.status, "text": error.message}
            return {**told, "cause": _PLAIN.cause_of(error)}
        return _PLAIN.flatten(error)

    def restore(self, data: Flat, request: Request) -> BaseException:
        if "broken_off" in data:
            headers = tuple((name, value) for name, value in json.loads(str(data["headers"])))
            answer = Answer(int(data["status"] or 0), headers, b"", str(data["reason"]), str(data["version"]))
            return BrokenOff(answer, self.restore(json.loads(str(data["broken_off"])), request))
        kind: Any = _CLASSES.get(str(data["class"]))
        if "os_error" in data:
            key = self._request.connection_key
            os_error = _PLAIN.restore(json.loads(str(data["os_error"])))
            error: BaseException = kind(data["path"], key, os_error) if "path" in data else kind(key, os_error)
            if data["is_cause"]:
                error.__cause__ = os_error
            return error
        if "status" in data:
            error = kind(self._info, (), status=data["status"], message=data["text"])
            if data["cause"] is not None:
                error.__cause__ = _PLAIN.restore_cause(str(data["cause"]))
            return error
        return _PLAIN.restore(data)


def _flat_connector_error(name: str, error: Any) -> Flat | None:
    os_error = getattr(error, "certificate_error", None) or error.os_error
    told = _PLAIN.flatten(os_error)
    if told is None:
        return None
    flat: Flat = {"class": name, "message": str(error), "os_error": json.dumps(told)}
    flat["is_cause"] = int(error.__cause__ is os_error)
    if isinstance(error, client_exceptions.UnixClientConnectorError):
        flat["path"] = error.path
    return flat
