"""The path patterns of a body's steps: what the runtime will call them, with ``*`` for what only a run knows.

``@*`` is the visit and ``[*]`` the pass of a loop, or of foreign code that calls a function back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from semel.compiler.model import Call, Form, Function, Model, Operation, Place, Step

StepKind = Literal["once", "automatic", "transaction", "child", "saga step", "wait"]
_KINDS: dict[Form, StepKind] = {
    "once": "once",
    "transaction": "transaction",
    "child": "child",
    "saga step": "saga step",
    "sleep": "wait",
    "event": "wait",
    "first": "wait",
}

_MOST = 2_000  # paths of one body that are listed
_MOST_VISITS = 50_000
_SPECIAL = str.maketrans({char: f"%{ord(char):02X}" for char in "%/#[]~!"})


@dataclass(frozen=True, slots=True)
class Leg:
    """A part of a scope: the call or the ``once`` that adds it, and the function that a call leads to."""

    segment: str
    text: str
    place: Place
    to: str | None


@dataclass(frozen=True, slots=True)
class StepPattern:
    """A step of a body. ``operation`` is what an automatic step calls; ``certain`` is false where it may be another.

    ``way`` leads from the body to the function that makes the step, or to the ``once`` round it; ``written`` is the
    call in short, of a step that is not automatic.
    """

    path: str
    kind: StepKind
    label: str | None
    operation: Operation | None
    function: str
    place: Place
    certain: bool
    way: tuple[Leg, ...]
    written: str


def step_patterns(
    model: Model, body: Function, root: str, leads: Callable[[str], bool]
) -> tuple[tuple[StepPattern, ...], bool]:
    """All steps that the body leads to, by path, and whether these are all; ``leads`` says which functions hold any."""
    walk = _Walk(model, leads)
    walk.function(body, root, (), certain=True)
    return tuple(walk.found.values()), walk.complete


class _Walk:
    def __init__(self, model: Model, leads: Callable[[str], bool]) -> None:
        self.model = model
        self.leads = leads
        self.found: dict[str, StepPattern] = {}
        self.complete = True
        self.visits = 0
        self.above: list[str] = []

    def function(self, function: Function, scope: str, way: tuple[Leg, ...], *, certain: bool) -> None:
        self.visits += 1
        if function.id in self.above or len(self.found) >= _MOST or self.visits > _MOST_VISITS:
            self.complete = False
            return
        self.above.append(function.id)
        # What a step's lambda does stands below its label; a step comes before those in its lambda.
        scopes: dict[int | None, tuple[str, tuple[Leg, ...]]] = {None: (scope, way)}
        for step in function.steps:
            outer, legs = scopes[_round(step)]
            label = f"{_own_passes(function, step)}/{_escaped(step.segment or '?')}"
            leg = Leg(label, step.shown, step.place, None)
            scopes[step.index] = (outer + label, (*legs, leg))
        entries: list[Step | Call] = [*function.steps, *function.calls]
        for entry in sorted(entries, key=lambda entry: entry.site):
            if isinstance(entry, Call):
                within, legs = scopes[entry.within]
                self.call(function, entry, within, legs, certain=certain)
            elif entry.form != "saga":  # which is a part of its steps' paths
                within, legs = scopes[_round(entry)]
                self.step(function, entry, within, legs, certain=certain)
        self.above.pop()

    def step(self, function: Function, step: Step, scope: str, way: tuple[Leg, ...], *, certain: bool) -> None:
        path = f"{scope}{_own_passes(function, step)}#{_escaped(step.segment or '?')}"
        known = certain and step.segment is not None and (step.form != "saga step" or step.saga is not None)
        kind = _KINDS[step.form]
        found = StepPattern(path, kind, step.label, None, function.id, step.place, known, way, step.shown)
        self.found.setdefault(path, found)

    def call(self, function: Function, call: Call, scope: str, way: tuple[Leg, ...], *, certain: bool) -> None:
        if call.is_step and call.operation is not None:
            path = f"{scope}{_passes(call)}#auto:{_escaped(call.operation.name)}"
            known = certain and call.operation.sure
            step = StepPattern(path, "automatic", None, call.operation, function.id, call.place, known, way, "")
            self.found.setdefault(path, step)
        if call.how in ("property", "operator", "thread"):
            return
        for candidate in call.candidates:
            target = self.model.functions.get(candidate.function)
            if target is not None and self.leads(target.id):
                added, known = _added(call, candidate.segment)
                sure = certain and known and call.certainty in ("sure", "foreign") and len(call.candidates) == 1
                leg = Leg(added, call.callee, call.place, target.id)
                self.function(target, scope + added, (*way, leg), certain=sure)


def _added(call: Call, segment: str) -> tuple[str, bool]:
    """What a call adds to the path, and whether it is known: foreign code that calls back has a segment too."""
    passes = _passes(call)
    site = f"{call.foreign}/" if call.how == "callback" and call.foreign else ""
    if site and segment.startswith(site):
        root, _, name = (call.foreign or "").rpartition(".")
        between = _escaped(name) if root == "builtins" else "*"
        return f"{passes}/{between}[*]/{_escaped(segment[len(site) :])}", root == "builtins"
    if segment.startswith("?/"):
        return f"{passes}/*/{_escaped(segment[2:])}", False
    return (f"{passes}/{'/'.join(map(_escaped, segment.split('/')))}" if segment else passes), True


def _round(step: Step) -> int | None:
    """The step of the same function that stands before it in the path."""
    return step.saga if step.saga is not None else step.within


def _own_passes(function: Function, step: Step) -> str:
    """The loops round it, without those that are round its saga."""
    outside = function.steps[step.saga].loops if step.saga is not None else ()
    return "[*]" * (len(step.loops) - len(outside))


def _passes(call: Call) -> str:
    return "[*]" * len(call.loops)


def _escaped(segment: str) -> str:
    return segment.translate(_SPECIAL)
