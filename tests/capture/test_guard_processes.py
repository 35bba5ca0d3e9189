"""The guard: processes that a body starts outside a step are refused, with the fix."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest
from guard_runs import refused, returned

from semel import App, once

HERE = __file__
TRUE = [sys.executable, "-c", ""]
library: Any


async def start_and_wait() -> int:
    process = await asyncio.create_subprocess_exec(*TRUE)
    return await process.wait()


def line_of(text: str) -> str:
    """``file:line`` of the line of this file that ends so."""
    with open(HERE) as file:
        (number,) = [number for number, line in enumerate(file, 1) if line.rstrip().endswith(text)]
    return f"{HERE}:{number}"


@pytest.mark.rule("A3")
def test_a_process_started_in_a_body_is_refused_with_the_line_and_the_fix(app: App) -> None:
    def body() -> int:
        return subprocess.call(TRUE)  # refused here

    text = refused(app, body)
    assert text.startswith(line_of("return subprocess.call(TRUE)  # refused here"))
    assert "subprocess.call leaves the process, outside of a once: a process is started" in text
    assert 'return once("call", lambda: subprocess.call(TRUE))  # refused here' in text
    assert "external" not in text


def test_what_a_finished_process_is_told_by_is_taken_apart_in_the_fix(app: App) -> None:
    def body() -> None:
        subprocess.run(TRUE, check=True)

    assert 'once("run", lambda: subprocess.run(TRUE, check=True).returncode)' in refused(app, body)


TAKEN = {
    "an attribute": 'return subprocess.run(["echo", "é"], capture_output=True, text=True).stdout',
    "a chain": 'return subprocess.run(["echo", "(a)"], capture_output=True).stdout.decode().strip()[1:-1]',
    "in a call": 'return str(subprocess.run(["true"], check=True).returncode)  # (',
    "in an await": 'return (await asyncio.sleep(0, subprocess.run(["true"]).returncode))',
    "nothing": 'return subprocess.run(["true"], check=True)',
}


@pytest.mark.parametrize("how", TAKEN)
def test_the_corrected_line_runs_and_gives_what_the_line_takes_of_the_result(
    how: str, program: Callable[[str], ModuleType], new_app: Callable[..., App]
) -> None:
    def written(line: str) -> Any:
        return program(f"import asyncio, subprocess\nfrom semel import once\nasync def body():\n    {line}\n").body

    text = refused(new_app(), written(TAKEN[how]))
    (corrected,) = [line.strip() for line in text.splitlines() if line.strip().startswith("return ")]
    scope: dict[str, Any] = {"asyncio": asyncio, "subprocess": subprocess}
    exec(f"async def body():\n    {TAKEN[how]}\n", scope)
    meant = asyncio.run(scope["body"]())
    given = returned(new_app("corrected"), written(corrected))
    assert given == (meant.returncode if how == "nothing" else meant)


@pytest.mark.parametrize("end", ["\n        .stdout\n    )", ".stdout.decode(\n    ))"])
def test_what_is_taken_of_the_result_on_a_later_line_gets_no_wrong_line(
    end: str, program: Callable[[str], ModuleType], app: App
) -> None:
    call = 'subprocess.run(["true"], capture_output=True)'
    made = program(f"import subprocess\ndef body():\n    return (\n        {call}{end}\n")
    text = refused(app, made.body)
    assert "put it into a function that returns what the body needs of it" in text
    assert "lambda" not in text


def test_a_pipe_of_a_process_is_opened_and_closed_in_one_step(app: App) -> None:
    def body() -> str:
        return os.popen("true").read()

    text = refused(app, body)
    assert "Open the connection, use it and close it in one step" in text
    assert "lambda" not in text


STARTS: dict[str, Callable[[], object]] = {
    "Popen": lambda: subprocess.Popen(TRUE).wait(),
    "check_output": lambda: subprocess.check_output(TRUE),
    "getoutput": lambda: subprocess.getoutput("true"),
    "os.system": lambda: os.system("true"),
    "os.popen": lambda: os.popen("true").close(),
    "os.posix_spawn": lambda: os.waitpid(os.posix_spawn(sys.executable, TRUE, os.environ), 0)[1],
    "os.spawnl": lambda: os.spawnl(os.P_WAIT, sys.executable, *TRUE),
    "os.execv": lambda: os.execv("/nowhere", ["nowhere"]),
}


@pytest.mark.parametrize("name", STARTS)
def test_every_way_to_start_a_process_is_refused(name: str, app: App) -> None:
    def body(name: str) -> None:
        STARTS[name]()

    assert "a process is started" in refused(app, body, name)


@pytest.mark.parametrize("name", [name for name in STARTS if name not in ("os.execv",)])
def test_every_way_to_start_a_process_works_in_a_step_and_outside_a_run(name: str, app: App) -> None:
    def body(name: str) -> object:
        return once("start", lambda: STARTS[name]())

    assert not returned(app, body, name)
    assert not STARTS[name]()


def test_a_process_of_asyncio_is_refused_and_works_in_a_step(app: App) -> None:
    async def body() -> None:
        await asyncio.create_subprocess_exec(*TRUE)

    async def with_step() -> int:
        return await once("start", start_and_wait)

    text = refused(app, body)
    assert "asyncio.create_subprocess_exec leaves the process" in text
    assert 'once("create_subprocess_exec", that_function)' in text
    assert returned(app, with_step) == 0


def test_a_process_that_foreign_code_starts_is_refused(program: Callable[[str], ModuleType], app: App) -> None:
    global library
    library = program(
        """
        import subprocess
        def convert(name):
            return subprocess.check_output(["true", name])
        """
    )

    def body() -> None:
        library.convert("a.png")

    text = refused(app, body)
    assert f"{library.__name__}.convert leaves the process" in text
    assert 'once("convert", lambda: library.convert("a.png"))' in text
    assert f'external = ["{library.__name__}.convert"]' in text
    assert f'passthrough = ["{library.__name__}.*"]' in text


def test_a_process_of_multiprocessing_that_foreign_code_starts_is_refused(
    program: Callable[[str], ModuleType], app: App
) -> None:
    global library
    library = program(
        """
        import multiprocessing
        def work():
            multiprocessing.get_context("spawn").Process(target=print).start()
        """
    )

    def body() -> None:
        library.work()

    assert "a process is started" in refused(app, body)
    assert multiprocessing.active_children() == []


def test_a_process_that_only_looks_something_up_passes(app: App) -> None:
    def body() -> bool:
        platform._uname_cache = None
        with suppress(AttributeError):
            platform.uname.cache_clear()
        return bool(platform.processor()) or True

    assert returned(app, body) is True
