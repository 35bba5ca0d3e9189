"""The bodies of an entity workflow: its marked methods, each put into the states that it is for."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from typing import Any

from semel.errors import RegistrationError

from .collecting import Collected, Method
from .definition import Clock, HookBody, StateDefinition, Terminal
from .delays import delay
from .event import Event
from .function import check_redeliver
from .places import refused
from .raiser import Raiser
from .states import Mark, Milestone
from .tracking import Tracked


class Bodies:
    """What the states hold, once ``read``; ``hooks`` are those of milestones, by the milestone and the hook's kind."""

    def __init__(self, cls: type, of: Tracked, given: Collected, terminals: dict[Enum, Terminal]) -> None:
        self._cls = cls
        self._of = of
        self._given = given
        self._terminals = terminals
        self._methods = {method.name: method for method in given.methods}
        self._arms: dict[Enum, dict[str, HookBody]] = {state: {} for state in of.enum}
        self._enters: dict[Enum, HookBody] = {}
        self._expires: dict[Enum, Clock] = {}
        self._reminders: dict[Enum, dict[str, Clock]] = {state: {} for state in of.enum}
        self.hooks: dict[tuple[Milestone, str], HookBody] = {}
        self.is_async = bool(given.methods) and given.methods[0].is_async

    def read(self) -> None:
        """Reads every mark.

        Raises:
            RegistrationError: a body can never run, or two would run in one place.
        """
        for method in self._given.methods:
            self._check(method)
            for mark in method.marks:
                self._read(method, mark)
        # Arms for all states come last: a particular arm goes before.
        particular = {state: frozenset(arms) for state, arms in self._arms.items()}
        for method in self._given.methods:
            for mark in method.marks:
                if mark.kind == "event" and not mark.states:
                    name = self._event(method, mark).name
                    rest = [s for s in self._of.enum if s not in self._terminals and name not in particular[s]]
                    self._read_arm(method, mark, rest)

    def state(self, member: Enum) -> StateDefinition:
        """What a state holds."""
        return StateDefinition(
            member,
            self._arms[member],
            self._enters.get(member),
            self._expires.get(member),
            self._reminders[member],
            self._terminals.get(member),
        )

    def all(self) -> Iterator[HookBody]:
        """Every body, those of the first state first."""
        for member in self._of.enum:
            state = self.state(member)
            yield from [state.enter] if state.enter else []
            yield from state.arms.values()
            yield from [clock.body for clock in (state.expire, *state.reminders.values()) if clock]
        yield from self.hooks.values()

    def _check(self, method: Method) -> None:
        """Checks a method by itself, and that it is sync or async as the first one is."""
        if inspect.isgeneratorfunction(method.function) or inspect.isasyncgenfunction(method.function):
            raise _wrong(method, "it is a generator, whose body would never run: return the next state")
        if any(name != "__class__" for name in method.function.__code__.co_freevars):
            raise _wrong(
                method,
                "it uses variables of the function round the class; after a crash they would be gone. Move the class "
                "to the module's top level",
            )
        first = self._given.methods[0]
        if method.is_async != first.is_async:
            sync, other = (first, method) if method.is_async else (method, first)
            raise _wrong(
                method,
                f"{sync.name} is a def ({sync.place}) and {other.name} an async def ({other.place}), and one session "
                f"cannot serve both: write async def {sync.name}(…), or def {other.name}(…)",
            )

    def _read(self, method: Method, mark: Mark) -> None:
        if mark.redeliver is not None:
            check_redeliver(mark.redeliver, f"{method.function.__qualname__} ({method.place})")
        states = self._states(method, mark)
        if mark.kind == "event":
            self._check_payload(method, self._event(method, mark))
            if states:
                self._read_arm(method, mark, states)
            return
        if not method.takes(0):
            raise _wrong(method, f"it takes more than self, and nothing is given to it: write def {method.name}(self)")
        if mark.kind in ("finished", "unfinished"):
            self._read_hook(method, mark)
            return
        if not states:
            raise _wrong(method, f"it names no state, so it would never run: write @{mark.kind}({self._any}, …)")
        for state in states:
            self._refuse_terminal(method, state)
            if mark.kind == "enter":
                body = _body(method, mark, f"{state.name}.enter", state)
                self._put(method, self._enters, state, body, f"when {self._of.shown(state)} is entered")
            else:
                self._read_clock(method, mark, state)

    def _states(self, method: Method, mark: Mark) -> list[Enum]:
        what, where = _decorator(mark), method.function.__qualname__
        return [self._of.state(state, what, method.place, where) for state in mark.states]

    # ------------------------------------------------------------------------------------------------------------- arms

    def _event(self, method: Method, mark: Mark) -> Event[Any]:
        event = mark.event.event if isinstance(mark.event, Raiser) else mark.event
        if isinstance(event, Event) and self._given.events.get(event.name) is event:
            return event
        raise _wrong(
            method,
            f"{event!r} is no event of {self._cls.__qualname__}, so nobody could raise it: write "
            f"pay = Event[Payment]() in the class, and @on(pay, {self._any})",
        )

    def _check_payload(self, method: Method, event: Event[Any]) -> None:
        if method.takes(1 if event.carries else 0):
            return
        if not event.carries:
            raise _wrong(method, f"{event.name} has no payload to give to it: write def {method.name}(self)")
        of = f": {event.payload.__name__}" if event.payload is not None else ""
        raise _wrong(
            method,
            f"{event.name} carries a payload, which it does not take: write def {method.name}(self, payload{of})",
        )

    def _read_arm(self, method: Method, mark: Mark, states: list[Enum]) -> None:
        event = self._event(method, mark)
        for state in states:
            self._refuse_terminal(method, state)
            body = _body(method, mark, f"{state.name}.on_{event.name}", state, takes_payload=event.carries)
            self._put(
                method, self._arms[state], event.name, body, f"when {event.name} comes in {self._of.shown(state)}"
            )

    # ----------------------------------------------------------------------------------------------- clocks, milestones

    def _read_clock(self, method: Method, mark: Mark, state: Enum) -> None:
        decorator, where = _decorator(mark), method.function.__qualname__
        after = delay(mark.after, "after", decorator, self._of.entity, method.place, where)
        then_every = delay(mark.then_every, "then_every", decorator, self._of.entity, method.place, where)
        if after is None:
            raise _wrong(
                method,
                f"{decorator} says not after what time, so it would never run: write "
                f"@{mark.kind}({self._of.shown(state)}, after=timedelta(days=3))",
            )
        shown = self._of.shown(state)
        if mark.kind == "expire":
            clock = Clock(_body(method, mark, f"{state.name}.expire", state), after, then_every)
            self._put(method, self._expires, state, clock, f"when {shown} expires")
        else:
            clock = Clock(_body(method, mark, f"{state.name}.remind_{method.name}", state), after, then_every)
            self._put(method, self._reminders[state], method.name, clock, f"as a reminder of {shown}")

    def _read_hook(self, method: Method, mark: Mark) -> None:
        names = [name for name, each in self._given.milestones.items() if each is mark.milestone]
        if mark.milestone is None or not names:
            raise _wrong(
                method,
                f"its milestone is no attribute of {self._cls.__qualname__}, so it would never run: write "
                f"shipped = milestone({self._any}, …) in the class, and @shipped.{mark.kind}",
            )
        body = _body(method, mark, f"{names[0]}.{mark.kind}", None)
        self._put(method, self.hooks, (mark.milestone, mark.kind), body, f"when {names[0]} is {mark.kind}")

    # --------------------------------------------------------------------------------------------------------- refusals

    def _put(self, method: Method, held: dict[Any, Any], key: Any, new: HookBody | Clock, when: str) -> None:
        other = held.setdefault(key, new)
        if other is new:
            return
        name = (other.body if isinstance(other, Clock) else other).method
        raise _wrong(
            method,
            f"{name} ({self._methods[name].place}) runs {when} already, and only one of them can: take one away, or "
            f"make one body of both",
        )

    def _refuse_terminal(self, method: Method, state: Enum) -> None:
        terminal = self._terminals.get(state)
        if terminal is not None:
            shown, name = self._of.shown(state), terminal.attribute
            raise _wrong(
                method,
                f"{shown} is terminal by {name} ({self._given.ends[name].place}): the run ends there, so it would "
                f"never run. Take {shown} away here, or {name} there",
            )

    @property
    def _any(self) -> str:
        """A state to show in a corrected line."""
        rest = [state for state in self._of.enum if state not in self._terminals]
        return self._of.shown([*rest, *self._of.enum][0])


def _body(method: Method, mark: Mark, name: str, state: Enum | None, *, takes_payload: bool = False) -> HookBody:
    return HookBody(name, mark.kind, method.name, method.function, state, takes_payload, mark.redeliver)


def _decorator(mark: Mark) -> str:
    return "@on(…)" if mark.kind == "event" else f"@{mark.kind}(…)"


def _wrong(method: Method, problem: str) -> RegistrationError:
    return refused(method.place, method.function.__qualname__, problem)
