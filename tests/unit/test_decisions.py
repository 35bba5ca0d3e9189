"""Which failures a retry does not try again: decisions, as rule R6 names them; all else is an accident."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import msgspec
import pydantic
import pytest
import sqlalchemy.exc as sa
from sqlalchemy.orm.exc import StaleDataError

from semel import errors
from semel.engine.decisions import is_decision


class SoldOut(errors.Decision):
    """One of a user's own."""


class NotFound(LookupError, errors.Decision):
    """One that another hierarchy of the user's already has."""


class DuplicateName(sa.IntegrityError):
    """A subclass of a class of the list."""


class DriverError(Exception):
    """Of a database driver, with the SQLSTATE where it has it."""

    def __init__(self, **state: object) -> None:
        super().__init__("driver")
        vars(self).update(state)


class ValidationError(ValueError):
    """A class of that name, of nobody's in the list."""


def statement(kind: type[sa.DBAPIError], **state: object) -> Exception:
    return kind("INSERT …", None, DriverError(**state))


def invalid_of_pydantic() -> Exception:
    with pytest.raises(pydantic.ValidationError) as raised:
        pydantic.TypeAdapter(int).validate_python("many")
    return raised.value


def invalid_of_msgspec() -> Exception:
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert("many", int)
    return raised.value


@pytest.mark.rule("R6")
@pytest.mark.parametrize(
    "error",
    [
        SoldOut("A-1"),
        NotFound("A-1"),
        sa.NoResultFound(),
        sa.MultipleResultsFound(),
        statement(sa.IntegrityError),
        statement(sa.IntegrityError, sqlstate="23505"),
        statement(DuplicateName, pgcode="23505"),
        statement(sa.DataError, sqlstate="22001"),
        invalid_of_pydantic(),
        invalid_of_msgspec(),
        errors.RunCancelled("the child was cancelled"),
        errors.Refused("refused"),
        errors.NotAllowedHere("a bare thread"),
        errors.InvalidLabel("no str"),
        errors.ResultNotRecordable("a socket"),
        errors.RequestNotSent("a header with a line break"),
        errors.ConfigurationError("PAYMENTS_URL is not set"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_decision_is_not_tried_again(error: Exception) -> None:
    assert is_decision(error)


@pytest.mark.rule("R6")
@pytest.mark.parametrize(
    "error",
    [
        OSError("the connection was reset"),
        TimeoutError(),
        ValueError("an empty answer"),
        ValidationError("of a module of no library"),
        KeyError("id"),
        statement(sa.OperationalError),
        statement(sa.DBAPIError, sqlstate="40001"),
        statement(sa.IntegrityError, sqlstate="40001"),
        statement(sa.IntegrityError, pgcode="40P01"),
        statement(sa.DataError, sqlstate="40P01"),
        statement(sa.InternalError),
        StaleDataError("1 row expected, 0 found"),
        sa.TimeoutError("the pool is empty"),
        errors.DatabaseLocked("another process holds it"),
        errors.StepTimedOut("a nested step"),
        errors.RunTimedOut("a child"),
        errors.RunFaulted("a child"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_accident_is_tried_again(error: Exception) -> None:
    assert not is_decision(error)


@pytest.mark.rule("R6")
@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(1), GeneratorExit()])
def test_what_is_no_exception_of_a_program_is_never_tried_again(error: BaseException) -> None:
    assert is_decision(error)


@pytest.mark.rule("R6")
def test_an_answer_of_an_api_is_a_decision_only_where_the_client_says_so() -> None:
    answer = {"operation": "Payments.charge", "method": "POST", "path": "/", "status": 409, "reason": "Conflict"}
    assert not is_decision(errors.ErrorStatus("409", headers={}, body=b"", **answer))  # type: ignore[arg-type]
    assert is_decision(errors.DecidedStatus("409", headers={}, body=b"", **answer))  # type: ignore[arg-type]


@pytest.mark.rule("R6")
def test_the_libraries_are_not_imported_to_be_asked() -> None:
    program = (
        "import sys\nfrom semel.engine.decisions import is_decision\nassert not is_decision(ValueError())\n"
        "print(*sorted({'sqlalchemy', 'pydantic', 'pydantic_core'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []
