"""When a program is refused: at import what one function shows, at start what takes the program. Nothing has run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import semel
from semel.errors import CannotCompile, Refused

HEAD = """
    from semel import App, once
    app = App("refused", database="sqlite:///{database}")
    done = []

    def pay(total):
        done.append(total)
        return total
"""


def refused(program, tmp_path: Path, body: str) -> str:
    with pytest.raises(Refused) as raised:
        program(HEAD.replace("{database}", str(tmp_path / "refused.db")) + body)
    assert not (tmp_path / "refused.db").exists(), "nothing has run, and no database was made"
    return str(raised.value)


@pytest.mark.rule("O4")
def test_a_step_that_is_a_value_is_refused_at_import(program, tmp_path: Path) -> None:
    told = refused(
        program,
        tmp_path,
        """
    @app.workflow
    def buy(total):
        return once("charge", pay(total))
""",
    )
    assert 'once("charge", lambda: pay(total))' in told
    assert "pay" in told.partition("Write:")[0]


@pytest.mark.rule("O13")
@pytest.mark.parametrize("label", ["name", 'f"charge-{total}"', '"charge" + name', "str(total)"])
def test_a_label_that_is_no_literal_is_refused_at_import(program, tmp_path: Path, label: str) -> None:
    body = f"""
    @app.workflow
    def buy(total, name):
        return once({label}, lambda: pay(total))
"""
    assert "once-label-is-not-a-literal" in refused(program, tmp_path, body)


@pytest.mark.rule("O14")
def test_two_steps_of_one_label_are_refused_at_import_in_exclusive_arms_too(program, tmp_path: Path) -> None:
    told = refused(
        program,
        tmp_path,
        """
    @app.workflow
    def buy(total):
        if total > 10:
            return once("charge", lambda: pay(total))
        else:
            return once("charge", lambda: pay(0))
""",
    )
    assert "lines 13 and 15" in told


TWO_MODULES = {
    "mails.py": """
from semel import once

def notify(who):
    once("send", lambda: print("sent to", who))
""",
    "shop.py": """
from mails import notify
from semel import App

app = App("shop")

@app.workflow
def buy(loud):
    notify("a")
    if loud:
        notify("b")

if __name__ == "__main__":
    app.start(buy, True)
""",
    "pyproject.toml": """
[tool.semel]
packages = ["mails"]
""",
}


@pytest.mark.rule("O18")
def test_a_helper_called_twice_is_refused_at_start_before_anything_runs(tmp_path: Path) -> None:
    for name, text in TWO_MODULES.items():
        (tmp_path / name).write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(Path(semel.__file__).parents[1])}
    command = [sys.executable, "shop.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "semel.errors.Refused" in done.stderr
    assert "notify_first" in done.stderr
    assert "for item in" in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "shop.db").exists()


@pytest.mark.rule("O18")
def test_the_way_out_of_a_loop_is_not_refused(new_app, program) -> None:
    shop = program(
        """
    from semel import once

    def notify(who):
        once("send", lambda: sent.append(who))

    sent = []

    def buy(people):
        for who in people:
            notify(who)
        if len(people) > 1:
            return "many"
        return "few"
"""
    )
    app = new_app("fine")
    app.workflow(shop.buy)
    with app.worker():
        assert app.start(shop.buy, ["a", "b"]).result(timeout=10) == "many"
    assert shop.sent == ["a", "b"]


# --------------------------------------------------------------------------------------------------- stale source files


EDITED = """
    from semel import once

    def helper():
        return once("step", lambda: "as it was loaded")

    def buy():
        return helper()
"""


def test_a_file_edited_under_a_running_worker_does_not_disturb_it(new_app, program) -> None:
    shop = program(EDITED)
    app = new_app("edited")
    app.workflow(shop.buy)
    with app.worker():
        Path(shop.__file__).write_text("def helper(): return 'edited'\n\n\n\n\ndef buy(): return helper()\n")
        assert app.start(shop.buy).result(timeout=10) == "as it was loaded"


def test_a_file_edited_before_it_was_read_is_a_clear_error_with_the_remedy(new_app, program) -> None:
    shop = program(EDITED)
    Path(shop.__file__).write_text("def helper(): return 'edited'\n\n\n\n\ndef buy(): return helper()\n")
    app = new_app("edited")
    app.workflow(shop.buy)
    run = app.start(shop.buy)
    with app.worker(), pytest.raises(CannotCompile, match=r"changed while the process runs.*[Rr]estart"):
        run.result(timeout=10)
    assert run.status == "faulted"
    assert run.retry(), "nothing is lost: after the restart it goes on"


@pytest.mark.rule("O19")
def test_a_module_of_elsewhere_with_steps_that_is_not_listed_is_refused_at_start(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name, text in TWO_MODULES.items():
        if name != "pyproject.toml":
            folder = elsewhere if name == "mails.py" else tmp_path
            (folder / name).write_text(text.replace('    if loud:\n        notify("b")\n', ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(semel.__file__).parents[1]), str(elsewhere)])}
    command = [sys.executable, "shop.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert 'packages = ["mails"]' in done.stderr
    assert str(elsewhere / "mails.py") in done.stderr
    assert not (tmp_path / "shop.db").exists()
    (tmp_path / "pyproject.toml").write_text('[tool.semel]\npackages = ["mails"]\n')
    assert subprocess.run(command, cwd=tmp_path, env=environment, check=False).returncode == 0
