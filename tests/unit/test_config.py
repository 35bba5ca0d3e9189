"""``[tool.semel]`` of pyproject.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from semel import config
from semel.errors import ConfigurationError


def written(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text)
    return folder


def test_the_nearest_file_at_or_above_is_read(tmp_path: Path) -> None:
    written(tmp_path, '[tool.semel]\napp = "shop:app"\npackages = ["helpers.mail"]')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert config.load(below) == config.Settings("shop:app", ("helpers",), root=tmp_path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[tool.semel]\nextrenal = []", "has no setting 'extrenal'"),
        ("[tool.semel]\nexternal = 'mylib.*'", "external must be a list"),
        ("[tool.semel]\npassthrough = [1]", "passthrough must be a list"),
        ("[tool.semel]\napp = 'shop'", "must be \"module:name\", not 'shop'"),
        ("[tool.semel]\npackages = 'helpers'", "packages must be a list"),
        ("[tool.semel", "cannot be read"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        config.load(written(tmp_path, text))
