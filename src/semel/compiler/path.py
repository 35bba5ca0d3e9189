"""The path: the identity of a step, made of names, carried through a body as an explicit linked value.

A ``Path`` is one edge of the way from a body's top to a step: the segment it leads to, and the passes of the loops that
enclose the call in the function it comes from. The text is rendered only when a step is claimed.
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Protocol

from .naming import Key as Key
from .naming import pass_name as pass_name

#: A call: the code that it stands in, and the offset of its instruction.
Origin = tuple[CodeType, int]


class Values(Protocol):
    """Where what a body reads comes from, so that a later attempt reads the same (rule A5)."""

    def number(self, name: str) -> int:
        """How often this name was asked for before, in this execution."""
        ...

    def derived(self, name: str, size: int) -> bytes:
        """So many bytes for this name, the same at each attempt, that nobody can foretell."""
        ...

    def moment(self) -> float:
        """The time that the flow of the caller has come to; seconds since the epoch."""
        ...

    def watch(self, origin: Origin | None) -> float:
        """The same, for a read of the time at this call: raises where the program seems to wait for it to pass."""
        ...


class Execution(Protocol):
    """What compiled code needs of the execution that it runs in."""

    @property
    def over(self) -> bool:
        """Whether the body has ended: a callback that foreign code kept then runs as an ordinary function."""
        ...

    def run_callback(self, call: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Runs ``call(*args, **kwargs)``, a compiled function that foreign code calls back, in a flow of its own."""

    @property
    def values(self) -> Values:
        """What the unrepeatable values are derived from."""
        ...


class Path:
    """One segment of a path. ``passes`` are those of the loops round the call, in the function that ``parent`` names.

    ``wrapped`` is the function that this segment's function wraps (``functools.wraps``), if any: calling it adds no
    segment of its own. Such a call is a ``Path`` with an empty name, which holds only the passes round it.

    ``in_step`` says that the path leads through a step: whatever happens there is part of that step.

    ``callee`` is there at a site only: the foreign callable and what it is bound to, for the name of an automatic step.

    For the names of values that are read (rule A5), and only there where one was needed: ``called_in`` and
    ``called_at`` are the call that made this segment, ``at`` the latest call that the segment's own function has made,
    and ``known_as`` the name.
    """

    __slots__ = (
        *("at", "called_at", "called_in", "callee", "execution", "in_step", "known_as", "name", "parent", "passes"),
        "wrapped",
    )
    at: Origin
    called_at: int
    called_in: CodeType
    known_as: str
    callee: tuple[object, tuple[object, ...]]

    def __init__(
        self,
        parent: Path | None,
        passes: tuple[object, ...],
        name: str,
        execution: Execution,
        wrapped: object = None,
    ) -> None:
        self.parent = parent
        self.passes = passes
        self.name = name
        self.execution = execution
        self.wrapped = wrapped
        self.in_step: bool = parent is not None and parent.in_step

    def prefix(self) -> str:
        """The path of the function that made the call, with the passes of its loops."""
        parts: list[str] = []
        path: Path | None = self
        while path is not None:
            if path.passes:
                parts.append("".join([f"[{pass_name(number)}]" for number in path.passes]))
            path = path.parent
            if path is not None and path.name:
                parts.append(f"/{path.name}" if path.parent is not None else path.name)
        parts.reverse()
        return "".join(parts)

    def text(self) -> str:
        """The path as a scope: ``fulfil/start@1[0]/notify``."""
        if self.parent is None:
            return self.name
        return f"{self.prefix()}/{self.name}" if self.name else self.prefix()

    def step(self) -> str:
        """The path as a step: ``fulfil/start@1[0]#charge``."""
        return f"{self.prefix()}#{self.name}"

    def __repr__(self) -> str:
        return f"<Path {self.text()}>"


#: The path of the innermost foreign call site of this context, None outside a run: how a ``once`` that is reached by a
#: function without a twin knows that it is in a run.
current: contextvars.ContextVar[Path | None] = contextvars.ContextVar("semel_path", default=None)


@contextmanager
def unrecorded() -> Iterator[None]:
    """What is done in it is neither recorded nor refused, as if there were no run."""
    token = current.set(None)
    try:
        yield
    finally:
        current.reset(token)
