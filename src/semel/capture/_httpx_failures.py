"""Transport failures of httpx and httpx2 as plain data, and back.

Each is a class of one message, with the errors of the layers below as its causes: that a name was not found or a
certificate is bad can be told only by them. An answer that broke off is kept with its failure: what came of the body is
given to the caller first, and the failure is raised where reading the connection would have raised it.
"""

from __future__ import annotations

import json
from functools import cached_property
from importlib import import_module
from types import ModuleType

from semel.capture._flat import SYSTEM, Kinds
from semel.capture.exchange import Answer, Flat, Request


class BrokenOff(Exception):
    """An answer whose body ended with a failure; ``answer.body`` holds what had come."""

    def __init__(self, answer: Answer, failure: BaseException) -> None:
        super().__init__(f"the answer broke off after {len(answer.body)} bytes: {failure}")
        self.answer = answer
        self.failure = failure


class Failures:
    """Flattens and restores what a transport of ``module`` raises."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def is_one(self, error: BaseException) -> bool:
        """Whether it is a transport failure of a class that the library itself has."""
        name = type(error).__name__
        return isinstance(error, self._module.TransportError) and getattr(self._module, name, None) is type(error)

    def flatten(self, error: BaseException) -> Flat | None:
        if isinstance(error, BrokenOff):
            answer = error.answer
            return {
                **self._flat(error.failure),
                "status": answer.status,
                "reason": answer.reason,
                "version": answer.version,
                "headers": json.dumps(answer.headers),
                "body": answer.body.decode("latin-1"),
            }
        return self._flat(error) if self.is_one(error) else None

    def restore(self, data: Flat, request: Request) -> BaseException:
        """The failure, to be raised inside the client, which then sets its ``request``."""
        kind = getattr(self._module, str(data["class"]), None)
        if not (isinstance(kind, type) and issubclass(kind, self._module.TransportError)):
            kind = self._module.TransportError  # a version of the library had a class that this one has not
        failure: BaseException = kind(data["message"])
        failure.__cause__ = self._cause(data)
        if "status" not in data:
            return failure
        answer = Answer(
            int(data["status"] or 0),
            tuple((name, value) for name, value in json.loads(str(data["headers"]))),
            str(data["body"]).encode("latin-1"),
            str(data["reason"]),
            str(data["version"]),
        )
        return BrokenOff(answer, failure)

    def _flat(self, failure: BaseException) -> Flat:
        below = self._below.flatten(failure.__cause__) if failure.__cause__ is not None else None
        return {
            "class": type(failure).__name__,
            "message": str(failure),
            "cause": json.dumps(below) if below is not None else None,
        }

    def _cause(self, data: Flat) -> BaseException | None:
        if data["cause"] is None:
            return None
        try:
            return self._below.restore(json.loads(str(data["cause"])))
        except LookupError:
            return None  # a version of the layers below had a class that this one has not

    @cached_property
    def _below(self) -> Kinds:
        """The errors of the layers below, which the library imports only when it connects."""
        core = self._module.__name__.replace("httpx", "httpcore")
        layers = [vars(import_module(name)) for name in (core, "h11", "anyio")]
        found = [kind for names in layers for kind in names.values() if isinstance(kind, type)]
        return Kinds([*(kind for kind in found if issubclass(kind, Exception)), *SYSTEM, ExceptionGroup])
