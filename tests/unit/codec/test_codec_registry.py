"""A type is found by its name among what the app defines and imports, wherever it has moved, and never by an import."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from semel.codec import Codec, NotEncodable, TypeRegistry
from semel.errors import RecordUnreadable

Make = Callable[..., ModuleType]

RECEIPT = """
from dataclasses import dataclass

@dataclass
class Receipt:
    id: str
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Writes a module and imports it anew; ``None`` takes it away."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = {"shop", "till", "front"}

    def make(name: str, source: str | None) -> ModuleType:
        sys.modules.pop(name, None)
        path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        if source is None:
            path.unlink()
            return ModuleType(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(source))
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield make
    for name in list(sys.modules):
        if name.partition(".")[0] in made:
            del sys.modules[name]


@pytest.fixture
def registry() -> TypeRegistry:
    return TypeRegistry(lambda: frozenset({"shop"}))


@pytest.fixture
def codec(registry: TypeRegistry) -> Codec:
    return Codec(registry)


def unreadable(codec: Codec, data: bytes) -> str:
    with pytest.raises(RecordUnreadable) as caught:
        codec.decode(data)
    return str(caught.value)


# ----------------------------------------------------------------------------------- which types a record may name


@pytest.mark.rule("O22")
@pytest.mark.parametrize(
    "use",
    [
        "from till import Receipt",
        "from till import Receipt as Slip",
        "import till",
        "import till as cash_desk",
        "import till.deep",
        "import front",
    ],
)
def test_a_type_counts_if_the_app_imports_it(module: Make, codec: Codec, use: str) -> None:
    module("till.__init__", RECEIPT)
    till = importlib.import_module("till")
    module("till.deep", RECEIPT)
    module("front", "from till import Receipt")
    module("shop", use)
    kind: Any = sys.modules["till.deep"] if use == "import till.deep" else till
    value = kind.Receipt("r")
    assert codec.decode(codec.encode(value)) == value


@pytest.mark.rule("O22")
def test_a_type_that_the_app_does_not_import_is_refused(module: Make, codec: Codec) -> None:
    till = module("till", RECEIPT)
    module("shop", "x = 1")
    with pytest.raises(NotEncodable, match="from till import Receipt"):
        codec.encode(till.Receipt("r"))
    module("shop", "from till import Receipt")
    data = codec.encode(till.Receipt("r"))
    module("shop", "x = 1")
    fresh = Codec(TypeRegistry(lambda: frozenset({"shop"})))
    assert "from till import Receipt" in unreadable(fresh, data)


@pytest.mark.rule("O23")
@pytest.mark.parametrize(
    ("package", "deep", "kind", "remedy"),
    [
        ("", RECEIPT, "Receipt", "from till.deep import Receipt"),
        ("from till.deep import Receipt", RECEIPT, "Receipt", "from till.deep import Receipt"),
        ("", RECEIPT + "\nReceipt.__module__ = 'till'", "Receipt", "from till.deep import Receipt"),
        ("", RECEIPT + "\nReceipt.__module__ = 'till._core'", "Receipt", "from till.deep import Receipt"),
        (
            "",
            RECEIPT + "\nReceipt.__module__ = 'gone'\nSlip = Receipt\ndel Receipt",
            "Slip",
            "from till.deep import Slip",
        ),
        ("", "class Desk:" + RECEIPT.replace("\n", "\n    "), "Desk.Receipt", "from till.deep import Desk"),
    ],
    ids=["submodule", "published by the package too", "claims the package", "claims no module", "alias", "nested"],
)
def test_the_import_that_a_refusal_prints_makes_the_type_recordable(
    module: Make, codec: Codec, package: str, deep: str, kind: str, remedy: str
) -> None:
    module("till.__init__", "")
    module("till.deep", deep)
    module("till.__init__", package)
    module("shop", "x = 1")
    cls: Any = sys.modules["till.deep"]
    for name in kind.split("."):
        cls = getattr(cls, name)
    with pytest.raises(NotEncodable) as refused:
        codec.encode(cls("r"))
    assert f"`{remedy}`" in str(refused.value)
    module("shop", remedy)
    assert codec.decode(codec.encode(cls("r"))) == cls("r")
    fresh = Codec(TypeRegistry(lambda: frozenset({"shop"})))
    assert fresh.decode(codec.encode(cls("r"))) == cls("r")


@pytest.mark.rule("O23")
def test_an_import_in_a_function_does_not_count_because_a_later_process_may_not_run_it(
    module: Make, codec: Codec
) -> None:
    till = module("till", RECEIPT)
    shop = module("shop", "def step():\n    from till import Receipt\n    return Receipt('r')")
    with pytest.raises(NotEncodable, match=r"`from till import Receipt` to one, at its top: an import in a function"):
        codec.encode(shop.step())
    assert till


