"""Finds the source of user code: files and folders on disk, or the modules that a process has loaded.

Nothing is imported here. Module names are worked out from the packages (folders with an ``__init__.py``) round a file.
"""

from __future__ import annotations

import ast
import io
import linecache
import os
import sys
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})


@dataclass(frozen=True, slots=True)
class Source:
    """One module's source. ``text`` has ``\\n`` line ends; ``fault`` says why it could not be read, if so."""

    module: str
    file: str
    text: str
    fault: str | None = None


def from_paths(paths: Iterable[str | os.PathLike[str]]) -> list[Source]:
    """The Python files among the paths and below the folders among them; virtual environments are left out.

    Raises FileNotFoundError for a path that is not there.
    """
    seen: dict[Path, Source] = {}
    for given in paths:
        path = Path(given)
        if not path.exists():
            raise FileNotFoundError(f"there is no {path}")
        for file in _python_files(path) if path.is_dir() else [path]:
            key = file.resolve()
            if key not in seen:
                seen[key] = read(file)
    return list(seen.values())


def from_loaded(packages: frozenset[str]) -> list[Source]:
    """The source of the loaded modules whose top-level name is one of ``packages``, ``__main__`` included."""
    found = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in packages or not isinstance(module, ModuleType):
            continue
        source = _loaded(name, module)
        if source is not None:
            found.append(source)
    return found


def read(file: Path) -> Source:
    """The source in one file, decoded as its encoding line says (PEP 263)."""
    module = _module_name(file)
    try:
        data = file.read_bytes()
    except OSError as error:
        return Source(module, str(file), "", f"cannot be read: {error.strerror or error}")
    try:
        return Source(module, str(file), decode(data))
    except (SyntaxError, UnicodeError, LookupError) as error:
        return Source(module, str(file), "", str(error))


def decode(data: bytes) -> str:
    """Source text of the bytes of a Python file. Raises SyntaxError, UnicodeError or LookupError."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return _universal(data.decode(encoding))


def _universal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _python_files(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        here = Path(root)
        folders[:] = sorted(name for name in folders if not _skipped(here, name))
        for name in sorted(files):
            if name.endswith((".py", ".pyw")) and not name.startswith("."):
                yield here / name


def _skipped(parent: Path, name: str) -> bool:
    folder = parent / name
    if name.startswith(".") or name in _SKIPPED or (folder / "pyvenv.cfg").exists() or (folder / "conda-meta").exists():
        return True
    # What a build leaves beside pyproject.toml holds copies of the program.
    built = name in ("build", "dist") and ((parent / "pyproject.toml").exists() or (parent / "setup.py").exists())
    return built and not (folder / "__init__.py").exists()


def _module_name(file: Path) -> str:
    full = file.resolve()
    parts = [] if full.stem == "__init__" else [full.stem]
    folder = full.parent
    while (folder / "__init__.py").exists() and folder.name.isidentifier():
        parts.append(folder.name)
        folder = folder.parent
    if len(parts) <= 1 and not (full.parent / "__init__.py").exists():
        # A folder without __init__.py may be a namespace package: under `src`, or beside pyproject.toml, it has a name.
        parts = [*parts[:1], *_namespace(full.parent)]
    return ".".join(reversed(parts)) or full.parent.name


def _namespace(folder: Path) -> list[str]:
    names: list[str] = []
    while folder.name.isidentifier() and len(names) < 6:
        if folder.name == "src" or (folder / "pyproject.toml").exists():
            return names
        names.append(folder.name)
        folder = folder.parent
    return names if (folder / "pyproject.toml").exists() else []


def _loaded(name: str, module: ModuleType) -> Source | None:
    file = getattr(module, "__file__", None)
    text = _text_of(name, module, file)
    if text is None:
        return None
    return Source(name, file or f"<{name}>", _universal(text))


def _text_of(name: str, module: ModuleType, file: str | None) -> str | None:
    spec = getattr(module, "__spec__", None)
    loader = getattr(spec, "loader", None) or getattr(module, "__loader__", None)
    get_source = getattr(loader, "get_source", None)
    if get_source is not None:
        try:
            source = get_source(getattr(spec, "name", None) or name)
        except (ImportError, OSError, SyntaxError, UnicodeError):
            source = None
        if isinstance(source, str):
            return source
    if file is None:
        return None
    lines = linecache.getlines(file, module.__dict__)
    return "".join(lines) if lines else None


def parse(source: Source) -> ast.Module:
    """The syntax tree of a source that Python can compile.

    Raises SyntaxError, also where the parser gives up for another reason.
    """
    try:
        tree = ast.parse(source.text, source.file)
        # The grammar lets through what only the compiler refuses: a `break` outside of a loop.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(tree, source.file, "exec", dont_inherit=True)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error) or "too deeply nested", (source.file, 1, 1, "")) from error
    return tree
