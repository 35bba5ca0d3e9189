"""What a function does besides its steps and calls, as far as a lint asks: frozen data, like the rest of the model.

``within`` is everywhere the index of the step in whose lambda a thing stands, None where it stands in no step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .data import Loop, Place

#: What reaches out of the body's memory, and "sleep", which takes time and does nothing.
EffectKind = Literal["file", "process", "connection", "sleep"]
#: How something that outlives the body is changed.
ChangeKind = Literal["global", "container", "class attribute"]
#: How a call names what it calls, where the model cannot say what that is.
UnresolvedKind = Literal["variable", "item", "getattr", "method"]
#: How a value comes to be stored.
StoreKind = Literal["attribute", "step", "call", "write"]
#: Where a transaction begins (a written flush, one that a query makes, a ``with`` round some lines) or ends.
TransactionKind = Literal["flush", "autoflush", "block", "commit"]


@dataclass(frozen=True, slots=True)
class Effect:
    """A call of the standard library that changes something outside of the process, or waits."""

    kind: EffectKind
    name: str
    place: Place
    text: str
    awaited: bool
    within: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """A change of what belongs to the module or a class. ``defined`` is where that is first given a value."""

    kind: ChangeKind
    name: str
    place: Place
    text: str
    defined: Place | None
    within: int | None


@dataclass(frozen=True, slots=True)
class Handler:
    """What ends every exception, those of semel too: a handler that does not raise again, or a jump in a ``finally``.

    It holds for the lines from ``first_line`` to ``last_line``; ``corrected`` is how to write it.
    """

    kind: Literal["except", "suppress", "finally"]
    place: Place
    text: str
    corrected: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Transaction:
    """Where a database transaction begins or ends.

    One of the body's own session lasts to the end of the body, any other one to ``last_line`` at the most.
    """

    kind: TransactionKind
    site: int
    place: Place
    text: str
    within: int | None
    loops: tuple[Loop, ...]
    of_body: bool
    last_line: int


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A call of which the source does not show what it calls; ``owners`` are the classes of what it is called on."""

    site: int
    kind: UnresolvedKind
    place: Place
    text: str
    name: str
    arguments: int
    owners: tuple[str, ...]
    within: int | None


@dataclass(frozen=True, slots=True)
class Unrecordable:
    """A result that the codec cannot record. ``step`` is the index of the step that gives it; None: the function.

    ``type`` is the author's text of it, ``reason`` what it is, ``advice`` what to return instead (``list({})``, or
    empty), ``part`` where it is inside of the result (``.lock``, ``[…]``).
    """

    step: int | None
    type: str
    reason: str
    advice: str
    part: str
    place: Place


@dataclass(frozen=True, slots=True)
class Reading:
    """A value that no second call gives again, under a name: ``reader`` gave it, ``text`` is how it is made."""

    name: str
    reader: str
    site: int
    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Store:
    """Where values of ``read`` (by their number) outlive the attempt: an attribute, a step, a row of a session.

    Of a call ``functions`` is what it may lead to: it stores if that is a step, or holds one.
    """

    kind: StoreKind
    read: frozenset[int]
    site: int
    place: Place
    text: str
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Effects:
    """All that is noted of one function. ``referred`` are the functions that it names, called or not."""

    effects: tuple[Effect, ...] = ()
    changes: tuple[Change, ...] = ()
    handlers: tuple[Handler, ...] = ()
    transactions: tuple[Transaction, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    unrecordable: tuple[Unrecordable, ...] = ()
    readings: tuple[Reading, ...] = ()
    stores: tuple[Store, ...] = ()
    referred: frozenset[str] = frozenset()
