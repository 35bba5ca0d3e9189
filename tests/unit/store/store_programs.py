"""Programs for processes of their own, and how the tests start them."""

from __future__ import annotations

import os
import subprocess
import sys

HEADER = """
import os, sys, threading
from semel.errors import *
from semel.store.interface import *
from semel.store.sqlite import Sqlite
from semel.testing.conformance import *
store = Sqlite(sys.argv[1], timeout=0.05 if "hasty" in sys.argv else 5.0)
def say(*words): sys.stdout.write(" ".join(map(str, words)) + "\\n"); sys.stdout.flush()
"""

#: Twenty threads append pairs of records under one claim, and say which are durable, for ever.
APPEND_PAIRS = """
store.open()
claim = claim_one(store)
say(claim.run.uid)
lock = threading.Lock()
def work(name):
    for number in range(10**9):
        pair = [record(claim.run.uid, f"{name}/{number}/{half}") for half in "ab"]
        assert store.append(claim, pair).wait()
        with lock: say(f"{name}/{number}")
threads = [threading.Thread(target=work, args=(name,)) for name in range(20)]
for thread in threads: thread.start()
"""

#: Starts runs in batches of several, and says which are durable, for ever.
START_RUNS = """
store.open()
for number in range(10**9):
    tickets = [store.start(new_run(f"order-{number}-{part}")) for part in range(5)]
    for part, ticket in enumerate(tickets):
        ticket.wait(); say(f"order-{number}-{part}")
"""

#: Opens the database as a user who may write nothing, and says what was wrong.
OPEN_AS_NOBODY = """
if os.getuid() == 0: os.setgid(65534); os.setuid(65534)
try: store.open()
except Exception as error: say(type(error).__name__, error)
else: say("opened")
"""

#: Opens (and makes) the database when told to, and says which namespace it found.
OPEN_TOGETHER = """
say("ready"); sys.stdin.read(1)
store.open(); say(store.namespace().hex()); store.close()
"""


def start(program: str, *arguments: object, crash_at: str | None = None) -> subprocess.Popen[str]:
    """A Python process that runs ``program``, with ``store`` on the database named by the first argument."""
    environment = dict(os.environ)
    if crash_at is not None:
        environment["SEMEL_CRASH_AT"] = crash_at
    return subprocess.Popen(
        [sys.executable, "-c", HEADER + program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
