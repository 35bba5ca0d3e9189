"""``app.again``: the end of a visit, and the start of the next one with other arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from semel.compiler import Path
from semel.engine.halt import Halt
from semel.errors import NotAllowedHere


def again_at(path: Path, passes: tuple[object, ...], awaited: bool, app: Any) -> Callable[..., NoReturn]:
    """What ``app.again`` is in the body at ``path``."""

    def again(*args: Any, **kwargs: Any) -> NoReturn:
        if path.in_step:
            raise NotAllowedHere(f"app.again(…) in a step ({path.text()}) would end the body in the middle of it")
        execution: Any = path.execution
        if execution.sagas.open:
            raise NotAllowedHere(f"app.again(…) in the block of a saga ({path.text()}) would leave its undos open")
        workflow = app.workflows[execution.workflow]
        workflow.encoded(app.codec, args, kwargs)  # what does not fit, or cannot be recorded, is refused here
        raise execution.halt(Halt("again", args=workflow.bind(args, kwargs)))

    return again
