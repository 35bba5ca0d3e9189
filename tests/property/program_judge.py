"""What must hold of a story by itself, and of a disturbed one beside the undisturbed one of the same program."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from program_source import Source
from program_world import Broken, Effect, World, base_of

from semel import App
from semel.errors import WaitTimedOut
from semel.store.interface import Note, Record
from semel.store.interface import Run as Row

_OF_A_CALL = re.compile(r"[a-zA-Z]\d+")  # a label; those of what calls nothing are these:
_CALLS_NOTHING = "govdzcnw"


@dataclass
class Ending:
    """How one run of a story ended. ``name`` is its id without that of the root."""

    name: str
    row: Row
    value: Any
    records: dict[str, Record]
    notes: list[Note]
    effects: list[Effect]


@dataclass
class Story:
    """A story that is over. ``ledger`` counts the rows that its transactional steps have left."""

    source: Source
    world: World
    endings: list[Ending]
    ledger: Counter[str]
    cancelled: bool


def ended(app: App, row: Row, root: str, world: World) -> Ending:
    """What is left of a run."""
    value: Any = row.fault
    if row.status == "completed":
        value = app.codec.decode(row.result) if row.result is not None else None
    elif row.error is not None:
        value = _told(app.codec.decode_failure(row.error))
    records = {record.path: record for record in app.store.records(row.uid)}
    effects = [effect for effect in world.effects if effect.run == row.id]
    return Ending(row.id.removeprefix(root), row, value, records, app.store.notes(row.uid), effects)


def _told(error: BaseException) -> object:
    if isinstance(error, BaseExceptionGroup):
        return [_told(one) for one in error.exceptions]
    return (type(error).__name__, error.args)


def wrong_with(app: App, story: Story) -> list[str]:
    """The invariants that a story breaks by itself."""
    found = [*_calls(story), *_events(story), *_deliveries(story)]
    for ending in story.endings:
        checks = (_records(app, ending), _keys(ending), _visits(story, ending), _end(app, story, ending))
        found += [f"{ending.row.id}: {what}" for check in checks for what in check]
        found += [f"{ending.row.id}: {what}" for what in _undos(app, story, ending)]
    return found


# --------------------------------------------------------------------------------------------------------------- calls


def _calls(story: Story) -> Iterator[str]:
    """No call is made twice, but where a crash came between its start and its record; and a note says so."""
    world = story.world
    doubled = {i: number for i, number in Counter(effect.identity for effect in world.effects).items() if number > 1}
    noted = {
        (ending.row.id, note.path)
        for ending in story.endings
        for note in ending.notes
        if note.kind == "possibly doubled"
    }
    for identity, number in doubled.items():
        run, path, _ = identity
        if number > 1 + world.allowed[identity]:
            yield f"{identity} was called {number} times, and {world.allowed[identity]} crashes allow for it"
        if "#l" in path or (run, path) in world.unnoted:
            continue  # what a transaction has done was rolled back with it
        if not {(run, path), (run, base_of(path))} & noted:
            yield f"{run}: {path} was called again, and no note says so"
    recorded = {
        f"{ending.row.id} {path}" for ending in story.endings for path in ending.records if re.search(r"#l\d+$", path)
    }
    for row in recorded | {*story.ledger}:
        if story.ledger[row] != 1:
            yield f"{story.ledger[row]} rows of {row}"


def _events(story: Story) -> Iterator[str]:
    """An event is taken once."""
    for (run, name), by in story.world.taken.items():
        payloads = Counter(payload for had in by.values() for payload in had)
        for payload, number in payloads.items():
            if number > 1:
                yield f"{run}: event {name} {payload} was taken by {number}"


def _deliveries(story: Story) -> Iterator[str]:
    """What has ended a body is done anew when it is delivered again."""
    for one, other in itertools.pairwise(story.world.faulted):
        step = re.match(r"Broken\(.([fb]\d+)", one)
        if one == other and step is not None and step.group(1) not in story.source.lasting:
            yield f"delivered again, and nothing was done anew: {one}"


# ---------------------------------------------------------------------------------------------------------- of one run


def _records(app: App, ending: Ending) -> Iterator[str]:
    """A record is of a call that was made, and has what that returned."""
    returned: defaultdict[str, list[str | None]] = defaultdict(list)
    for effect in ending.effects:
        for path in {effect.path, base_of(effect.path)}:
            returned[path].append(None if effect.failed else effect.value)
    for path, record in ending.records.items():
        label = path.rpartition("#")[2]
        if label[0] in _CALLS_NOTHING or _OF_A_CALL.fullmatch(label) is None:
            continue
        if path not in returned:
            yield f"{path} has a record, and was never called"
        elif record.kind == "result" and app.codec.decode(record.data) not in returned[path]:
            yield f"{path} has the record {app.codec.decode(record.data)!r}, and returned {returned[path]}"


def _keys(ending: Ending) -> Iterator[str]:
    """A step has one idempotency key, whatever the attempt, and another step another one."""
    of_key: defaultdict[str, set[str]] = defaultdict(set)
    of_step: defaultdict[str, set[str]] = defaultdict(set)
    for effect in ending.effects:
        if effect.key is not None:
            of_key[effect.key].add(re.sub(r"~\d+", "", effect.path))
            of_step[base_of(effect.path)].add(effect.key)
    yield from (f"one key for {steps}" for steps in of_key.values() if len(steps) > 1)
    yield from (f"{step} had the keys {keys}" for step, keys in of_step.items() if len(keys) > 1)


def _visits(story: Story, ending: Ending) -> Iterator[str]:
    """The visits are numbered without a gap."""
    made = max(1, story.world.visits[ending.row.id])
    numbers = {int(_visit(effect.path).partition("@")[2]) for effect in ending.effects}
    if ending.row.status == "completed" and ending.row.visits != {"start": made}:
        yield f"its visits are {ending.row.visits}, and its body had {made}"
    if numbers - set(range(1, made + 1)):
        yield f"its steps are of the visits {numbers}, and its body had {made}"


def _visit(path: str) -> str:
    """The body and its visit: ``start@1``."""
    return re.split(r"[/\[#]", path, maxsplit=2)[1]


def _end(app: App, story: Story, ending: Ending) -> Iterator[str]:
    """A run ends as its program says, and every step that it has done was come to."""
    row = ending.row
    if row.status == "faulted" and row.ending is None and not _is_planned(app, row):
        yield f"it faulted with {ending.value}\n{row.fault}"
    unreached = [note.path for note in ending.notes if note.kind == "unreached"]
    turned = any(len(answers) > 1 for (run, _), answers in story.world.answers.items() if run == row.id)
    if unreached and not turned:
        yield f"unreached: {unreached}"


def _is_planned(app: App, row: Row) -> bool:
    if row.error is None:
        return False
    error = app.codec.decode_failure(row.error)
    parts = error.exceptions if isinstance(error, BaseExceptionGroup) else (error,)
    return all(isinstance(part, Broken | WaitTimedOut) for part in parts)


# --------------------------------------------------------------------------------------------------------------- sagas


def _undos(app: App, story: Story, ending: Ending) -> Iterator[str]:
    """What a saga that failed has done is undone once, the latest first, and nothing else is."""
    records = ending.records
    planned = [path.removesuffix("!undo") for path in records if path.endswith("!undo")]
    known = {_visit(path) for path in records}  # else another visit has begun, and the records are gone
    for effect in ending.effects:
        if effect.name in story.source.undone and _visit(effect.path) in known and effect.path not in planned:
            yield f"{effect.path} began before it was known how to undo it"
    undone: Counter[str] = Counter()
    begun: list[str] = []
    for effect in {effect.identity: effect for effect in ending.effects if effect.name.startswith("undo")}.values():
        step = base_of(effect.path).removesuffix("!undone")
        undone[step] += not effect.failed
        if step in planned and step not in begun:
            begun.append(step)
    for i, step in enumerate(begun):
        siblings = [other for other in begun[:i] if other.rpartition("#")[0] == step.rpartition("#")[0]]
        yield from (
            f"{other} was undone before {step}" for other in siblings if planned.index(other) < planned.index(step)
        )
    for step in planned:
        loose = step.rpartition("#")[2] in story.source.loose
        yield from (f"{step} {what}" for what in _of_undo(app, ending, step, undone[step], loose))


def _of_undo(app: App, ending: Ending, step: str, undone: int, loose: bool) -> Iterator[str]:
    records = ending.records
    plain: Any = app.codec.decode(records[f"{step}!undo"].data)
    sagas: list[str] = plain[1]
    left = [records.get(saga) for saga in sagas]
    failed = any(one is not None and one.kind == "failure" for one in left)
    failed = failed or any(f"{saga}!closed" in records for saga in sagas)
    over = left[-1] is not None and left[-1].kind == "result"
    is_due = (failed or (ending.row.status == "cancelled" and not over)) and not any(
        f"{saga}!kept" in records for saga in sagas
    )
    worked = any(effect.path == step and not effect.failed for effect in ending.effects)
    given_up = any(note.kind == "undo failed" and note.path == step for note in ending.notes)
    if undone > 1:
        yield f"was undone {undone} times"
    if undone and not worked and step in records:  # without a record nobody knows, and the undo is told so: UNKNOWN
        yield "was undone, and never worked"
    if undone and not is_due and not loose:
        yield "was undone, and its saga did not fail"
    if is_due and worked and not undone and not given_up:
        yield "was not undone"


# ------------------------------------------------------------------------------------------- beside the undisturbed one


def differs(calm: Story, other: Story) -> list[str]:
    """What a disturbed story has otherwise than the undisturbed one; nothing may be."""
    calm_runs = {ending.name: ending for ending in calm.endings}
    runs = {ending.name: ending for ending in other.endings}
    if calm_runs.keys() != runs.keys():
        return [f"the runs {sorted(runs)}, not {sorted(calm_runs)}"]
    found: list[str] = []
    for name, one in calm_runs.items():
        two = runs[name]
        if one.row.status != two.row.status:
            found.append(f"{name}: {two.row.status}, not {one.row.status}\n{two.row.fault or ''}")
        elif one.value != two.value:
            found.append(f"{name}: it ended with\n  {two.value}, not with\n  {one.value}")
        if one.row.status == "completed" and one.row.visits != two.row.visits:
            found.append(f"{name}: the visits {two.row.visits}, not {one.row.visits}")
        found += [f"{name}: {what}" for what in _effects(calm.source, one, two)]
    return found


def _effects(source: Source, one: Ending, two: Ending) -> Iterator[str]:
    before, after = _steady(source, one), _steady(source, two)
    more, less = {*after} - {*before}, {*before} - {*after}
    if more:
        yield f"called, and not without disturbance: {sorted(more)}"
    if less:
        yield f"not called, but without disturbance: {sorted(less)}"
    ordered, wanted = ([part for part in made if part[0] not in source.unordered] for made in (after, before))
    if not more and not less and ordered != wanted:
        yield f"another order: {ordered}, not {wanted}"


def _steady(source: Source, ending: Ending) -> list[tuple[str, str, int, bool]]:
    """The calls that must be the same, each once, in order, with the names of their steps."""
    steady: dict[tuple[str, str, int, bool], None] = {}
    for effect in ending.effects:
        name = effect.name.removeprefix("undo ")
        if name not in source.loose:
            steady.setdefault((name, effect.path, effect.faults, effect.failed))
    return [*steady]
