"""``semel migrate`` and ``semel purge``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_project import Project

import semel.store.sqlite


def test_migrate_makes_the_database(project: Project) -> None:
    project.write()
    result = project.with_app("migrate")
    assert result.exit_code == 0
    assert "sqlite:///shop.db" in result.output
    assert Path("shop.db").exists()
    assert Path("shop.steps.db").exists()


def test_migrate_says_what_it_applied(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write()
    monkeypatch.setattr(semel.store.sqlite.Sqlite, "migrate", lambda self: ("main/0002_due",))
    assert "applied main/0002_due\n" in project.with_app("migrate").output


def test_a_password_in_a_url_is_not_printed(project: Project) -> None:
    from semel.cli.application import database_of

    app = semel.App(project.name, database="postgresql://shop:secret@db.example/shop")
    assert database_of(app) == "postgresql://shop:***@db.example/shop"


def test_purge_deletes_what_has_ended_long_ago(project: Project) -> None:
    project.write()
    project.finished("A-1", "A-2", "broken")
    result = project.with_app("purge", "--older-than", "0s", "--yes")
    assert result.exit_code == 0
    assert "3 runs have ended" in result.output
    assert "deleted 3" in result.output
    assert json.loads(project.with_app("runs", "--json").stdout) == {"runs": []}


def test_purge_leaves_what_is_younger(project: Project) -> None:
    project.write()
    project.finished("A-1")
    result = project.with_app("purge", "--older-than", "30d", "--yes")
    assert result.exit_code == 0
    assert result.output.startswith("0 runs have ended")
    assert len(json.loads(project.with_app("runs", "--json").stdout)["runs"]) == 1


def test_purge_where_nobody_can_be_asked_needs_yes(project: Project) -> None:
    project.write()
    project.finished("A-1")
    result = project.with_app("purge", "--older-than", "0s")
    assert result.exit_code == 2
    assert "--yes" in result.stderr
    assert len(json.loads(project.with_app("runs", "--json").stdout)["runs"]) == 1


@pytest.mark.parametrize(("answer", "left", "code"), [("y", 0, 0), ("n", 1, 1)])
def test_purge_asks_on_a_terminal(
    project: Project, monkeypatch: pytest.MonkeyPatch, answer: str, left: int, code: int
) -> None:
    project.write()
    project.finished("A-1")
    monkeypatch.setattr("semel.cli.purge.can_ask", lambda: True)
    result = project.with_app("purge", "--older-than", "0s", input=f"{answer}\n")
    assert result.exit_code == code
    assert len(json.loads(project.with_app("runs", "--json").stdout)["runs"]) == left


def test_purge_counts_over_pages(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write()
    project.finished(*(f"A-{number}" for number in range(7)))
    for page in (1, 2, 3, 7, 8):
        monkeypatch.setattr("semel.cli.purge._PAGE", page)
        result = project.with_app("purge", "--older-than", "0s")
        assert result.output.startswith("7 runs have ended"), page


def test_an_age_without_a_unit_is_a_usage_error(project: Project) -> None:
    project.write()
    result = project.with_app("purge", "--older-than", "30")
    assert result.exit_code == 2
    assert "30d" in result.stderr
