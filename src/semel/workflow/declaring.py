"""From the body of a class to an ``EntityDefinition``: what is wrong with it is told here, when the class is made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from .bodies import Bodies
from .collecting import Collected, collected
from .definition import EntityDefinition, StateDefinition, Terminal
from .function import check_name, check_redeliver
from .milestones import milestones
from .places import refused
from .reaching import unreachable
from .states import marks_of
from .tracking import Tracked, item_class, tracked


@dataclass(frozen=True, slots=True)
class Options:
    """The keywords of a class, as they were written."""

    tracks: Any = None
    initial: Any = None
    autostart: Any = False
    name: Any = None
    strict: Any = False
    redeliver: Any = 0
    on_delete: Any = "cancel"
    calendar: Any = None


def define(cls: type, root: type, options: Options, place: str) -> EntityDefinition:
    """What a class declares; ``root`` is ``Workflow``.

    Raises:
        RegistrationError: it cannot work; with the place and the fix.
    """
    of = _tracked(cls, root, options, place)
    initial = _checked(cls, of, options, place)
    given = collected(cls, root)
    terminals = _terminals(cls, of, given)
    if initial in terminals:
        raise refused(
            place,
            cls.__qualname__,
            f"initial={of.shown(initial)} is terminal, so its runs would end where they start: give another initial "
            f"state, or take {terminals[initial].attribute} away",
        )
    bodies = Bodies(cls, of, given, terminals)
    bodies.read()
    reached = milestones(cls, of, given, bodies.hooks)
    _check_events(cls, of, given, bodies)
    _check_reached(cls, of, initial, bodies, place)
    return EntityDefinition(
        name=_name(cls, options, place),
        cls=cls,
        place=place,
        entity=of.entity,
        attribute=of.attribute,
        enum=of.enum,
        initial=initial,
        autostart=options.autostart,
        is_async=bodies.is_async,
        strict=options.strict,
        redeliver=options.redeliver,
        on_delete=options.on_delete,
        calendar=options.calendar,
        events={name: event.payload for name, event in given.events.items()},
        states={state.name: bodies.state(state) for state in of.enum},
        milestones=reached,
        bodies={body.name: body for body in bodies.all()},
    )


def _tracked(cls: type, root: type, options: Options, place: str) -> Tracked:
    try:
        of = tracked(options.tracks)
    except ValueError as error:
        raise refused(place, cls.__qualname__, str(error)) from None
    item = item_class(cls, root)
    if item is not None and not issubclass(of.entity, item):
        raise refused(
            place,
            cls.__qualname__,
            f"it is a Workflow[{item.__name__}] and tracks {of.written}, so self.item would be no {item.__name__}: "
            f"write class {cls.__name__}(Workflow[{of.entity.__name__}], tracks={of.written}, …)",
        )
    return of


def _checked(cls: type, of: Tracked, options: Options, place: str) -> Enum:
    """The initial state, where all keywords can be as they are."""
    problem = None
    if options.initial is None:
        first = of.shown(next(iter(of.enum)))
        problem = f"it has no initial state, so no run could start: write initial={first}"
    elif not isinstance(options.autostart, bool):
        problem = f"autostart={options.autostart!r} is neither yes nor no: write autostart=True"
    elif not isinstance(options.strict, bool):
        problem = f"strict={options.strict!r} is neither yes nor no: write strict=True"
    elif options.on_delete not in ("cancel", "refuse", "keep"):
        problem = (
            f"on_delete={options.on_delete!r} says not what becomes of the run of a row that is deleted: write "
            f'on_delete="cancel", "refuse" or "keep"'
        )
    elif options.calendar is not None and not callable(getattr(options.calendar, "add", None)):
        problem = (
            f"calendar={options.calendar!r} cannot count time: give an object that has "
            f"def add(self, start: datetime, length: timedelta) -> datetime"
        )
    if problem is not None:
        raise refused(place, cls.__qualname__, problem)
    check_redeliver(options.redeliver, f"the workflow {cls.__qualname__} ({place})")
    return of.state(options.initial, "initial=", place, cls.__qualname__)


def _name(cls: type, options: Options, place: str) -> str:
    name = options.name if options.name is not None else cls.__qualname__.replace("<locals>.", "")
    check_name(name, f"{cls.__qualname__} ({place})")
    return str(name)


def _terminals(cls: type, of: Tracked, given: Collected) -> dict[Enum, Terminal]:
    found: dict[Enum, Terminal] = {}
    for name, end in given.ends.items():
        where = f"{cls.__qualname__}.{name}"
        state = of.state(end.state, f"{end.kind}(…)", end.place, where)
        if not isinstance(end.message, str) or not end.message:
            raise refused(
                end.place,
                where,
                f'the run would end and not say how: write {end.kind}({of.shown(state)}, "what that means")',
            )
        if state in found:
            other = found[state].attribute
            raise refused(
                end.place,
                where,
                f"{of.shown(state)} is terminal by {other} already ({given.ends[other].place}), and a run ends once: "
                f"take one of them away",
            )
        found[state] = Terminal(name, end.kind, state, end.message)
    return found


def _check_events(cls: type, of: Tracked, given: Collected, bodies: Bodies) -> None:
    for name, event in given.events.items():
        if not any(name in bodies.state(state).arms for state in of.enum):
            payload = f", payload: {event.payload.__name__}" if event.payload is not None else ""
            raise refused(
                event.place,
                f"{cls.__qualname__}.{name}",
                f"no state takes this event, so raising it would always fail: write @on({name}) above "
                f"def {name}_came(self{payload}), or take it away",
            )


def _check_reached(cls: type, of: Tracked, initial: Enum, bodies: Bodies, place: str) -> None:
    functions = [body.function for body in bodies.all()]
    for state in unreachable(of.enum, of.attribute, initial, functions):
        if _is_declared(state, bodies.state(state)):
            raise refused(
                place,
                cls.__qualname__,
                f"{of.shown(state)} cannot be reached, as no body returns it, so what is declared for it would never "
                f"happen: write return {of.shown(state)} in one of them, or take what is declared for it away",
            )


def _is_declared(state: Enum, known: StateDefinition) -> bool:
    """Whether something is declared for just this state. A member of the enum that nothing names may be for others."""
    if known.terminal or known.enter or known.expire or known.reminders:
        return True
    return any(state in mark.states for arm in known.arms.values() for mark in marks_of(arm.function))
