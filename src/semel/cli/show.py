"""``semel show``: one run, its steps by path, its notes and its fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import click

from semel.errors import RunNotFound

from .application import app_option, database_of, load_app
from .group import DONE, NO
from .moments import duration, iso, local
from .output import FoldedPath, console, print_json, printable
from .rows import row_facts, row_json
from .runs import STYLES, run_times, took

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from semel.app import App
    from semel.store.interface import Note, Record, Run

    from .sagas import Sagas, StepUndo
    from .values import StepOutcome
    from .waits import Waiting

Steps: TypeAlias = "list[tuple[Record, StepOutcome]]"

_KINDS = {
    "failure": "failed",
    "unrecordable": "not recordable",
    "cancelled": "cancelled",
    "event": "event",
    "timeout": "timed out",
}
_CALM = ("result", "event")
_WELL = {"undo": "undo done", "saga": "saga ended"}
_WHAT = {"step": "", "undo": "undo ", "saga": "saga "}

_GIVEN_AGAIN = "a call that has a record is given the recorded answer again; to have it made anew:"


@click.command("show", short_help="Show one run: steps, results, notes, fault.")
@click.argument("run_id", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@app_option
@click.pass_context
def command(ctx: click.Context, run_id: str, as_json: bool, target: str | None) -> None:
    """Show the run with the id RUN: its steps by path, their times and results, its notes, and its fault.

    Exits with 1 if there is no such run, or if it has faulted.
    """
    from .sagas import Sagas
    from .values import step_outcome
    from .waits import waits_of

    app = load_app(target)
    try:
        row = app.store.get(run_id)
        if row is None:
            raise RunNotFound(f"there is no run {run_id!r} in {database_of(app)}")
        records = [record for record in app.store.records(row.uid) if not record.path.endswith("!begun")]
        steps = [(record, step_outcome(app.codec, record)) for record in records]
        notes = app.store.notes(row.uid)
        waits = waits_of(app, row)
        sagas = Sagas(app.codec, [record for record, _ in steps])
        if as_json:
            print_json(_as_json(app, row, steps, notes, waits, sagas))
        else:
            _print(app, row, steps, notes, waits, sagas)
    finally:
        app.close()
    ctx.exit(NO if row.status == "faulted" else DONE)


def _as_json(app: App, row: Run, steps: Steps, notes: list[Note], waits: list[Waiting], sagas: Sagas) -> dict[str, Any]:
    from .values import arguments_text, value_text

    return {
        "id": row.id,
        "workflow": row.workflow,
        "registered": is_registered(app, row),
        "row": row_json(app, row),
        "status": row.status,
        **run_times(row),
        "visits": row.visits,
        "ending": row.ending,
        "waits": [wait.as_json() for wait in waits],
        "events": [
            {"name": event.name, "payload": value_text(app.codec, event.payload), "at": iso(event.at)}
            for event in app.store.events(row.uid)
        ],
        "arguments": arguments_text(app.codec, row.args) if row.flow is None else None,
        "result": value_text(app.codec, row.result) if row.status == "completed" else None,
        "fault": row.fault,
        "steps": [
            {
                "path": outcome.path,
                "body": record.body,
                "kind": sagas.role(record),
                "undo": undo.state if (undo := sagas.undos.get(record.path)) else None,
                "outcome": outcome.kind,
                "value": outcome.text,
                "request_differs": record.path in differing(notes),
                "awaited": record.awaited,
                "delivery": record.delivery,
                "started_at": iso(record.started_at),
                "finished_at": iso(record.finished_at),
            }
            for record, outcome in steps
        ],
        "notes": [{"kind": note.kind, "path": note.path, "text": note.text, "at": iso(note.at)} for note in notes],
    }


def _print(app: App, row: Run, steps: Steps, notes: list[Note], waits: list[Waiting], sagas: Sagas) -> None:
    out = console(wide=True)
    _print_run(out, app, row)
    shown = [(record, outcome) for record, outcome in steps if sagas.is_shown(record)]
    if shown:
        _print_steps(out, row, shown, differing(notes), sagas)
    else:
        out.print("no steps are recorded")
    _print_waits(out, app, row, waits)
    _print_ending(out, row, sagas)
    _print_notes(out, notes)
    if row.fault:
        from rich.text import Text

        out.print()
        out.print(Text("fault", "bold red"))
        out.print(printable(row.fault.rstrip()), soft_wrap=True)
        out.print()
        lost = "SEMEL-NOT-RECORDABLE" in row.fault or "ResultNotRecordable" in row.fault
        mend = "let the step run again (semel forget RUN PATH)" if lost else "mend it"
        out.print(Text(f"{mend}, then: semel retry {row.id}", "dim"), soft_wrap=True)
        if any("#auto:" in record.path for record, _ in steps):
            out.print(Text(f"{_GIVEN_AGAIN} semel forget {row.id} PATH", "dim"), soft_wrap=True)


def _print_run(out: Console, app: App, row: Run) -> None:
    from rich.table import Table
    from rich.text import Text

    from semel.store.interface import ENDED

    from .values import arguments_text, value_text

    workflow = Text(row.workflow)
    if not is_registered(app, row):
        waits = "; the run waits for a worker that does" if row.status not in ENDED else ""
        workflow.append(f"  (the app does not register it{waits})", "yellow")
    facts: list[tuple[str, str | Text]] = [
        ("run", Text(row.id, "bold")),
        ("workflow", workflow),
        ("status", Text(row.status, STYLES[row.status])),
        *(row_facts(app, row) if row.flow is not None else [("arguments", arguments_text(app.codec, row.args))]),
    ]
    if row.status == "completed" and row.error is None:
        facts.append(("result", value_text(app.codec, row.result)))
    facts.append(("created", local(row.created_at)))
    if row.finished_at is not None:
        facts.append(("ended", f"{local(row.finished_at)}, after {duration(took(row))}"))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts:
        grid.add_row(name, value)
    out.print(grid)


def is_registered(app: App, row: Run) -> bool:
    """Whether the app has the run's workflow."""
    return any(workflow.name == row.workflow for workflow in app.registered())


