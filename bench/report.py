"""The report: a table for people, and JSON with every round's value."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .measure import Measure
from .place import IN_MEMORY, Place

_PEERS: dict[str, Any] = json.loads((Path(__file__).parent / "peers.json").read_text("utf-8"))


def table(measures: Sequence[Measure], place: Place, *, quick: bool) -> Table:
    made = Table(
        title=f"semel and its floor on {place['file_system']}, Python {place['python']}, SQLite {place['sqlite']}, "
        f"{place['cores']} cores at a load of {place['load']:.1f}",
        caption="medians; a ratio is the median of each of semel's values to the floor's before and after it",
        title_justify="left",
        caption_justify="left",
    )
    made.add_column("case")
    made.add_column("what", ratio=1)
    for column in ("semel", "floor", "ratio", "budget"):
        made.add_column(column, justify="right", no_wrap=True)
    made.add_column("note")
    case = ""
    for one in measures:
        if case and one.case != case:
            made.add_section()
        values = _shown(one.value, one.unit) if one.value is not None else "-"
        floor = _shown(one.floor_value, one.unit) if one.floor_value is not None else ""
        ratio = f"{one.ratio:.2f}" if one.ratio is not None else ""
        made.add_row(
            "" if one.case == case else one.case, one.what, values, floor, ratio, _budget(one, quick), one.note
        )
        case = one.case
    return made


def peers_table(measures: Sequence[Measure]) -> Table:
    """Other engines on the same kind of work; figures of another day, so only their order of magnitude counts."""
    figures: dict[str, dict[str, str]] = _PEERS["figures"]
    made = Table(title="other engines on the same kind of work", caption=_PEERS["source"], title_justify="left")
    made.add_column("what")
    made.add_column("semel, in this run", justify="right")
    made.add_column("others, measured elsewhere")
    for one in measures:
        if one.peers is not None and one.value is not None:
            others = ", ".join(f"{name} {figure}" for name, figure in figures[one.peers].items())
            made.add_row(one.what, _shown(one.value, one.unit), others)
    return made


def _shown(value: float, unit: str) -> str:
    digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 3
    return f"{value:,.{digits}f} {unit}".rstrip()


def _budget(one: Measure, quick: bool) -> str:
    if one.limit is None:
        return ""
    sign = "≤" if one.better == "less" else "≥"
    mark = "" if one.held is None or quick else " [green]held[/]" if one.held else " [red]missed[/]"
    return f"{sign} {one.limit:g}{mark}"


def as_json(measures: Sequence[Measure], place: Place, *, quick: bool) -> dict[str, Any]:
    return {
        "place": place,
        "real_disk": place["file_system"] not in IN_MEMORY,
        "quick": quick,
        "measures": [
            {
                "case": one.case,
                "what": one.what,
                "unit": one.unit,
                "semel": one.value,
                "floor": one.floor_value,
                "ratio": one.ratio,
                "limit": one.limit,
                "better": one.better,
                "held": None if quick else one.held,
                "note": one.note,
                "rounds": {"semel": one.semel, "floor": one.floor},
            }
            for one in measures
        ],
        "peers": _PEERS,
    }


def show(console: Console, measures: Sequence[Measure], place: Place, *, quick: bool) -> None:
    console.print(table(measures, place, quick=quick))
    if any(one.peers for one in measures):
        console.print(peers_table(measures))
