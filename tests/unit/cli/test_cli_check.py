"""``semel check``: refusals from the source alone."""

from __future__ import annotations

import json

import pytest
from cli_project import SHOP, Project

WRONG = SHOP.replace("lambda: charge(order)", "charge(order)")


def test_a_clean_program_has_no_problems(project: Project) -> None:
    project.write()
    result = project.run("check")
    assert result.exit_code == 0
    assert "no problems" in result.output


def test_a_problem_is_shown_with_its_place_its_line_and_the_corrected_code(project: Project) -> None:
    file = project.write(WRONG)
    result = project.run("check", str(file))
    assert result.exit_code == 1
    assert f"{file}:15:" in result.output
    assert 'once("charge", charge(order))' in result.output
    assert "lambda: charge(order)" in result.output
    assert result.output.rstrip().endswith(f"1 problem in 1 file of {file}")


def test_nothing_is_imported(project: Project) -> None:
    project.write(WRONG + "\n    raise RuntimeError\n")
    result = project.run("check", "--json")
    assert result.exit_code == 1
    assert [problem["spec"] for problem in json.loads(result.stdout)["problems"]] == ["O4"]


def test_json_is_one_document_with_stable_keys(project: Project) -> None:
    project.write(WRONG)
    result = project.run("check", "--json")
    assert result.exit_code == 1
    (problem,) = json.loads(result.stdout)["problems"]
    assert set(problem) == {"rule", "spec", "message", "place", "others", "fix"}
    assert set(problem["place"]) == {"file", "line", "column"}
    assert problem["spec"] == "O4"


def test_json_of_a_clean_program_is_an_empty_list(project: Project) -> None:
    project.write()
    result = project.run("check", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"problems": []}


def test_the_app_says_what_is_checked(project: Project) -> None:
    project.write()
    project.write(WRONG, "elsewhere.py")
    assert project.with_app("check").exit_code == 0
    assert project.run("check").exit_code == 1


def test_the_packages_of_the_project_are_checked_with_the_app(project: Project) -> None:
    project.write()
    project.write(WRONG, "helpers/pay.py")
    project.write("", "helpers/__init__.py")
    (project.folder / "pyproject.toml").write_text(f'[tool.semel]\napp = "{project.target}"\npackages = ["helpers"]\n')
    assert project.run("check").exit_code == 1


@pytest.mark.parametrize("told", [("check",), ("lint",), ("model",), ("explain", "fulfil")], ids=lambda told: told[0])
def test_files_below_the_current_folder_are_told_from_there(project: Project, told: tuple[str, ...]) -> None:
    project.write(WRONG + "\n    import time\n    def wait(): time.sleep(1)\n    @app.workflow\n    def f(): wait()\n")
    with_the_folder = project.run(*told).output
    (project.folder / "pyproject.toml").write_text(f'[tool.semel]\napp = "{project.target}"\n')
    result = project.run(*told).output
    assert f"{project.name}.py:" in result
    assert str(project.folder) not in result
    assert result.rpartition(" of ")[0] == with_the_folder.rpartition(" of ")[0]


def test_a_path_that_is_not_there_is_a_usage_error(project: Project) -> None:
    assert project.run("check", "nowhere.py").exit_code == 2


def test_an_app_whose_source_is_not_found_is_a_usage_error(project: Project) -> None:
    result = project.run("check", "--app", "nowhere_to_be_found:app")
    assert result.exit_code == 2
    assert "nowhere_to_be_found" in result.stderr
