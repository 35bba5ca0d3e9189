"""Generated programs under crashes and clock moves: no step twice but in the one window, none lost, the same results.

``SEMEL_PROPERTY_PROGRAMS`` is how many (150), ``SEMEL_PROPERTY_SEED`` the first one's seed. At full size:
``python tests/property/run_programs.py --programs 10000 --processes 2``.
"""

from __future__ import annotations

import os

import pytest
from program_sabotage import SABOTAGES, sabotaged
from program_stories import WANTED, Found, run_seeds

PROGRAMS = int(os.environ.get("SEMEL_PROPERTY_PROGRAMS", "150"))
SEED = int(os.environ.get("SEMEL_PROPERTY_SEED", "0"))


@pytest.mark.rule("O8")
@pytest.mark.rule("W1")
def test_the_invariants_hold_for_generated_programs(capsys: pytest.CaptureFixture[str]) -> None:
    counts = run_seeds(SEED, PROGRAMS)
    with capsys.disabled():
        print(f"\n{counts['programs']} programs from the seed {SEED}:")
        for name, number in sorted(counts.items()):
            print(f"{number:9} {name}")
    assert not [name for name in WANTED if not counts[name]]


@pytest.mark.parametrize("name", SABOTAGES)
def test_a_mistake_in_the_engine_is_found(name: str) -> None:
    with sabotaged(name), pytest.raises(Found):
        run_seeds(SABOTAGES[name].first, 40)