@pytest.mark.rule("O24")
def test_an_exception_that_an_imported_package_meets_of_another_one_counts(module: Make, codec: Codec) -> None:
    module("till", "class Jammed(Exception): ...\nclass Other(Exception): ...")
    module("front", "from till import Jammed\ndef sell(): ...")
    module("shop", "from front import sell")
    till = sys.modules["till"]
    assert type(codec.decode_failure(codec.encode_failure(till.Jammed("x")))) is till.Jammed
    with pytest.raises(NotEncodable, match="from till import Other"):
        codec.encode_failure(till.Other("x"))


@pytest.mark.rule("O24")
def test_the_error_of_a_model_counts_for_an_app_that_only_defines_models(module: Make, codec: Codec) -> None:
    shop = module("shop", "from pydantic import BaseModel\nclass Order(BaseModel):\n    id: int")
    with pytest.raises(ValueError, match="1 validation error") as caught:
        shop.Order(id="x")
    back: Any = codec.decode_failure(codec.encode_failure(caught.value))
    assert back.errors() == caught.value.errors()  # type: ignore[attr-defined]


@pytest.mark.rule("O22")
def test_a_record_never_imports_the_module_that_it_names(module: Make, codec: Codec) -> None:
    shop = module("shop", RECEIPT)
    data = codec.encode(shop.Receipt("r"))
    del sys.modules["shop"]
    assert "import its module where the app is defined" in unreadable(codec, data)
    assert "shop" not in sys.modules


@pytest.mark.rule("O22")
def test_a_module_that_makes_attributes_on_demand_is_not_asked(module: Make, codec: Codec) -> None:
    shop = module("shop", RECEIPT)
    data = codec.encode(shop.Receipt("r"))
    module("shop", "def __getattr__(name):\n    raise AssertionError(name)")
    assert "shop.Receipt" in unreadable(codec, data)


@pytest.mark.rule("O22")
def test_two_classes_of_one_name_are_refused_when_written(module: Make, codec: Codec) -> None:
    shop = module("shop", RECEIPT)
    old = shop.Receipt
    module("shop", RECEIPT)
    with pytest.raises(NotEncodable, match="another class"):
        codec.encode(old("r"))


@pytest.mark.rule("O22")
def test_a_module_loaded_anew_gives_its_new_class(module: Make, codec: Codec) -> None:
    data = codec.encode(module("shop", RECEIPT).Receipt("r"))
    assert type(codec.decode(data)) is sys.modules["shop"].Receipt
    module("shop", RECEIPT)
    assert type(codec.decode(data)) is sys.modules["shop"].Receipt


# ------------------------------------------------------------------------------------------- types that have changed


@pytest.mark.rule("D4")
def test_a_type_may_move_to_another_module(module: Make, codec: Codec) -> None:
    data = codec.encode([module("shop.receipts", RECEIPT).Receipt("r")])
    module("shop.receipts", "")
    models = module("shop.models", RECEIPT)
    for _ in range(2):
        assert codec.decode(data) == [models.Receipt("r")]
    again = module("shop.receipts", RECEIPT)
    assert codec.decode(data) == [again.Receipt("r")]


@pytest.mark.rule("D4")
def test_a_type_may_move_out_of_the_app(module: Make, codec: Codec) -> None:
    data = codec.encode(module("shop", RECEIPT).Receipt("r"))
    till = module("till", RECEIPT)
    module("shop", "import till")
    assert codec.decode(data) == till.Receipt("r")


@pytest.mark.rule("D4")
def test_two_types_of_the_lost_name_are_an_error_that_names_both(
    module: Make, registry: TypeRegistry, codec: Codec
) -> None:
    data = codec.encode(module("shop.receipts", RECEIPT).Receipt("r"))
    one, other = module("shop.one", RECEIPT), module("shop.other", RECEIPT)
    module("shop.receipts", "")
    message = unreadable(codec, data)
    assert "shop.one.Receipt and shop.other.Receipt" in message
    assert 'alias("shop.receipts.Receipt"' in message
    registry.alias("shop.receipts.Receipt", other.Receipt)
    assert type(codec.decode(data)) is other.Receipt is not one.Receipt


@pytest.mark.rule("D4")
@pytest.mark.parametrize("old", ["shop.Receipt", "Receipt"])
def test_a_type_may_be_renamed_with_an_alias(module: Make, registry: TypeRegistry, codec: Codec, old: str) -> None:
    data = codec.encode(module("shop", RECEIPT).Receipt("r"))
    shop = module("shop", RECEIPT.replace("Receipt", "Invoice"))
    assert "declare alias" in unreadable(codec, data)
    registry.alias(old, shop.Invoice)
    assert codec.decode(data) == shop.Invoice("r")


