"""What help says, and what it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cli_project import Project

COMMANDS = [
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
]


def test_help_lists_every_command_and_the_exit_codes(project: Project) -> None:
    result = project.run("--help")
    assert result.exit_code == 0
    assert [
        line.split()[0] for line in result.output.split("Commands:")[1].split("\n\n")[0].split("\n") if line
    ] == COMMANDS
    assert "3  the database cannot be used" in result.output
    assert 'app = "shop:app"' in result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(project: Project, command: str) -> None:
    result = project.run(command, "--help")
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: semel {command}")


def test_a_command_that_does_not_exist_is_a_usage_error(project: Project) -> None:
    assert project.run("fly").exit_code == 2


def test_help_loads_neither_the_engine_nor_the_terminal_library() -> None:
    program = (
        "import sys; from semel.cli import cli; cli(['--help'], standalone_mode=False); "
        "costly = ('rich', 'msgspec', 'asyncio', 'semel.app', 'semel.store.sqlite'); "
        "sys.exit(any(name in sys.modules for name in costly))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0
