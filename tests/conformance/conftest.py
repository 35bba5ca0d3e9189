"""The stores that the suite runs on: a store adds a kit here, and no tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from semel.store.interface import Store
from semel.store.sqlite import Sqlite
from semel.testing.conformance import OwnerProcess, StoreKit


class SqliteKit:
    def __init__(self, folder: Path) -> None:
        self.url = f"sqlite:///{folder / 'shop.db'}"
        self.now = 1000.0

    def store(self) -> Store:
        return Sqlite(self.url, lease_clock=lambda: self.now)


KITS: dict[str, Callable[[Path], StoreKit]] = {"sqlite": SqliteKit}


@pytest.fixture(params=sorted(KITS))
def kit(request: pytest.FixtureRequest, tmp_path: Path) -> StoreKit:
    return KITS[request.param](tmp_path)


@pytest.fixture
def store(kit: StoreKit) -> Iterator[Store]:
    store = kit.store()
    store.open()
    yield store
    store.close()


@pytest.fixture
def other(kit: StoreKit, store: Store) -> Iterator[Store]:
    """A second store on the same database, as another process has."""
    other = kit.store()
    other.open()
    yield other
    other.close()


@pytest.fixture
def owner_process(kit: StoreKit, store: Store) -> Iterator[Callable[..., OwnerProcess]]:
    """Starts processes that own runs of the store's database."""
    started: list[OwnerProcess] = []

    def start(owner: str, lease_until: float, **environment: str) -> OwnerProcess:
        started.append(OwnerProcess(kit.url, owner, lease_until, environment=environment))
        return started[-1]

    yield start
    for process in started:
        process.close()
