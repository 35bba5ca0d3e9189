"""Recorded values for a person: shortened, and never a reason to fail."""

from __future__ import annotations

import json
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import click

from semel.codec import Codec, Exchange
from semel.engine.outcomes import CANCELLED
from semel.errors import SemelError

if TYPE_CHECKING:
    from semel.store.interface import Record

_LENGTH = 100  # characters of a value


def _short_repr() -> reprlib.Repr:
    shown = reprlib.Repr()
    shown.maxlevel = 4
    shown.maxstring = shown.maxother = shown.maxlong = _LENGTH
    shown.maxlist = shown.maxtuple = shown.maxdict = shown.maxset = shown.maxfrozenset = 6
    return shown


def shortened(text: str, length: int = _LENGTH) -> str:
    """The text on one line, cut in the middle of nothing but its end."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def value_text(codec: Codec, data: bytes | None) -> str:
    """A recorded value, or why it cannot be read."""
    if data is None:
        return "None"
    try:
        value = codec.decode(data)
        return value.told() if isinstance(value, Exchange) else shortened(_short_repr().repr(value))
    except Exception as error:  # a user's own class may do anything when it is made or shown
        return unreadable(error)


def arguments_text(codec: Codec, data: bytes) -> str:
    """``('A-1', 4990, express=True)``."""
    try:
        decoded: Any = codec.decode(data)
        args, kwargs = decoded
        shown = _short_repr()
        parts = [*map(shown.repr, args), *(f"{name}={shown.repr(value)}" for name, value in kwargs.items())]
        return f"({shortened(', '.join(parts), 2 * _LENGTH)})"
    except Exception as error:
        return unreadable(error)


def unreadable(error: Exception) -> str:
    """In place of a value."""
    why = str(error) if isinstance(error, SemelError) else f"{type(error).__qualname__}: {error}"
    return f"<cannot be read: {shortened(why, 2 * _LENGTH)}>"


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What became of a step: ``path`` is the step's own, ``text`` its result, failure or reason."""

    path: str
    kind: Literal["result", "failure", "unrecordable", "cancelled", "event", "timeout"]
    text: str


def step_outcome(codec: Codec, record: Record) -> StepOutcome:
    """A record for a person."""
    if record.path.endswith(CANCELLED):
        return StepOutcome(record.path.removesuffix(CANCELLED), "cancelled", "the body stopped waiting for it")
    if record.kind == "result":
        return StepOutcome(record.path, "result", value_text(codec, record.data))
    if record.kind == "failure":
        return StepOutcome(record.path, "failure", failure_text(codec, record.data))
    if record.kind == "event":
        return StepOutcome(record.path, "event", _payload_text(codec, record.data))
    if record.kind == "timeout":
        return StepOutcome(record.path, "timeout", value_text(codec, record.data).strip("'\""))
    return StepOutcome(record.path, "unrecordable", value_text(codec, record.data).strip("'\""))


def _payload_text(codec: Codec, data: bytes) -> str:
    try:
        taken: Any = codec.decode(data)
        return shortened(_short_repr().repr(taken[1]))
    except Exception as error:
        return unreadable(error)


def given_value(text: str | None) -> Any:
    """The value that is given on the command line as JSON; None where there is none.

    Raises:
        click.UsageError: it is no JSON.
    """
    if text is None:
        return None
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        why = f"{shortened(text)!r} is no JSON that can be read ({error})"
        raise click.UsageError(f"{why}; a text is written '\"text\"'") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def failure_text(codec: Codec, data: bytes) -> str:
    """``ValueError: no such order``."""
    try:
        failure = codec.decode_failure(data)
        return shortened(f"{type(failure).__qualname__}: {failure}".removesuffix(": "))
    except Exception as error:
        return unreadable(error)
