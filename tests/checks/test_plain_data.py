"""What the model knows of plain data: a call of it leads nowhere, so it is not told as one that is not resolved."""

from __future__ import annotations

import pytest
from check_programs import model_of

from semel.checks.verdict import verdict

HEAD = """\
import base64, csv, hashlib, json, os, re, secrets, subprocess, time, uuid
import datetime as dt
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
import aiohttp, httpx, requests, semel
from semel import App, once
app = App("shop")
class Money:
    def pay(self):
        once("pay", lambda: 1)
@app.workflow
async def fulfil(order: str, names: list[str], client: aiohttp.ClientSession, anything):
"""

KNOWN = [
    "datetime.now(UTC).isoformat()",
    "semel.now().isoformat().split('T')[0].strip()",
    "(datetime.now(UTC) + timedelta(days=1)).strftime('%d').strip()",
    "dt.datetime.fromisoformat(order).astimezone(UTC).date().isoformat()",
    "date.today().isoformat().split('-')",
    "os.urandom(4).hex().upper()",
    "os.environ['X'].strip()",
    "os.path.join('a', 'b').strip()",
    "uuid.uuid4().hex.upper()",
    "secrets.token_hex().upper()",
    "httpx.get('https://x.example').raise_for_status().json()['id'].strip()",
    "requests.get('https://x.example').json().get('x').upper()",
    "(await (await client.get('https://x.example')).json())['x'].strip()",
    "[item['id'].strip() for item in httpx.get('https://x.example').json()]",
    "subprocess.run(['x']).stdout.strip().decode()",
    "json.loads(order)['x'].get('y').strip()",
    "hashlib.sha256(order.encode()).hexdigest().upper()",
    "base64.b64encode(b'x').decode().strip()",
    "order.strip().upper().split(',')[0].lower()",
    "f'{order}'.strip().encode().hex().upper()",
    "(order + ':').partition(':')[0].strip()",
    "(Path('a') / order).read_text().strip()",
    "[file.name.strip() for file in Path('a').iterdir()]",
    "[line.strip().lower() for line in open('x')]",
    "re.match('a', order).group(1).strip()",
    "re.compile('a').search(order).group(1).strip()",
    "time.strftime('%d').strip()",
    "input('x').strip()",
]


def lost(expression: str) -> list[str]:
    return [call.call for call in verdict(model_of(f"{HEAD}    {expression}\n")).unresolved]


@pytest.mark.rule("A9")
@pytest.mark.parametrize("expression", KNOWN)
def test_a_call_of_plain_data_is_resolved(expression: str) -> None:
    assert lost(expression) == []


@pytest.mark.rule("A9")
@pytest.mark.parametrize(
    "expression",
    [
        "anything.go()",
        "(anything + 'x').go()",
        "json.loads(order, object_hook=anything).go()",
        "json.loads(order, cls=anything)['x'].go()",
        "secrets.choice(anything).go()",
        "json.loads(order, **anything).go()",
    ],
)
def test_what_may_be_user_code_stays_open(expression: str) -> None:
    assert [call.endswith(".go") for call in lost(expression)] == [True]


def test_a_method_of_data_is_not_taken_for_one_of_a_class_of_that_name() -> None:
    model = model_of(f"{HEAD}    json.loads(order).pay()\n    anything.pay()\n")
    pays = [call for call in model.functions["shop:fulfil"].calls if call.callee.endswith(".pay")]
    assert [call.certainty for call in pays] == ["foreign", "by name"]
