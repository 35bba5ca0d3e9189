"""Every public exception of semel, each with a stable code.

A message names the thing in the user's own program (file, line, label, path), says what went wrong or would have gone
wrong, and how to mend it. The code (``SEMEL-…``) never changes and is what a log is searched for.
"""

from __future__ import annotations

from typing import Any, ClassVar


class SemelError(Exception):
    """The base of all that semel raises on purpose."""

    code: ClassVar[str] = "SEMEL-ERROR"


class Decision(Exception):
    """A failure that is an answer and not an accident: not found, invalid, in conflict, not allowed, not yet possible.

    A step's ``retry=`` does not try it again (rule R6). Yours may join: ``class SoldOut(Decision)``.
    """


# ---------------------------------------------------------------------------------------------- the program is refused


class Refused(SemelError):
    """The program cannot run safely; nothing has run. Holds every problem found (rules O4, O13, O14, O18)."""

    code = "SEMEL-REFUSED"

    def __init__(self, message: str, problems: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


class CannotCompile(SemelError):
    """A user function cannot be made durable: no source, source that changed under the process, …"""

    code = "SEMEL-COMPILE"


class RegistrationError(SemelError):
    """Two workflows of one name, a workflow that is no plain function, a class that declares what cannot be, …"""

    code = "SEMEL-REGISTRATION"


# ------------------------------------------------------------------------------------------------------ while it runs


class ProgramError(SemelError):
    """The program does what cannot be found again. A defect to mend, never a recorded failure of a step."""

    code = "SEMEL-PROGRAM"


class PathClaimedTwice(ProgramError):
    """Two steps of one execution have the same path (rule O19); the second was not run."""

    code = "SEMEL-PATH-TWICE"


class NotCompiled(ProgramError):
    """A ``once`` was reached in a run through a user function that semel did not compile, so it has no path."""

    code = "SEMEL-NOT-COMPILED"


class NotAllowedHere(ProgramError):
    """A body did what cannot be found again: a bare thread, a step after the body ended, …"""

    code = "SEMEL-NOT-ALLOWED"


class CallWithoutName(ProgramError):
    """A call that leaves was to be made where no path leads (a property, an operator, an import); it was not made."""

    code = "SEMEL-CALL-NAME"


class RequestNotAligned(ProgramError):
    """A call of several exchanges asks for something else than its record says; the request was not sent."""

    code = "SEMEL-REQUEST"


class CallNotRecordable(ProgramError):
    """A body did what leaves the process and cannot be recorded (a socket, a process, gRPC), outside of a ``once``."""

    code = "SEMEL-LEAVES"


class InvalidScope(ProgramError, TypeError):
    """The scope of a ``once`` is not a str, int, UUID or a tuple of these (rule O10)."""

    code = "SEMEL-SCOPE"


class InvalidLabel(ProgramError, TypeError):
    """The label of a ``once`` is not a non-empty str (rule O13)."""

    code = "SEMEL-LABEL"


class InvalidRetry(ProgramError, ValueError):
    """The ``retry=`` of a step says not how often (rule R2)."""

    code = "SEMEL-RETRY"


class DuplicateKey(ProgramError, ValueError):
    """Two items of ``each`` have one key (rule O16)."""

    code = "SEMEL-EACH-KEY"


class ResultNotRecordable(SemelError):
    """A step ran, but its result or failure cannot be recorded (rule O23). It will not be run again by itself."""

    code = "SEMEL-NOT-RECORDABLE"


class RecordUnreadable(SemelError):
    """A recorded value no longer fits the program's types, or the record is not one of semel's (rules D4, O22)."""

    code = "SEMEL-RECORD"


class UnreachedSteps(SemelError):
    """A ``strict`` workflow ended without reaching a step that an earlier attempt had done (rule W12)."""

    code = "SEMEL-UNREACHED"


class WorkerKilled(SemelError):
    """The run killed its worker five times and is not delivered again by itself (rule R11)."""

    code = "SEMEL-WORKER-KILLED"


class StepTimedOut(SemelError, TimeoutError):
    """A step had not ended within its ``timeout``, all its attempts and their waits counted."""

    code = "SEMEL-STEP-TIMEOUT"


class WaitTimedOut(SemelError, TimeoutError):
    """No event came within the ``timeout`` of a ``wait_for`` (rule W6)."""

    code = "SEMEL-WAIT-TIMEOUT"


# --------------------------------------------------------------------------------------------------- runs, from outside


class RunNotFound(SemelError, LookupError):
    """There is no run with this id."""

    code = "SEMEL-RUN-NOT-FOUND"


class StepNotFound(SemelError, LookupError):
    """The run has no record of this path, or the path is none of a step of its workflow."""

    code = "SEMEL-STEP-NOT-FOUND"


class OutcomeRefused(SemelError, TypeError):
    """The value given to ``run.record`` cannot be recorded, or cannot be the outcome of that step."""

    code = "SEMEL-OUTCOME"


class RunPurged(SemelError, LookupError):
    """The run with this id has ended and was purged; the id is not started anew."""

    code = "SEMEL-RUN-PURGED"


class RunIdConflict(SemelError, ValueError):
    """The id belongs to a run of another workflow, or with other arguments."""

    code = "SEMEL-RUN-ID"


class RunFaulted(SemelError):
    """The run ended in a fault that cannot be raised as itself; the message holds its text."""

    code = "SEMEL-RUN-FAULTED"


class ResultTimeout(SemelError, TimeoutError):
    """The run had not ended when the timeout was over. It goes on."""

    code = "SEMEL-RESULT-TIMEOUT"


class RunCancelled(SemelError, Decision):
    """The run was cancelled, so it has no result (rule W8). Not tried again where a child is waited for."""

    code = "SEMEL-RUN-CANCELLED"


class RunTimedOut(SemelError, TimeoutError):
    """The run had not ended within the ``timeout`` of its workflow."""

    code = "SEMEL-RUN-TIMEOUT"


class RunEnded(SemelError):
    """The run has ended already: an event for it would be lost."""

    code = "SEMEL-RUN-ENDED"


class WorkflowUnknown(SemelError, LookupError):
    """No workflow of this name is registered in this app."""

    code = "SEMEL-WORKFLOW-UNKNOWN"


# ------------------------------------------------------------------------------------------------------------ entities


class EntityNotFollowed(SemelError, LookupError):
    """The row has no run of this workflow: it was inserted without ``autostart``, or before the workflow was there."""

    code = "SEMEL-ENTITY-NO-RUN"


class EntityGone(SemelError, LookupError):
    """The row that a run follows is not in the database, or not yet."""

    code = "SEMEL-ENTITY-GONE"


class EntityStateChanged(SemelError):
    """The state of a row is not the one that its run has brought it to, or is one that the program does not have."""

    code = "SEMEL-ENTITY-STATE"


class EventNotTaken(SemelError, Decision):
    """The row's state does not take the event, its run has ended, or the event's arm still waits (rule W10)."""

    code = "SEMEL-EVENT-NOT-TAKEN"


class PayloadChanged(SemelError, Decision):
    """The event was raised before with another payload, and its arm had done steps when it failed (rule V7)."""

    code = "SEMEL-EVENT-PAYLOAD"


class RunBusy(SemelError):
    """Another process or thread has the run of the row in hand, and did not let go of it in time."""

    code = "SEMEL-RUN-BUSY"


class WorkflowFailed(SemelError):
    """The row has come to a state that the workflow declares as ``error(…)``; the message is the one declared there."""

    code = "SEMEL-WORKFLOW-FAILED"


# ----------------------------------------------------------------------------------------------------- typed clients


class ClientDeclarationError(SemelError, TypeError):
    """A ``Client`` class is declared in a way that cannot work; it is refused when the class is made."""

    code = "SEMEL-CLIENT-DECLARATION"


class RequestNotSent(SemelError, ValueError):
    """An operation of a ``Client`` was given a value that cannot stand in its request; nothing was sent."""

    code = "SEMEL-CLIENT-REQUEST"


class AnswerError(SemelError):
    """What an operation of a ``Client`` raises over an answer, and holds: either ``ErrorStatus`` or ``UnexpectedBody``.

    ``operation`` is the operation's name (``Payments.charge``), ``method`` and ``path`` those of the request (no query,
    no host), ``status`` and ``reason`` those of the answer, ``headers`` its headers by name in lower case (of one that
    came twice, both values joined by a comma), ``body`` its decoded bytes, whole.
    """

    code = "SEMEL-CLIENT-ANSWER"

    def __init__(
        self,
        message: str,
        *,
        operation: str,
        method: str,
        path: str,
        status: int,
        reason: str,
        headers: dict[str, str],
        body: bytes,
    ) -> None:
        super().__init__(message)
        self.operation = operation
        self.method = method
        self.path = path
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body

    def json(self) -> Any:
        """The body, read as JSON. Raises ValueError if it is none."""
        from json import loads  # most programs that import this module never ask

        return loads(self.body)


class ErrorStatus(AnswerError):
    """The answer's status is not a 2xx (rule A10)."""

    code = "SEMEL-CLIENT-STATUS"


class DecidedStatus(ErrorStatus, Decision):
    """The answer's status is one that the client declares to be a decision: its step is not retried (rule R6)."""

    code = "SEMEL-CLIENT-DECIDED"


class UnexpectedBody(AnswerError):
    """The answer's body does not fit the operation's result type, at ``where`` in it (``$.lines[0].price``)."""

    code = "SEMEL-CLIENT-BODY"

    def __init__(self, message: str, *, where: str, **answer: Any) -> None:
        super().__init__(message, **answer)
        self.where = where


# ------------------------------------------------------------------------------------------------------------- storage


class StoreError(SemelError):
    """The database cannot be used as it is."""

    code = "SEMEL-STORE"


class NotADatabase(StoreError):
    """The file is not a SQLite database, or not one of semel's."""

    code = "SEMEL-STORE-NOT-A-DATABASE"


class DatabaseReadOnly(StoreError):
    """The database file or its folder cannot be written."""

    code = "SEMEL-STORE-READ-ONLY"


class DatabaseFull(StoreError):
    """The disk, or the database's own limit, is full."""

    code = "SEMEL-STORE-FULL"


class DatabaseLocked(StoreError):
    """Another process held the database's write lock for longer than the timeout."""

    code = "SEMEL-STORE-LOCKED"


class SchemaTooNew(StoreError):
    """The database was written by a newer semel."""

    code = "SEMEL-STORE-NEWER"


class SchemaOutdated(StoreError):
    """The database needs ``semel migrate``."""

    code = "SEMEL-STORE-MIGRATE"


class JournalMismatch(StoreError):
    """The main file and the journal beside it do not belong together."""

    code = "SEMEL-STORE-PAIR"


class ConfigurationError(SemelError):
    """A URL, a setting or ``[tool.semel]`` in pyproject.toml is wrong."""

    code = "SEMEL-CONFIG"


# ------------------------------------------------------------------------------------------------------------- testing


class UnscriptedRequest(SemelError, AssertionError):
    """A program under ``semel.testing.script()`` made a request that the script has no answer for; nothing was sent."""

    code = "SEMEL-SCRIPT-REQUEST"


class UnusedAnswers(SemelError, AssertionError):
    """``done()`` of a script was called, and some of its answers were never asked for."""

    code = "SEMEL-SCRIPT-UNUSED"
