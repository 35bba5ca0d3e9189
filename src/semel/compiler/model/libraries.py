"""Finds libraries: where their source is, and which of them are built on an HTTP client. Nothing is imported.

A library is an SDK if its installed distribution requires an HTTP client, itself or through another one.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

from .discover import decode
from .seams import HTTP_DISTRIBUTIONS, SEAMS


@cache
def is_sdk(root: str) -> bool:
    """Whether a top-level package is installed and built on an HTTP client."""
    if root in sys.stdlib_module_names or root in SEAMS or root == "semel" or not root.isidentifier():
        return False
    distribution = _distribution_of(root)
    return distribution is not None and _needs_http(distribution)


@cache
def is_installed(root: str) -> bool:
    return root in sys.stdlib_module_names or _spec_of_root(root) is not None


def source_of(module: str) -> tuple[str, str, bool] | None:
    """The file, the text and whether it is a package, of a module that is written in Python; None if there is none."""
    spec = _spec(module)
    loader = getattr(spec, "loader", None)
    if spec is None or loader is None:
        return None
    text = None
    if isinstance(loader, importlib.machinery.SourceFileLoader) and spec.origin:
        try:
            text = decode(Path(spec.origin).read_bytes()).replace("\r\n", "\n")
        except (OSError, SyntaxError, UnicodeError, LookupError):
            return None
    elif hasattr(loader, "get_source"):  # a zip file
        try:
            text = loader.get_source(module)
        except (ImportError, OSError, SyntaxError):
            return None
    if not isinstance(text, str):
        return None
    return spec.origin or module, text, spec.submodule_search_locations is not None


def folder_of(root: str) -> Path | None:
    """The folder of a package."""
    spec = _spec_of_root(root)
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None


@cache
def _spec_of_root(root: str) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.util.find_spec(root)
    except (ImportError, ValueError, AttributeError):
        return None


@cache
def _spec(module: str) -> importlib.machinery.ModuleSpec | None:
    """The spec of a module; unlike ``find_spec`` of importlib it imports no parent."""
    parent, _, _ = module.rpartition(".")
    if not parent:
        return _spec_of_root(module)
    above = _spec(parent)
    if above is None or above.submodule_search_locations is None:
        return None
    return importlib.machinery.PathFinder.find_spec(module, above.submodule_search_locations)


def _distribution_of(root: str) -> str | None:
    try:
        return metadata.distribution(root).metadata["Name"]
    except metadata.PackageNotFoundError:
        pass
    spec = _spec_of_root(root)
    origin = (spec.origin or next(iter(spec.submodule_search_locations or ()), None)) if spec is not None else None
    if origin is None:
        return None
    site = next((p for p in Path(origin).parents if any(p.glob("*.dist-info"))), None)
    for record in sorted(site.glob("*.dist-info/RECORD")) if site is not None else ():
        if _lists(record, root):
            return metadata.Distribution.at(record.parent).metadata["Name"]
    return None


def _lists(record: Path, root: str) -> bool:
    try:
        text = "\n" + record.read_text("utf-8", errors="replace")
    except OSError:
        return False
    return f"\n{root}/__init__.py" in text or f"\n{root}.py," in text


def _needs_http(distribution: str) -> bool:
    seen: set[str] = set()
    waiting = [distribution]
    while waiting:
        name = _normal(waiting.pop())
        if name in HTTP_DISTRIBUTIONS:
            return True
        if name not in seen and len(seen) < 200:
            seen.add(name)
            waiting.extend(_requirements(name))
    return False


@cache
def _requirements(distribution: str) -> tuple[str, ...]:
    """The distributions that it always requires: what only an extra asks for is left out."""
    try:
        required: Iterable[str] = metadata.distribution(distribution).requires or ()
    except metadata.PackageNotFoundError:
        return ()
    names = []
    for line in required:
        wanted, _, marker = line.partition(";")
        if "extra" not in marker:
            end = next((i for i, char in enumerate(wanted) if not (char.isalnum() or char in "-_.")), len(wanted))
            names.append(wanted[:end])
    return tuple(names)


def _normal(distribution: str) -> str:
    return distribution.lower().replace("_", "-").replace(".", "-")
