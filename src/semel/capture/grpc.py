"""Refuses gRPC calls in a body outside a step: the core of gRPC makes them in C, where nothing can be recorded.

Relies on the classes of grpcio whose name ends in ``MultiCallable``: an object of theirs is what each method of a stub
is, and calling it makes the call.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from semel.errors import ConfigurationError

from ._leaving import Address, Leaving
from ._patching import refusing, replace

MODULES = ("grpc._channel", "grpc.aio._channel")

_CALLING = ("__call__", "with_call", "future")


def install(module: ModuleType) -> None:
    """Patches the four kinds of calls. Idempotent.

    Raises:
        ConfigurationError: this version of grpcio is made in another way, so that its calls could be made twice.
    """
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and _makes_calls(kind, module)]
    if len(kinds) < 4:
        raise ConfigurationError(
            f"semel does not know this version of grpcio: {module.__name__} does not have the classes that make calls, "
            f"so a call in the body of a run would go unseen and be made again by each attempt. Use a version that it "
            f"knows"
        )
    for kind in kinds:
        for name in _CALLING:
            if name in vars(kind):
                replace(kind, name, refusing(_call))


def _makes_calls(kind: type, module: ModuleType) -> bool:
    return kind.__module__ == module.__name__ and kind.__name__.endswith("MultiCallable") and "__call__" in vars(kind)


def _call(callable_: Any) -> Leaving:
    method = _text(getattr(callable_, "_method", ""))
    label = method.rpartition("/")[2].lower()
    return Leaving(
        f"the gRPC call {method}",
        lambda: _target(callable_),
        label=label if label.isidentifier() else "call",
        advice="\nA protobuf message cannot be recorded: let the step return what the body needs of it, such as a "
        "field, or google.protobuf.json_format.MessageToDict(…)",
    )


def _target(callable_: Any) -> Address | None:
    """Where it goes, as the channel was told: ``dns:///host:port``, ``host:port``."""
    target = _text(getattr(callable_, "_target", "")).rpartition("/")[2]
    host, colon, port = target.rpartition(":")
    if not colon:
        return (target, None) if target else None
    return host.strip("[]"), int(port) if port.isdecimal() else None


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
