"""Which app a command is about, and what is said when it cannot be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_project import SHOP, Project


def test_without_an_app_both_ways_to_name_one_are_shown(project: Project) -> None:
    result = project.run("runs")
    assert result.exit_code == 2
    assert "error[SEMEL-CONFIG]: which app?" in result.stderr
    assert "semel runs --app shop:app" in result.stderr
    assert '[tool.semel]\n    app = "shop:app"' in result.stderr
    assert result.stdout == ""


def test_the_project_may_name_the_app(project: Project) -> None:
    project.write()
    (project.folder / "pyproject.toml").write_text(f'[tool.semel]\napp = "{project.target}"\n')
    assert project.run("runs").output == "no such runs in sqlite:///shop.db\n"


def test_the_app_of_the_project_is_found_from_a_folder_in_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write()
    (project.folder / "pyproject.toml").write_text(f'[tool.semel]\napp = "{project.target}"\n')
    (project.folder / "docs").mkdir()
    monkeypatch.chdir(project.folder / "docs")
    assert project.run("runs").exit_code == 0


def test_an_unknown_setting_is_a_configuration_error(project: Project) -> None:
    (project.folder / "pyproject.toml").write_text('[tool.semel]\naap = "shop:app"\n')
    result = project.run("runs")
    assert result.exit_code == 2
    assert "no setting 'aap'" in result.stderr


@pytest.mark.parametrize("target", ["shop", "shop:", ":app", "shop:app()", "my-shop:app"])
def test_an_app_is_given_as_module_and_name(project: Project, target: str) -> None:
    result = project.run("runs", "--app", target)
    assert result.exit_code == 2
    assert "MODULE:NAME" in result.stderr


def test_a_file_in_place_of_a_module_is_put_right(project: Project) -> None:
    result = project.run("runs", "--app", "./shop/main.py:app")
    assert result.exit_code == 2
    assert "shop.main:app" in result.stderr


def test_a_module_that_is_not_there_is_named(project: Project) -> None:
    result = project.run("runs", "--app", "nowhere_to_be_found.web:app")
    assert result.exit_code == 2
    assert "no module 'nowhere_to_be_found'" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_module_that_does_not_import_shows_the_users_own_lines_only(project: Project) -> None:
    project.write("import json\n\njson.loads('{')\n")
    result = project.with_app("runs")
    assert result.exit_code == 2
    assert f"importing {project.name} failed" in result.stderr
    assert "JSONDecodeError" in result.stderr
    assert "line 3, in <module>" in result.stderr
    assert "semel/cli" not in result.stderr
    assert "importlib" not in result.stderr


def test_a_module_that_misses_another_module_shows_where(project: Project) -> None:
    project.write("import not_installed_anywhere\n")
    result = project.with_app("runs")
    assert result.exit_code == 2
    assert "No module named 'not_installed_anywhere'" in result.stderr
    assert "import not_installed_anywhere" in result.stderr


def test_a_module_with_a_syntax_error_shows_it(project: Project) -> None:
    project.write("def broken(:\n    pass\n")
    result = project.with_app("runs")
    assert result.exit_code == 2
    assert "def broken(:" in result.stderr
    assert "SyntaxError" in result.stderr


def test_a_module_that_ends_the_process_does_not_end_the_command_silently(project: Project) -> None:
    project.write("raise SystemExit(0)\n")
    result = project.with_app("runs")
    assert result.exit_code == 2
    assert "SystemExit" in result.stderr


def test_a_missing_attribute_names_the_app_that_is_there(project: Project) -> None:
    project.write()
    result = project.run("runs", "--app", f"{project.name}:application")
    assert result.exit_code == 2
    assert f"it has {project.target}" in result.stderr


def test_what_is_no_app_is_refused(project: Project) -> None:
    project.write("app = 1\n")
    result = project.with_app("runs")
    assert result.exit_code == 2
    assert "is a int and not a semel.App" in result.stderr


def test_a_program_that_is_refused_at_import_is_an_error_without_a_traceback(project: Project) -> None:
    project.write(SHOP.replace("lambda: charge(order)", "charge(order)"))
    result = project.with_app("runs")
    assert result.exit_code == 1
    assert "error[SEMEL-REFUSED]" in result.stderr
    assert f"{project.name}.py:15" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_database_that_cannot_be_used_has_an_exit_code_of_its_own(project: Project) -> None:
    project.write()
    Path("shop.db").write_text("this is not a database, but a text of some length\n" * 10)
    result = project.with_app("runs")
    assert result.exit_code == 3
    assert "error[SEMEL-STORE-NOT-A-DATABASE]" in result.stderr
