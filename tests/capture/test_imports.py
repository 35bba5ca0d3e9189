"""``when_imported``: told of a module once it is loaded, and nothing else of an import is changed."""

from __future__ import annotations

import importlib
import importlib.resources
import importlib.util
import inspect
import itertools
import pkgutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from semel.capture import imports
from semel.capture.imports import when_imported

_numbers = itertools.count()

Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Writes a module, or a package of it, and gives its name, which no other test uses."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(text: str = "value = 1\n", *, package: bool = False, **files: str) -> str:
        name = f"watched_{next(_numbers)}"
        if package:
            (tmp_path / name).mkdir()
            (tmp_path / name / "__init__.py").write_text(text)
            for file, inside in files.items():
                (tmp_path / name / f"{file}.py").write_text(inside)
        else:
            (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        return name

    return write


@pytest.fixture
def told() -> list[ModuleType]:
    return []


def test_a_module_that_is_loaded_is_told_of_at_once(make: Make, told: list[ModuleType]) -> None:
    module = importlib.import_module(make())
    when_imported(module.__name__, told.append)
    assert told == [module]


def test_a_module_that_is_imported_later_is_told_of_when_it_has_run(make: Make) -> None:
    name = make()
    seen: list[int] = []
    when_imported(name, lambda module: seen.append(module.value))
    assert seen == []
    importlib.import_module(name)
    importlib.import_module(name)
    assert seen == [1]


def test_the_module_is_left_as_it_would_have_been(make: Make, told: list[ModuleType]) -> None:
    name = make()
    when_imported(name, told.append)
    module = importlib.import_module(name)
    assert type(module.__loader__) is type(module.__spec__.loader)
    assert isinstance(module.__spec__.loader, SourceFileLoader)
    assert inspect.getsource(module) == "value = 1\n"
    assert pkgutil.get_loader(name) is module.__loader__ if sys.version_info < (3, 12) else True


def test_each_of_several_callbacks_is_called_in_order(make: Make) -> None:
    name = make()
    order: list[str] = []
    when_imported(name, lambda module: order.append("first"))
    when_imported(name, lambda module: order.append("second"))
    importlib.import_module(name)
    assert order == ["first", "second"]


def test_a_submodule_is_told_of_without_its_package(make: Make, told: list[ModuleType]) -> None:
    name = make("", package=True, inner="value = 2\n", other="")
    when_imported(f"{name}.inner", told.append)
    importlib.import_module(f"{name}.other")
    assert told == []
    inner = importlib.import_module(f"{name}.inner")
    assert told == [inner]


def test_a_reload_and_a_new_import_are_told_of_again(make: Make, told: list[ModuleType]) -> None:
    name = make()
    when_imported(name, told.append)
    module = importlib.import_module(name)
    assert importlib.reload(module) is module
    del sys.modules[name]
    again = importlib.import_module(name)
    assert told == [module, module, again]
    assert isinstance(again.__loader__, SourceFileLoader)


def test_an_import_that_fails_is_not_told_of_and_can_be_tried_again(
    make: Make, told: list[ModuleType], tmp_path: Path
) -> None:
    name = make("raise RuntimeError('not yet')\n")
    when_imported(name, told.append)
    with pytest.raises(RuntimeError, match="not yet"):
        importlib.import_module(name)
    assert told == []
    assert name not in sys.modules
    (tmp_path / f"{name}.py").write_text("value = 'now, and of another length'\n")
    importlib.invalidate_caches()
    assert told == [importlib.import_module(name)]


def test_an_error_of_the_callback_fails_the_import(make: Make) -> None:
    name = make()

    def refuse(module: ModuleType) -> None:
        raise LookupError("cannot be patched")

    when_imported(name, refuse)
    with pytest.raises(LookupError, match="cannot be patched"):
        importlib.import_module(name)
    assert name not in sys.modules


def test_a_module_that_is_missing_is_missing_as_ever(told: list[ModuleType]) -> None:
    when_imported("watched_and_missing", told.append)
    assert importlib.util.find_spec("watched_and_missing") is None
    with pytest.raises(ModuleNotFoundError, match="No module named 'watched_and_missing'"):
        importlib.import_module("watched_and_missing")


def test_the_spec_of_a_module_that_is_only_looked_for_can_be_used(make: Make, told: list[ModuleType]) -> None:
    name = make("value = 3\n")
    when_imported(name, told.append)
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    assert spec.loader.get_source(name) == "value = 3\n"  # type: ignore[attr-defined]
    assert spec.loader.get_data(spec.origin).startswith(b"value")  # type: ignore[attr-defined]
    assert not spec.loader.is_package(name)  # type: ignore[attr-defined]
    assert not hasattr(spec.loader, "no_such_method")
    assert told == []
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert told == [module]


def test_a_module_in_a_zip_is_told_of_and_its_neighbours_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: list[ModuleType]
) -> None:
    archive = tmp_path / "library.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("zipped_watched/__init__.py", "value = 4\n")
        file.writestr("zipped_watched/data.txt", "kept")
        file.writestr("zipped_other.py", "value = 5\n")
    monkeypatch.syspath_prepend(str(archive))
    when_imported("zipped_watched", told.append)
    other = importlib.import_module("zipped_other")
    watched = importlib.import_module("zipped_watched")
    assert told == [watched]
    assert type(watched.__loader__) is type(other.__loader__)
    assert importlib.resources.files(watched).joinpath("data.txt").read_text() == "kept"
    assert pkgutil.get_data("zipped_watched", "data.txt") == b"kept"


