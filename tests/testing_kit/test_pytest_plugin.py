"""The pytest plugin, in a pytest of its own, as users have it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

SETTINGS = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
"""

SHOP = """
from datetime import timedelta
from semel import App, once, sleep, sleep_async

app = App("shop")

@app.workflow
def fulfil(order: str) -> str:
    sleep(timedelta(days=7))
    return once("ship", lambda: f"shipped {order}")

@app.workflow
async def fulfil_async(order: str) -> str:
    await sleep_async(timedelta(days=7))
    return f"shipped {order}"
"""

TESTS = """
from datetime import UTC, datetime, timedelta
import pytest
from shop import app, fulfil, fulfil_async

@pytest.fixture
def kit(semel_kit):
    return semel_kit(app)

@pytest.mark.parametrize("order", ["A-1", "A-2"])
def test_a_week(kit, order):
    run = app.start(fulfil, order)
    assert kit.advance(timedelta(days=7), run) == "completed"
    assert run.result() == f"shipped {order}"
    assert len(app.runs()) == 1

async def test_a_week_async(kit):
    run = await app.start_async(fulfil_async, "A-1")
    assert await kit.advance_async(timedelta(days=7), run) == "completed"
    assert await run.result_async() == "shipped A-1"

def test_in_another_year(semel_kit):
    kit = semel_kit(app, start=datetime(2031, 1, 1, tzinfo=UTC))
    kit.finish(app.start(fulfil, "A-1"))
    assert kit.clock.now() == datetime(2031, 1, 8, tzinfo=UTC)
"""


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    environment.pop("PYTEST_ADDOPTS", None)
    (folder / "pytest.ini").write_text(SETTINGS)
    command = [sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "test_shop.py").write_text(TESTS)
    return tmp_path


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_the_fixture_works_with_and_without_xdist_and_with_async_tests(project: Path, options: list[str]) -> None:
    done = run_pytest(project, "-q", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout
    assert not list(project.glob("*.db")), "the developer's own database"


def test_pytest_finds_the_plugin_and_tells_of_its_fixture(tmp_path: Path) -> None:
    assert [point.value for point in entry_points(group="pytest11", name="semel")] == ["semel.testing.plugin"]
    told = run_pytest(tmp_path, "--fixtures").stdout
    assert "semel_kit" in told
    assert "the app on a temporary database and a clock of its own" in told


def test_a_session_that_uses_no_fixture_imports_nothing_of_semel_but_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_lean.py").write_text(
        "import sys\n"
        "def test_lean():\n"
        "    loaded = {name for name in sys.modules if name.partition('.')[0] == 'semel'}\n"
        "    assert loaded == {'semel', 'semel._version', 'semel.testing', 'semel.testing.plugin'}\n"
    )
    done = run_pytest(tmp_path, "-q")
    assert done.returncode == 0, done.stdout
