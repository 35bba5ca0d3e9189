"""``semel``: finds the command asked for, and turns semel's errors into one message and an exit code."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn

import click

from semel import __version__
from semel.errors import ConfigurationError, RegistrationError, SemelError, StoreError

_COMMANDS = (
    "demo",
    "check",
    "lint",
    "model",
    "explain",
    "dev",
    "worker",
    "runs",
    "show",
    "retry",
    "cancel",
    "send",
    "fork",
    "forget",
    "record",
    "migrate",
    "purge",
)

DONE, NO, USAGE, DATABASE = 0, 1, 2, 3

_EXIT_CODES = """\b
Exit codes:
  0  done
  1  the answer is no: problems found, no such run, a fault
  2  usage or configuration
  3  the database cannot be used

\b
The app is named by --app MODULE:NAME, or once for the project in pyproject.toml:
  [tool.semel]
  app = "shop:app"
"""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f".{cmd_name}", __package__)
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SemelError as error:
            _fail(ctx, error)


@click.group(cls=_Commands, epilog=_EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="semel")
def cli() -> None:
    """Durable execution for ordinary Python: what was done once is not done twice."""


def _fail(ctx: click.Context, error: SemelError) -> NoReturn:
    name = click.style(f"error[{error.code}]", fg="red", bold=True)
    click.echo(f"{name}: {error}", err=True)
    ctx.exit(_exit_code(error))


def _exit_code(error: SemelError) -> int:
    if isinstance(error, StoreError):
        return DATABASE
    if isinstance(error, ConfigurationError | RegistrationError):
        return USAGE
    return NO
