"""Migrations of the app's own tables leave those of semel alone."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from semel.contrib.alembic import include_name

sys.path.insert(0, str(Path(__file__).parents[1] / "rules"))

from entity_programs import SHOP, Load, kit_of, place


def differences(shop: ModuleType, **options: Any) -> list[Any]:
    with shop.app.session() as session:
        context = MigrationContext.configure(session.connection(), opts=options)
        return list(compare_metadata(context, shop.Base.metadata))


@pytest.mark.rule("W2")
def test_autogenerate_sees_the_apps_tables_and_not_semels(program: Load) -> None:
    shop = program(SHOP)
    with kit_of(shop):
        place(shop)
        assert "semel_runs" in str(differences(shop)), "so it is without: they would be dropped"
        assert differences(shop, include_name=include_name) == []
