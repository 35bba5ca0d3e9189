"""``workflow-effect-without-a-step``: files, processes and connections stand in steps."""

from __future__ import annotations

import pytest
from lint_programs import assert_right, assert_told

RULE = "workflow-effect-without-a-step"


@pytest.mark.rule("E")
@pytest.mark.parametrize(
    "source",
    [
        """
        with open("log", "w") as log:  #!
            log.write(order)
        """,
        'open("log", mode="ab").write(b"x")  #!',
        'path.open("a").write(order)  #!',
        "path.write_text(order)  #!",
        '(path / "a").write_bytes(b"x")  #!',
        'Path("out").mkdir()  #!',
        '(path.parent / "x").unlink(missing_ok=True)  #!',
        'target = path / "a"\ntarget.rename("b")  #!',
        "order.strip()\nwhatever(order).write_text('x')  #!",
        "os.remove(path)  #!",
        'shutil.copy("a", "b")  #!',
        'subprocess.run(["ls"])  #!',
        'subprocess.Popen(["ls"])  #!',
        'os.system("ls")  #!',
        'await asyncio.create_subprocess_exec("ls")  #!',
        'socket.create_connection(("a", 1))  #!',
        "await asyncio.open_connection('a', 1)  #!",
        "await asyncio.to_thread(shutil.rmtree, path)  #!",
        'with ThreadPoolExecutor() as pool:\n    pool.submit(os.remove, "a").result()  #!',
        'asyncio.get_running_loop().run_in_executor(None, os.remove, "a")  #!',
        'import gzip\ngzip.open("a", "wt").write(order)  #!',
        'once("a", lambda: pay(1))\nfor x in xs:\n    Path(x).touch()  #!',
        'run = subprocess.run\nrun(["ls"])  #!',
    ],
)
def test_an_effect_in_a_body_is_told(source: str) -> None:
    assert_told(source, RULE)


def test_an_effect_in_a_helper_is_told_with_the_way_that_leads_to_it() -> None:
    problem = assert_told(
        """
        def inner(x: str) -> None:
            Path("log").write_text(x)  #!
        def outer(x: str) -> None:
            inner(x)  #~
        @app.workflow
        def fulfil(order: str) -> None:
            outer(order)  #~
        """,
        RULE,
    )
    assert "inner, which fulfil leads to," in problem.message
    assert problem.fix.startswith('once("inner", lambda: inner(x))')


def test_an_effect_in_a_method_and_in_another_module_is_told() -> None:
    assert_told(
        """
        import disk
        class Shop:
            def __init__(self) -> None:
                os.mkdir("shop")  #!
            def save(self) -> None:
                os.rename("a", "b")  #!
        @app.workflow
        def fulfil(order: str) -> None:
            Shop().save()
        """,
        RULE,
    )


def test_a_helper_that_is_called_in_a_step_and_outside_of_one_is_told() -> None:
    assert_told(
        """
        def save(x: str) -> None:
            open("log", "a").write(x)  #!
        @app.workflow
        def fulfil(order: str) -> None:
            once("save", lambda: save(order))
            save(order)  #~
        """,
        RULE,
    )


def test_the_corrected_line_of_a_command_gives_what_can_be_recorded() -> None:
    assert assert_told('subprocess.run(["ls"])  #!', RULE).fix == (
        'once("run-command", lambda: subprocess.run(["ls"]).returncode)'
    )
    assert "with open" in assert_told('with open("a", "w") as f:  #!\n    f.write(order)', RULE).fix


@pytest.mark.parametrize(
    "source",
    [
        'once("save", lambda: path.write_text(order))',
        'once("save", functools.partial(path.write_text, order))',
        "def save() -> int:\n    return path.write_text(order)\nonce('save', save)",
        'open("settings").read()',
        'open("settings", "rb").read()',
        "path.read_text()",
        "path.open().read()",
        "io.StringIO().write(order)",
        'Path("out").mkdir(parents=True, exist_ok=True)',
        'os.makedirs("out", exist_ok=True)',
        'with tempfile.TemporaryDirectory() as folder:\n    (Path(folder) / "a").write_text(order)',
        'with tempfile.TemporaryDirectory() as folder:\n    open(os.path.join(folder, "a"), "w").write(order)',
        'folder = Path(tempfile.mkdtemp())\ntarget = folder / "a"\ntarget.write_text(order)',
        'print(order, file=open(os.devnull, "w"))',
        'order.replace("a", "b")\nxs.remove("a")',
        'mode = "w"\nos.path.join("a", mode)',
        "import logging\nlogging.getLogger(__name__).info(order)",
        'httpx.post("https://a.example", content=order)',
    ],
)
def test_what_stands_in_a_step_or_does_no_harm_is_not_told(source: str) -> None:
    assert_right(source)


def test_what_no_body_leads_to_is_not_told() -> None:
    assert_right(
        """
        def export() -> None:
            Path("a").write_text("x")
        def main() -> None:
            export()
        @app.workflow
        def fulfil(order: str) -> None:
            once("pay", lambda: pay(1))
        main()
        """
    )
