"""What the two pages on clients and scripts show is run here."""

from __future__ import annotations

import re
from pathlib import Path

from semel.errors import ErrorStatus
from semel.testing import script

PAGES = Path(__file__).parents[2] / "docs" / "how-to"

SHOP = """
from decimal import Decimal
from semel import App
from payments import payments

app = App("docs", database="sqlite:///{database}")

@app.workflow
def fulfil(reference: str, amount: Decimal) -> str:
    return payments.charge(reference, amount).id
"""


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python.*?\n(.*?)^```", (PAGES / page).read_text(), re.MULTILINE | re.DOTALL)


def test_the_pages_do_what_they_say(program, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PAYMENTS_TOKEN", "token-1")
    declared, handled = blocks("typed-client.md")
    tested, fixture = blocks("test-without-network.md")
    payments = program(declared, "payments").payments
    shop = program(SHOP.format(database=tmp_path / "docs.db"), "shop")
    try:
        names = vars(program(tested, "test_of_the_page"))
        names["test_an_order_is_charged"]()
        assert "def net()" in fixture
        with script() as net:
            net.on("GET", "https://api.payments.example/v1/charges/A-1").answer(404)
            exec(handled, {"payments": payments, "ErrorStatus": ErrorStatus})
    finally:
        shop.app.close()
        payments.close()
