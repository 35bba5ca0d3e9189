"""What the program model is made of: frozen data about modules, classes, functions, steps and calls.

The checks, the model's JSON and the deploy check read these and never a syntax tree. A function is named by its id,
``module:qualname`` (with ``~2`` and so on where one module defines a name more than once).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from .flow import Flow

if TYPE_CHECKING:
    from .effects import Effects
    from .states import EntityStates

#: What makes the step. The last three are waits, which may do without a label.
Form = Literal["once", "transaction", "child", "saga", "saga step", "sleep", "event", "first"]
#: What the last positional argument of a ``once`` is; "none" where the form takes no function.
StepKind = Literal["function", "value", "missing", "too many", "hidden", "keyword", "none"]
#: What is wrong with an undo.
UndoFault = Literal["lambda", "nested", "bound", "partial", "call", "object"]
#: How sure it is that a call leads to its candidates.
Certainty = Literal["sure", "likely", "by name", "unknown", "foreign"]
#: How a call is made: written as a call, through another callable, or by the language itself.
How = Literal["call", "callback", "enter", "exit", "iterate", "property", "operator", "thread"]
#: How a loop names its passes: by number, by element or key, or not visible in the source.
Passes = Literal["number", "key", "unknown"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a source file: line and column count from 1, the column in characters."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression as the author wrote it, and where."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop or one ``for`` of a comprehension."""

    place: Place
    kind: Literal["for", "while", "comprehension"]
    passes: Passes


@dataclass(frozen=True, slots=True)
class Retry:
    """The policy that a step is given. ``bounded`` says whether it has ``max_attempts``, None where that is not seen.

    ``definition`` is the policy itself, where that stands elsewhere.
    """

    given: Expression
    bounded: bool | None
    definition: Expression


@dataclass(frozen=True, slots=True)
class Undo:
    """The ``undo=`` of a saga's step. ``captured`` are the names of the body that it uses, ``functions`` what it is.

    ``parameter`` and ``work`` are those of a lambda, as far as they can be used again.
    """

    given: Expression
    fault: UndoFault | None
    captured: tuple[str, ...]
    functions: tuple[str, ...]
    parameter: str
    work: str


@dataclass(frozen=True, slots=True)
class Step:
    """A call of ``once``, or of another function of semel that makes a step (``form``).

    ``within`` is the index of the step in whose lambda it stands, in the same function; ``saga`` that of the saga whose
    step it is. ``segment`` is what names it in the path: the label, or what is derived where a wait has none.
    """

    index: int
    site: int
    place: Place
    text: str
    label: str | None
    label_expression: Expression | None
    label_hint: str
    step: Expression | None
    step_kind: StepKind
    corrected: str
    within: int | None
    loops: tuple[Loop, ...]
    form: Form
    callee: str
    segment: str | None
    awaited: bool
    saga: int | None = None
    retry: Retry | None = None
    undo: Undo | None = None

    @property
    def is_wait(self) -> bool:
        return self.form in ("sleep", "event", "first")

    @property
    def shown(self) -> str:
        """The call in short: ``once("charge", …)``."""
        if self.is_wait:
            event = f"{self.event}, " if self.event else ""
            return f'{self.callee}({event}…, label="{self.label}", …)' if self.label else f"{self.callee}({event}…)"
        return f'{self.called}("{self.label}", …)'

    @property
    def brief(self) -> str:
        """The call in fewer words: ``once("charge")``, ``sleep``."""
        if self.is_wait:
            return f'{self.callee}("{self.label}")' if self.label else self.segment or self.callee
        return f'{self.called}("{self.label}")' if self.label is not None else self.called

    @property
    def called(self) -> str:
        """The function's name, whatever the author calls it: ``once``; of one for a saga's step, ``trip.step``."""
        return _CALLED.get(self.form, self.callee)

    @property
    def event(self) -> str:
        """The event that an unlabelled wait is named after, quoted."""
        name = (self.segment or "").partition(":")[2]
        return f'"{name}"' if self.form == "event" and self.label is None and name else ""


