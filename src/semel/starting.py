"""What a run is started with: its id, its arguments as they are recorded, and whether it may start here at all."""

from __future__ import annotations

import secrets
import uuid
from typing import TYPE_CHECKING, Any

from .codec import Codec
from .compiler import current
from .engine.keys import FORMAT
from .errors import NotAllowedHere, RunIdConflict
from .store.interface import NewRun
from .store.interface import Run as Row
from .workflow.function import equal

if TYPE_CHECKING:
    from .app import App

_LONGEST_ID = 500  # characters


def new_run(app: App, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, child: bool = False) -> NewRun:
    """A run of a workflow with these arguments, as it is to be stored; raises as ``App.start`` does."""
    if not child:
        refuse_in_a_body(function)
    id = check_id(kwargs.pop("id", None))
    workflow = app.workflow_of(function)
    data = workflow.encoded(app.codec, args, kwargs)
    app.check()
    now = app.now()
    return NewRun(
        uid=secrets.token_hex(16),
        id=id,
        workflow=workflow.name,
        args=data,
        seed=secrets.token_bytes(32),
        format=FORMAT,
        created_at=now,
        deadline=None if workflow.timeout is None else now + workflow.timeout.total_seconds(),
    )


def check_id(id: object) -> str:
    """The id of a new run: the user's, or one that is made up."""
    if id is None:
        return str(uuid.uuid4())
    if not isinstance(id, str) or not 0 < len(id) <= _LONGEST_ID or not id.isprintable():
        told = repr(id) if len(repr(id)) < 100 else f"one of {len(str(id)):,} characters"
        raise TypeError(
            f"the id of a run must be a printable, non-empty str of up to {_LONGEST_ID} characters, not {told}"
        )
    return id


def refuse_in_a_body(function: Any) -> None:
    """In a body a start outside of a step would start one more run at each attempt."""
    path = current.get()
    if path is not None and not path.execution.over and not path.in_step:
        raise NotAllowedHere(
            f"app.start(…) in the body of a run ({path.prefix()}) would start another run at each attempt; start a "
            f'child, run_child("label", {getattr(function, "__qualname__", "workflow")}, …), or write '
            f'once("start", lambda: app.start(…, id=…).id)'
        )


def check_same_run(codec: Codec, new: NewRun, row: Row) -> None:
    """The same id is the same run: raises where the run that has it is of another workflow, or has other arguments."""
    if row.workflow != new.workflow:
        raise RunIdConflict(
            f"the run id {new.id!r} belongs to a run of {row.workflow!r} and cannot be started as "
            f"{new.workflow!r}; choose another id"
        )
    if row.args != new.args and not equal(codec.decode(row.args), codec.decode(new.args)):
        raise RunIdConflict(
            f"the run {new.id!r} of {row.workflow} was started with other arguments; the same id is the same run, "
            f"so choose another id for other arguments"
        )
