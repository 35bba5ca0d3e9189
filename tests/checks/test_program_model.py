"""The program model: how source is found, how calls are resolved, and what it does with files that cannot be read."""

from __future__ import annotations

import ast
import sys
import sysconfig
import types
from pathlib import Path

import pytest
from check_programs import model_of, program

from semel.checks import RULES, Place, Problem, as_dict, check_loaded, check_paths, refusals, render
from semel.compiler.model import Function, Model, Source, build, from_loaded, from_paths

SHOP = """\
from semel import App, once
app = App("shop")
def tell(x):
    once("tell", lambda: x)
"""
TWICE = SHOP + "@app.workflow\ndef fulfil(a):\n    tell(1)\n    tell(2)\n"


def body_of(model: Model) -> Function:
    assert len(model.bodies) == 1
    return model.functions[model.bodies[0].function]


def reaches(text: str, name: str, **others: str) -> bool:
    """Whether the body leads to a function of this qualified name."""
    model = model_of(text, **others)
    assert model.bodies
    return any(f.qualname == name and model.reached(f.id) for f in model.functions.values())


# ----------------------------------------------------------------------------------------------------------- discovery


def test_modules_are_named_by_their_packages(tmp_path: Path) -> None:
    for name in ("shop/__init__.py", "shop/mail/__init__.py", "shop/mail/smtp.py", "script.py", "shop/notes.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    names = sorted(source.module for source in from_paths([tmp_path]))
    assert names == ["script", "shop", "shop.mail", "shop.mail.smtp"]
    assert [source.module for source in from_paths([tmp_path / "shop" / "mail" / "smtp.py"])] == ["shop.mail.smtp"]


def test_environments_and_hidden_folders_are_left_out(tmp_path: Path) -> None:
    for name in (".venv/x.py", "env/lib/x.py", "env/pyvenv.cfg", "__pycache__/x.py", ".git/x.py", "app.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    assert [source.module for source in from_paths([tmp_path])] == ["app"]


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        from_paths([tmp_path / "nowhere"])


def test_a_file_given_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(TWICE)
    assert len(check_paths([tmp_path, tmp_path / "app.py"])) == 1


def test_another_encoding_is_read_right(tmp_path: Path) -> None:
    text = '# -*- coding: latin-1 -*-\nfrom semel import once\ndef f(x):\n    é = once("Gebühr", pay(x))\n'
    (tmp_path / "app.py").write_bytes(text.encode("latin-1"))
    [problem] = check_paths([tmp_path])
    assert "Gebühr" in problem.fix
    assert (problem.place.line, problem.place.column) == (4, 24)


@pytest.mark.parametrize(
    "data",
    [
        *(b"# coding: nonsense\nx = 1\n", b"x = '\xff'\n", b"def f(:\n", b"x = 1\x00\n", b"if x:\ny\n"),
        *(b"def f():\n    break\n", b"return 1\n", b"def f(a, a): ...\n", b"def f():\n    x = 1\n    nonlocal x\n"),
        b"def f():\n    try: ...\n    except* ValueError:\n        return\n",
    ],
)
@pytest.mark.rule("E")
def test_a_file_that_cannot_be_read_is_a_problem_and_no_crash(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bad.py").write_bytes(data)
    (tmp_path / "good.py").write_text(TWICE)
    assert sorted(problem.rule for problem in check_paths([tmp_path])) == ["cannot-parse", "helper-called-twice"]


def test_what_python_only_warns_of_is_read(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("if 1 is 1: ...\n" + TWICE)
    assert [problem.rule for problem in check_paths([tmp_path])] == ["helper-called-twice"]


def test_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_bytes(b"\xef\xbb\xbf" + TWICE.replace("\n", "\r\n").encode())
    assert [problem.place.line for problem in check_paths([tmp_path])] == [8]


def test_loaded_modules_are_read_by_their_loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "loaded_shop.py"
    file.write_text(TWICE)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = types.ModuleType("loaded_shop")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "loaded_shop", module)
    assert [source.module for source in from_loaded(frozenset({"loaded_shop"}))] == ["loaded_shop"]
    assert [problem.rule for problem in check_loaded(frozenset({"loaded_shop"}))] == ["helper-called-twice"]
    assert check_loaded(frozenset({"another"})) == []


def test_two_scripts_of_one_name_are_two_modules(tmp_path: Path) -> None:
    for folder, text in (("a", "def tell(x): ...\n"), ("b", SHOP)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mail.py").write_text(text)
        main = TWICE.replace('def tell(x):\n    once("tell", lambda: x)\n', "from mail import tell\n")
        (tmp_path / folder / "main.py").write_text(main)
    problems = check_paths([tmp_path])
    assert [Path(problem.place.file).parent.name for problem in problems] == ["b"]


# ------------------------------------------------------------------------------------------------------------- bodies


@pytest.mark.parametrize(
    "text",
    [
        "from semel import App\napp = App('x')\n@app.workflow\ndef fulfil(): ...\n",
        "from semel import App as A\nthe = A('x')\n@the.workflow(name='f')\ndef fulfil(): ...\n",
        "import semel\napp = semel.App('x')\n@app.workflow()\nasync def fulfil(): ...\n",
        "import semel\nclass Mine(semel.App): ...\napp = Mine('x')\n@app.workflow\ndef fulfil(): ...\n",
        "import other\n@other.app.workflow\ndef fulfil(): ...\n",
        "from other import app as a\n@a.workflow\ndef fulfil(): ...\n",
        "from other import *\n@app.workflow\ndef fulfil(): ...\n",
        "from other import make\napp = make()\n@app.workflow\ndef fulfil(): ...\n",
        "from other import app\ndef fulfil(): ...\napp.workflow(fulfil)\n",
        "from other import app\ndef fulfil(): ...\nrun = app.workflow(name='f')(fulfil)\n",
        "from semel import once\ndef register(app):\n    @app.workflow\n    def fulfil(): ...\n",
    ],
)
def test_a_workflow_is_found_however_its_app_is_named(text: str) -> None:
    other = "from semel import App\napp = App('x')\ndef make() -> App: return App('y')\n"
    assert body_of(model_of(text, other=other)).name == "fulfil"


def test_another_librarys_workflow_is_none_of_ours() -> None:
    text = "from hatchet import Hatchet\nh = Hatchet()\n@h.workflow\ndef fulfil(): ...\n"
    assert model_of(text).bodies == ()


# --------------------------------------------------------------------------------------------------------- resolution

CALLS = {
    "a local function": ("def f(): ...\nf()", "fulfil.<locals>.f"),
    "an imported function": ("from mail import send\nsend()", "send"),
    "a function of an imported module": ("import mail\nmail.send()", "send"),
    "a submodule": ("import pack.inner\npack.inner.deep()", "deep"),
    "a re-export": ("from pack import deep\ndeep()", "deep"),
    "a relative re-export by another name": ("import pack\npack.other()", "deep"),
    "an alias": ("import mail\ng = mail.send\ng()", "send"),
    "a constructor": ("import mail\nmail.Mailer()", "Mailer.__init__"),
    "a method of a new instance": ("import mail\nmail.Mailer().send()", "Mailer.send"),
    "an inherited method": ("import mail\nmail.Quick().send()", "Mailer.send"),
    "a method of super": ("import mail\nmail.Quick().hurry()", "Mailer.hurry"),
    "an override in a subclass": ("def f(m: mail.Mailer): m.hurry()\nf(b)", "Quick.hurry"),
    "an annotated variable": ("m: mail.Mailer = b\nm.send()", "Mailer.send"),
    "a return annotation": ("mail.make().send()", "Mailer.send"),
    "a return statement": ("mail.build().send()", "Mailer.send"),
    "an attribute set in a constructor": ("mail.Office().mailer.send()", "Mailer.send"),
    "an annotated field": ("def f(o: mail.Office): o.second.send()\nf(b)", "Mailer.send"),
    "an instance of a module": ("mail.the_mailer.send()", "Mailer.send"),
    "an item of an annotated list": ("def f(ms: list[mail.Mailer]):\n    for m in ms: m.send()\nf(b)", "Mailer.send"),
    "a value of an annotated dict": (
        "def f(ms: dict[str, mail.Mailer]):\n    for k, m in ms.items(): m.send()\nf(b)",
        "Mailer.send",
    ),
    "an item by number": ("ms = [mail.Mailer()]\nms[0].send()", "Mailer.send"),
    "enumerate": ("for i, m in enumerate([mail.Mailer()]): m.send()", "Mailer.send"),
    "unpacking": ("m, n = mail.Mailer(), 1\nm.send()", "Mailer.send"),
    "a walrus": ("if (m := mail.Mailer()): m.send()", "Mailer.send"),
    "entering a manager": ("with mail.Office() as o: o.mailer.send()", "Office.__enter__"),
    "what a manager gives": ("with mail.Office() as o: o.mailer.send()", "Mailer.send"),
    "what a generator manager gives": ("with mail.lent() as m: m.send()", "Mailer.send"),
    "a callable instance": ("mail.Office()()", "Office.__call__"),
    "a class method": ("mail.Mailer.make_one()", "Mailer.make_one"),
    "what a class method gives": ("mail.Mailer.make_one().send()", "Mailer.send"),
    "a callback": ("map(mail.send, xs)", "send"),
    "a partial given on": ("b(functools.partial(mail.send, 1))", "send"),
    "a partial called": ("p = partial(mail.send, 1)\np()", "send"),
    "a lambda given on": ("b(lambda: mail.send())", "send"),
    "a table of functions": ("table = {'a': mail.send}\ntable[a]()", "send"),
    "an optional": ("def f(m: mail.Mailer | None = None): m.send()\nf()", "Mailer.send"),
    "an annotation in quotes": ("def f(m: 'mail.Mailer'): m.send()\nf(b)", "Mailer.send"),
    "a type alias": ("Any = mail.Mailer | mail.Office\ndef f(m: Any): m.send()\nf(b)", "Mailer.send"),
    "a decorated function": ("mail.wrapped()", "wrapped"),
    "its wrapper": ("mail.wrapped()", "logged.<locals>.wrapper"),
    "a protocol": ("def f(m: mail.Sends): m.hurry()\nf(b)", "Mailer.hurry"),
    "an abstract method": ("def f(m: mail.Base): m.work()\nf(b)", "Real.work"),
    "a method by its name alone": ("b.hurry()", "Mailer.hurry"),
    "iteration": ("for x in mail.Office(): pass", "Office.__iter__"),
    "await": ("async def f(): return mail.Mailer()\n(await f()).send()", "Mailer.send"),
    "a cast": ("import typing\ntyping.cast(mail.Mailer, b).send()", "Mailer.send"),
    "a global": ("global G\nG = mail.Mailer()\nG.send()", "Mailer.send"),
    "a comprehension": ("[m.send() for m in [mail.Mailer()]]", "Mailer.send"),
}
MAIL = """\
import abc, contextlib, functools
from typing import Protocol, Self, Iterator
from dataclasses import dataclass
def send(*a): ...
class Mailer:
    def __init__(self): ...
    def send(self): ...
    def hurry(self): ...
    @classmethod
    def make_one(cls) -> Self: return cls()
class Quick(Mailer):
    def hurry(self): super().hurry()
class Sends(Protocol):
    def hurry(self): ...
class Base(abc.ABC):
    @abc.abstractmethod
    def work(self): ...
class Real(Base):
    def work(self): ...
class Office:
    second: Mailer
    def __init__(self): self.mailer = Mailer()
    def __enter__(self) -> "Office": return self
    def __exit__(self, *_): ...
    def __call__(self): ...
    def __iter__(self): yield 1
def make() -> "Mailer": ...
def build(): return Mailer()
the_mailer = Mailer()
@contextlib.contextmanager
def lent() -> Iterator[Mailer]: yield Mailer()
def logged(f):
    @functools.wraps(f)
    def wrapper(*a): return f(*a)
    return wrapper
@logged
def wrapped(): ...
"""


@pytest.mark.parametrize(("call", "name"), CALLS.values(), ids=CALLS)
def test_a_call_is_followed_to(call: str, name: str) -> None:
    text = program("import mail\n" + call)
    inner = {"pack__inner": "def deep(): ...\n"}
    model = build(
        [
            Source("shop", "shop.py", text),
            Source("mail", "mail.py", MAIL),
            Source("pack", "pack/__init__.py", "from .inner import deep\nfrom . import inner as i\nother = i.deep\n"),
            *(
                Source(module.replace("__", "."), f"{module.replace('__', '/')}.py", code)
                for module, code in inner.items()
            ),
        ]
    )
    reached = {function.qualname for function in model.functions.values() if model.reached(function.id)}
    assert name in reached, (reached, [(c.callee, c.candidates, c.certainty) for c in body_of(model).calls])


def test_what_cannot_be_resolved_is_unknown_and_never_pure() -> None:
    model = model_of(program("b()\na[1]()\nb.nobody_has_this()"))
    assert [call.certainty for call in body_of(model).calls] == ["unknown"] * 3


# ------------------------------------------------------------------------------------------------------------- reports


def test_a_problem_is_shown_with_both_lines_and_the_corrected_code() -> None:
    model = model_of(TWICE)
    text = render(refusals(model)[0], model.lines)
    assert text.startswith("shop.py:8:5: helper-called-twice (O18)")
    assert "7 |     tell(1)" in text
    assert "8 |     tell(2)" in text
    assert "for item in (1, 2):" in text
    assert "semel explain helper-called-twice" in text


def test_a_problem_can_be_shown_without_the_model(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(TWICE)
    [problem] = check_paths([tmp_path])
    assert "    tell(1)" in render(problem)


def test_a_problem_as_a_dict() -> None:
    problem = Problem("rule", "O4", "message", Place("a.py", 1, 2), (Place("b.py", 3, 4),), "fix")
    assert as_dict(problem) == {
        "rule": "rule",
        "spec": "O4",
        "message": "message",
        "place": {"file": "a.py", "line": 1, "column": 2},
        "others": [{"file": "b.py", "line": 3, "column": 4}],
        "fix": "fix",
    }


@pytest.mark.rule("E")
@pytest.mark.parametrize("rule", RULES)
def test_each_rule_has_a_page(rule: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "rules" / f"{rule}.md"
    text = page.read_text()
    assert text.startswith(f"# {rule}\n")
    for heading in ("## Why", "## The mistake", "## The fix"):
        assert heading in text


@pytest.mark.rule("E")
@pytest.mark.parametrize("rule", RULES)
def test_the_code_on_a_rules_page_is_refused_and_mended_as_it_says(rule: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / "rules" / f"{rule}.md").read_text()
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    if rule == "cannot-parse":
        return
    mistake, fix = blocks[0], blocks[1]
    assert [problem.rule for problem in refusals(build(_pages(mistake)))] == [rule], mistake
    for block in (fix, *blocks[2:]):
        ast.parse(block)
        assert refusals(build(_pages(block))) == [], block


def _pages(block: str) -> list[Source]:
    """The modules of an example: ``# mail.py`` on a line of its own starts another one."""
    sources, name, lines = [], "example", [""]
    for line in block.split("\n"):
        if line.startswith("# ") and line.endswith(".py"):
            sources.append(Source(name, f"{name}.py", "\n".join(lines)))
            name, lines = line[2:-3], []
        lines.append(line)
    return [*sources, Source(name, f"{name}.py", "\n".join(lines))]


# ------------------------------------------------------------------------------------------------ the standard library

HELPERS = """\
import argparse, ast, configparser, csv, difflib, email.message, fractions, json, pprint, shlex, statistics, string
import textwrap, tokenize, urllib.parse, zipfile, logging, shutil, tempfile, subprocess, decimal, calendar, queue
from semel import App, once
app = App("x")
@app.workflow
def fulfil(a, xs=()):
    parser = argparse.ArgumentParser()
    parser.add_argument("--x")
    parser.add_argument("--y")
    once("parse", lambda: parser.parse_args(a))
    json.dumps(a), json.dumps(xs)
    json.loads(json.dumps(json.loads(a)))
    textwrap.dedent(a), textwrap.dedent(a)
    config = configparser.ConfigParser()
    config.read(a), config.read(xs)
    with zipfile.ZipFile(a) as one, zipfile.ZipFile(a) as two:
        once("read", lambda: one.read("x") + two.read("y"))
    calendar.month(2020, 1), calendar.month(2020, 2)
    statistics.mean(xs) + statistics.mean(xs)
    shlex.split(a), shlex.split(a)
    for line in difflib.unified_diff(a, a): once("line", lambda: pprint.pformat(line) + pprint.pformat(line))
    urllib.parse.urlparse(a), urllib.parse.urlparse(a)
    return fractions.Fraction(1) + fractions.Fraction(2) == fractions.Fraction(3)
"""


@pytest.mark.rule("E")
def test_nothing_of_the_standard_library_is_refused() -> None:
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(folder.glob("*.py"))
    files += sorted(
        file for name in ("asyncio", "email", "json", "logging", "urllib") for file in folder.glob(f"{name}/*.py")
    )
    assert len(files) > 200
    sources = [*from_paths(files), Source("shop", "shop.py", HELPERS)]
    model = build(sources)
    assert refusals(model) == []
    assert sum(1 for function in model.functions.values() if model.reached(function.id)) > 100


def test_protocols_that_build_on_each_other_are_no_trouble() -> None:
    text = """
    class Reads(Protocol):
        def read_it(self): ...
    class Writes(Reads, Protocol):
        def write_it(self): ...
    class Both(Writes, Reads, Protocol):
        def read_it(self): ...
    class File(Both):
        def read_it(self): once("read", lambda: pay())
        def write_it(self): once("write", lambda: pay())
    @app.workflow
    def fulfil(file: Both):
        file.read_it()
        file.write_it()
    """
    assert reaches(program(text), "File.read_it")
    assert refusals(model_of(program(text))) == []


def test_a_class_that_is_its_own_base_is_no_trouble() -> None:
    assert refusals(model_of("class A(B): ...\nclass B(A): ...\nclass C(C): ...\ndef f(x: A): x.work()\n")) == []


def test_long_chains_are_no_trouble() -> None:
    chain = "if a == 0: tell(0)\n" + "".join(f"    elif a == {n}: tell({n})\n" for n in range(1, 900))
    total = " + ".join(["1"] * 2500)
    text = SHOP + f"@app.workflow\ndef fulfil(a):\n    {chain}    return {total}\n"
    assert refusals(model_of(text)) == []
