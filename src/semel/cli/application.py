"""Which app a command is about: ``--app module:name``, or ``[tool.semel] app`` of the project."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, TypeVar

import click

from semel.errors import ConfigurationError, SemelError

if TYPE_CHECKING:
    from semel.app import App

F = TypeVar("F", bound=Callable[..., object])

_IMPORT_MACHINERY = ("<frozen importlib", importlib.__file__, __file__)


def app_option(function: F) -> F:
    """The ``--app`` option, as the parameter ``target``."""
    return click.option("--app", "target", metavar="MODULE:NAME", help="The app, for example shop:app.")(function)


def app_target(given: str | None) -> str:
    """``module:name``, from the option or the project; the folders where the module may be are put on ``sys.path``.

    Raises:
        ConfigurationError: there is neither, or it does not name a module and an attribute.
    """
    from semel.config import load

    settings = load()
    _put_on_path(Path.cwd(), settings.root)
    target = given or settings.app
    if target is None:
        raise ConfigurationError(_WHICH_APP.format(command=_command_path()))
    module, _, name = target.partition(":")
    if module.endswith(".py") or "/" in module:
        proper = module.removesuffix(".py").strip("./").replace("/", ".")
        raise ConfigurationError(
            f"the app {target!r} must name a module as in an import, and not a file: {proper}:{name or 'app'}"
        )
    if not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise ConfigurationError(f'the app must be given as MODULE:NAME, for example "shop:app", not {target!r}')
    return target


def load_app(given: str | None) -> App:
    """Imports the app.

    Raises:
        ConfigurationError: no app is named, or what is named does not import or is no ``App``.
        SemelError: what semel has against the program itself.
    """
    from semel import config
    from semel.app import App
    from semel.compiler import add_package

    target = app_target(given)
    module_name, _, name = target.partition(":")
    module = _import(module_name, target)
    for package in config.load().packages:
        add_package(package)
    try:
        app = getattr(module, name)
    except AttributeError:
        there = [f"{module_name}:{key}" for key, value in vars(module).items() if isinstance(value, App)]
        have = f"it has {' and '.join(there)}" if there else f'write {name} = App("{module_name}") in it'
        raise ConfigurationError(f"{module_name} ({module.__file__}) has no {name!r}; {have}") from None
    if not isinstance(app, App):
        raise ConfigurationError(f"{target} is a {type(app).__qualname__} and not a semel.App")
    return app


def source_of(module: str) -> Path | None:
    """The file of a top-level module, or the folder of a package, without importing it."""
    try:
        spec = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    for folder in spec.submodule_search_locations or ():
        return Path(folder)
    return Path(spec.origin) if spec.has_location and spec.origin else None


def database_of(app: App) -> str:
    """The app's database for a person: a URL without its password."""
    from urllib.parse import urlsplit

    database = app._database
    text = database if isinstance(database, str) else str(getattr(database, "url", database))
    password = urlsplit(text).password if "@" in text else None
    return text.replace(f":{password}@", ":***@") if password else text


_WHICH_APP = """which app? Name it on the command line:

    {command} --app shop:app

or once for the project, in pyproject.toml:

    [tool.semel]
    app = "shop:app\""""


def _command_path() -> str:
    context = click.get_current_context(silent=True)
    return context.command_path if context is not None else "semel"


def _put_on_path(*folders: Path | None) -> None:
    """The current folder first, then the project's: a console script has neither."""
    for folder in reversed(folders):
        if folder is not None:
            text = os.fspath(folder)
            if text in sys.path:
                sys.path.remove(text)
            sys.path.insert(0, text)


def _import(name: str, target: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except SemelError:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise ConfigurationError(
                f"the app {target} was not found: there is no module {error.name!r} in {Path.cwd()}, and none is "
                f"installed"
            ) from None
        raise ConfigurationError(_not_imported(target, name, error)) from None
    except (Exception, SystemExit) as error:
        raise ConfigurationError(_not_imported(target, name, error)) from None


def _not_imported(target: str, module: str, error: BaseException) -> str:
    text = "".join(traceback.format_exception(type(error), error, _from_user_code(error.__traceback__)))
    return f"the app {target} cannot be loaded, because importing {module} failed:\n\n{text.rstrip()}"


def _from_user_code(tb: TracebackType | None) -> TracebackType | None:
    """The traceback from the first line that is not about finding the module."""
    while tb is not None and tb.tb_frame.f_code.co_filename.startswith(_IMPORT_MACHINERY):
        tb = tb.tb_next
    return tb
