"""Every public exception of semel, each with a stable code.

A message names the thing in the user's own program (file, line, label, path), says what went wrong or would have gone
wrong, and how to mend it. The code (``SEMEL-…``) never changes and is what a log is searched for.
"""

from __future__ import annotations

from typing import ClassVar


class SemelError(Exception):
    """The base of all that semel raises on purpose."""

    code: ClassVar[str] = "SEMEL-ERROR"


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
    """Two workflows of one name, a workflow that is no plain function, …"""

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


class InvalidScope(ProgramError, TypeError):
    """The scope of a ``once`` is not a str, int, UUID or a tuple of these (rule O10)."""

    code = "SEMEL-SCOPE"


class InvalidLabel(ProgramError, TypeError):
    """The label of a ``once`` is not a non-empty str (rule O13)."""

    code = "SEMEL-LABEL"


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


# --------------------------------------------------------------------------------------------------- runs, from outside


class RunNotFound(SemelError, LookupError):
    """There is no run with this id."""

    code = "SEMEL-RUN-NOT-FOUND"


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


class WorkflowUnknown(SemelError, LookupError):
    """No workflow of this name is registered in this app."""

    code = "SEMEL-WORKFLOW-UNKNOWN"


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
