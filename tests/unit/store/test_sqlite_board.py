"""The board of steps in flight, in an owner's file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from semel.store.sqlite import board as boards
from semel.store.sqlite.board import NO_MARK, Board, marks_of

RUN = "0123456789abcdef" * 2


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "owner"


@pytest.fixture
def board(file: Path) -> Board:
    return Board(os.open(file, os.O_RDWR | os.O_CREAT))


def test_what_is_marked_can_be_read_by_another_process(board: Board, file: Path) -> None:
    board.mark(RUN, "fulfil/start@1#charge")
    gone = board.mark(RUN, "fulfil/start@1#mail")
    board.mark(RUN, 'fulfil/start@1[="ä"]#mail')
    board.unmark(gone)
    assert sorted(marks_of(file) or ()) == [(RUN, "fulfil/start@1#charge"), (RUN, 'fulfil/start@1[="ä"]#mail')]


def test_a_path_that_is_too_long_is_cut(board: Board, file: Path) -> None:
    board.mark(RUN, "p" * 2000)
    ((run, path),) = marks_of(file) or ()
    assert run == RUN
    assert set(path) == {"p"}


def test_a_board_that_ran_out_tells_nothing(board: Board, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = [board.mark(RUN, "p") for _ in range(8192)]
    assert NO_MARK not in marks
    last = board.mark(RUN, "one too many")
    assert last == NO_MARK
    board.unmark(last)
    assert marks_of(file) is None


def test_a_file_of_an_earlier_boot_or_none_or_another_tells_nothing(
    board: Board, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.mark(RUN, "p")
    (tmp_path / "other").write_bytes(b"\0" * 10)
    assert marks_of(tmp_path / "other") is None
    assert marks_of(tmp_path / "missing") is None
    monkeypatch.setattr(boards, "_boot", lambda: b"another boot")
    assert marks_of(file) is None
    monkeypatch.setattr(boards, "_boot", lambda: b"")
    assert marks_of(file) is None
