"""What a record of a failure does not repeat: credentials in URLs, and the SQL of a database error.

Two places show them: the exception itself, and the texts of its traceback and of the exceptions that it was raised
from. An exception of an HTTP library comes back with its URLs without credentials. One of SQLAlchemy shows its SQL and
parameters in its text, which must come back the same (rule O24), so it is refused unless it hides the parameters.
"""

from __future__ import annotations

import traceback
from typing import Any, Final

from .errors import Misfit, NotEncodable
from .kinds.http import is_message
from .kinds.http_parts import without_userinfo
from .namespaces import loaded, top_level

#: How much of a traceback is kept, in characters: its head, and its tail, which says what happened.
TRACEBACK_HEAD: Final = 4_000
TRACEBACK_TAIL: Final = 60_000

_HTTP_LIBRARIES: Final = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"})
_HELD_BACK: Final = "[the SQL statement and its parameters are not recorded]"
#: What a driver's exception may keep besides its arguments. The rest of it may repeat the SQL.
_CODES: Final = frozenset({"errno", "pgcode", "sqlite_errorcode", "sqlite_errorname", "sqlstate"})


class RecordedCause(Exception):
    """Stands for an exception of which only the text is kept: one that a recorded failure was raised from, or held."""


def text_of(exc: BaseException) -> str:
    """``str(exc)``. Raises Misfit if there is none."""
    try:
        return str(exc)
    except Exception as error:
        raise Misfit(f"str() of it raises {type(error).__qualname__}") from None


def shown(exc: BaseException, value: Any) -> Any:
    """A text that an exception holds, as it is recorded; any other value as it is."""
    return without_userinfo(value) if type(value) is str and "://" in value and _is_of_http(exc) else value


def state_of(exc: BaseException) -> dict[str, Any]:
    """The exception's attributes without what is held back.

    Raises:
        NotEncodable: its text shows what must not be recorded.
    """
    state = dict(exc.__dict__)
    if not _is_of_sql(exc):
        return state
    if _shows_sql(exc):
        raise NotEncodable(
            f"{type(exc).__module__}.{type(exc).__qualname__}",
            "its text holds an SQL statement and parameters, which may be secret; give create_engine "
            "`hide_parameters=True` to have it recorded without the parameters, or catch it in the step and raise an "
            "error of your own or return what the body needs to know",
        )
    if state.get("params"):
        state["params"] = ("not recorded",)
    orig = state.get("orig")
    if isinstance(orig, BaseException):
        state["orig"] = _bare(orig)
    return state


def chained_text(exc: BaseException | None) -> str:
    """The text that stands for an exception which another one was raised from, or holds."""
    if exc is None:
        return ""
    if isinstance(exc, RecordedCause):
        return text_of(exc)
    return without_userinfo("".join(discreet(exc).format_exception_only()).rstrip())


def traceback_text(exc: BaseException) -> str:
    """The formatted traceback, shortened in the middle if need be."""
    text = without_userinfo("".join(discreet(exc).format()))
    if len(text) <= TRACEBACK_HEAD + TRACEBACK_TAIL:
        return text
    return f"{text[:TRACEBACK_HEAD]}\n  […]\n{text[-TRACEBACK_TAIL:]}"


def _is_of_http(exc: BaseException) -> bool:
    if any(top_level(base.__module__) in _HTTP_LIBRARIES for base in type(exc).__mro__):
        return True
    return any(map(is_message, exc.__dict__.values()))


def _is_of_sql(exc: BaseException) -> bool:
    return (loaded("sqlalchemy.exc") or {}).get("StatementError") in type(exc).__mro__


def _shows_sql(exc: Any) -> bool:
    return bool(exc.__dict__.get("statement")) and not exc.__dict__.get("hide_parameters")


def _bare(orig: BaseException) -> BaseException | None:
    """A driver's exception with its arguments and codes only, as a copy: the original stays as it is."""
    try:
        bare: BaseException = type(orig).__new__(type(orig), *orig.args)
        bare.args = orig.args
    except Exception:
        return RecordedCause(chained_text(orig))
    bare.__dict__.update({name: value for name, value in orig.__dict__.items() if name in _CODES})
    return bare


def discreet(exc: BaseException) -> traceback.TracebackException:
    """The exception ready to be formatted, with no text that repeats what is held back."""
    told = traceback.TracebackException.from_exception(exc)
    left: list[tuple[Any, BaseException | None]] = [(told, exc)]
    while left:
        part, of = left.pop()
        if part is None or of is None:
            continue
        if _is_of_sql(of) and _shows_sql(of):
            # Only what the driver said. There is no public way to say an exception's text otherwise.
            vars(part)["_str"] = f"{of.args[0] if of.args else ''}\n{_HELD_BACK}"
        left += [(part.__cause__, of.__cause__), (part.__context__, of.__context__)]
        if isinstance(of, BaseExceptionGroup):
            left += zip(part.exceptions or (), of.exceptions, strict=False)
    return told
