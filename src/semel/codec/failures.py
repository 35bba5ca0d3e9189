"""Exceptions to bytes and back: class, arguments, text, notes, and what of their attributes can be recorded (rule O24).

A failure is ``[mark, {…}]`` with

    type       the class's recorded name
    args       the arguments (not for a group: these are its text and members)
    text       ``str(exc)``
    traceback  the formatted traceback, for a person; not part of the exception that comes back
    fields     what the class keeps in C or in slots (errno, start, code, …), by name
    state      the instance's dictionary, notes included
    cause, context, quiet   the texts of the two chained exceptions, and whether the second one is not shown
    message, members        of a group

The exception is made without the class's own constructor, so its signature does not matter. Attributes that cannot be
recorded (a response, a connection) are left out.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final

from msgspec.msgpack import decode as read_msgpack

from semel.errors import RecordUnreadable

from . import format as f
from .errors import Misfit, NotEncodable
from .format import MAX_DEPTH, VERSION, WRITE_MARKS, Mark
from .reader import Reader
from .registry import EXCEPTIONS, TypeRegistry
from .writer import Writer

#: How much of a traceback is kept, in characters: its head, and its tail, which says what happened.
TRACEBACK_HEAD: Final = 4_000
TRACEBACK_TAIL: Final = 60_000

_HEAP_TYPE: Final = 1 << 9


class RecordedCause(Exception):
    """Stands for the exception that a recorded failure was raised from, of which only the text is kept."""


class FailureWriter:
    """Failures as trees for msgspec."""

    def __init__(self, registry: TypeRegistry) -> None:
        self._registry = registry

    def failure(self, writer: Writer, exc: BaseException, depth: int) -> object:
        """The tree of one exception, and of its members if it is a group."""
        if depth >= MAX_DEPTH:
            raise NotEncodable("exception group", f"it is nested more than {MAX_DEPTH} deep")
        cls = type(exc)
        said: dict[str, Any] = {
            "type": self._registry.tag(cls, EXCEPTIONS),
            "text": writer.value(_text(exc), 0),
            "traceback": writer.value(_traceback(exc), 0) if depth == 0 else "",
        }
        if isinstance(exc, BaseExceptionGroup):
            said["message"] = writer.value(exc.message, 0)
            said["members"] = [self._member(writer, exc, index, depth) for index in range(len(exc.exceptions))]
        else:
            said["args"] = self._args(writer, exc)
        self._optional(said, "fields", _encodable(writer, _fields(exc)))
        self._optional(said, "state", _encodable(writer, dict(exc.__dict__)))
        self._optional(said, "cause", writer.value(_chained(exc.__cause__), 0))
        self._optional(said, "context", writer.value(_chained(exc.__context__), 0))
        self._optional(said, "quiet", exc.__suppress_context__)
        return [WRITE_MARKS[f.FAILURE], said]

    def _member(self, writer: Writer, group: BaseExceptionGroup[Any], index: int, depth: int) -> object:
        try:
            return self.failure(writer, group.exceptions[index], depth + 1)
        except NotEncodable as trouble:
            trouble.passed(group, f".exceptions[{index}]")
            raise

    def _args(self, writer: Writer, exc: BaseException) -> object:
        try:
            return writer.value(list(exc.args), 0)
        except NotEncodable as trouble:
            trouble.passed(exc, ".args")
            raise

    def _optional(self, said: dict[str, Any], name: str, value: Any) -> None:
        if value:
            said[name] = value


class FailureReader:
    """Failures from the trees that msgspec read."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def failure(self, tree: Any, depth: int = 0) -> BaseException:
        """The exception of a tree."""
        said = _said(tree)
        if depth >= MAX_DEPTH:
            raise Misfit(f"it is nested more than {MAX_DEPTH} deep")
        tag = said["type"]
        cls = self._reader.types.registry.find(tag, EXCEPTIONS)
        state, fields, args = (self._reader.value(said.get(name, {}), 1) for name in ("state", "fields", "args"))
        members = [self.failure(member, depth + 1) for member in said.get("members", ())]
        cause, context = self._cause(said.get("cause")), self._cause(said.get("context"))
        try:
            exc: BaseException = self._made(cls, said, members, tuple(args))
            _set_fields(exc, fields)
            exc.__dict__.update(state)
        except Exception as error:
            raise RecordUnreadable(f"{tag.replace(':', '.')}: {error}") from error
        _set(exc, "__cause__", cause)
        _set(exc, "__context__", context)
        _set(exc, "__suppress_context__", bool(said.get("quiet")))
        return exc

    def _made(self, cls: Any, said: dict[str, Any], members: list[BaseException], args: tuple[Any, ...]) -> Any:
        base: Any = next(base for base in cls.__mro__ if not base.__flags__ & _HEAP_TYPE)
        if issubclass(base, BaseExceptionGroup) != ("members" in said):
            raise Misfit("it was a group of exceptions, or is one now")
        if members:
            return base.__new__(cls, said["message"], members)
        exc = base.__new__(cls)
        _set(exc, "args", args)
        return exc

    def _cause(self, text: object) -> RecordedCause | None:
        return RecordedCause(text) if isinstance(text, str) and text else None


