"""Fixtures of the crash tests: a story on a database of its own, and what the programs do undisturbed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from crash_expected import undisturbed_runs
from crash_judge import Undisturbed
from crash_programs import ALL, WAITING
from crash_story import Story


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the many processes of these tests find each other's compiled modules."""
    return tmp_path_factory.mktemp("bytecode")


@pytest.fixture(scope="module", autouse=True)
def _quick_starts(bytecode: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPYCACHEPREFIX", str(bytecode))
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


@pytest.fixture
def new_story(tmp_path: Path) -> Iterator[Callable[..., Story]]:
    """Makes stories in the test's own folder, and ends what is left of their processes."""
    made: list[Story] = []

    def make(program: str = "crash_shop.all") -> Story:
        made.append(Story(tmp_path / f"story-{len(made)}", program))
        return made[-1]

    yield make
    for story in made:
        story.clean_up()


@pytest.fixture
def story(new_story: Callable[..., Story]) -> Story:
    """A story with all programs."""
    return new_story()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Undisturbed]:
    """Each program, run once with nothing in its way."""
    return undisturbed_runs(tmp_path_factory.mktemp("undisturbed"), ALL)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Undisturbed]:
    """The programs that wait and end by themselves, and their children, run once with nothing in their way."""
    return undisturbed_runs(tmp_path_factory.mktemp("waiting"), WAITING, "crash_shop.timed")