def differing(notes: list[Note]) -> set[str]:
    """The paths of the steps whose request has changed since it was recorded."""
    return {note.path for note in notes if note.kind == "request differs"}


def _print_steps(out: Console, row: Run, steps: Steps, changed: set[str], sagas: Sagas) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("step", overflow="fold")
    table.add_column("at", justify="right", no_wrap=True)
    table.add_column("took", justify="right", no_wrap=True)
    table.add_column("try", justify="right", no_wrap=True)
    table.add_column("result", overflow="fold")
    for record, outcome in steps:
        role = sagas.role(record)
        result = Text(printable(outcome.text) if role == "step" or outcome.kind != "result" else _WELL[role])
        if outcome.kind != "result":
            result = Text(f"{_WHAT[role]}{_KINDS[outcome.kind]}: ", "" if outcome.kind in _CALM else "red") + result
        result += _undo_text(row, sagas.undos.get(record.path))
        if record.path in changed:
            result += Text(" (request differs)", "yellow")
        at = duration(record.started_at - row.created_at)
        spent = duration(record.finished_at - record.started_at)
        table.add_row(FoldedPath(outcome.path), f"+{at}", spent, str(record.delivery), result)
    out.print(table)


def _undo_text(row: Run, undo: StepUndo | None) -> Text:
    """What has become of the undo of a step, or will."""
    from rich.text import Text

    if undo is None or undo.state == "kept":
        return Text()
    if undo.state == "failed":
        return Text(" (undo failed)", "red")
    if undo.state == "undone":
        return Text(" (undone)", "yellow")
    if row.status in ("completed", "cancelled"):
        return Text()
    where = "" if undo.state == "due" or row.ending else f" if {undo.saga.rpartition('#')[2]} fails"
    return Text(f" (to be undone{where})", "yellow" if not where else "dim")


def _print_waits(out: Console, app: App, row: Run, waits: list[Waiting]) -> None:
    from rich.text import Text

    from .values import value_text

    for wait in waits:
        out.print(Text.assemble(("waits for ", "blue"), printable(wait.told())), soft_wrap=True)
    for event in app.store.events(row.uid):
        told = f"{event.name!r} ({local(event.at)}): {value_text(app.codec, event.payload)}"
        out.print(Text.assemble(("event not taken yet ", "blue"), printable(told)), soft_wrap=True)


def _print_ending(out: Console, row: Run, sagas: Sagas) -> None:
    """Of a run that is to end: what is left to be undone."""
    from rich.text import Text

    from semel.store.interface import ENDED

    if row.ending is None or row.status in ENDED:
        return
    left = sagas.pending()
    before = f"; before that, {'1 step is' if len(left) == 1 else f'{len(left)} steps are'} undone" if left else ""
    out.print(Text(f"the run is to end: {row.ending}{before}", "yellow"), soft_wrap=True)
    for undo in left:
        if undo.in_doubt:
            told = f"{undo.step} (it is not known whether it was done)"
            out.print(Text.assemble(("to be undone ", "yellow"), told), soft_wrap=True)


def _print_notes(out: Console, notes: list[Note]) -> None:
    from rich.text import Text

    for note in notes:
        if note.kind == "request differs":
            continue  # marked at its step
        head = f"{note.kind}: {note.path}" if note.path else note.kind
        out.print(Text.assemble((head, "yellow"), f"\n  {printable(note.text)} ({local(note.at)})"), soft_wrap=True)
