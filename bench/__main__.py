"""``python -m bench [CASE…]``: measures semel and the floor side by side, prints a table and saves JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from rich.console import Console

from . import calls, durability, lone, long, many, model_speed, plain, starting, twin, waiting
from .measure import Measure, Settings
from .place import IN_MEMORY, place
from .report import as_json, show

CASES: dict[str, Callable[[Settings], Iterator[Measure]]] = {
    "durability": durability.case,
    "lone": lone.case,
    "many": many.case,
    "long": long.case,
    "start": starting.case,
    "outside": plain.case,
    "twin": twin.case,
    "calls": calls.case,
    "model": model_speed.case,
    "parks": waiting.parks,
    "fanout": waiting.fan_out,
    "clocks": waiting.clocks,
    "parked": waiting.memory,
}

_RESULTS = Path("bench-results")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("cases", nargs=-1, metavar="[CASE]…", type=click.Choice(list(CASES)))
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True, help="Rounds of each measurement.")
@click.option("--quick", is_flag=True, help="Small numbers and one round: shows that it works, measures nothing.")
@click.option(
    "--json", "file", type=click.Path(path_type=Path), help="Where to save; bench-results/<time>.json if not given."
)
@click.option(
    "--folder", type=click.Path(path_type=Path), default=_RESULTS, help="A folder on the disk that is measured."
)
def main(cases: tuple[str, ...], repeat: int, quick: bool, file: Path | None, folder: Path) -> None:
    """Measures semel beside bare commits of the same rows on the same disk.

    Cases: durability, lone, many, long, start, outside, twin, calls, model, parks, fanout, clocks, parked; all of them
    if none is named.
    """
    console = Console(width=None if Console().is_terminal else 160)
    folder.mkdir(parents=True, exist_ok=True)
    where = place(folder.absolute())
    if where["file_system"] in IN_MEMORY:
        told = f"{folder} is on a {where['file_system']}: a sync costs nothing there, so no ratio would mean anything"
        if not quick:
            raise click.ClickException(f"{told}. Name a folder on a real disk: --folder PATH")
        console.print(f"[bold red]{told}.[/]")
    settings = Settings(folder.absolute(), 1 if quick else repeat, quick)
    measures: list[Measure] = []
    for name in cases or CASES:
        with console.status(f"{name} …"):
            measures += CASES[name](settings)
    show(console, measures, where, quick=quick)
    file = file or _RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(as_json(measures, where, quick=quick), indent=1, ensure_ascii=False) + "\n", "utf-8")
    console.print(f"saved to {file}")


if __name__ == "__main__":
    main()
