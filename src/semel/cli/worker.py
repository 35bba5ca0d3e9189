"""``semel worker``: runs an app's workflows until it is told to stop."""

from __future__ import annotations

import logging
import os
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from semel.errors import ConfigurationError

from .application import app_option, database_of, load_app
from .stopping import StopSignals

if TYPE_CHECKING:
    from semel.app import App

log = logging.getLogger("semel")


@click.command("worker", short_help="Run workflows until told to stop.")
@app_option
@click.option(
    "--threads", type=click.IntRange(min=1), default=32, show_default=True, help="How many sync bodies run at once."
)
@click.option(
    "--tasks", type=click.IntRange(min=1), default=1000, show_default=True, help="How many async bodies run at once."
)
@click.option(
    "--lease",
    type=click.FloatRange(min=0.1),
    default=15.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a worker that hangs, but is not dead, keeps its runs.",
)
def command(target: str | None, threads: int, tasks: int, lease: float) -> None:
    """Run the app's workflows, and tell on stderr what happens.

    SIGINT or SIGTERM stops it: no more runs are taken, those under way get a few seconds to end or to stop at their
    next step, and the rest is left for another worker. A second signal stops it at once.
    """
    with StopSignals() as stop:
        app = load_app(target)
        _log_to_stderr()
        if not app.registered():
            raise ConfigurationError(
                f"the app {app.name!r} registers no workflow: put @app.workflow above a function, in a module that is "
                f"imported together with the app"
            )
        worker = app.worker(threads=threads, tasks=tasks, lease=timedelta(seconds=lease))
        worker.start()
        log.info("worker %d started: %s", os.getpid(), _what_it_runs(app))
        name = stop.wait()
        stop.let_go()
        log.info("worker %d got %s and stops; once more to stop at once", os.getpid(), name)
        worker.stop()
        idle = worker.idle
        if idle:
            app.close()
            log.info("worker %d stopped", os.getpid())
    if not idle:
        log.warning("worker %d stopped; runs that would not end are left for another worker", os.getpid())
        logging.shutdown()
        sys.stdout.flush()
        os._exit(0)  # the threads of those bodies would keep the process


def _what_it_runs(app: App) -> str:
    workflows = app.registered()
    names = ", ".join(f"{workflow.name} (async)" if workflow.is_async else workflow.name for workflow in workflows)
    return f"app {app.name}, database {database_of(app)}, workflows {names}"


def _log_to_stderr() -> None:
    """Unless the app's own logging already says where messages go."""
    if log.level == logging.NOTSET:
        log.setLevel(logging.INFO)
    if not log.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        log.addHandler(handler)
