"""``# semel: ignore[rule] reason``: a finding that a person has looked at, on its own line or the line above.

The reason is required, and an ignore that ignores nothing is told, so that what is written down stays true. Refusals
cannot be ignored.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from semel.compiler.model import Model, Module

from . import RULES
from .lints import LINTS
from .problem import Place, Problem

WITHOUT_REASON, UNKNOWN_RULE, UNUSED = "ignore-without-reason", "ignore-unknown-rule", "ignore-unused"

#: What is told of the ignores themselves; each has a page in the documentation.
OF_IGNORES = (WITHOUT_REASON, UNKNOWN_RULE, UNUSED)

_MARK = re.compile(r"#\s*semel:\s*ignore\b(?:\s*\[(?P<rules>[^\]]*)\])?(?P<reason>.*)")


@dataclass(frozen=True, slots=True)
class Ignore:
    """One comment. It holds for findings on ``line``, of the ``rules`` that it names."""

    place: Place
    line: int
    rules: tuple[str, ...]
    reason: str


def ignores(model: Model) -> list[Ignore]:
    """All of a program."""
    return [ignore for module in model.modules.values() for ignore in _of_module(module)]


def without_ignored(problems: list[Problem], found: list[Ignore], judged: Collection[str]) -> list[Problem]:
    """The problems that no ignore names, and what is wrong with ignores; ``judged`` are the rules that were asked."""
    by_line: dict[tuple[str, int], list[Ignore]] = {}
    for ignore in found:
        by_line.setdefault((ignore.place.file, ignore.line), []).append(ignore)
    used: set[tuple[Ignore, str]] = set()
    left = []
    for problem in problems:
        naming = [i for i in by_line.get((problem.place.file, problem.place.line), []) if problem.rule in i.rules]
        used.update((ignore, problem.rule) for ignore in naming)
        if not naming or problem.rule in RULES:
            left.append(problem)
    for ignore in found:
        told = {rule for rule in ignore.rules if (ignore, rule) in used}
        left += [p for p in _wrong(ignore, told, judged) if p.rule in judged]
    return sorted(left, key=lambda problem: (problem.place, problem.rule))


def _of_module(module: Module) -> Iterator[Ignore]:
    if "semel" not in module.text:
        return
    waiting: list[tuple[Place, re.Match[str]]] = []
    code_on = 0
    for token in _tokens(module.text):
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            found = _MARK.search(token.string)
            if found is not None:
                place = Place(module.file, line, token.start[1] + found.start() + 1)
                if code_on == line:
                    yield _ignore(place, line, found)
                else:
                    waiting.append((place, found))
        elif token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            for place, found in waiting:
                yield _ignore(place, line, found)
            waiting.clear()
            code_on = token.end[0]


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):  # what follows cannot be read, and has been checked by nobody
        return


def _ignore(place: Place, line: int, found: re.Match[str]) -> Ignore:
    rules = tuple(rule.strip() for rule in (found["rules"] or "").split(",") if rule.strip())
    reason = found["reason"].partition("#")[0].strip(" \t:-\u2013\u2014")
    return Ignore(place, line, rules, reason)


def _wrong(ignore: Ignore, used: Collection[str], judged: Collection[str]) -> Iterator[Problem]:
    shown = ", ".join(ignore.rules) or "rule"
    if not any(character.isalpha() for character in ignore.reason):
        message = (
            f"Why {shown} may be ignored here is not said. Whoever changes this code later cannot tell whether it "
            f"still may. Write the reason behind the bracket."
        )
        fix = f"# semel: ignore[{shown}] the reason why this is right here"
        yield Problem(WITHOUT_REASON, "E", message, ignore.place, (), fix)
    if not ignore.rules:
        message = "This ignore names no rule, so it ignores nothing. Name the rule that is told on this line."
        fix = f"# semel: ignore[rule] {ignore.reason or 'the reason'}"
        yield Problem(UNKNOWN_RULE, "E", message, ignore.place, (), fix)
    for rule in ignore.rules:
        if rule in RULES or rule in OF_IGNORES:
            message = (
                f"{rule} cannot be ignored: a program with it is refused when it starts, whatever a comment says."
                if rule in RULES
                else f"{rule} is about the ignores themselves and cannot be ignored. Put the comment right instead."
            )
            yield Problem(UNKNOWN_RULE, "E", message, ignore.place, (), "")
        elif rule not in LINTS:
            message = f"There is no lint {rule!r}, so this ignores nothing. The lints are {', '.join(LINTS)}."
            yield Problem(UNKNOWN_RULE, "E", message, ignore.place, (), "")
        elif rule not in used and rule in judged:
            message = (
                f"Nothing of {rule} is found on line {ignore.line}, so this ignores nothing. What it was for has been "
                f"put right, or stands on another line now, where it is told. Take it out."
            )
            yield Problem(UNUSED, "E", message, ignore.place, (), "")
