"""Programs to be killed: workflows whose steps write to the side-effect log, as a user would write them."""

from __future__ import annotations

import os

from semel import App

app = App("crash", database=os.environ["CRASH_DATABASE"])