def verify(exc: BaseException, back: BaseException, encode: Callable[[object], bytes]) -> None:
    """Checks that an exception came back with the same class, arguments and text. Raises Misfit."""
    if type(back) is not type(exc) or _text(back) != _text(exc):
        raise Misfit(f"it would come back as {type(back).__qualname__} with the text {_text(back)!r}")
    if isinstance(exc, BaseExceptionGroup) and isinstance(back, BaseExceptionGroup):
        for member, member_back in zip(exc.exceptions, back.exceptions, strict=True):
            verify(member, member_back, encode)
        if len(exc.args) != 2 or exc.args[0] != exc.message or tuple(exc.args[1]) != exc.exceptions:
            raise Misfit("its arguments are not its message and members")
    elif encode(exc.args) != encode(back.args):
        raise Misfit(f"it would come back with the arguments {back.args!r}")


def failure_traceback(data: bytes) -> str:
    """The traceback of the exception when it was recorded. Needs none of its types.

    Raises:
        RecordUnreadable: these are not the bytes of a failure.
    """
    try:
        if not data.startswith(VERSION):
            raise Misfit("its format is another one")
        text = _said(read_msgpack(data[1:], ext_hook=_opaque)).get("traceback", "")
        return text if isinstance(text, str) else bytes(text.data).decode("utf-8", "surrogatepass")
    except (RecursionError, Exception) as error:
        raise RecordUnreadable(f"it is damaged, or not the record of a failure: {error}") from error


class _Opaque:
    def __init__(self, data: memoryview) -> None:
        self.data = data


def _opaque(code: int, data: memoryview) -> object:
    return Mark(code) if not data else _Opaque(data)


def _said(tree: Any) -> dict[str, Any]:
    if type(tree) is not list or len(tree) != 2 or type(tree[0]) is not Mark or tree[0].code != f.FAILURE:
        raise Misfit("it is a value, not a failure")
    said = tree[1]
    if type(said) is not dict or type(said.get("type")) is not str:
        raise Misfit("a failure is not of its parts")
    return said


def _text(exc: BaseException) -> str:
    try:
        return str(exc)
    except Exception as error:
        raise Misfit(f"str() of it raises {type(error).__qualname__}") from None


def _chained(exc: BaseException | None) -> str:
    if exc is None:
        return ""
    if isinstance(exc, RecordedCause):
        return _text(exc)
    return "".join(traceback.format_exception_only(exc)).rstrip()


def _traceback(exc: BaseException) -> str:
    text = "".join(traceback.format_exception(exc))
    if len(text) <= TRACEBACK_HEAD + TRACEBACK_TAIL:
        return text
    return f"{text[:TRACEBACK_HEAD]}\n  […]\n{text[-TRACEBACK_TAIL:]}"


def _descriptors(cls: type) -> Iterator[tuple[str, Any]]:
    """The attributes that objects of an exception class keep in C or in slots."""
    for base in cls.__mro__:
        if base in (BaseException, BaseExceptionGroup):
            continue
        for name, value in vars(base).items():
            if isinstance(value, MemberDescriptorType | GetSetDescriptorType) and not name.startswith("__"):
                yield name, value


def _fields(exc: BaseException) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, descriptor in _descriptors(type(exc)):
        try:
            value = descriptor.__get__(exc)
        except AttributeError:
            continue
        if value is not None:
            fields.setdefault(name, value)
    return fields


def _set(exc: BaseException, name: str, value: object) -> None:
    """Sets what every exception has, also on a frozen dataclass."""
    vars(BaseException)[name].__set__(exc, value)


def _set_fields(exc: BaseException, fields: dict[str, Any]) -> None:
    for name, descriptor in _descriptors(type(exc)):
        if name in fields:
            descriptor.__set__(exc, fields.pop(name))


def _encodable(writer: Writer, items: dict[str, Any]) -> dict[str, Any]:
    written = {}
    for name, value in items.items():
        try:
            written[name] = writer.value(value, 1)
        except NotEncodable:
            continue
    return written
