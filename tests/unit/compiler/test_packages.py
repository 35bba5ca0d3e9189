"""Which code is the user's own: what registers an app, and the modules that lie beside it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from semel.compiler import packages


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("_packages", "_others", "_homes"):
        monkeypatch.setattr(packages, name, type(getattr(packages, name))(getattr(packages, name)))
    packages._distributions.cache_clear()
    before = set(sys.modules)
    yield tmp_path
    packages._distributions.cache_clear()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def imported(folder: Path, name: str) -> str:
    """Writes a module, or a package where the name ends with a slash, and imports it."""
    file = folder / name / "__init__.py" if name.endswith("/") else folder / f"{name}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    importlib.invalidate_caches()
    return importlib.import_module(name.strip("/")).__name__


def installed(folder: Path, distribution: str, *names: str) -> None:
    """What an installer writes down beside the modules."""
    told = folder / f"{distribution}-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (told / "RECORD").write_text("".join(f"{name}.py,,\n" for name in names))


def test_a_module_beside_the_program_is_the_programs(folder: Path) -> None:
    helper = imported(folder, "beside_helper")
    assert not packages.is_user_module(helper)
    packages.add_package(imported(folder, "beside_shop"))
    assert packages.is_user_module(helper)
    assert packages.is_user_module(imported(folder, "beside_tools/") + ".deep")
    assert helper in packages.user_packages()


def test_a_module_in_another_folder_is_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "other").mkdir()
    monkeypatch.syspath_prepend(str(folder / "other"))
    packages.add_package(imported(folder, "beside_shop"))
    assert not packages.is_user_module(imported(folder / "other", "elsewhere"))
    assert not packages.is_user_module("json")
    assert not packages.is_user_module("semel.app")


def test_a_library_that_was_installed_into_the_programs_folder_is_not(folder: Path) -> None:
    installed(folder, "vendored-client", "vendored_client")
    packages.add_package(imported(folder, "beside_shop"))
    assert not packages.is_user_module(imported(folder, "vendored_client"))
    assert packages.is_user_module(imported(folder, "beside_helper"))


def test_an_installed_program_is_all_that_its_distribution_installs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    place = tmp_path / "site-packages"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    installed(place, "the-shop", "wheel_shop", "wheel_helper")
    installed(place, "a-library", "wheel_library")
    packages.add_package(imported(place, "wheel_shop"))
    assert packages.is_user_module(imported(place, "wheel_helper"))
    assert not packages.is_user_module(imported(place, "wheel_library"))
