"""Each example runs, and does what its README says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(example: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "src")}
    command = [sys.executable, "main.py"]
    done = subprocess.run(
        command, cwd=EXAMPLES / example, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.rule("O8")
@pytest.mark.rule("O10")
def test_payments_a_charge_in_the_window_is_asked_twice_and_made_once() -> None:
    assert run("payments") == [
        "the worker was killed after Stripe had charged, before it could record that",
        "receipt: pi_1 over 1950",
        "calls that Stripe saw: 2, with 1 idempotency key",
        "charges that Stripe made: 1",
        "mails: ann@example.org: pi_1 over 1950",
        "notes on the run: ['possibly doubled: sell/start@1#charge']",
    ]