DATACLASS = """
from dataclasses import dataclass, field

@dataclass
class R:
    a: int
"""
SLOTS = DATACLASS.replace("@dataclass", "@dataclass(slots=True, frozen=True)")
ATTRS = """
from attrs import Factory, define

@define
class R:
    a: int
"""
NAMED_TUPLE = """
from typing import NamedTuple

class R(NamedTuple):
    a: int
"""
PYDANTIC = """
from pydantic import BaseModel, Field

class R(BaseModel):
    a: int
"""
PYDANTIC_DATACLASS = """
from pydantic import Field
from pydantic.dataclasses import dataclass

@dataclass
class R:
    a: int
"""
STRUCT = """
from msgspec import Struct

class R(Struct):
    a: int
"""


@pytest.mark.rule("D4")
@pytest.mark.parametrize(
    ("source", "gains"),
    [
        (DATACLASS, "b: list = field(default_factory=list)"),
        (SLOTS, "b: int = 2"),
        (ATTRS, "b: int = Factory(lambda self: self.a, takes_self=True)"),
        (NAMED_TUPLE, "b: int = 2"),
        (PYDANTIC, "b: list = Field(default_factory=list)\n    _p: int = 4"),
        (PYDANTIC_DATACLASS, "b: list = Field(default_factory=list)"),
        (STRUCT, "b: list = []"),
    ],
    ids=["dataclass", "slots", "attrs", "named tuple", "pydantic", "pydantic dataclass", "struct"],
)
def test_a_type_may_gain_fields_with_defaults_and_lose_none(
    module: Make, codec: Codec, source: str, gains: str
) -> None:
    less, more = source, f"{source}    {gains}\n"
    old = codec.encode(module("shop", less).R(a=1))
    shop = module("shop", more)
    assert codec.decode(old) == shop.R(a=1)
    new = Codec(TypeRegistry(lambda: frozenset({"shop"}))).encode(shop.R(a=1))
    module("shop", less)
    assert "shop.R: the record has 'b', which the class has no field for" in unreadable(codec, new)
    module("shop", f"{source}    c: int\n")
    assert "shop.R: its field 'c' is not in the record and has no default" in unreadable(codec, old)


@pytest.mark.rule("D4")
def test_a_type_that_became_another_kind_is_an_error(module: Make, codec: Codec) -> None:
    data = codec.encode(module("shop", RECEIPT).Receipt("r"))
    module("shop", "from typing import NamedTuple\nclass Receipt(NamedTuple):\n    id: str")
    assert "shop.Receipt is no dataclass" in unreadable(codec, data)
    module("shop", "class Receipt: ...")
    assert "shop.Receipt is no dataclass" in unreadable(codec, data)


@pytest.mark.rule("D4")
def test_an_enum_member_that_is_gone_is_an_error_that_names_it(module: Make, codec: Codec) -> None:
    data = codec.encode(module("shop", "import enum\nclass Stage(enum.Enum):\n    NEW = 1").Stage.NEW)
    module("shop", "import enum\nclass Stage(enum.Enum):\n    FRESH = 1")
    assert "shop.Stage: it has no member 'NEW' any more" in unreadable(codec, data)
    shop = module("shop", "import enum\nclass Stage(enum.Enum):\n    FRESH = 1\n    NEW = 1")
    assert codec.decode(data) is shop.Stage.FRESH


# ---------------------------------------------------------------------------------------------------------- __main__

MAIN = """
import sys
from dataclasses import dataclass
from enum import Enum
from semel.codec import Codec, TypeRegistry

class Stage(Enum):
    NEW = 1

@dataclass
class Receipt:
    id: str
    stage: Stage

def codec(*packages):
    return Codec(TypeRegistry(lambda: frozenset(packages)))

if __name__ == "__main__":
    value = Receipt("r", Stage.NEW)
    if sys.argv[1:]:
        back = codec("__main__").decode(bytes.fromhex(sys.argv[1]))
        assert back == value and type(back) is Receipt, back
    print(codec("__main__").encode(value).hex())
"""


@pytest.mark.rule("O22")
@pytest.mark.parametrize("how", [["shop.py"], ["-m", "shop"]], ids=["file", "module"])
def test_a_script_and_the_same_file_imported_read_each_others_records(
    module: Make, codec: Codec, tmp_path: Path, how: list[str]
) -> None:
    shop = module("shop", MAIN)
    value = shop.Receipt("r", shop.Stage.NEW)
    data = codec.encode(value)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, *how, data.hex()], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert bytes.fromhex(ran.stdout) == data
    assert codec.decode(bytes.fromhex(ran.stdout)) == value


@pytest.mark.rule("O22")
def test_a_codec_may_be_used_by_many_threads(module: Make) -> None:
    shop = module("shop", MAIN)
    shared = shop.codec("shop")
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for number in range(300):
                value = shop.Receipt(str(number), shop.Stage.NEW)
                assert shared.decode(shared.encode(value)) == value
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
