"""Where the numbers come from: the machine, the versions, and the file system under the measured folder."""

from __future__ import annotations

import os
import platform
import sqlite3
from pathlib import Path
from typing import TypedDict

IN_MEMORY = frozenset({"tmpfs", "ramfs"})


class Place(TypedDict):
    python: str
    sqlite: str
    system: str
    cores: int
    load: float  # processes that want a core, over the last minute, before anything is measured
    folder: str
    file_system: str


def place(folder: Path) -> Place:
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": platform.platform(),
        "cores": os.cpu_count() or 1,
        "load": os.getloadavg()[0],
        "folder": str(folder),
        "file_system": file_system(folder),
    }


def file_system(folder: Path) -> str:
    """The type of the file system that holds ``folder``, "unknown" where the system does not say."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return "unknown"
    found, kind = "", "unknown"
    target = folder.resolve()
    for line in mounts:
        before, _, after = line.partition(" - ")
        point = before.split()[4].encode().decode("unicode_escape")
        if target.is_relative_to(point) and len(point) >= len(found):
            found, kind = point, after.split()[0]
    return kind
