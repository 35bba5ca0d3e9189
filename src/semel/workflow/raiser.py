from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


@dataclass(frozen=True)
class Raised:
    state: Enum
    parked: bool
    run: Any
