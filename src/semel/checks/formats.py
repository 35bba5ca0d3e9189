"""Findings as others read them: a JSON document, SARIF 2.1.0, and the workflow commands of GitHub Actions.

Text for a person is ``render`` of each problem.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from semel._version import __version__

from . import RULES
from .pages import page
from .problem import Place, Problem, as_dict

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"


def as_json(problems: Sequence[Problem]) -> str:
    """One document with the keys of ``semel check --json``."""
    return json.dumps({"problems": [as_dict(problem) for problem in problems]}, indent=2)


# -------------------------------------------------------------------------------------------------------------- SARIF


def as_sarif(problems: Sequence[Problem], rules: Sequence[str], root: Path) -> str:
    """A SARIF log of one run in which ``rules`` were asked; places are relative to the folder ``root``."""
    described = sorted({*rules, *(problem.rule for problem in problems)})
    driver = {"name": "semel", "version": __version__, "rules": [_rule(rule) for rule in described]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": f"{root.absolute().as_uri()}/"}},
        "results": [_result(problem, described, root) for problem in problems],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: str) -> dict[str, object]:
    try:
        text = page(rule)
    except LookupError:
        text = f"# {rule}\n"
    summary = " ".join(line[1:].strip() for line in text.split("\n") if line.startswith(">")) or rule
    return {
        "id": rule,
        "shortDescription": {"text": summary},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": _level(rule)},
    }


def _result(problem: Problem, rules: list[str], root: Path) -> dict[str, object]:
    text = f"{problem.message}\n\nWrite:\n{problem.fix}" if problem.fix else problem.message
    result: dict[str, object] = {
        "ruleId": problem.rule,
        "ruleIndex": rules.index(problem.rule),
        "level": _level(problem.rule),
        "message": {"text": text},
        "locations": [_location(problem.place, root)],
    }
    if problem.others:
        result["relatedLocations"] = [
            {"id": number, **_location(place, root)} for number, place in enumerate(problem.others, 1)
        ]
    return result


def _location(place: Place, root: Path) -> dict[str, object]:
    relative = _relative(place.file, root)
    file: dict[str, str] = (
        {"uri": quote(relative), "uriBaseId": _ROOT}
        if relative is not None
        else {"uri": Path(place.file).absolute().as_uri()}
    )
    region = {"startLine": place.line, "startColumn": place.column}
    return {"physicalLocation": {"artifactLocation": file, "region": region}}


def _relative(file: str, root: Path) -> str | None:
    """The file from ``root`` on, with slashes; None if it is elsewhere."""
    path = Path(file).absolute()
    return path.relative_to(root.absolute()).as_posix() if path.is_relative_to(root.absolute()) else None


def _level(rule: str) -> str:
    return "error" if rule in RULES else "warning"


# ------------------------------------------------------------------------------------------------------------- GitHub


def as_github(problems: Sequence[Problem], root: Path) -> str:
    """One workflow command a line: GitHub Actions shows each beside the source line."""
    return "\n".join(_command(problem, root) for problem in problems)


def _command(problem: Problem, root: Path) -> str:
    place = problem.place
    file = _relative(place.file, root) or place.file
    settings = {"file": file, "line": str(place.line), "col": str(place.column), "title": f"semel: {problem.rule}"}
    written = ",".join(f"{name}={_escaped(value, of_a_setting=True)}" for name, value in settings.items())
    text = f"{problem.message}\n\nWrite:\n{problem.fix}" if problem.fix else problem.message
    return f"::{_level(problem.rule)} {written}::{_escaped(text)}"


def _escaped(text: str, *, of_a_setting: bool = False) -> str:
    """What would end a workflow command or one of its settings, as percent escapes; ``%`` first, as it begins them."""
    escapes = {"%": "%25", "\r": "%0D", "\n": "%0A"}
    if of_a_setting:
        escapes |= {":": "%3A", ",": "%2C"}
    return "".join(escapes.get(character, character) for character in text)