_CALLED: dict[Form, str] = {"once": "once", "child": "run_child", "saga": "saga"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A function that a call may lead to, and the segment that the call then adds to the path."""

    function: str
    segment: str


@dataclass(frozen=True, slots=True)
class Operation:
    """What a call that leaves the process does (rule A3), by the name that its step has (rule A8).

    ``source``: a client library itself, an SDK whose source leads to one, a ``semel.Client``, ``@external``, or a
    pattern of ``[tool.semel] external``. ``library`` is the root package, empty for user code. ``sure`` is false where
    the call may be another one, or may be answered by a double.
    """

    name: str
    source: Literal["library", "sdk", "client", "external", "pattern"]
    library: str
    sure: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A call site of a function and what it may lead to.

    ``site`` is its number in the function's flow, ``loops`` those that enclose it in the function (in the step's
    lambda, if ``within`` one). ``foreign`` is the dotted name of a callee that is not user code. ``stable`` says that
    the callee's text names one callable all through the function. ``operation`` is set where the call leaves the
    process, ``lost`` says why it could not be resolved, if it could not.
    """

    site: int
    place: Place
    callee: str
    arguments: tuple[str, ...]
    awaited: bool
    how: How
    candidates: tuple[Candidate, ...]
    certainty: Certainty
    foreign: str | None
    loops: tuple[Loop, ...]
    within: int | None
    stable: bool
    operation: Operation | None = None
    lost: str | None = None

    @property
    def is_step(self) -> bool:
        """Whether the call is an automatic step; one made directly in the lambda of a step is part of that (A7)."""
        return self.operation is not None and self.within is None


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    annotation: str | None


@dataclass(frozen=True, slots=True)
class Function:
    """A function, method, lambda, or the code of a module (``<module>``) that runs when it is imported."""

    id: str
    module: str
    qualname: str
    place: Place
    end_line: int
    parameters: tuple[Parameter, ...]
    returns: str | None
    is_async: bool
    kind: Literal["function", "method", "lambda", "module"]
    owner: str | None
    decorators: tuple[str, ...]
    cached_by: str | None
    is_property: bool
    leaves: bool
    steps: tuple[Step, ...]
    calls: tuple[Call, ...]
    loops: tuple[Loop, ...]
    flow: Flow
    never_returns: frozenset[int]
    effects: Effects
    operation: Operation | None = None

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    @property
    def segment(self) -> str:
        return self.qualname.replace("<locals>.", "")

    @property
    def first_call_out(self) -> Call | None:
        """The first of its calls that surely is an automatic step."""
        if self.operation is not None:
            return None
        return next((call for call in self.calls if call.is_step and call.operation and call.operation.sure), None)


@dataclass(frozen=True, slots=True)
class Class:
    """A class of user code: its bases as ids or dotted foreign names, its own methods, its attributes' annotations."""

    id: str
    module: str
    qualname: str
    place: Place
    bases: tuple[str, ...]
    methods: Mapping[str, str]
    attributes: Mapping[str, str]
    is_protocol: bool
    is_dataclass: bool


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    file: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Body:
    """A function that is run as a unit: registered with ``@app.workflow``, under the workflow's ``name``.

    ``body`` is ``start``, or names a method of an entity workflow: ``PLACED.on_pay``.
    """

    function: str
    place: Place
    name: str
    body: str = "start"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that is not Python of this version."""

    place: Place
    reason: str


@dataclass(frozen=True)
class Model:
    """The program, as its source shows it."""

    modules: Mapping[str, Module]
    classes: Mapping[str, Class]
    functions: Mapping[str, Function]
    bodies: tuple[Body, ...]
    unreadable: tuple[Unreadable, ...]
    entities: tuple[EntityStates, ...] = ()

    @cached_property
    def _holding(self) -> frozenset[str]:
        callers: dict[str, list[str]] = {}
        for function in self.functions.values():
            for call in function.calls:
                for candidate in call.candidates:
                    callers.setdefault(candidate.function, []).append(function.id)
        return _closure((f.id for f in self.functions.values() if f.steps or f.first_call_out is not None), callers)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """The functions that are run by themselves: bodies, and the undos of sagas."""
        undos = (step.undo for function in self.functions.values() for step in function.steps)
        return (*(body.function for body in self.bodies), *(name for undo in undos if undo for name in undo.functions))

    @cached_property
    def _reached(self) -> tuple[frozenset[str], frozenset[str]]:
        surely: dict[str, list[str]] = {}
        perhaps: dict[str, list[str]] = {}
        for function in self.functions.values():
            for call in function.calls:
                targets = [candidate.function for candidate in call.candidates]
                perhaps.setdefault(function.id, []).extend(targets)
                if call.certainty in ("sure", "likely", "foreign"):
                    surely.setdefault(function.id, []).extend(targets)
        return _closure(self.roots, surely), _closure(self.roots, perhaps)

    def holds_steps(self, function: str) -> bool:
        """Whether the function, or one that it may call, makes a step: a ``once``, or surely a call that leaves."""
        return function in self._holding

    def reached(self, function: str, *, surely: bool = False) -> bool:
        """Whether a body may lead to the function; ``surely`` leaves out what is known by a method's name alone."""
        return function in self._reached[0 if surely else 1]

    def reached_outside_steps(self, function: str) -> bool:
        """Whether a body leads to the function by calls that stand in no step's lambda."""
        return function in self._outside_steps

    @cached_property
    def _outside_steps(self) -> frozenset[str]:
        edges: dict[str, list[str]] = {}
        for function in self.functions.values():
            targets = [c.function for call in function.calls if call.within is None for c in call.candidates]
            edges[function.id] = targets
        return _closure(self.roots, edges)

    def step_below(self, function: str) -> tuple[Function, Step | Call] | None:
        """A step that the function makes, or the nearest one that it leads to; a call is one that is automatic."""
        seen, waiting = {function}, deque([function])
        while waiting:
            found = self.functions.get(waiting.popleft())
            if found is None:
                continue
            if found.steps:
                return found, found.steps[0]
            if found.first_call_out is not None:
                return found, found.first_call_out
            for call in found.calls:
                for candidate in call.candidates:
                    if candidate.function not in seen:
                        seen.add(candidate.function)
                        waiting.append(candidate.function)
        return None

    def lines(self, file: str) -> list[str]:
        """The source lines of a file of the model."""
        return self._lines.get(file, [])

    @cached_property
    def _lines(self) -> dict[str, list[str]]:
        return {module.file: module.text.split("\n") for module in self.modules.values()}


def _closure(start: Iterable[str], edges: Mapping[str, list[str]]) -> frozenset[str]:
    seen = set(start)
    waiting = deque(seen)
    while waiting:
        for neighbour in edges.get(waiting.popleft(), ()):
            if neighbour not in seen:
                seen.add(neighbour)
                waiting.append(neighbour)
    return frozenset(seen)
