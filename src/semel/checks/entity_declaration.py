"""``entity-declaration`` (W2): what an entity workflow declares can happen, and each thing that happens has one body.

The class refuses the same when it is made. Here nothing is imported, and of what the source does not show nothing is
said.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from semel.compiler.model import Model, Place
from semel.compiler.model.entities import EntityWorkflow, Hook, Named, Terminal

from .problem import Problem

RULE = "entity-declaration"


def check(model: Model) -> Iterator[Problem]:
    for flow in model.entities:
        yield from _initial(flow)
        yield from _unknown(flow)
        yield from _ends(flow)
        yield from _twice(flow)
        yield from _events(flow)
        yield from _unreachable(flow)
        yield from _mixed(model, flow)


def _problem(message: str, place: Place, fix: str, *others: Place) -> Problem:
    return Problem(RULE, "W2", message, place, others, fix)


def _initial(flow: EntityWorkflow) -> Iterator[Problem]:
    if flow.has_no_initial:
        first = f"{flow.enum}.{next(iter(flow.states))}" if flow.states else "…"
        yield _problem(
            f"{flow.name} has no initial state, so no run of it could start.",
            flow.place,
            f"tracks={flow.tracks}, initial={first}",
        )
    end = _end(flow, flow.initial) if flow.initial is not None else None
    if end is not None and flow.initial is not None:
        yield _problem(
            f"{flow.initial.text} is the initial state of {flow.name} and terminal by {end.name} (line "
            f"{end.place.line}): its runs would end where they start.",
            flow.initial.place,
            f"initial=…    # a state that is not terminal, or take {end.name} away",
            end.place,
        )


def _unknown(flow: EntityWorkflow) -> Iterator[Problem]:
    named = [flow.initial, *(terminal.state for terminal in flow.terminals)]
    for hook in flow.hooks:
        named += hook.states or ()
    for milestone in flow.milestones:
        named += (*(milestone.reached or ()), *(milestone.since or ()))
    states = list(flow.states or ())
    for state in named:
        if state is not None and state.is_member is False and states:
            near = (difflib.get_close_matches(state.name, states, 1, 0.5) or states)[0]
            yield _problem(
                f"{state.text} is no state of {flow.name}: {flow.tracks} holds {flow.enum} ({', '.join(states)}), so "
                f"it would never be in that.",
                state.place,
                f"{flow.enum}.{near}",
            )


def _end(flow: EntityWorkflow, state: Named) -> Terminal | None:
    return next((end for end in flow.terminals if end.state is not None and end.state.name == state.name), None)


def _ends(flow: EntityWorkflow) -> Iterator[Problem]:
    """Terminal states: nothing happens in them, and each is declared once."""
    for hook in flow.hooks:
        for state in hook.states or ():
            end = _end(flow, state)
            if end is not None:
                yield _problem(
                    f"{state.text} is terminal by {end.name} (line {end.place.line}): the run ends there, so "
                    f"{hook.method} would never run.",
                    state.place,
                    f"@{_decorator(hook)}(…)    # without {state.text}, or take {end.name} away",
                    end.place,
                )
    for terminal in flow.terminals:
        first = _end(flow, terminal.state) if terminal.state is not None else None
        if first is not None and first is not terminal and terminal.state is not None:
            yield _problem(
                f"{terminal.state.text} is terminal by {first.name} already (line {first.place.line}), and a run ends "
                f"once: of {terminal.name} nothing would ever be seen.",
                terminal.place,
                f"{terminal.name} = {terminal.kind}(…)    # another state, or take one of the two away",
                first.place,
            )


def _twice(flow: EntityWorkflow) -> Iterator[Problem]:
    """Two bodies where only one can run."""
    found: dict[tuple[str | None, ...], Hook] = {}
    for hook in flow.hooks:
        for key, when in _keys(hook):
            first = found.setdefault(key, hook)
            if first.function != hook.function:
                yield _problem(
                    f"{first.method} (line {first.place.line}) runs {when} already, and only one of the two can: "
                    f"{hook.method} would never run.",
                    hook.place,
                    f"def {first.method}(self, …):    # with what {hook.method} does, or another state for one of them",
                    first.place,
                )
                break


def _keys(hook: Hook) -> Iterator[tuple[tuple[str | None, ...], str]]:
    """What the hook alone can be, and that in words."""
    match hook.kind:
        case "event" if hook.event is not None:
            if hook.states == ():
                yield (hook.kind, hook.event, None), f"when {hook.event} comes in any state"
            for state in hook.states or ():
                yield (hook.kind, hook.event, state.name), f"when {hook.event} comes in {state.text}"
        case "enter" | "expire":
            for state in hook.states or ():
                what = "is entered" if hook.kind == "enter" else "expires"
                yield (hook.kind, state.name), f"when {state.text} {what}"
        case "finished" | "unfinished" if hook.milestone is not None:
            yield (hook.kind, hook.milestone), f"when {hook.milestone} is {hook.kind}"


def _decorator(hook: Hook) -> str:
    return "on" if hook.kind == "event" else hook.kind


def _events(flow: EntityWorkflow) -> Iterator[Problem]:
    taken = {hook.event for hook in flow.hooks if hook.kind == "event"}
    if None in taken or not flow.complete:
        return
    for name, event in flow.events.items():
        if name not in taken:
            payload = f", payload: {event.payload}" if event.payload is not None else ""
            yield _problem(
                f"No state of {flow.name} takes {name}, so raising it would always fail.",
                event.place,
                f"@on({name})\ndef {name}_came(self{payload}):\n    …",
            )


def _unreachable(flow: EntityWorkflow) -> Iterator[Problem]:
    if flow.states is None or not flow.complete or flow.initial is None or not flow.initial.is_member:
        return
    reached = {flow.initial.name}
    for hook in flow.hooks:
        if hook.leads is None:
            return
        reached |= hook.leads
    declared = {terminal.state.name for terminal in flow.terminals if terminal.state is not None}
    declared |= {state.name for hook in flow.hooks for state in hook.states or ()}
    for state, place in flow.states.items():  # a member that nothing names may be for others
        if state in declared - reached:
            yield _problem(
                f"{flow.enum}.{state} (line {place.line}) cannot be reached, as no body of {flow.name} returns it: "
                f"what is declared for it would never happen.",
                flow.place,
                f"return {flow.enum}.{state}    # in the body that leads there, or take what is declared for it away",
                place,
            )


def _mixed(model: Model, flow: EntityWorkflow) -> Iterator[Problem]:
    hooks = [hook for hook in flow.hooks if not hook.wrapped and hook.function in model.functions]
    for hook in hooks[1:]:
        if model.functions[hook.function].is_async != model.functions[hooks[0].function].is_async:
            first, kinds = hooks[0], ["def", "async def"]
            kind = kinds[model.functions[first.function].is_async]
            kinds.remove(kind)
            yield _problem(
                f"{first.method} (line {first.place.line}) is {_an(kind)} and {hook.method} {_an(kinds[0])}: one "
                f"session cannot serve both, so all bodies of {flow.name} are of one kind.",
                hook.place,
                f"{kind} {hook.method}(self, …):",
                first.place,
            )
            return


def _an(kind: str) -> str:
    return f"an {kind}" if kind.startswith("async") else f"a {kind}"
