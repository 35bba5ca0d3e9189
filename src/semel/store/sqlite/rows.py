"""Between rows and the plain data of the interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from semel.store.interface import Claim, NewRun, Note, Outcome, Record, Run

Row = tuple[Any, ...]

_visits = msgspec.json.Decoder(dict[str, int])


def run_of(row: Row) -> Run:
    """From the columns that every query of runs selects; the last one, ``kills``, is not part of it."""
    (
        uid,
        id_,
        workflow,
        status,
        args,
        seed,
        format_,
        version,
        visits,
        created,
        started,
        finished,
        result,
        error,
        fault,
        *rest,
    ) = row[:25]
    return Run(
        uid, id_, workflow, status, args, seed, format_, version, _visits.decode(visits), created, started, finished,
        result, error, fault, *rest,
    )  # fmt: skip


def running(run: Run) -> Run:
    """The run as reads answer it while a live owner holds it."""
    return replace(run, status="running")


def record_of(row: Row) -> Record:
    run, body, path, kind, data, awaited, started, finished, delivery = row
    return Record(run, body, path, kind, data, awaited == 1, started, finished, delivery)


def record_row(record: Record) -> Row:
    return (
        record.run, record.body, record.path, record.kind, record.data, record.awaited, record.started_at,
        record.finished_at, record.delivery,
    )  # fmt: skip


def note_row(note: Note) -> Row:
    return (note.run, note.path, note.kind, note.text, note.at)


def note_rows(notes: Sequence[Note]) -> list[Row]:
    return [note_row(note) for note in notes]


def outcome_row(claim: Claim, outcome: Outcome) -> Row:
    """The parameters of the query ``finish``."""
    return (
        outcome.status, visits_text(outcome), outcome.result, outcome.error, outcome.fault,
        outcome.started_at, outcome.finished_at, outcome.parked, outcome.flow, claim.run.uid, claim.run.version,
    )  # fmt: skip


def new_row(run: NewRun) -> Row:
    """The parameters of the query ``start``."""
    return (
        run.uid, run.id, run.workflow, run.args, run.seed, run.format, run.created_at, run.parent, run.depth,
        run.deadline, run.entity, run.flow, run.id,
    )  # fmt: skip


def visits_text(outcome: Outcome) -> str:
    return msgspec.json.encode(outcome.visits).decode()


def outcome_weight(outcome: Outcome) -> int:
    """About the bytes that the outcome adds to the log."""
    return len(outcome.result or b"") + len(outcome.error or b"") + len(outcome.fault or "")


def listed(values: Sequence[str]) -> str:
    """A parameter for ``json_each(?)``."""
    return msgspec.json.encode(values).decode()
