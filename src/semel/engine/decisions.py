"""Which failures of a step are decisions, which are never retried, and which are accidents (rule R6).

The classes of libraries are known by name, so that none of them is imported here, and a program that has none pays
nothing. What the list does not have is an accident.
"""

from __future__ import annotations

from semel import errors

#: Of semel's own: what the other side, the database or the clock did, and another time may not. The rest is wrong use.
_ACCIDENTS = (errors.AnswerError, errors.StoreError, errors.RunFaulted, errors.WorkerKilled, TimeoutError)

#: Root package and name of each class.
_OF_LIBRARIES = frozenset(
    {
        *(("sqlalchemy", name) for name in ("NoResultFound", "MultipleResultsFound", "IntegrityError", "DataError")),
        ("pydantic_core", "ValidationError"),
        ("pydantic", "ValidationError"),
        ("msgspec", "ValidationError"),
    }
)

#: SQLSTATE of a serialization failure and of a deadlock: another time the same statement may go through.
_TRY_AGAIN = frozenset({"40001", "40P01"})


def is_decision(error: BaseException) -> bool:
    """Whether a step that raised this is not to be tried again."""
    if not isinstance(error, Exception) or isinstance(error, errors.Decision):
        return True
    if isinstance(error, errors.SemelError):
        return not isinstance(error, _ACCIDENTS)
    named = any((cls.__module__.partition(".")[0], cls.__name__) in _OF_LIBRARIES for cls in type(error).__mro__)
    return named and _sqlstate(error) not in _TRY_AGAIN


def _sqlstate(error: BaseException) -> str | None:
    """What the driver says, under the name that it has there; SQLAlchemy holds the driver's error as ``orig``."""
    driver = getattr(error, "orig", None)
    for name in ("sqlstate", "pgcode"):
        state = getattr(driver, name, None)
        if isinstance(state, str):
            return state
    return None
