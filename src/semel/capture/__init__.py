"""Calls that leave the process: recorded where a library makes its exchanges, refused where they cannot be recorded.

One file per library. The app installs them once; a library that is imported later is patched then.
"""

from __future__ import annotations
