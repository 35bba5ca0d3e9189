"""From the class of an entity workflow to its definition; what contradicts itself is refused with place and remedy."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from types import CodeType, FunctionType
from typing import Any, NoReturn

from semel.errors import ConfigurationError, RegistrationError

from .backoff import Backoff
from .definition import (
    Calendar,
    Clock,
    EntityDefinition,
    HookBody,
    MilestoneDefinition,
    OnDelete,
    StateDefinition,
    Terminal,
)
from .event import Event
from .states import MARKS, End, Mark, Milestone


class Declaring:
    """One class, as it is being made."""

    def __init__(self, cls: type, place: str, tracks: Any, name: str, base: type) -> None:
        self._cls = cls
        self._place = place
        self._name = name
        if not name or any(char in name for char in "/#@[]~!%"):
            self._refuse(f"its name {name!r} may not be empty or hold / # @ [ ] ~ ! %")
        self._entity, self._attribute, self._enum = self._tracked(tracks)
        self._declared = _declared(cls, base)
        self._states = {member.name: StateDefinition(member) for member in self._enum}
        self._bodies: dict[str, HookBody] = {}
        self._events: dict[str, Event[Any]] = {}

    def definition(
        self,
        *,
        initial: Enum | None,
        autostart: bool,
        strict: bool,
        redeliver: int | Backoff,
        on_delete: OnDelete,
        calendar: Calendar | None,
    ) -> EntityDefinition:
        """The whole of it."""
        first = self._initial(initial)
        self._check_redeliver(redeliver, "the class")
        if on_delete not in ("cancel", "refuse", "keep"):
            self._refuse(f'on_delete={on_delete!r} is not one of "cancel", "refuse", "keep"')
        self._events = {name: value for name, value in self._declared.items() if isinstance(value, Event)}
        self._terminals()
        if self._states[first.name].terminal is not None:
            self._refuse(
                f"the initial state {first.name} is a terminal one, so nothing would ever happen; begin elsewhere"
            )
        for method, value in self._declared.items():
            for mark in getattr(value, MARKS, ()):
                self._method(method, value, mark)
        self._arms_for_all()
        milestones = {
            name: self._milestone(name, value) for name, value in self._declared.items() if isinstance(value, Milestone)
        }
        self._no_event_for_nothing()
        self._all_reachable(first, milestones)
        return EntityDefinition(
            name=self._name,
            cls=self._cls,
            place=self._place,
            entity=self._entity,
            attribute=self._attribute,
            enum=self._enum,
            initial=first,
            autostart=autostart,
            is_async=self._is_async(),
            strict=strict,
            redeliver=redeliver,
            on_delete=on_delete,
            calendar=calendar,
            events={event.name: event.payload for event in self._events.values()},
            states=self._states,
            milestones=milestones,
            bodies=self._bodies,
        )

    # ------------------------------------------------------------------------------------------------- the class itself

    def _tracked(self, tracks: Any) -> tuple[type, str, type[Enum]]:
        try:
            import sqlalchemy
        except ImportError:
            raise ConfigurationError(
                f"{self._name} follows a row, which needs SQLAlchemy: pip install 'semel[sqlalchemy]'"
            ) from None
        entity: Any = getattr(tracks, "class_", None)
        key: Any = getattr(tracks, "key", None)
        mapper: Any = sqlalchemy.inspect(entity, raiseerr=False) if isinstance(entity, type) else None
        if mapper is None or key not in mapper.columns:
            self._refuse(
                f"tracks={tracks!r} is no mapped attribute; write tracks=Order.stage, where stage: Mapped[Stage]"
            )
        column_type = mapper.columns[key].type
        enum = getattr(column_type, "enum_class", None) or getattr(
            getattr(column_type, "impl", None), "enum_class", None
        )
        if not (isinstance(enum, type) and issubclass(enum, Enum)):
            self._refuse(
                f"{entity.__qualname__}.{key} is a column of {column_type!r}, and a run follows the members of an "
                f"enum; "
                f"declare it as {key}: Mapped[Stage], where Stage is an enum.Enum"
            )
        return entity, key, enum

    def _initial(self, initial: Enum | None) -> Enum:
        if initial is None:
            members = ", ".join(f"{self._enum.__qualname__}.{name}" for name in list(self._states)[:1])
            self._refuse(f"it does not say in which state a row begins; write initial={members}")
        return self._known(initial, "initial")

    def _known(self, state: Enum, where: str) -> Enum:
        """The state, if it is one of the tracked enum's."""
        if not isinstance(state, self._enum):
            self._refuse(
                f"{where} names the state {state!r}, which is none of {self._enum.__qualname__} "
                f"({', '.join(self._states)})"
            )
        return state

    def _terminals(self) -> None:
        for attribute, value in self._declared.items():
            if isinstance(value, End):
                state = self._known(value.state, attribute)
                before = self._states[state.name].terminal
                if before is not None:
                    self._refuse(
                        f"{attribute} and {before.attribute} both say how {state.name} ends; leave one of them out"
                    )
                terminal = Terminal(attribute, value.kind, state, value.message)
                self._replace(state, terminal=terminal)

    # ---------------------------------------------------------------------------------------------------------- methods

    def _method(self, method: str, function: Any, mark: Mark) -> None:
        if not isinstance(function, FunctionType):
            self._refuse(
                f"{method} is no plain method, but a {type(function).__qualname__}; a body is a def of the class"
            )
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            self._refuse(f"{_where(function)} is a generator; a body returns the next state, or None")
        self._check_redeliver(mark.redeliver, method)
        for state in mark.states:
            self._known(state, _where(function))
            if self._states[state.name].terminal is not None:
                self._refuse(
                    f"{_where(function)} is for {state.name}, which is a terminal state: the run has ended there; take "
                    f"the state out of its decorator"
                )
        if mark.kind == "event":
            self._arm(method, function, mark)
        for state in mark.states if mark.kind != "event" else ():
            self._in_state(method, function, mark, state)

    def _arm(self, method: str, function: Any, mark: Mark) -> None:
        event = mark.event
        assert event is not None
        if self._events.get(event.name) is not event:
            self._refuse(
                f"{_where(function)} is an arm of {event!r}, which is no event of this class; declare it here: "
                f"{event.name or 'pay'} = Event()"
            )
        self._check_parameters(function, 1 if event.has_payload else 0, f"an arm of {event.name}")
        for state in mark.states:
            before = self._states[state.name].arms.get(event.name)
            if before is not None:
                self._refuse(
                    f"{_where(before.function)} and {_where(function)} are both arms of {event.name} in "
                    f"{state.name}, and "
                    f"only one of them could run; take the state out of one"
                )
            body = self._body(f"{state.name}.on_{event.name}", mark, method, function, state, event.has_payload)
            self._states[state.name].arms[event.name] = body

    def _arms_for_all(self) -> None:
        found: dict[str, Any] = {}
        for method, function in self._declared.items():
            for mark in getattr(function, MARKS, ()):
                if mark.kind != "event" or mark.states:
                    continue
                name = mark.event.name
                if name in found:
                    self._refuse(f"{_where(found[name])} and {_where(function)} are both arms of {name} in all states")
                found[name] = function
                for state in list(self._states.values()):
                    if state.terminal is None and name not in state.arms:
                        state.arms[name] = self._body(
                            f"{state.member.name}.on_{name}",
                            mark,
                            method,
                            function,
                            state.member,
                            mark.event.has_payload,
                        )

    def _in_state(self, method: str, function: Any, mark: Mark, state: Enum) -> None:
        defined = self._states[state.name]
        self._check_parameters(function, 0, f"@{mark.kind}")
        if mark.kind == "enter":
            if defined.enter is not None:
                self._refuse(
                    f"{_where(defined.enter.function)} and {_where(function)} both run when {state.name} is entered; "
                    f"make "
                    f"them one"
                )
            self._replace(state, enter=self._body(f"{state.name}.enter", mark, method, function, state))
            return
        assert mark.after is not None
        if mark.kind == "expire":
            if defined.expire is not None:
                self._refuse(
                    f"{_where(defined.expire.body.function)} and {_where(function)} both are what happens when the "
                    f"time of "
                    f"{state.name} is over; take the state out of one"
                )
            self._replace(
                state, expire=Clock(self._body(f"{state.name}.expire", mark, method, function, state), mark.after)
            )
            return
        body = self._body(f"{state.name}.remind_{method}", mark, method, function, state)
        defined.reminders[method] = Clock(body, mark.after, mark.then_every)

    def _milestone(self, name: str, value: Milestone) -> MilestoneDefinition:
        if name in self._states:
            self._refuse(f"the milestone {name} has the name of a state, and so their bodies would have; rename it")
        for state in (*value.states, *value.since):
            self._known(state, f"the milestone {name}")
        hooks: dict[str, HookBody] = {}
        for kind, function in value.hooks.items():
            self._check_parameters(function, 0, f"the hook {name}.{kind}")
            hooks[kind] = self._add(HookBody(f"{name}.{kind}", kind, function.__name__, function, None))  # type: ignore[arg-type]
        if "unfinished" in hooks and value.within is None:
            self._refuse(
                f"the milestone {name} has a hook unfinished and no time; write milestone(…, within=timedelta(days=5))"
            )
        if (value.retries or value.backoff) and "unfinished" not in hooks:
            self._refuse(
                f"the milestone {name} says how often unfinished runs again, and has no hook @{name}.unfinished"
            )
        return MilestoneDefinition(
            name,
            value.states,
            value.since,
            value.within,
            value.retries,
            value.backoff,
            hooks.get("finished"),
            hooks.get("unfinished"),
        )

    def _body(
        self, name: str, mark: Mark, method: str, function: Any, state: Enum, takes_payload: bool = False
    ) -> HookBody:
        return self._add(HookBody(name, mark.kind, method, function, state, takes_payload, mark.redeliver))

    def _add(self, body: HookBody) -> HookBody:
        self._bodies[body.name] = body
        return body

    def _replace(self, state: Enum, **changes: Any) -> None:
        before = self._states[state.name]
        given = {
            "arms": before.arms,
            "enter": before.enter,
            "expire": before.expire,
            "reminders": before.reminders,
            "terminal": before.terminal,
        }
        self._states[state.name] = StateDefinition(before.member, **{**given, **changes})

    # ----------------------------------------------------------------------------------------------------------- checks

    def _check_parameters(self, function: Any, wanted: int, what: str) -> None:
        parameters = list(inspect.signature(function).parameters.values())[1:]
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        needed = [each for each in parameters if each.default is each.empty and each.kind in kinds]
        taken = [each for each in parameters if each.kind in kinds]
        if len(needed) > wanted or (len(taken) < wanted and not any(p.kind is p.VAR_POSITIONAL for p in parameters)):
            name = function.__name__
            right = f"def {name}(self, payload)" if wanted else f"def {name}(self)"
            why = "is given the payload of the event" if wanted else "is given nothing but self"
            self._refuse(f"{_where(function)} is {what}, which {why}; write {right}")

    def _check_redeliver(self, redeliver: Any, where: str) -> None:
        if isinstance(redeliver, Backoff):
            if redeliver.attempts is None:
                self._refuse(
                    f"redeliver={redeliver!r} of {where} has no max_attempts; write {redeliver!r}.max_attempts(4)"
                )
        elif redeliver is not None and (not isinstance(redeliver, int) or redeliver < 0):
            self._refuse(f"redeliver={redeliver!r} of {where} must be 0 or more, or a Backoff")

    def _is_async(self) -> bool:
        kinds: dict[bool, Callable[..., Any]] = {}
        for body in self._bodies.values():
            kinds[inspect.iscoroutinefunction(body.function)] = body.function
        if len(kinds) == 2:
            self._refuse(
                f"{_where(kinds[True])} is async and {_where(kinds[False])} is not; all bodies of a class run on the "
                f"loop, "
                f"or all on threads: write both as def, or both as async def"
            )
        return True in kinds

    def _no_event_for_nothing(self) -> None:
        for attribute, event in self._events.items():
            if not any(event.name in state.arms for state in self._states.values()):
                self._refuse(
                    f"no state takes the event {attribute}, so that raising it could only fail; give it an arm: "
                    f"@on({attribute}, {self._enum.__qualname__}.…)"
                )

    def _all_reachable(self, first: Enum, milestones: Mapping[str, MilestoneDefinition]) -> None:
        """Refuses a declared state that no body leads to, where that can be seen at all."""
        mentioned: set[str] = set()
        for body in self._bodies.values():
            names = set(_names(body.function.__code__))
            returned = body.function.__annotations__.get("return", "")
            if not names & self._states.keys() and returned not in (None, "None", type(None)):
                return  # it may lead anywhere
            mentioned |= names
        for value in list(vars(sys.modules.get(self._cls.__module__, object)).values()):
            if isinstance(value, FunctionType):
                mentioned |= set(_names(value.__code__))
        for value in self._declared.values():
            if isinstance(value, FunctionType):
                mentioned |= set(_names(value.__code__))
        for name, state in self._states.items():
            declared = state.terminal or state.enter or state.expire or state.reminders
            particular = any(body.state is state.member and self._is_particular(body) for body in self._bodies.values())
            if (declared or particular) and name not in mentioned and state.member is not first:
                self._refuse(
                    f"no body returns {self._enum.__qualname__}.{name}, so that no row ever comes to what is "
                    f"declared for "
                    f"it; return it from an arm, or take the declaration out"
                )

    def _is_particular(self, body: HookBody) -> bool:
        return any(body.state in mark.states for mark in getattr(body.function, MARKS, ()))

    def _refuse(self, problem: str) -> NoReturn:
        raise RegistrationError(f"the workflow {self._name} ({self._place}): {problem}")


def _declared(cls: type, base: type) -> dict[str, Any]:
    """What the class and its bases declare, by attribute; the nearest counts."""
    found: dict[str, Any] = {}
    for each in reversed(cls.__mro__):
        if each is not base and each is not object:
            found.update(vars(each))
    return found


def _where(function: Any) -> str:
    code = function.__code__
    return f"{function.__qualname__} ({code.co_filename}:{code.co_firstlineno})"


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function's code looks up, nested functions included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
