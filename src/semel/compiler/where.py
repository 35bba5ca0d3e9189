"""Where in the user's program an exchange is made: at a call that has a path, or where no path leads.

``current`` is the path of the last foreign call that this context made. It says where an exchange belongs only while
that call goes on, so the stack is looked at: the nearest compiled frame must be at a call (a property, an operator or
an import is none), and be the function that the path leads from.
"""

from __future__ import annotations

import dis
import linecache
import sys
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from semel.errors import PathClaimedTwice

from .packages import is_user_module
from .path import Path
from .twins import is_twin_code

#: What a compiled frame may be at while a call of foreign code goes on.
_CALLS = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX", "PRECALL", "SEND", "YIELD_VALUE", "YIELD_FROM", "RESUME"})

#: Functions of semel that set ``current`` and then run foreign code: below them it is right. By the id of their code.
_carriers: dict[int, CodeType] = {}


def carrier(code: CodeType) -> None:
    """Declares a function that sets ``current`` for what it calls."""
    _carriers[id(code)] = code


def is_carrier(code: CodeType) -> bool:
    """Whether this code is of such a function."""
    return id(code) in _carriers


#: Functions that begin a step: what is called below them is the step's. By the id of their code.
_stepping: dict[int, CodeType] = {}


def begins_step(code: CodeType) -> None:
    """Declares a function that runs steps."""
    _stepping[id(code)] = code


def is_step_begun(code: CodeType) -> bool:
    """Whether this code is of such a function."""
    return id(code) in _stepping


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the user's program, and what on it is evaluated."""

    file: str
    line: int
    text: str
    part: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def leads(path: Path) -> bool:
    """Whether an exchange that is made now is part of the foreign call at ``path``."""
    frame: FrameType | None = sys._getframe(1)
    called_user = False
    while frame is not None:
        code = frame.f_code
        if id(code) in _carriers:
            return True
        if is_twin_code(code):
            return not called_user and path.parent is frame.f_locals.get(".p") and _is_at(frame, path)
        # User code that a twin calls, and that is no twin itself, has no path: a property, a special method.
        called_user = is_user_module(frame.f_globals.get("__name__"))
        frame = frame.f_back
    return True  # a task or a thread that the call has started


def in_step(path: Path) -> bool:
    """Whether a step goes on. ``path`` may be of a call that is long over, so the stack is asked first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if is_step_begun(code):
            return True
        if is_carrier(code):
            break
        if is_twin_code(code):
            own = frame.f_locals.get(".p")
            return isinstance(own, Path) and own.in_step
        frame = frame.f_back
    return path.in_step


def _is_at(frame: FrameType, path: Path) -> bool:
    """Whether a compiled frame stands at the call that the site ``path`` was made for, or at what is done with it.

    ``list(pages(url))`` is: what is asked for while the list is made belongs to ``pages``. A later line is not, though
    no other call has been made in between.
    """
    code, at = frame.f_code, frame.f_lasti
    while dis.opname[code.co_code[at]] == "CACHE":  # where 3.12 stands while a frame awaits
        at -= 2
    if dis.opname[code.co_code[at]] not in _CALLS:
        return False
    made_in = getattr(path, "called_in", None)
    if made_in is None:
        return True
    if made_in is not code:
        return False
    positions = _positions(code)
    made, now = positions[path.called_at // 2], positions[at // 2]
    if None in made or None in now:  # over several lines, or a process without positions
        return True
    return _start(now) <= _start(made) and _end(made) <= _end(now)


_Position = tuple[int | None, int | None, int | None, int | None]
_known_positions: dict[int, tuple[CodeType, list[_Position]]] = {}


def _positions(code: CodeType) -> list[_Position]:
    known = _known_positions.get(id(code))
    if known is None:
        known = _known_positions[id(code)] = (code, [*code.co_positions()])
    return known[1]


def _start(position: _Position) -> tuple[Any, Any]:
    return position[0], position[2]


def _end(position: _Position) -> tuple[Any, Any]:
    return position[1], position[3]


def place(*, compiled: bool = False) -> Place | None:
    """The user's line that is being run; None if no frame of the user's is on the stack.

    ``compiled`` asks for the nearest line of compiled code: where a ``once`` could stand.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_twin_code(frame.f_code) or (not compiled and is_user_module(frame.f_globals.get("__name__"))):
            return _place(frame)
        frame = frame.f_back
    return None


def _place(frame: FrameType) -> Place:
    code = frame.f_code
    text = linecache.getline(code.co_filename, frame.f_lineno, frame.f_globals)
    return Place(code.co_filename, frame.f_lineno, text.strip(), _part(code, frame.f_lasti, text))


def _part(code: CodeType, at: int, line: str) -> str:
    """What of the line is evaluated, by the positions of the code; the whole of it where they do not tell."""
    positions = _positions(code)[at // 2]
    start, end, left, right = positions
    if start is None or start != end or left is None or right is None:
        return line.strip()
    return line.encode()[left:right].decode(errors="replace") or line.strip()


def called_twice(text: str, operation: str) -> PathClaimedTwice:
    """Rule A8, found when it happens: two calls of one operation have one path."""
    here = place()
    where = f" ({here})" if here is not None else ""
    line = f'\n    once("name it", lambda: {here.part})' if here is not None else ""
    return PathClaimedTwice(
        f"two calls of {operation} in one body have the path {text}; the second one{where} was not made, because it "
        f"would have got the first one's answer. Give one of them a name of its own:{line}"
    )
