"""From what a step did to its record, and from its record to what the body sees (rules O6, O22, O23, O24)."""

from __future__ import annotations

import asyncio

import msgspec

from semel.codec import MAX_BYTES, Codec, NotEncodable
from semel.errors import RecordUnreadable, ResultNotRecordable
from semel.store.interface import Record, RecordKind

#: Added to the path of the record that says that the body saw a step cancelled; its own outcome keeps the plain path.
CANCELLED = "!"

#: There is no value at hand that the body could be given: it is made from the record.
UNSEEN = object()

_RAISED = "raised a"


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """What is recorded of a step: the encoded value or failure. ``seen`` is what the body gets, if that is known."""

    kind: RecordKind
    data: bytes
    seen: object = UNSEEN


def outcome_of_value(codec: Codec, value: object) -> Outcome:
    """The outcome of a step that returned ``value``; one that cannot be recorded says so in place of the value."""
    seen = UNSEEN
    try:
        flat = codec.encode_flat(value)
        if flat is not None:
            data, seen = flat
        else:
            data = codec.encode(value)
    except NotEncodable as error:
        return unrecordable_outcome(codec, f"returned a {error.type_name} (at {error.where}: {error.why})")
    if len(data) > MAX_BYTES:
        return unrecordable_outcome(
            codec, f"returned a {type(value).__qualname__} of {len(data):,} bytes; the limit is {MAX_BYTES:,}"
        )
    return Outcome("result", data, seen)


def outcome_of_failure(codec: Codec, failure: BaseException) -> Outcome:
    """The outcome of a step that raised ``failure`` and that the body went on past."""
    try:
        data = codec.encode_failure(failure)
    except NotEncodable as error:
        return unrecordable_outcome(codec, f"{_RAISED} {error.type_name} (at {error.where}: {error.why})")
    if len(data) > MAX_BYTES:
        return unrecordable_outcome(codec, f"{_RAISED} {type(failure).__qualname__} of {len(data):,} bytes")
    return Outcome("failure", data)


def unrecordable_outcome(codec: Codec, what: str) -> Outcome:
    """The outcome that says that the step ran, and what it did that cannot be recorded."""
    return Outcome("unrecordable", codec.encode(what))


def seen_by_body(codec: Codec, path: str, outcome: Outcome | Record) -> object:
    """What the body gets, on the first attempt as on every later one: the value of a result, or the exception that the
    step raised, of the same class, arguments and text.

    Raises:
        RecordUnreadable: it does not fit the program's types.
    """
    try:
        return codec.decode(outcome.data) if outcome.kind == "result" else codec.decode_failure(outcome.data)
    except RecordUnreadable as error:
        raise RecordUnreadable(f"the record of {path} cannot be read: {error}") from error


def unrecordable(codec: Codec, path: str, outcome: Outcome | Record) -> ResultNotRecordable:
    """The error of rule O23, the same on every attempt."""
    return ResultNotRecordable(
        f"the step {path} {codec.decode(outcome.data)}, which cannot be recorded. It did run and will not be run "
        f"again by itself. Return something that can be recorded from the step (a str, a dict, a dataclass, …); for "
        f'this run, state the outcome with run.record("{path}", value), or let it run again with run.forget("{path}")'
    )


def is_of_failure(codec: Codec, outcome: Outcome | Record) -> bool:
    """Whether what could not be recorded is a failure of the step, and not its result."""
    return str(codec.decode(outcome.data)).startswith(_RAISED)


def is_recordable_failure(error: BaseException) -> bool:
    """Whether a failure can be a fact of the run at all: an interrupt or an exit of the process is not."""
    return isinstance(error, Exception | asyncio.CancelledError)
