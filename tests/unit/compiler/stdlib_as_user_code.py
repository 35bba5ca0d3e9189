"""Treats modules of the standard library as user code; prints as JSON what a test looks at. Run as a script."""

from __future__ import annotations

import argparse
import ast
import configparser
import csv
import dataclasses
import difflib
import fractions
import importlib
import inspect
import io
import json
import optparse
import pprint
import shlex
import statistics
import string
import textwrap
import tokenize
import types
from collections.abc import Callable, Iterator
from typing import Any

from recorder import execute

from semel.compiler import add_package, twins

MODULES = [
    "argparse",
    "ast",
    "json.decoder",
    "json.encoder",
    "difflib",
    "textwrap",
    "tokenize",
    "shlex",
    "configparser",
    "pprint",
    "fractions",
    "statistics",
    "inspect",
    "asyncio.tasks",
    "asyncio.taskgroups",
    "asyncio.base_events",
    "contextlib",
    "dataclasses",
    "csv",
    "string",
    "enum",
    "optparse",
    "email.message",
    "urllib.parse",
    "http.client",
    "ipaddress",
    "html.parser",
    "logging",
    "unittest.mock",
    "_pydecimal",
]


def functions_of(module: types.ModuleType) -> Iterator[types.FunctionType]:
    """The functions and methods that a module defines."""
    seen: set[int] = set()

    def inside(holder: Any) -> Iterator[types.FunctionType]:
        for value in list(vars(holder).values()):
            found = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if id(found) in seen or getattr(found, "__module__", None) != module.__name__:
                continue
            seen.add(id(found))
            if isinstance(found, types.FunctionType) and found.__code__.co_filename == module.__file__:
                yield found
            elif isinstance(found, type):
                yield from inside(found)

    yield from inside(module)


def lines_of(code: types.CodeType) -> set[int | None]:
    return {line for _, _, line in code.co_lines()} - {None}


def build_all() -> dict[str, Any]:
    """Builds the twin of every function."""
    built, failed, moved = 0, [], []
    for name in MODULES:
        module = importlib.import_module(name)
        for function in functions_of(module):
            try:
                template = twins.demand_template(function)
                if template.code is not None:
                    template.twin(function)
                    if lines_of(template.code) != lines_of(function.__code__):
                        moved.append(function.__qualname__)
                built += 1
            except Exception as error:
                failed.append(f"{name}.{function.__qualname__}: {error!r}")
    return {"built": built, "failed": failed, "moved": moved}


def with_argparse() -> Any:
    parser = argparse.ArgumentParser("shop", description="Sells things.")
    parser.add_argument("--count", type=int, default=1, help="how many")
    commands = parser.add_subparsers(dest="command")
    buy = commands.add_parser("buy", aliases=["b"])
    buy.add_argument("items", nargs="+", choices=["a", "b"])
    group = buy.add_mutually_exclusive_group()
    group.add_argument("--cash", action="store_true")
    group.add_argument("--card", action="append")
    return vars(parser.parse_args(["--count", "3", "buy", "a", "b", "--card", "x"])), parser.format_help()


def with_ast() -> Any:
    tree = ast.parse(inspect.getsource(build_all))
    return ast.unparse(tree), ast.dump(tree), [type(node).__name__ for node in ast.walk(tree)]


def with_json() -> Any:
    data = {"a": [1, 2.5, None, True, {"b": "ü\n"}], "c": {"d": []}}
    encoder = json.encoder.JSONEncoder(indent=2, sort_keys=True)
    return "".join(encoder.iterencode(data)), json.JSONDecoder().decode(json.dumps(data))


def with_difflib() -> Any:
    one, two = ["a", "b", "c", "d", "e", "f"], ["a", "x", "c", "d", "f", "g"]
    return (
        list(difflib.unified_diff(one, two, "one", "two")),
        list(difflib.ndiff(one, two)),
        difflib.get_close_matches("appel", ["ape", "apple", "peach"]),
        difflib.SequenceMatcher(None, "abcd", "bcde").ratio(),
    )


def with_textwrap() -> Any:
    text = "this is a text that is rather long and must be wrapped " * 5
    return (
        textwrap.wrap(text, 30),
        textwrap.shorten(text, 40),
        textwrap.dedent("  a\n    b\n"),
        textwrap.indent(text, "> "),
    )


def with_tokenize() -> Any:
    source = inspect.getsource(functions_of)
    return [tuple(token)[:4] for token in tokenize.generate_tokens(io.StringIO(source).readline)]


def with_shlex() -> Any:
    return shlex.split("a 'b c' \"d e\" f\\ g # h", comments=True), shlex.join(["a b", "c"]), list(shlex.shlex("x=y;z"))


def with_configparser() -> Any:
    parser = configparser.ConfigParser()
    parser.read_string("[a]\nx = 1\ny = %(x)s2\n[b]\nlong = one\n  two\n")
    out = io.StringIO()
    parser.write(out)
    return {name: dict(parser[name]) for name in parser.sections()}, parser.getint("a", "y"), out.getvalue()


def with_pprint() -> Any:
    return pprint.pformat({"a": list(range(30)), "b": {"c": "text " * 30}, "d": dataclasses.field}, width=40)


def with_numbers() -> Any:
    half = fractions.Fraction(1, 2)
    data = [1.5, 2.5, 2.75, 3.25, 4.75]
    return (
        str(half + fractions.Fraction("3/7") * 2),
        fractions.Fraction(3.14159).limit_denominator(100).numerator,
        [statistics.mean(data), statistics.median(data), statistics.stdev(data), statistics.quantiles(data)],
        statistics.NormalDist(3, 2).cdf(4),
        str(statistics.linear_regression([1, 2, 3], [2, 4, 5])),
    )


def with_text() -> Any:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["a", "b"])
    writer.writeheader()
    writer.writerows([{"a": 1, "b": "x,y"}])
    parser = optparse.OptionParser("usage")
    parser.add_option("-n", type="int", dest="number")
    options, rest = parser.parse_args(["-n", "3", "z"])
    return (
        string.Template("$a ${b}").substitute(a=1, b=2),
        string.Formatter().format("{0!r:>5} {x[0]}", "q", x=[7]),
        list(csv.DictReader(io.StringIO(out.getvalue()))),
        (options.number, rest),
        str(inspect.signature(functions_of)),
    )


WORK: list[Callable[[], Any]] = [
    *(with_argparse, with_ast, with_json, with_difflib, with_textwrap, with_tokenize, with_shlex),
    *(with_configparser, with_pprint, with_numbers, with_text),
]


def work_as_twins() -> dict[str, str]:
    """Does real work plainly and as twins: by name, how the results compare."""
    found = {}
    for work in WORK:
        plain = repr(work())
        try:
            again = repr(execute(work).result)
        except Exception as error:
            found[work.__name__] = f"{type(error).__name__}: {error}"
        else:
            found[work.__name__] = "equal" if again == plain else f"{again} is not {plain}"
    return found


if __name__ == "__main__":
    for name in MODULES:
        add_package(name.partition(".")[0])
    result = build_all()
    result["work"] = work_as_twins()
    print(json.dumps(result))