def test_the_resources_of_a_package_are_found(make: Make, told: list[ModuleType], tmp_path: Path) -> None:
    name = make("", package=True)
    (tmp_path / name / "data.txt").write_text("kept")
    when_imported(name, told.append)
    assert importlib.resources.files(name).joinpath("data.txt").read_text() == "kept"
    assert [module.name for module in pkgutil.iter_modules([str(tmp_path)]) if module.name == name] == [name]
    assert told


def test_a_namespace_package_is_imported_as_ever(tmp_path: Path, make: Make, told: list[ModuleType]) -> None:
    name = make()
    (tmp_path / "spaced").mkdir()
    (tmp_path / f"{name}.py").rename(tmp_path / "spaced" / "inner.py")
    when_imported("spaced", told.append)
    when_imported("spaced.inner", told.append)
    importlib.invalidate_caches()
    inner = importlib.import_module("spaced.inner")
    assert list(sys.modules["spaced"].__path__) == [str(tmp_path / "spaced")]
    assert told == [inner]


def test_an_extension_and_a_builtin_module_are_told_of() -> None:
    text = """
import importlib, sys
from semel.capture.imports import when_imported
for name in ("_zoneinfo", "_testcapi", "audioop", "xxlimited", "_elementtree"):
    sys.modules.pop(name, None)
told = []
when_imported("_elementtree", told.append)
import _elementtree
assert told == [_elementtree], told
assert type(_elementtree.__loader__).__name__ != "_Telling", _elementtree.__loader__
"""
    run(text)


def test_a_module_run_as_a_script_is_run_as_ever(make: Make, tmp_path: Path) -> None:
    name = make("print('ran as', __name__)\n")
    text = f"""
import runpy
from semel.capture.imports import when_imported
when_imported({name!r}, lambda module: print("told"))
runpy.run_module({name!r}, run_name="__main__")
"""
    assert run(text, tmp_path) == "ran as __main__\n"


def test_a_module_that_pytest_rewrites_is_told_of_and_still_rewritten(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import pytest\n"
        "pytest.register_assert_rewrite('checks_watched')\n"
        "from semel.capture.imports import when_imported\n"
        "told = []\n"
        "when_imported('checks_watched', told.append)\n"
    )
    (tmp_path / "checks_watched.py").write_text("def same(a, b):\n    assert a == b\n")
    (tmp_path / "test_it.py").write_text(
        "import checks_watched, conftest, pytest\n"
        "def test_it():\n"
        "    assert conftest.told == [checks_watched]\n"
        "    with pytest.raises(AssertionError, match='assert 1 == 2'):\n"
        "        checks_watched.same(1, 2)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment(),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_module_that_another_thread_is_loading_is_waited_for(make: Make) -> None:
    text = """
    import watched_gate
    watched_gate.begun.set()
    watched_gate.go_on.wait()
    value = 6
    """
    gate = ModuleType("watched_gate")
    gate.begun, gate.go_on = threading.Event(), threading.Event()  # type: ignore[attr-defined]
    sys.modules["watched_gate"] = gate
    name = make(inspect.cleandoc(text))
    values: list[int] = []
    loading = threading.Thread(target=importlib.import_module, args=(name,))
    loading.start()
    gate.begun.wait()
    asking = threading.Thread(target=when_imported, args=(name, lambda module: values.append(module.value)))
    asking.start()
    gate.go_on.set()
    loading.join()
    asking.join()
    assert values == [6]


def test_a_module_that_watches_itself_is_told_of_at_the_next_import(make: Make, told: list[ModuleType]) -> None:
    sys.modules["watched_told"] = holder = ModuleType("watched_told")
    holder.told = told  # type: ignore[attr-defined]
    name = make(
        "import watched_told\n"
        "from semel.capture.imports import when_imported\n"
        "when_imported(__name__, watched_told.told.append)\n"
        "assert watched_told.told == []\n"
    )
    module = importlib.import_module(name)
    importlib.import_module(make())
    assert told == [module]


def test_many_threads_that_watch_and_import_at_once_are_each_told_once(make: Make) -> None:
    name = make()
    counts: list[ModuleType] = []
    start = threading.Barrier(8)

    def watch() -> None:
        start.wait()
        when_imported(name, counts.append)

    def load() -> None:
        start.wait()
        importlib.import_module(name)

    threads = [threading.Thread(target=watch if number % 2 else load) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [sys.modules[name]] * 4


def test_a_module_that_puts_another_object_in_its_place_is_told_of_as_that(make: Make) -> None:
    name = make("import sys\nclass Facade:\n    value = 7\nsys.modules[__name__] = Facade()\n")
    seen: list[int] = []
    when_imported(name, lambda module: seen.append(module.value))
    importlib.import_module(name)
    assert seen == [7]


def test_a_finder_that_comes_first_and_asks_the_others_is_told_through(make: Make, told: list[ModuleType]) -> None:
    name = make()
    when_imported(name, told.append)

    class Asking:
        busy = False

        def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
            if self.busy or fullname != name:
                return None
            self.busy = True
            try:
                return importlib.util.find_spec(fullname)
            finally:
                self.busy = False

    asking = Asking()
    sys.meta_path.insert(0, asking)
    try:
        module = importlib.import_module(name)
    finally:
        sys.meta_path.remove(asking)
    assert told == [module]


def test_names_that_are_not_watched_are_left_to_the_other_finders() -> None:
    assert imports._finder.find_spec("nobody_watches_this", None) is None
    assert sys.meta_path.count(imports._finder) <= 1


def run(text: str, *paths: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, env=environment(*paths)
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def environment(*paths: Path) -> dict[str, str]:
    import os

    source = str(Path(imports.__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([source, *map(str, paths)])}
