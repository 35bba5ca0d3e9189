"""``[tool.semel]`` of the project's ``pyproject.toml``: the packages that are the user's own, and the app to run."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from .errors import ConfigurationError

_KNOWN = frozenset({"app", "packages", "external", "passthrough", "response-headers"})


@dataclass(frozen=True, slots=True)
class Settings:
    """``app`` is ``module:name``; ``packages`` are top-level packages that are user code besides the apps' own.

    ``external`` are names of callables that leave the process (``mylib.client.*``), ``passthrough`` hosts and modules
    whose calls are never recorded, matched or refused, and ``response_headers`` headers that are recorded besides the
    usual ones.
    """

    app: str | None = None
    packages: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    passthrough: tuple[str, ...] = ()
    response_headers: tuple[str, ...] = ()
    root: Path | None = None


def load(start: Path | None = None) -> Settings:
    """The settings of the nearest ``pyproject.toml`` at or above ``start`` (the current folder).

    Raises:
        ConfigurationError: the file cannot be read, or a setting has the wrong type or name.
    """
    folder = (start or Path.cwd()).absolute()
    for candidate in (folder, *folder.parents):
        file = candidate / "pyproject.toml"
        if file.is_file():
            return _read(file)
    return Settings()


def _read(file: Path) -> Settings:
    try:
        table = tomllib.loads(file.read_text("utf-8")).get("tool", {}).get("semel", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{file} cannot be read: {error}") from None
    unknown = sorted(set(table) - _KNOWN)
    if unknown:
        raise ConfigurationError(
            f"{file}: [tool.semel] has no setting {unknown[0]!r}; it has {', '.join(sorted(_KNOWN))}"
        )
    app = table.get("app")
    if app is not None and (not isinstance(app, str) or ":" not in app):
        raise ConfigurationError(f'{file}: [tool.semel] app must be "module:name", not {app!r}')
    return Settings(
        app,
        tuple(name.partition(".")[0] for name in _names(file, table, "packages", '["shop"]')),
        _names(file, table, "external", '["mylib.client.*"]'),
        _names(file, table, "passthrough", '["telemetry.example.com", "redis.*"]'),
        _names(file, table, "response-headers", '["x-tenant"]'),
        file.parent,
    )


def _names(file: Path, table: dict[str, object], setting: str, example: str) -> tuple[str, ...]:
    given = table.get(setting, [])
    if not isinstance(given, list) or not all(isinstance(name, str) and name for name in given):
        raise ConfigurationError(f"{file}: [tool.semel] {setting} must be a list such as {example}, not {given!r}")
    return tuple(given)
