"""The demo on the terminal: readable in colour, without colour, and in a pipe."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .story import Act, Ending

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_LIVE, _FOUND, _DIED, _FINE = "●", "○", "✗", "✓"


class Telling:
    """Prints the story as it happens."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._next = ["charge", "ship", "mail"]

    def opens(self, source: str, *, killed: bool) -> None:
        """The program, as it is run."""
        from rich.syntax import Syntax

        self._heading("The program: shop.py, plain Python")
        code = Syntax(source, "python", theme="ansi_dark", background_color="default").highlight(source)
        code.rstrip()
        self._out.print(code, soft_wrap=True)  # a line that is too long is the terminal's to wrap: all of it is shown
        what = "Its workers are killed." if killed else "Nothing is killed."
        self._heading("What happens")
        self._line(f"`python shop.py` starts a run and waits for its result. {what}", style="dim")

    def worker_starts(self, number: int, pid: int) -> None:
        again = "" if number == 1 else "  the body runs again, from its top"
        self._out.print()
        self._line((f"worker {number}", "bold"), (f" (pid {pid}) started", "bold"), (again, "dim"))

    def worker_ended(self, act: Act) -> None:
        answers = {entry.answer: entry for entry in act.requests}
        for step in act.found:
            self._step(_FOUND, "cyan", step.label, "found again", "no request", step.result)
            self._reached(step.label)
        for step in act.live:
            entry = answers.pop(step.result, None)
            self._step(_LIVE, "green", step.label, "ran live", f"POST {entry.path}" if entry else "?", step.result)
            self._reached(step.label)
        for entry in answers.values():
            self._step(_LIVE, "yellow", "?", "ran live", f"POST {entry.path}", f"{entry.answer}, not recorded")
        if act.killed:
            done = f": {act.live[-1].label} is recorded, {self._next[0]} has not been called" if act.live else ""
            self._line((f"  {_DIED} killed by SIGKILL", "bold red"), done)

    def ends(self, ending: Ending) -> None:
        if not ending.failures:
            self._line((f"  {_FINE} completed", "green"), f"; shop.py printed: {ending.answer}")
        self._log(ending)
        self._out.print()
        if ending.failures:
            for failure in ending.failures:
                self._line((f"{_DIED} {failure}", "bold red"))
            return
        kills = f"in spite of {ending.kills} SIGKILLs" if ending.kills else "with nothing in the way"
        self._line(
            (f"{_FINE} {len(ending.log)} calls, each exactly once", "bold green"),
            (f", {kills}, in {ending.seconds:.1f} s", "green"),
        )
        self._line(
            "  Had a kill come in the middle of a call, nobody here could know whether it had arrived. It would be\n"
            '  made again, and noted; once("charge", lambda key: …) gives the other side a key to tell by.',
            style="dim",
        )

    def kept(self, folder: Path) -> None:
        """Where everything is, and how to look at it."""
        self._out.print()
        self._line("kept in ", (str(folder), "bold"))
        self._line(f"  cd {folder}\n  {sys.executable} -m semel show order-A-1 --app shop:app")

    # ------------------------------------------------------------------------------------------------------- insides

    def _log(self, ending: Ending) -> None:
        from rich import box
        from rich.table import Table

        self._heading("What the outside server got: its own log of every request")
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("time", "request", "body", "answer"):
            table.add_column(name, overflow="fold")
        for entry in ending.log:
            at = datetime.fromtimestamp(entry.at, UTC).astimezone().strftime("%H:%M:%S.%f")[:-3]
            table.add_row(at, f"POST {entry.path}", entry.body, entry.answer)
        self._out.print(table)

    def _reached(self, label: str) -> None:
        if label in self._next:
            self._next.remove(label)

    def _step(self, mark: str, style: str, label: str, how: str, request: str, result: str) -> None:
        self._line((f"  {mark} {label:<8}{how:<13}", style), f"{request:<17}→ {result}")

    def _heading(self, text: str) -> None:
        self._out.print()
        self._out.rule(text, align="left", style="dim")

    def _line(self, *parts: str | tuple[str, str] | Text, style: str = "") -> None:
        from rich.text import Text

        self._out.print(Text.assemble(*parts, style=style), soft_wrap=True)
