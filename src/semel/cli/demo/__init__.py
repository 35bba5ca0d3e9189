"""``semel demo``: a workflow whose process is killed between its calls, and what the other side saw of that."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
from importlib import resources
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from semel.cli.group import DONE, NO


@click.command("demo", short_help="See a workflow survive being killed. Needs nothing.")
@click.option("--no-crash", is_flag=True, help="Let it run through, without killing anything.")
@click.option("--keep", is_flag=True, help="Keep the folder with the program, its database and the logs.")
@click.pass_context
def command(ctx: click.Context, no_crash: bool, keep: bool) -> None:
    """A small shop makes three calls over HTTP: it charges a card, ships a parcel and sends a mail. Its worker process
    is killed between the first call and the second, and again after the second; it is started again and goes on.

    The server that gets the calls runs on 127.0.0.1 and writes down every request. Exits with 0 only if it saw each
    call exactly once.
    """
    from semel.cli.output import console

    from .story import CRASHES, play
    from .telling import Telling

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)  # so that nothing is left behind
    folder = Path(tempfile.mkdtemp(prefix="semel-demo-"))
    try:
        source = resources.files("semel.cli.demo").joinpath("shop.py").read_text("utf-8")
        (folder / "shop.py").write_text(source, "utf-8")
        telling = Telling(console())
        telling.opens(source, killed=not no_crash)
        kept_promise = play(folder, (None,) if no_crash else CRASHES, telling)
        if keep:
            telling.kept(folder)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    ctx.exit(DONE if kept_promise else NO)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)
