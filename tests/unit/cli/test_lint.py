"""``semel lint``: findings from the source alone, in four formats."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cli_project import SHOP, Project

import semel
from semel.checks.ignores import OF_IGNORES
from semel.checks.lints import LINTS

SLEEPING = SHOP.replace(
    "        receipt = once(", "        import time\n        time.sleep(1)\n        receipt = once(", 1
)
REFUSED = SHOP.replace("lambda: charge(order)", "charge(order)")
RULE = "workflow-sleep-outside-a-step"
HOOKS = Path(__file__).parents[3] / ".pre-commit-hooks.yaml"


def test_a_clean_program_has_no_findings(project: Project) -> None:
    project.write()
    result = project.run("lint")
    assert result.exit_code == 0
    assert "no findings" in result.output


def test_a_finding_is_shown_with_its_place_its_line_and_the_corrected_code(project: Project) -> None:
    file = project.write(SLEEPING)
    result = project.run("lint", str(file))
    assert result.exit_code == 1
    assert f"{file}:16:5: {RULE} (E)" in result.output
    assert "sleep(timedelta(seconds=1))" in result.output
    assert f"semel explain {RULE}" in result.output
    assert result.output.rstrip().endswith(f"1 finding in 1 file of {file}")


def test_nothing_is_imported(project: Project) -> None:
    project.write(SLEEPING.replace("    app = App(", "    raise RuntimeError\n    app = App(", 1))
    assert project.run("lint").exit_code == 1


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_every_format_has_the_same_exit_codes(project: Project, form: str) -> None:
    project.write()
    assert project.run("lint", "--format", form).exit_code == 0
    project.write(SLEEPING)
    found = project.run("lint", "--format", form)
    assert found.exit_code == 1
    assert RULE in found.output


def test_json_and_sarif_are_one_document_each(project: Project) -> None:
    project.write(SLEEPING)
    (problem,) = json.loads(project.run("lint", "--format", "json").stdout)["problems"]
    assert set(problem) == {"rule", "spec", "message", "place", "others", "fix"}
    (run,) = json.loads(project.run("lint", "--format", "sarif").stdout)["runs"]
    (found,) = run["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == f"{project.name}.py"


def test_github_says_nothing_where_there_is_nothing(project: Project) -> None:
    project.write()
    assert project.run("lint", "--format", "github").output == ""
    project.write(SLEEPING)
    assert project.run("lint", "--format", "github").output.startswith(
        f"::warning file={project.name}.py,line=16,col=5,title=semel%3A {RULE}::"
    )


def test_rules_are_selected_and_left_out(project: Project) -> None:
    project.write(SLEEPING)
    assert project.run("lint", "--select", f"workflow-global-changed,{RULE}").exit_code == 1
    assert project.run("lint", "--select", "workflow-global-changed").exit_code == 0
    assert project.run("lint", "--ignore", RULE).exit_code == 0
    assert project.run("lint", "--ignore", "workflow-global-changed", "--ignore", "ignore-unused").exit_code == 1


def test_what_check_refuses_is_told_only_if_it_is_asked_for(project: Project) -> None:
    project.write(REFUSED)
    assert project.run("lint").exit_code == 0
    asked = project.run("lint", "--select", "once-step-is-a-value", "--format", "github")
    assert asked.exit_code == 1
    assert asked.output.startswith("::error file=")


def test_what_cannot_be_read_is_named(project: Project) -> None:
    project.write("def (:")
    result = project.run("lint")
    assert result.exit_code == 0
    assert f"{project.name}.py" in result.stderr


@pytest.mark.parametrize(
    "arguments", [("nowhere.py",), ("--format", "xml"), ("--select", "no-such-rule"), ("--ignore", "no-such-rule")]
)
def test_a_wrong_call_is_a_usage_error(project: Project, arguments: tuple[str, ...]) -> None:
    assert project.run("lint", *arguments).exit_code == 2


def test_a_comment_ignores_a_finding_and_is_one_without_a_reason(project: Project) -> None:
    project.write(SLEEPING.replace("time.sleep(1)", f"time.sleep(1)  # semel: ignore[{RULE}] short"))
    assert project.run("lint").exit_code == 0
    project.write(SLEEPING.replace("time.sleep(1)", f"time.sleep(1)  # semel: ignore[{RULE}]"))
    result = project.run("lint")
    assert result.exit_code == 1
    assert "ignore-without-reason" in result.output


def test_the_app_says_what_is_looked_at(project: Project) -> None:
    project.write()
    project.write(SLEEPING, "elsewhere.py")
    assert project.with_app("lint").exit_code == 0
    assert project.run("lint").exit_code == 1


@pytest.mark.parametrize("rule", [*LINTS, *OF_IGNORES])
def test_each_lint_is_explained(project: Project, rule: str) -> None:
    done = project.run("explain", rule)
    assert done.exit_code == 0
    assert done.output.startswith(f"# {rule}")


def hooks() -> dict[str, dict[str, str]]:
    """The hooks by id. The file is so plain that no YAML library is needed to read it."""
    text = HOOKS.read_text()
    found = {}
    for block in re.split(r"^- ", text, flags=re.MULTILINE)[1:]:
        hook = dict(line.strip().split(": ", 1) for line in block.strip().split("\n"))
        found[hook["id"]] = hook
    return found


def run_hook(hook: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the hook's entry as pre-commit does: in the root of the repository, without the names of files."""
    assert hook["language"] == "python"
    assert hook["pass_filenames"] == "false"
    program, *arguments = shlex.split(hook["entry"])
    assert program == "semel"
    source = Path(semel.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "semel", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)


def test_the_pre_commit_hooks_pass_a_clean_program_and_stop_a_wrong_one(project: Project) -> None:
    assert set(hooks()) == {"semel-check", "semel-lint"}
    project.write()
    assert [run_hook(hook, project.folder).returncode for hook in hooks().values()] == [0, 0]
    project.write(SLEEPING)
    stopped = run_hook(hooks()["semel-lint"], project.folder)
    assert stopped.returncode == 1
    assert RULE in stopped.stdout
    project.write(REFUSED)
    assert run_hook(hooks()["semel-check"], project.folder).returncode == 1
