"""What the page on clients shows is run here."""

from __future__ import annotations

import re
from pathlib import Path

from semel.errors import ErrorStatus
from semel.testing import script

PAGES = Path(__file__).parents[2] / "docs" / "how-to"


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python.*?\n(.*?)^```", (PAGES / page).read_text(), re.MULTILINE | re.DOTALL)


def test_the_page_does_what_it_says(program, monkeypatch) -> None:
    monkeypatch.setenv("PAYMENTS_TOKEN", "token-1")
    declared, handled = blocks("typed-client.md")
    payments = program(declared, "payments").payments
    try:
        with script() as net:
            net.on("GET", "https://api.payments.example/v1/charges/A-1").answer(404)
            exec(handled, {"payments": payments, "ErrorStatus": ErrorStatus})
    finally:
        payments.close()
