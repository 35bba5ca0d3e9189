"""From a running function to its syntax tree: files are read and indexed once, nodes found by name and first line.

A file's source is taken from the snapshot that ``preload`` made, else from the disk, the module's loader (zip files)
or ``linecache`` (IPython, doctest, the REPL). An index is kept for ever once the code of one of its
functions was found equal to the running code; until then a file that changed is read again.
"""

from __future__ import annotations

import ast
import importlib.util
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from types import CodeType
from typing import Any, cast

from .packages import is_user_module

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Found:
    """A function's node and the name of the class that encloses it, if any (for mangled names and ``super``)."""

    node: FunctionNode
    within_class: str | None


@dataclass(slots=True, eq=False)
class SourceFile:
    """One parsed file. ``exact`` says that compiling its nodes must give the running code.

    ``rewritten`` says that the module's loader is none of Python's own, and may have changed what it loaded.

    The interpreter compiles a method call on a name that the module imports, and ``super()`` where the module itself
    mentions it, in another way: ``imported`` and ``mentions_super``.
    """

    text: str
    functions: dict[tuple[str, int], list[Found]] = field(default_factory=dict)
    imported: tuple[str, ...] = ()
    mentions_super: bool = False
    exact: bool = True
    rewritten: bool = False


_PYTHON_S_OWN = frozenset({"_frozen_importlib", "_frozen_importlib_external", "zipimport", "importlib.machinery"})


#: Files that fitted the running code, newest first: a module that is loaded again has more than one version.
_files: dict[str, list[SourceFile]] = {}
_snapshots: dict[str, str] = {}


def preload() -> None:
    """Reads the sources of all user modules that are loaded, so that a file edited later does not disturb them."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and is_user_module(name):
            text = _read(file, vars(module))
            if text is not None:
                _snapshots[file] = text


def versions_of(code: CodeType, module_globals: dict[str, Any]) -> Iterator[SourceFile]:
    """The versions of the file that the code may have been compiled from: those that fitted others, then new ones."""
    name = code.co_filename
    known = _files.get(name, [])
    yield from known
    tried = {file.text for file in known}
    for text in _texts(name, module_globals):
        if text is not None and text not in tried:
            tried.add(text)
            file = _parse(text, name, module_globals)
            if file is not None:
                yield file


def _texts(name: str, module_globals: dict[str, Any]) -> Iterator[str | None]:
    yield _snapshots.get(name)
    yield _read(name, module_globals)


def keep(code: CodeType, file: SourceFile) -> None:
    """Keeps a file for ever: one of its functions is the running code."""
    known = _files.setdefault(code.co_filename, [])
    if file not in known:
        known.insert(0, file)


def _parse(text: str, name: str, module_globals: dict[str, Any]) -> SourceFile | None:
    try:
        tree = ast.parse(text, name)
    except (SyntaxError, ValueError):
        return None
    file = SourceFile(text)
    hook = module_globals.get("__loader__")
    kind = hook if isinstance(hook, type) else type(hook)
    if kind.__module__ != "_pytest.assertion.rewrite":
        file.rewritten = hook is not None and kind.__module__ not in _PYTHON_S_OWN
    else:
        file.exact = _rewrite_asserts(tree, text, name, hook)
    _index(tree, file, None)
    of_module = list(_module_level(tree))
    file.imported = tuple(
        sorted(
            {
                alias.asname or alias.name.partition(".")[0]
                for node in of_module
                if isinstance(node, ast.Import | ast.ImportFrom)
                for alias in node.names
                if alias.name != "*"
            }
        )
    )
    file.mentions_super = any(isinstance(node, ast.Name) and node.id == "super" for node in of_module)
    return file


def _module_level(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield child
            yield from _module_level(child)


def _read(name: str, module_globals: dict[str, Any]) -> str | None:
    try:
        return importlib.util.decode_source(FilePath(name).read_bytes())
    except (OSError, ValueError, SyntaxError):
        pass
    module = module_globals.get("__name__")
    get_source = getattr(module_globals.get("__loader__"), "get_source", None)
    if get_source is not None and not name.startswith("<"):
        try:
            return cast("str | None", get_source(module))
        except (ImportError, OSError):
            pass
    return "".join(linecache.getlines(name, module_globals)) or None


def _rewrite_asserts(tree: ast.Module, text: str, name: str, hook: Any) -> bool:
    """What pytest did to the module when it was imported; False if that cannot be repeated."""
    try:
        from _pytest.assertion.rewrite import rewrite_asserts

        rewrite_asserts(tree, text.encode(), name, hook.config)
    except Exception:
        return False
    return True


def _index(node: ast.AST, file: SourceFile, within: str | None) -> None:
    for child in ast.iter_child_nodes(node):
        inner = within
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            first = child.decorator_list[0].lineno if child.decorator_list else child.lineno
            file.functions.setdefault((child.name, first), []).append(Found(child, within))
        elif isinstance(child, ast.Lambda):
            file.functions.setdefault(("<lambda>", child.lineno), []).append(Found(child, within))
        elif isinstance(child, ast.ClassDef):
            # Decorators and bases belong to the scope round the class, but no name in them can be mangled differently
            # in a way that a function found there would show.
            inner = child.name
        _index(child, file, inner)
