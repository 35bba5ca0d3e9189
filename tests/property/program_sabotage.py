"""One-line mistakes in the engine and the store, each of which the generated programs must find."""

from __future__ import annotations

import importlib
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from types import FunctionType


@dataclass(frozen=True)
class Sabotage:
    """In the function at ``place`` the text ``right`` is replaced by ``wrong``. ``first`` is the seed to begin with."""

    place: str
    right: str
    wrong: str
    first: int = 0


SABOTAGES = {
    "a failure that the body has gone on past is not recorded": Sabotage(
        "engine.facts:Facts.record_past",
        "return execution.journal.append(records, [*notes], []) if records or notes else _NOTHING",
        "return _NOTHING",
    ),
    "what an attempt does has the paths of the attempt before": Sabotage(
        "engine.retry:attempted", 'live.path.name = f"{live.path.name}~{live.number}"', "pass"
    ),
    "a wait that is over is not recorded": Sabotage(
        "engine.waits:Waits._keep",
        "yield from recorded(self._execution, records)",
        "yield from ()",
        first=15,
    ),
    "undos run in the order of their steps": Sabotage(
        "engine.sagas:Sagas._left",
        "in reversed([*self._records.items(), *self._added.items()]):",
        "in [*self._records.items(), *self._added.items()]:",
        first=15,
    ),
    "a step that failed is undone, too": Sabotage(
        "engine.sagas:Sagas._has_failed",
        "live = self._live.get(undo.step)",
        "return False",
        first=30,
    ),
    "how a saga was left is not recorded before its undos": Sabotage(
        "engine.saga_block:SagaBlock.leave", "yield from recorded(execution, facts)", "yield from ()"
    ),
    "the round of a saga is never closed": Sabotage(
        "engine.sagas:Sagas.closed_by",
        "return [self.add(saga + CLOSED) for saga in ended if not self.below(saga)]",
        "return []",
        first=30,
    ),
    "what a step's undo needs is not durable before it begins": Sabotage(
        "engine.saga_block:SagaBlock._begin",
        "yield from recorded(self._execution, [self._sagas.intend(intention)])",
        "self._sagas.intend(intention)",
    ),
    "an event that a record has is taken again": Sabotage(
        "engine.waits:Waits._used",
        'self._taken = {cast(Any, decode(r.data))[0] for r in self._records.values() if r.kind == "event"}',
        "self._taken = set()",
        first=190,
    ),
    "an event that was taken stays": Sabotage(
        "engine.waits:Waits.taken.fget", "return tuple(sorted(self._used()))", "return ()"
    ),
    "a child is another one in each delivery": Sabotage(
        "worker.outside:RunOutside.child",
        'uid=derived(own_seed(run.seed), f"child\\x1f{path}", 16).hex(),',
        'uid=__import__("secrets").token_hex(16),',
    ),
    "a worker that has lost its claim goes on": Sabotage(
        "store.sqlite.append:Append._holds",
        "return bool(connection.execute(_HOLDS, (self.epoch,)).fetchall())",
        "return True",
        first=15,
    ),
    "a visit is counted twice": Sabotage(
        "engine.endings:FunctionEndings._outcome",
        "self._body.name: self._body.visit}",
        "self._body.name: self._body.visit + 1}",
    ),
    "a step goes on before it is recorded": Sabotage(
        "engine.execution:Execution.run_here", "kept = live.durable or written(self, record)", "kept = True"
    ),
    "the undos of a step that was not come to are those of every step": Sabotage(
        "engine.sagas:Sagas.unreached",
        " and not execution.replay.covers(undo.step)",
        "",
        first=155,
    ),
}


@contextmanager
def sabotaged(name: str) -> Iterator[None]:
    """The engine with this mistake."""
    made = SABOTAGES[name]
    module, _, qualname = made.place.partition(":")
    home = importlib.import_module(f"semel.{module}")
    function = attrgetter(qualname)(home)
    assert isinstance(function, FunctionType)
    text = textwrap.dedent(inspect.getsource(function))
    assert text.count(made.right) == 1, f"{made.place} is not what it was; the sabotage is to be written anew"
    text = text.replace(made.right, made.wrong)
    text = text[text.index("def ") - len("async ") * text[: text.index("def ")].endswith("async ") :]
    found: dict[str, FunctionType] = {}
    exec(compile("from __future__ import annotations\n" + text, home.__file__ or "", "exec"), vars(home), found)
    right, function.__code__ = function.__code__, found[function.__name__].__code__
    try:
        yield
    finally:
        function.__code__ = right
