"""From what an author declared to an ``Operation``: what is wrong with it is told here, when the class is made."""

from __future__ import annotations

import dis
from collections.abc import Mapping
from inspect import Parameter, Signature, signature
from types import FunctionType, NoneType
from typing import Annotated, Any, get_args, get_origin

from .answers import Result
from .hints import annotations_of, is_record, members, notes, plain, shown
from .markers import MARKERS, Body, BodyField, Header, Marker, Query
from .operation import Argument, Operation, Place
from .shapes import Json
from .template import Template
from .text import SCALAR_NAMES, is_text, is_texts
from .verbs import Declared, refused

_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_NEVER_WITH_BODY = frozenset({"GET", "HEAD", "OPTIONS"})
_TOKEN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~")
_OF_THE_CONNECTION = frozenset({"connection", "content-length", "host", "transfer-encoding"})

#: All that is left of a body that says nothing, on every Python: no other instruction does anything of the author's.
_NOTHING = frozenset(
    {
        *("RESUME", "NOP", "RETURN_GENERATOR", "POP_TOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "CACHE"),
        *("CALL_INTRINSIC_1", "RERAISE", "COPY_FREE_VARS", "MAKE_CELL"),
    }
)


def operation_of(declared: Declared, names: Mapping[str, Any]) -> tuple[Operation, Signature]:
    """The operation and its signature; ``names`` are those of the function that the class is made in.

    Raises:
        ClientDeclarationError: it cannot work; with the place and the fix.
    """
    return _Reader(declared, names).operation()


class _Reader:
    def __init__(self, declared: Declared, names: Mapping[str, Any]) -> None:
        self._method = declared.method
        self._path = declared.path
        self._function = declared.function
        self._names = names

    def operation(self) -> tuple[Operation, Signature]:
        function = self._function
        if not _says_nothing(function):
            raise self._refused("it has a body, which would never run: write `...` in its place")
        written = signature(function)
        parameters = list(written.parameters.values())
        if not parameters or parameters[0].kind not in (
            Parameter.POSITIONAL_ONLY,
            Parameter.POSITIONAL_OR_KEYWORD,
        ):
            raise self._refused(f"it has no self: write def {function.__name__}(self, …)")
        template = self._template({parameter.name for parameter in parameters[1:]})
        hints = self._hints(parameters[1:])
        arguments = [self._argument(parameter.name, hints[parameter.name], template) for parameter in parameters[1:]]
        self._check_wires(arguments)
        result = self._result(hints["return"])
        bodied = self._with_body(arguments, hints)
        return Operation(function.__qualname__, self._method, template, bodied, result), written

    def _refused(self, problem: str) -> Exception:
        return refused(self._function, problem)

    def _template(self, names: set[str]) -> Template:
        try:
            template = Template(self._path)
        except ValueError as error:
            raise self._refused(f"the path {self._path!r} cannot be used: {error}") from None
        for name in template.names:
            if name not in names:
                raise self._refused(
                    f"the path {self._path!r} names {{{name}}}, and there is no parameter of that name: write "
                    f"def {self._function.__name__}(self, {name}: str, …)"
                )
        return template

    def _hints(self, parameters: list[Parameter]) -> dict[str, Any]:
        name = self._function.__name__
        for parameter in parameters:
            if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
                stars = "*" if parameter.kind is Parameter.VAR_POSITIONAL else "**"
                raise self._refused(
                    f"what {stars}{parameter.name} would send cannot be told: name each parameter, with its type"
                )
            if parameter.annotation is Parameter.empty:
                raise self._refused(
                    f"{parameter.name} has no annotation, so how to send it is unknown: write {parameter.name}: str"
                )
        if "return" not in self._function.__annotations__:
            raise self._refused(
                f"its result has no annotation, so how to read the answer is unknown: write def {name}(…) -> None, or "
                f"the type of the answer"
            )
        try:
            return annotations_of(self._function, self._names)
        except NameError as error:
            raise self._refused(
                f"an annotation names {error.name!r}, which is not defined when the class is made: define it above the "
                f"class, and import it outside of `if TYPE_CHECKING`"
            ) from None
        except (SyntaxError, TypeError) as error:
            raise self._refused(f"an annotation is no type: {error}") from None

    def _argument(self, name: str, hint: Any, template: Template) -> Argument:
        marker = self._marker(name, hint)
        if name in template.names:
            if marker is not None:
                raise self._refused(f"{name} is in the path and is marked {_shown(marker)}: take one of the two away")
            if NoneType in members(hint) or not is_text(hint):
                raise self._refused(f"{name} is in the path, and cannot be {shown(hint)} there: give it {SCALAR_NAMES}")
            return Argument(name, name, Place.PATH)
        if isinstance(marker, Header):
            return self._header(name, hint, marker)
        if isinstance(marker, Body | BodyField):
            if self._method in _NEVER_WITH_BODY:
                raise self._refused(
                    f"{self._method} sends no body, and {name} is marked {_shown(marker)}: use @post, or Query"
                )
            if isinstance(marker, Body):
                return Argument(name, name, Place.BODY, self._json(name, hint, whole=True))
            return Argument(name, marker.name or name, Place.FIELD, self._json(name, hint, whole=False))
        if self._method in _WITH_BODY and not isinstance(marker, Query):
            whole = _is_body(hint)
            return Argument(name, name, Place.BODY if whole else Place.FIELD, self._json(name, hint, whole=whole))
        if not is_texts(hint):
            body = "" if self._method in _NEVER_WITH_BODY else ", or mark it: Annotated[…, Body]"
            raise self._refused(
                f"{name} is in the query, and cannot be {shown(hint)} there: give it {SCALAR_NAMES}, or a list of these"
                f"{body}"
            )
        return Argument(name, (marker.name if isinstance(marker, Query) else "") or name, Place.QUERY)

    def _marker(self, name: str, hint: Any) -> Marker | None:
        said = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        markers = [each() if isinstance(each, type) else each for each in said if _is_marker(each)]
        if len(markers) > 1:
            both = " and ".join(_shown(marker) for marker in markers)
            raise self._refused(f"{name} is marked {both}: it goes to one place; take the other marker away")
        inside = next((each for each in notes(hint) if _is_marker(each)), None)
        if not markers and inside is not None:
            raise self._refused(
                f"the marker of {name} stands inside its type: write Annotated[…, {_shown(inside)}] round all of it"
            )
        return markers[0] if markers else None

    def _header(self, name: str, hint: Any, marker: Header) -> Argument:
        wire = marker.name or name.replace("_", "-")
        if not _TOKEN.issuperset(wire.lower()):
            raise self._refused(f'{name}: {wire!r} is no header\'s name: write Header("Idempotency-Key")')
        if wire.lower() in _OF_THE_CONNECTION:
            raise self._refused(f"{name}: {wire} belongs to the connection, which sets it by itself: take it away")
        if not is_text(hint):
            raise self._refused(f"{name} is a header, and cannot be {shown(hint)} there: give it {SCALAR_NAMES}")
        return Argument(name, wire, Place.HEADER)

    def _json(self, name: str, hint: Any, *, whole: bool) -> Json | None:
        if whole and _is_bytes(hint):
            return None
        try:
            return Json(hint)
        except (TypeError, NameError) as error:
            raise self._refused(f"{name}: {error}") from None

    def _check_wires(self, arguments: list[Argument]) -> None:
        taken: dict[tuple[Place, str], str] = {}
        for argument in arguments:
            wire = argument.wire.lower() if argument.place is Place.HEADER else argument.wire
            other = taken.setdefault((argument.place, wire), argument.name)
            if other != argument.name:
                raise self._refused(
                    f"{other} and {argument.name} are both the {argument.place.value} {wire!r}: give one of them "
                    f"another name"
                )

    def _with_body(self, arguments: list[Argument], hints: dict[str, Any]) -> tuple[Argument, ...]:
        whole = [argument for argument in arguments if argument.place is Place.BODY]
        fields = [argument for argument in arguments if argument.place is Place.FIELD]
        if len(whole) > 1:
            raise self._refused(
                f"{whole[0].name} and {whole[1].name} are two bodies: mark them BodyField to send one object of both, "
                f"or one of them Query or Header"
            )
        if whole and fields:
            raise self._refused(
                f"{whole[0].name} is the whole body, so there is no place for {fields[0].name}: mark {fields[0].name} "
                f"Query or Header, or {whole[0].name} BodyField to send one object of both: "
                f"{whole[0].name}: Annotated[{shown(plain(hints[whole[0].name]))}, BodyField]"
            )
        return tuple(arguments)

    def _result(self, hint: Any) -> Result:
        try:
            result = Result(hint)
        except (TypeError, NameError) as error:
            raise self._refused(f"its result: {error}") from None
        if self._method == "HEAD" and result.needs_body:
            raise self._refused("the answer to HEAD has no body: its result is None, or httpx.Response for the headers")
        return result


def _is_body(hint: Any) -> bool:
    """Whether a parameter that is not marked is the whole body."""
    some = [member for member in members(hint) if member is not NoneType]
    return _is_bytes(hint) or (len(some) == 1 and is_record(some[0]))


def _is_bytes(hint: Any) -> bool:
    return [member for member in members(hint) if member is not NoneType] == [bytes]


def _is_marker(said: Any) -> bool:
    return isinstance(said, MARKERS) or any(said is marker for marker in MARKERS)


def _shown(marker: Any) -> str:
    return marker.__name__ if isinstance(marker, type) else type(marker).__name__


def _says_nothing(function: FunctionType) -> bool:
    """Whether the body is ``...``, a docstring, ``pass``, or ``raise NotImplementedError``, which all checkers take."""
    instructions = list(dis.get_instructions(function))
    raising = [each for each in instructions if each.opname in ("LOAD_GLOBAL", "RAISE_VARARGS")]
    if len(raising) == 2 and raising[0].argval == "NotImplementedError":
        instructions = [each for each in instructions if each not in raising]
    return all(
        each.opname in _NOTHING and not (each.opname in ("LOAD_CONST", "RETURN_CONST") and each.argval is not None)
        for each in instructions
    )
