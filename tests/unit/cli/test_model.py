"""``semel model`` and ``semel explain`` of a path or a function."""

from __future__ import annotations

import json

import pytest
from cli_project import Project

PROGRAM = """
import httpx
from semel import App, once
app = App("shop")
def notify(x):
    httpx.post("https://mail.example", json=x)
def ask(x):
    once("ask", lambda: x())
@app.workflow
def fulfil(a):
    for x in a:
        notify(x)
    ask(a)
"""
MYLIB = "def fetch(): ...\n"


@pytest.mark.rule("A9")
def test_the_document_is_json_with_a_schema(project: Project) -> None:
    project.write(PROGRAM)
    result = project.run("model", "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["schema"] == 1
    (body,) = document["bodies"]
    assert [step["path"] for step in body["steps"]] == [
        "fulfil/start@*[*]/notify#auto:httpx.post",
        "fulfil/start@*/ask#ask",
    ]
    told = {one["name"]: (one["durability"], one["durabilityVia"]) for one in document["functions"]}
    assert told["notify"] == ("External", "httpx.post")


def test_a_tree_shows_bodies_functions_and_what_is_not_resolved(project: Project) -> None:
    file = project.write(PROGRAM)
    result = project.run("model", str(file))
    assert result.exit_code == 0
    assert "fulfil/start@*" in result.output
    assert "#auto:httpx.post" in result.output
    assert "External via httpx.post" in result.output
    assert "Not resolved (1)" in result.output
    assert "`x` has no annotation" in result.output


def test_a_program_without_a_workflow_says_so(project: Project) -> None:
    project.write("def f(): ...")
    assert "no workflow was found" in project.run("model").output


def test_nothing_is_imported(project: Project) -> None:
    project.write("raise RuntimeError\n" + PROGRAM)
    assert project.run("model").exit_code == 0


def test_a_file_that_cannot_be_read_is_named(project: Project) -> None:
    project.write("def f(:")
    assert "cannot be read" in project.run("model").output


def test_what_the_project_declares_counts(project: Project) -> None:
    project.write(MYLIB, "mylib_of_the_project.py")
    file = project.write(
        "import mylib_of_the_project\nfrom semel import App\napp = App('x')\n"
        "@app.workflow\ndef f(): mylib_of_the_project.fetch()\n"
    )
    (project.folder / "pyproject.toml").write_text('[tool.semel]\nexternal = ["mylib_of_the_project.*"]\n')
    (body,) = json.loads(project.run("model", "--json", str(file)).stdout)["bodies"]
    assert [step["operation"] for step in body["steps"]] == ["mylib_of_the_project.fetch"]


def test_explain_says_why_a_path_is_a_step(project: Project) -> None:
    file = project.write(PROGRAM)
    result = project.run("explain", "fulfil/start@1[2]/notify#auto:httpx.post", str(file))
    assert result.exit_code == 0
    assert "an automatic step of the workflow fulfil" in result.output
    assert f"{file}:6" in result.output


def test_explain_says_why_a_function_is_a_step(project: Project) -> None:
    project.write(PROGRAM)
    result = project.run("explain", "notify")
    assert result.exit_code == 0
    assert "leads to a call that leaves the process: httpx.post" in result.output


def test_explain_of_a_name_that_is_none_exits_with_1(project: Project) -> None:
    project.write(PROGRAM)
    result = project.run("explain", "notfy")
    assert result.exit_code == 1
    assert "is it notify" in result.stderr
