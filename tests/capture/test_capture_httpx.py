"""httpx: every cell of the matrix, against a local server."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("httpx_cells")

from httpx_cells import HttpxCells, server  # noqa: E402

__all__ = ["server"]


class TestHttpx(HttpxCells):
    library = "httpx"
