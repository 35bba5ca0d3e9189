"""Exceptions to bytes and back: class, arguments, text, notes, and what of their attributes can be recorded (rule O24).

A failure is ``[mark, {…}]`` with

    type       the class's recorded name
    args       the arguments (not for a group: these are its text and members)
    text       ``str(exc)``
    traceback  the formatted traceback, for a person; not part of the exception that comes back
    fields     what the class keeps in C or in slots (errno, start, code, …), by name
    state      the instance's dictionary, notes included
    http       of that: the HTTP requests and responses (see kinds/http.py)
    failures   of that: the exceptions; or the text of one that cannot be found again
    cause, context, quiet   the texts of the two chained exceptions, and whether the second one is not shown
    message, members        of a group
    validation              of pydantic's ValidationError, see validation.py

An argument that is an exception is itself such a tree. The exception is made without the class's own constructor, so
its signature does not matter. Attributes that cannot be recorded (a connection, a lock) are left out, and so is what
``discretion`` holds back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final

from msgspec.msgpack import decode as read_msgpack

from semel.errors import RecordUnreadable

from . import format as f
from . import validation
from .discretion import RecordedCause, chained_text, shown, state_of, text_of, traceback_text
from .errors import Misfit, NotEncodable
from .format import MAX_DEPTH, VERSION, WRITE_MARKS, Mark
from .kinds.http import message_made, message_told
from .reader import Reader
from .registry import EXCEPTIONS, TypeRegistry
from .writer import Writer

_HEAP_TYPE: Final = 1 << 9
#: What a nested failure costs at least of the bytes that a value may unfold to.
_OVERHEAD: Final = 64
#: How deep the attributes of exceptions are followed to other exceptions; they may well lead back.
_HELD_DEPTH: Final = 4


class FailureWriter:
    """Failures as trees for msgspec."""

    def __init__(self, registry: TypeRegistry) -> None:
        self._registry = registry

    def failure(self, writer: Writer, exc: BaseException, depth: int) -> object:
        """The tree of one exception, and of those that it holds."""
        if depth >= MAX_DEPTH:
            raise NotEncodable("exception", f"it is nested more than {MAX_DEPTH} deep in others")
        writer.enter(_OVERHEAD, 0)
        cls = type(exc)
        state = state_of(exc)
        said: dict[str, Any] = {
            "type": self._registry.tag(cls, EXCEPTIONS),
            "text": writer.value(shown(exc, text_of(exc)), 0),
            "traceback": writer.value(traceback_text(exc), 0) if depth == 0 else "",
        }
        if isinstance(exc, BaseExceptionGroup):
            said["message"] = writer.value(exc.message, 0)
            said["members"] = [self._member(writer, exc, index, depth) for index in range(len(exc.exceptions))]
        elif validation.matches(cls):
            said["validation"] = validation.told(writer, exc, lambda error: self.failure(writer, error, depth + 1))
        else:
            said["args"] = [self._arg(writer, exc, index, depth) for index in range(len(exc.args))]
        self._optional(said, "fields", _encodable(writer, exc, _fields(exc)))
        self._optional(said, "http", self._messages(writer, state))
        self._optional(said, "failures", self._held(writer, state, depth))
        self._optional(said, "state", _encodable(writer, exc, state))
        self._optional(said, "cause", writer.value(chained_text(exc.__cause__), 0))
        self._optional(said, "context", writer.value(chained_text(exc.__context__), 0))
        self._optional(said, "quiet", exc.__suppress_context__)
        return [WRITE_MARKS[f.FAILURE], said]

    def _messages(self, writer: Writer, state: dict[str, Any]) -> dict[str, Any]:
        """The requests and responses, which are taken out of the state."""
        written = {}
        for name, value in list(state.items()):
            with contextlib.suppress(NotEncodable):
                told = message_told(value)
                if told is not None:
                    written[name] = writer.value(told, 1)
                    del state[name]
        return written

    def _held(self, writer: Writer, state: dict[str, Any], depth: int) -> dict[str, Any]:
        """The exceptions, which are taken out of the state."""
        written: dict[str, Any] = {}
        for name, value in list(state.items()):
            if isinstance(value, BaseException):
                del state[name]
                written[name] = self._told(writer, value, depth)
        return written

    def _told(self, writer: Writer, value: BaseException, depth: int) -> object:
        try:
            if depth < _HELD_DEPTH:
                return self.failure(writer, value, depth + 1)
        except (NotEncodable, Misfit):
            pass
        return writer.value(chained_text(value), 1)

    def _member(self, writer: Writer, group: BaseExceptionGroup[Any], index: int, depth: int) -> object:
        try:
            return self.failure(writer, group.exceptions[index], depth + 1)
        except NotEncodable as trouble:
            trouble.passed(group, f".exceptions[{index}]")
            raise

    def _arg(self, writer: Writer, exc: BaseException, index: int, depth: int) -> object:
        arg = exc.args[index]
        try:
            if isinstance(arg, BaseException):
                return self.failure(writer, arg, depth + 1)
            return writer.value(shown(exc, arg), 0)
        except NotEncodable as trouble:
            trouble.passed(exc, f".args[{index}]")
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
        state, fields, http = (self._reader.value(said.get(name, {}), 1) for name in ("state", "fields", "http"))
        args = tuple(self._arg(arg, depth) for arg in said.get("args", ()))
        held = {name: self._held(tree, depth) for name, tree in said.get("failures", {}).items()}
        members = [self.failure(member, depth + 1) for member in said.get("members", ())]
        cause, context = self._cause(said.get("cause")), self._cause(said.get("context"))
        try:
            exc: BaseException = self._made(cls, said, members, args, depth)
            _set_fields(exc, fields)
            exc.__dict__.update(state)
            exc.__dict__.update(held)
            exc.__dict__.update({name: message_made(told) for name, told in http.items()})
        except Exception as error:
            raise RecordUnreadable(f"{tag.replace(':', '.')}: {error}") from error
        _set(exc, "__cause__", cause)
        _set(exc, "__context__", context)
        _set(exc, "__suppress_context__", bool(said.get("quiet")))
        return exc

    def _arg(self, tree: Any, depth: int) -> Any:
        return self.failure(tree, depth + 1) if _is_failure(tree) else self._reader.value(tree, 1)

    def _held(self, tree: Any, depth: int) -> Any:
        if not _is_failure(tree):
            return RecordedCause(self._reader.value(tree, 1))
        try:
            return self.failure(tree, depth + 1)
        except RecordUnreadable:
            said = _said(tree)
            return RecordedCause(f"{said['type'].replace(':', '.')}: {self._reader.value(said['text'], 1)}")

    def _made(
        self, cls: Any, said: dict[str, Any], members: list[BaseException], args: tuple[Any, ...], depth: int
    ) -> Any:
        if validation.matches(cls):
            exc = validation.made(cls, said["validation"], lambda tree: self._arg(tree, depth))
            _set(exc, "args", ())
            return exc
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
    if type(back) is not type(exc) or text_of(back) != shown(exc, text_of(exc)):
        raise Misfit(f"it would come back as {type(back).__qualname__} with the text {text_of(back)!r}")
    if isinstance(exc, BaseExceptionGroup) and isinstance(back, BaseExceptionGroup):
        for member, member_back in zip(exc.exceptions, back.exceptions, strict=True):
            verify(member, member_back, encode)
        if len(exc.args) != 2 or exc.args[0] != exc.message or tuple(exc.args[1]) != exc.exceptions:
            raise Misfit("its arguments are not its message and members")
        return
    if validation.matches(type(exc)):
        validation.verify(exc, back, encode, verify)
        return
    same = len(exc.args) == len(back.args)
    for arg, arg_back in zip(exc.args, back.args, strict=False):
        if isinstance(arg, BaseException):
            verify(arg, arg_back, encode)
        elif encode(shown(exc, arg)) != encode(arg_back):
            same = False
    if not same:
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


def _is_failure(tree: Any) -> bool:
    return type(tree) is list and bool(tree) and type(tree[0]) is Mark and tree[0].code == f.FAILURE


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
            # Some are only to be read: what they show is then kept elsewhere, or lost like other attributes.
            with contextlib.suppress(AttributeError, TypeError):
                descriptor.__set__(exc, fields.pop(name))


def _encodable(writer: Writer, exc: BaseException, items: dict[str, Any]) -> dict[str, Any]:
    written = {}
    for name, value in items.items():
        try:
            written[name] = writer.value(shown(exc, value), 1)
        except NotEncodable:
            continue
    return written
