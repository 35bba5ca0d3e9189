"""Why a path or a function is a step or is not, in words."""

from __future__ import annotations

import pytest
from check_programs import model_of

from semel.checks.explanation import explanation, is_subject

PROGRAM = """\
import httpx, openai
from semel import App, Client, external, once, post
app = App("shop")
web = httpx.Client()
class Payments(Client):
    @post("/charges")
    def charge(self, amount): ...
@external
def legacy(x): ...
def notify(x):
    web.post("u", json=x)
def ask(x):
    return openai.OpenAI().responses.create(input=x)
def weight(x):
    return len(x)
def forward(x):
    x.go()
def record(x):
    once("record", lambda: x)
def script():
    notify(1)
@app.workflow
def fulfil(a, xs):
    for x in xs:
        notify(x)
    once("tell", lambda: ask(a))
    record(legacy(a))
"""


def words(subject: str) -> str:
    return " ".join(explanation(model_of(PROGRAM), subject).split())


@pytest.mark.parametrize(
    "path",
    [
        "fulfil/start@*[*]/notify#auto:httpx.Client.post",
        "fulfil/start@1[0]/notify#auto:httpx.Client.post",
        'fulfil/start@12[="A-1"]/notify#auto:httpx.Client.post~2',
    ],
)
def test_a_path_is_explained_whatever_its_visit_pass_and_part(path: str) -> None:
    told = words(path)
    assert told.startswith(f"{path} is an automatic step of the workflow fulfil.")
    assert "notify(…) on shop.py:25 calls shop.notify (shop.py:10)" in told
    assert 'web.post("u", json=x)' in told
    assert "made by httpx" in told
    assert "the callee's own name there, Client.post" in told
    assert "What changes the path" in told


def test_a_named_step_says_that_it_is_written_so() -> None:
    told = words("fulfil/start@3#tell")
    assert 'because it is written so: once("tell", …)' in told


def test_a_nested_step_shows_the_once_round_it_and_the_library() -> None:
    pytest.importorskip("openai")
    told = words("fulfil/start@1/tell~1/ask#auto:openai.Responses.create")
    assert 'once("tell", …) on shop.py:26' in told
    assert "Its own source shows that this leaves the process" in told


def test_a_path_that_is_not_there_names_the_nearest() -> None:
    told = words("fulfil/start@1[0]/notfy#auto:httpx.Client.post")
    assert told.startswith("No step of this program has the path")
    assert "fulfil/start@*[*]/notify#auto:httpx.Client.post" in told
    assert "There is no workflow 'ful'; there are fulfil." in words("ful/start@1#x")


@pytest.mark.parametrize("name", ["notify", "shop.notify", "shop:notify"])
def test_a_function_is_explained_by_its_route_and_its_paths(name: str) -> None:
    told = words(name)
    assert told.startswith("shop.notify (shop.py:10) leads to a call that leaves the process: httpx.Client.post.")
    assert "shop.py:11 web.post(…) leads to httpx.Client.post" in told
    assert "fulfil/start@*[*]/notify#auto:httpx.Client.post" in told


def test_an_operation_of_a_client_is_a_step_itself() -> None:
    assert "is a step: a call of it is one, named #auto:Payments.charge" in words("Payments.charge")


def test_a_declared_function_is_one_step_as_a_whole() -> None:
    assert "It is declared with @external" in words("legacy")


def test_a_function_that_leads_to_a_once_alone_says_so() -> None:
    assert 'leads to a step of its own name: once("record")' in words("record")


def test_a_function_that_is_none_says_how_to_make_it_one() -> None:
    told = words("weight")
    assert "is no step, and leads to none" in told
    assert 'once("weight", lambda: weight(…))' in told
    assert "@semel.external" in told


def test_a_function_of_which_something_is_not_known_says_what() -> None:
    assert "shop.py:17 x.go(…): `x` has no annotation" in words("forward")


def test_a_function_outside_of_every_workflow_says_so() -> None:
    assert "No workflow leads to it" in words("script")


def test_a_name_that_is_none_is_answered_with_the_nearest() -> None:
    with pytest.raises(LookupError, match=r"no function 'notfy'; is it notify"):
        words("notfy")


def test_a_rule_id_is_no_path_and_no_name() -> None:
    assert [is_subject(text) for text in ("helper-called-twice", "", "a b", "notify", "a/start@1#x")] == [
        False,
        False,
        False,
        True,
        True,
    ]
