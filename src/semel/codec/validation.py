"""pydantic's ValidationError as a failure: it has no constructor, and is made again from what ``errors()`` says.

A record holds ``title``, ``input_type``, ``hide_input`` and, for each error, its ``type``, ``loc``, ``msg``, ``input``
and ``ctx``; ``known`` tells pydantic's own types of error from those that a validator made up. Its
``args`` are empty, as they are when pydantic raises it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from .errors import Misfit, NotEncodable
from .namespaces import loaded
from .writer import Writer

_REMEDY = "catch the error in the step, and raise one of your own with what the body needs to know"

Verify = Callable[[BaseException, BaseException, Callable[[object], bytes]], None]


def matches(cls: type) -> bool:
    """Whether it is pydantic's ValidationError, which has no subclasses."""
    return (loaded("pydantic_core") or {}).get("ValidationError") is cls


def told(writer: Writer, exc: Any, failure: Callable[[BaseException], object]) -> dict[str, Any]:
    """What to record of it; ``failure`` gives the tree of an exception that a validator raised."""
    errors = exc.errors()
    lines = [_line(writer, exc, index, error, failure) for index, error in enumerate(errors)]
    for input_type, hide_input in itertools.product(("python", "json"), (False, True)):
        flags = {"title": exc.title, "input_type": input_type, "hide_input": hide_input}
        try:
            again = _made(type(exc), flags, [{**error, "known": "url" in error} for error in errors])
        except Exception:  # noqa: S112  pydantic checks the context against the type in ways of its own
            continue
        if str(again) == str(exc):
            return {**flags, "lines": lines}
    raise NotEncodable("pydantic.ValidationError", f"it cannot be made again from its errors; {_REMEDY}")


def _line(
    writer: Writer, exc: BaseException, index: int, error: Any, failure: Callable[[BaseException], object]
) -> dict[str, Any]:
    try:
        line = {
            "known": "url" in error,
            **{name: writer.value(error[name], 2) for name in ("type", "loc", "msg", "input")},
        }
        if "ctx" in error:
            line["ctx"] = {
                name: failure(value) if isinstance(value, BaseException) else writer.value(value, 3)
                for name, value in error["ctx"].items()
            }
    except NotEncodable as trouble:
        problem = NotEncodable(trouble.type_name, f"it is what the model refused; {_REMEDY}")
        problem.passed(exc, f".errors()[{index}]")
        raise problem from None
    return line


def made(cls: Any, said: dict[str, Any], value: Callable[[Any], Any]) -> Any:
    """The error of what was told; ``value`` reads a tree."""
    lines = []
    for line in said["lines"]:
        read = {name: value(line[name]) for name in ("known", "type", "loc", "msg", "input")}
        if "ctx" in line:
            read["ctx"] = {name: value(tree) for name, tree in line["ctx"].items()}
        lines.append(read)
    return _made(cls, said, lines)


def _made(cls: Any, said: dict[str, Any], lines: list[Any]) -> Any:
    custom = (loaded("pydantic_core") or {})["PydanticCustomError"]
    details = []
    for line in lines:
        detail = {"type": line["type"], "loc": line["loc"], "input": line["input"]}
        if not line["known"]:
            detail["type"] = custom(line["type"], line["msg"], line.get("ctx"))
        elif "ctx" in line:
            detail["ctx"] = line["ctx"]
        details.append(detail)
    return cls.from_exception_data(said["title"], details, input_type=said["input_type"], hide_input=said["hide_input"])


def verify(exc: Any, back: Any, encode: Callable[[object], bytes], verify_failure: Verify) -> None:
    """Checks that the errors came back the same. Raises Misfit."""
    errors, errors_back = exc.errors(), back.errors()
    if exc.title != back.title or len(errors) != len(errors_back):
        raise Misfit(f"its errors would not come back the same; {_REMEDY}")
    for error, error_back in zip(errors, errors_back, strict=True):
        contexts = [dict(each.pop("ctx", {})) for each in (error, error_back)]
        for name, value in list(contexts[0].items()):
            if isinstance(value, BaseException) and isinstance(contexts[1].get(name), BaseException):
                verify_failure(contexts[0].pop(name), contexts[1].pop(name), encode)
        if encode([error, contexts[0]]) != encode([error_back, contexts[1]]):
            raise Misfit(f"its errors would not come back the same; {_REMEDY}")
