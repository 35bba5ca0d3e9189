"""What a run knows of the row that it follows: its state, its clocks, the executions that are open.

Plain data, kept as JSON in the run's row. Each body's commit writes the one that comes after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from semel.engine.parks import Parked, Wait


class Open(msgspec.Struct, frozen=True, omit_defaults=True):
    """An execution that has begun and is not over: it is parked, or has faulted.

    ``payload`` is that of its event, encoded; ``began`` is when it began. ``fault`` is why it has faulted, "" if it has
    not; ``failed`` counts how often it did in a row; ``again`` says that an operator wants it delivered again.
    ``undos`` are those of its sagas that are open.
    """

    payload: bytes = b""
    began: float = 0.0
    fault: str = ""
    failed: int = 0
    again: bool = False
    undos: int = 0


class Flow(msgspec.Struct, frozen=True, omit_defaults=True):
    """``state`` is the name of the tracked enum's member, ``since`` when it was entered.

    ``entering`` says that the state's ``enter`` is still to run. ``clocks`` are the times at which bodies run by
    themselves, by body; ``left`` how often a milestone's ``unfinished`` may run again. ``hooks`` are bodies to be run
    because a milestone was reached. ``open`` is by execution (``PLACED.on_pay@1``). ``abandoned`` are executions whose
    sagas are still to be undone.
    """

    state: str
    since: float
    entering: bool = False
    clocks: dict[str, float] = {}
    left: dict[str, int] = {}
    hooks: tuple[str, ...] = ()
    open: dict[str, Open] = {}
    abandoned: tuple[str, ...] = ()

    @property
    def fault(self) -> str | None:
        """Why an execution is not delivered again by itself."""
        return next((each.fault for each in self.open.values() if each.fault and not each.again), None)

    def with_faulted_again(self) -> Flow:
        """All that has faulted is to be delivered again."""
        again = {
            name: msgspec.structs.replace(each, again=True) if each.fault else each for name, each in self.open.items()
        }
        return msgspec.structs.replace(self, open=again)


_read = msgspec.json.Decoder(Flow).decode
_write = msgspec.json.Encoder().encode


def flow_of(text: str) -> Flow:
    """What a run's row holds."""
    return _read(text)


def text_of(flow: Flow) -> str:
    """What a run's row is to hold."""
    return _write(flow).decode()


def without(mapping: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The mapping without these keys."""
    return {name: value for name, value in mapping.items() if name not in names}


def body_and_visit(execution: str) -> tuple[str, int]:
    """``PLACED.on_pay@2`` is the second visit of ``PLACED.on_pay``."""
    body, _, visit = execution.rpartition("@")
    return body, int(visit)


def is_ready(parked: Parked, now: float, events: frozenset[str], ended: frozenset[str]) -> bool:
    """Whether something that a parked execution waits for has come. ``ended`` are the uids of children."""
    return any(_is_over(wait, now, events, ended) for wait in parked.waits.values()) or not parked.waits


def _is_over(wait: Wait, now: float, events: frozenset[str], ended: frozenset[str]) -> bool:
    if wait.at is not None and wait.at <= now:
        return True
    if wait.kind == "event":
        return wait.name in events
    return wait.kind == "child" and sum(uid in ended for uid in wait.children) >= wait.need


def next_due(flow: Flow, parked: Mapping[str, Parked]) -> float | None:
    """When the first clock of the run is due."""
    waits = [wait.at for each in parked.values() for wait in each.waits.values() if wait.at is not None]
    return min([*flow.clocks.values(), *waits], default=None)
