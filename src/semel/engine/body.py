"""A body as the engine needs it: the function, its arguments, and how it is called as compiled code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from semel.compiler import Path, enter

from .execution import Execution


@dataclass(frozen=True, slots=True)
class Body:
    """One body of a workflow and its arguments; ``name`` is ``start`` for a function."""

    function: Callable[..., Any]
    workflow: str
    name: str
    visit: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def execution_name(self) -> str:
        """``start@1``."""
        return f"{self.name}@{self.visit}"

    def root(self, execution: Execution) -> Path:
        """The first segment of the body's paths: ``fulfil/start@1``."""
        return Path(None, (), f"{self.workflow}/{self.execution_name}", execution)


class BodyCall:
    """The running of a body, waited for like a write: by a thread, or by a coroutine on the loop."""

    def __init__(self, body: Body, root: Path) -> None:
        self._body = body
        self._root = root

    def wait(self) -> Any:
        body = self._body
        return enter(self._root, body.function)(*body.args, **body.kwargs)

    def future(self, loop: asyncio.AbstractEventLoop) -> Coroutine[Any, Any, Any]:
        execution: Any = self._root.execution
        execution.parks.body_task = asyncio.current_task()
        result: Coroutine[Any, Any, Any] = self.wait()
        return result
