"""``workflow-effect-without-a-step``: what a body does to files, processes and connections stands in a step."""

from __future__ import annotations

from collections.abc import Iterator

from semel.checks.problem import Problem
from semel.compiler.model import Function, Model
from semel.compiler.model.effects import Effect
from semel.compiler.model.routes import Routes

from .telling import new_label, route_places, who, wrapped_call

RULE = "workflow-effect-without-a-step"

_TOLD = {
    "file": (
        "changes files. A body runs again from its top after a crash, a wait or a retry: the change would be made "
        "anew each time, and an attempt on another machine would not find what an earlier one had written."
    ),
    "process": (
        "reaches another process. A body runs again from its top after a crash, a wait or a retry: the command would "
        "be run anew each time, and what it answered before would be lost."
    ),
    "connection": (
        "talks to another machine over a connection of its own, which semel cannot record. A body runs again from its "
        "top after a crash, a wait or a retry: all that is said over it would be said anew each time."
    ),
}
_LABELS = {"file": "write-file", "process": "run-command", "connection": "exchange"}
#: What these give can be recorded, or is nothing.
_PLAIN_RESULT = ("os.", "shutil.", "pathlib.Path().", "subprocess.call", "subprocess.check_", "subprocess.get")
_NOT_PLAIN = frozenset({"os.popen", "os.fdopen", "pathlib.Path().open", "os.fork", "os.forkpty"})


def check(model: Model, routes: Routes) -> Iterator[Problem]:
    for function in model.functions.values():
        if function.id not in routes:
            continue
        told = [e for e in function.effects.effects if e.kind != "sleep" and e.within is None]
        for position, effect in enumerate(told):
            number = 1 + sum(other.kind == effect.kind for other in told[:position])
            yield _problem(model, routes, function, effect, number)


def _problem(model: Model, routes: Routes, function: Function, effect: Effect, number: int) -> Problem:
    message = (
        f"`{_short(effect.text)}` in {who(model, routes, function)} stands in no step and {_TOLD[effect.kind]} Put it "
        f"into a step: it is then done once, and its outcome found again."
    )
    fix = wrapped_call(model, routes, function) or _step(function, effect, number)
    return Problem(RULE, "E", message, effect.place, route_places(routes, function), fix)


def _short(text: str) -> str:
    first, newline, _ = text.partition("\n")
    return f"{first}…" if newline else text


def _step(function: Function, effect: Effect, number: int) -> str:
    label = new_label(function, _LABELS[effect.kind], number)
    wait, kind = ("await ", "async def") if effect.awaited else ("", "def")
    if effect.name == "subprocess.run":
        return f'once("{label}", lambda: {effect.text}.returncode)'
    if effect.name.startswith(_PLAIN_RESULT) and effect.name not in _NOT_PLAIN:
        return f'{wait}once("{label}", lambda: {effect.text})'
    name = label.replace("-", "_")
    inside = f"with {effect.text} as file:\n        …" if effect.kind == "file" else f"… {wait}{effect.text} …"
    return f'{kind} {name}(…):\n    {inside}\n\n{wait}once("{label}", lambda: {name}(…))'
