"""Where source comes from: modules of every kind give the same paths, and what has no true source is refused."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import pytest
from recorder import execute

from semel.compiler import add_package, check_compiles, preload
from semel.errors import CannotCompile

SHOP = textwrap.dedent(
    '''
    """A small program."""
    from recorder import mark
    from .helpers import notify, Order


    def fulfil(count):
        order = Order(count)
        for line in range(count):
            mark("pay")
            order.send(line)
        notify(key=lambda value: (mark("key"), value)[1])
        return order.count
    '''
)
HELPERS = textwrap.dedent(
    """
    from recorder import mark


    class Order:
        def __init__(self, count):
            self.count = count
            mark("order")

        def send(self, line):
            mark("send")


    def notify(key):
        return sorted([1], key=key)
    """
)
STEPS = [
    "w/start@1/Order.__init__#order",
    "w/start@1[0]#pay",
    "w/start@1[0]/Order.send#send",
    "w/start@1/notify/sorted[0]/fulfil.<lambda>#key",
]


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]
    importlib.invalidate_caches()


def _package(folder: FilePath, name: str) -> None:
    package = folder / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "flow.py").write_text(SHOP)
    (package / "helpers.py").write_text(HELPERS)


@pytest.mark.usefixtures("modules")
def test_a_package_in_a_folder(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    _package(tmp_path / "site-packages", "folder_shop")
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    assert execute(importlib.import_module("folder_shop.flow").fulfil, 1).steps == STEPS


@pytest.mark.usefixtures("modules")
def test_a_package_in_a_zip_file(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    _package(tmp_path, "zipped_shop")
    archive = tmp_path / "app.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for source in sorted((tmp_path / "zipped_shop").iterdir()):
            file.write(source, f"zipped_shop/{source.name}")
    monkeypatch.syspath_prepend(str(archive))
    module = importlib.import_module("zipped_shop.flow")
    assert "app.zip" in module.__file__
    assert execute(module.fulfil, 1).steps == STEPS


def test_a_script(tmp_path: FilePath) -> None:
    script = tmp_path / "script.py"
    source = SHOP.replace("from .helpers import notify, Order", "") + HELPERS
    script.write_text(source + "\nfrom recorder import execute\nprint(execute(fulfil, 1).steps)\n")
    paths = [str(FilePath(__file__).parent), str(FilePath(add_package.__code__.co_filename).parents[2])]
    command = f"import sys, runpy; sys.path[:0] = {paths!r}; sys.argv = [{str(script)!r}]"
    done = subprocess.run(
        [sys.executable, "-c", f"{command}; runpy.run_path({str(script)!r}, run_name='__main__')"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == repr(STEPS)


def test_a_program_that_is_its_own_main_module(tmp_path: FilePath) -> None:
    script = tmp_path / "script.py"
    source = SHOP.replace("from .helpers import notify, Order", "") + HELPERS
    script.write_text(source + "\nfrom recorder import execute\nprint(execute(fulfil, 1).steps)\n")
    paths = [str(FilePath(__file__).parent), str(FilePath(add_package.__code__.co_filename).parents[2])]
    done = subprocess.run(
        [sys.executable, script.name],
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(paths)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == repr(STEPS)


def _module(folder: FilePath, name: str, text: str) -> Any:
    (folder / f"{name}.py").write_text(text)
    importlib.invalidate_caches()
    return importlib.import_module(name)


ONE = "from recorder import mark\n\ndef body():\n    mark('a')\n\ndef other():\n    return body()\n"


@pytest.mark.usefixtures("modules")
def test_a_file_that_changed_under_the_process_is_refused(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = _module(tmp_path, "edited_one", ONE)
    (tmp_path / "edited_one.py").write_text(ONE.replace("'a'", "'b'"))
    with pytest.raises(CannotCompile, match=r"edited_one.py:3\).*the file changed while the process runs.*Restart"):
        execute(module.body)
    (tmp_path / "edited_one.py").write_text(ONE)
    assert execute(module.body).steps == ["w/start@1#a"]


@pytest.mark.usefixtures("modules")
def test_a_file_that_was_read_before_it_changed_stays_as_it_was(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = _module(tmp_path, "edited_two", ONE)
    add_package("edited_two")
    preload()
    (tmp_path / "edited_two.py").write_text("# nothing is left\n")
    assert execute(module.other).steps == ["w/start@1/body#a"]


@pytest.mark.usefixtures("modules")
def test_another_function_of_a_file_that_fitted_is_compiled_after_an_edit(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = _module(tmp_path, "edited_three", ONE)
    execute(module.body)
    (tmp_path / "edited_three.py").write_text("# nothing is left\n")
    assert execute(module.other).steps == ["w/start@1/body#a"]


@pytest.mark.usefixtures("modules")
def test_a_module_that_is_loaded_again_has_both_versions(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = _module(tmp_path, "edited_four", ONE)
    body, other = module.body, module.other
    execute(body)
    (tmp_path / "edited_four.py").write_text("# a comment more\n" + ONE.replace("'a'", "'bb'"))
    again = importlib.reload(module)
    assert execute(again.body).steps == ["w/start@1#bb"]
    assert execute(body).steps == ["w/start@1#a"]
    assert execute(other).steps == ["w/start@1/body#bb"]


@pytest.mark.usefixtures("modules")
def test_a_module_whose_source_is_gone_is_refused(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = _module(tmp_path, "gone", ONE)
    (tmp_path / "gone.py").unlink()
    with pytest.raises(CannotCompile, match=r"body \(.*gone.py:3\) cannot be made durable.*source is not there"):
        execute(module.body)


def test_a_function_made_by_exec_is_refused() -> None:
    names: dict[str, Any] = {"__name__": __name__}
    exec("def made(): pass", names)
    with pytest.raises(CannotCompile, match=r"made \(<string>:1\) cannot be made durable.*exec"):
        check_compiles(names["made"])


def test_a_helper_made_by_exec_is_called_as_it_is() -> None:
    names: dict[str, Any] = {"__name__": __name__}
    exec("def made(number): return number + 1", names)
    made = names["made"]

    def body() -> Any:
        return made(1)

    assert execute(body).result == 2


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(CannotCompile, match="a type cannot be made durable"):
        check_compiles(FilePath)


def test_source_that_linecache_has_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    import linecache

    text = "def cell(mark):\n    helper(mark)\n\ndef helper(mark):\n    mark('a')\n"
    name = "<ipython-input-1-abc>"
    monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(keepends=True), name))
    from recorder import mark

    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, name, "exec"), names)
    assert execute(names["cell"], mark).steps == ["w/start@1/helper#a"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters are of 3.12")
def test_generics_of_pep_695(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    text = textwrap.dedent(
        """
        from recorder import mark

        class Box[T]:
            def __init__(self, value: T) -> None:
                mark("init")
                self.value = value

            def mapped[U](self, function) -> "Box[U]":
                mark("mapped")
                return Box[U](function(self.value))

            def kind(self):
                mark("kind")
                return T.__name__

        def first[T](items: list[T]) -> T:
            mark("first")
            type Alias = list[T]
            return items[0], T.__name__, Alias.__name__

        def body():
            def inner[V](value: V = len("ab")) -> V:
                mark("inner")
                return value, V.__name__

            class Local[W](Box[W]):
                def __init__(self, value: W) -> None:
                    self.value = value

                def get(self):
                    mark("get")
                    return super().kind(), W.__name__
            return first([1]), Box[int](2).mapped(lambda v: v + 1).value, inner(), Local(1).get()
        """
    )
    module = _module(tmp_path, "generics", text)
    run = execute(module.body)
    assert run.result == ((1, "T", "Alias"), 3, (2, "V"), ("T", "W"))
    assert [step.removeprefix("w/start@1/") for step in run.steps] == [
        *("first#first", "Box.__init__#init", "Box.mapped#mapped", "Box.mapped/Box.__init__#init"),
        *("body.inner#inner", "body.Local.get#get", "body.Local.get/Box.kind#kind"),
    ]
