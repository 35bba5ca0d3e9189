"""The property test of programs at full size: ``python tests/property/run_programs.py --processes 2``."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from multiprocessing import get_context

from program_stories import WANTED, Found, run_seeds

_PART = 50  # programs


def _part(part: tuple[int, int]) -> Counter[str] | str:
    first, number = part
    try:
        return run_seeds(first, number)
    except Found as found:
        return str(found)
    except BaseException:
        return f"programs from the seed {first}:\n{traceback.format_exc()}"


def main() -> int:
    """Prints what the programs came to; 1 if an invariant does not hold, or nothing of a kind was come to."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--programs", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=0, help="of the first program")
    arguments.add_argument("--processes", type=int, default=1)
    given = arguments.parse_args()
    counts: Counter[str] = Counter()
    started = time.monotonic()
    failures = 0
    end = given.seed + given.programs
    parts = [(first, min(_PART, end - first)) for first in range(given.seed, end, _PART)]
    # A process is new after some parts, because what was compiled stays in it.
    with get_context("spawn").Pool(given.processes, maxtasksperchild=10) as pool:
        for made in pool.imap_unordered(_part, parts):
            if isinstance(made, str):
                failures += 1
                print(made, flush=True)
                continue
            counts += made
            print(f"{counts['programs']} programs, {time.monotonic() - started:.0f} s", flush=True)
    for name, number in sorted(counts.items()):
        print(f"{number:9} {name}")
    missing = [name for name in WANTED if not counts[name]]
    if missing:
        print(f"nothing of: {', '.join(missing)}")
    print(f"seed {given.seed}: {failures} parts with a failure")
    return 1 if failures or missing else 0


if __name__ == "__main__":
    sys.exit(main())
