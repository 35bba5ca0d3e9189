"""``semel model``: what of the program is a step, found from the source alone (rule A9)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .application import app_option
from .check import sources_of_app
from .group import NO
from .output import console, print_json
from .sources import program

if TYPE_CHECKING:
    from rich.tree import Tree

    from semel.checks.verdict import BodyVerdict, FunctionVerdict, Unresolved, Verdict

_SHOWN = 20  # unresolved calls, and functions, that are listed without --all


@click.command("model", short_help="Show which calls are steps, and their paths.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--format",
    "picture",
    type=click.Choice(["mermaid", "dot", "svg"]),
    help="Draw the states of entity workflows, and what leads from one to another.",
)
@click.option("--all", "everything", is_flag=True, help="List all functions and calls, also those no body leads to.")
@app_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    as_json: bool,
    picture: str | None,
    everything: bool,
    target: str | None,
) -> None:
    """Show every body with the paths of its steps, every function that is a step and why, and every call that could
    not be resolved. Nothing is imported.

    PATHS are files and folders that belong to one program; without any, the same as for semel check.
    """
    from semel.checks.verdict import verdict
    from semel.checks.verdict_json import as_dict

    model = program(paths or sources_of_app(target))
    if picture is not None:
        from semel.checks.pictures import PICTURES

        if not model.entities:
            click.echo(
                "there is no entity workflow to draw: no class that derives from Workflow and tracks a column", err=True
            )
            ctx.exit(NO)
        click.echo(PICTURES[picture](model.entities), nl=False)
        return
    told = verdict(model)
    if as_json:
        print_json(as_dict(told))
    else:
        _print(told, everything=everything)


def _print(told: Verdict, *, everything: bool) -> None:
    from rich.text import Text

    out = console()
    for body in told.bodies:
        out.print(_tree(body), soft_wrap=True)
        out.print()
    if not told.bodies:
        out.print(Text("no workflow was found", "yellow"))
    functions = [f for f in told.functions if f.durability != "None" and (everything or f.reached)]
    if functions:
        out.print(Text("Functions", "bold"))
        for function in functions if everything else functions[:_SHOWN]:
            out.print(_function(function), soft_wrap=True)
        _rest(len(functions), everything)
        out.print()
    unresolved = [call for call in told.unresolved if everything or call.reached]
    if unresolved:
        out.print(Text(f"Not resolved ({len(unresolved)}): caught when it happens", "bold"))
        for call in unresolved if everything else unresolved[:_SHOWN]:
            out.print(_unresolved(call), soft_wrap=True)
        _rest(len(unresolved), everything)
    for file in told.unreadable:
        out.print(Text(f"{file.place.file}:{file.place.line}: cannot be read: {file.reason}", "red"), soft_wrap=True)


def _rest(count: int, everything: bool) -> None:
    if count > _SHOWN and not everything:
        console().print(f"  … and {count - _SHOWN} more: semel model --all")


def _tree(body: BodyVerdict) -> Tree:
    """The steps below the calls that lead to them."""
    from rich.text import Text
    from rich.tree import Tree

    head = Text.assemble((body.path, "bold"), (f"  {_where(body.function.place)}", "dim"))
    root = Tree(head)
    nodes = {body.path: root}
    for step in body.steps:
        scope, _, name = step.path.partition("#")
        doubt = "" if step.certain else " (perhaps)"
        line = Text.assemble((f"#{name}", "green"), doubt, (f"  {_where(step.place)}", "dim"))
        _node(nodes, scope).add(line)
    if not body.steps:
        root.add(Text("no steps", "dim"))
    if not body.complete:
        root.add(Text("… and more: a function calls itself, or there are too many ways", "dim"))
    return root


def _node(nodes: dict[str, Tree], scope: str) -> Tree:
    found = nodes.get(scope)
    if found is None:
        from rich.text import Text

        above, _, name = scope.rpartition("/")
        if scope.endswith("[*]") and scope[:-3] in nodes:  # the passes of a loop in the function itself
            above, name = scope[:-3], "[*]"
        found = nodes[scope] = _node(nodes, above).add(Text(name))
    return found


def _function(told: FunctionVerdict) -> object:
    from rich.text import Text

    name = f"{told.function.module}.{told.function.segment}"
    doubt = "" if told.certain else " (perhaps)"
    route = " → ".join(f"{hop.call} ({_where(hop.place)})" for hop in told.route)
    return Text.assemble(
        f"  {name}: ", (told.durability, "green"), f" via {told.via}{doubt}", (f"  {route}" if route else "", "dim")
    )


def _unresolved(call: Unresolved) -> object:
    from rich.text import Text

    text = call.call.split("\n")[0]
    return Text.assemble((f"  {_where(call.place)}", "dim"), f"  {text}(…): {call.why}")


def _where(place: object) -> str:
    from semel.compiler.model import Place

    assert isinstance(place, Place)
    return f"{place.file}:{place.line}"
