"""``[tool.semel]`` of the project's ``pyproject.toml``: the packages that are the user's own, and the app to run."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from .errors import ConfigurationError

_KNOWN = frozenset({"app", "packages"})


@dataclass(frozen=True, slots=True)
class Settings:
    """``app`` is ``module:name``; ``packages`` are top-level packages that are user code besides the apps' own."""

    app: str | None = None
    packages: tuple[str, ...] = ()
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
    packages = table.get("packages", [])
    if not isinstance(packages, list) or not all(isinstance(name, str) and name for name in packages):
        raise ConfigurationError(f'{file}: [tool.semel] packages must be a list such as ["shop"], not {packages!r}')
    return Settings(app, tuple(name.partition(".")[0] for name in packages), file.parent)
