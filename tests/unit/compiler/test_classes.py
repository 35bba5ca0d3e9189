"""Classes: constructors, methods of every kind, ``super``, mangled names, and what is left to the interpreter."""

from __future__ import annotations

import abc
import enum
import functools
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import pytest
from recorder import execute, mark, steps

from semel.errors import NotCompiled

T = TypeVar("T")


class Base:
    def __init__(self, name: str) -> None:
        self.name = name
        mark("base")

    def greet(self) -> str:
        mark("greet")
        return f"I am {self.name}"

    @classmethod
    def make(cls, name: str) -> Base:
        mark("make")
        return cls(name)

    @staticmethod
    def double(number: int) -> int:
        mark("double")
        return number * 2

    def __call__(self, value: int) -> int:
        mark("call")
        return value


class Derived(Base):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__secret = 5
        mark("derived")

    def greet(self) -> str:
        mark("mine")
        return super().greet() + "!" * self.__secret

    def __hidden(self) -> str:
        mark("hidden")
        return "hidden"

    def reveal(self) -> str:
        return self.__hidden()

    def names(self) -> list[str]:
        return [__class__.__name__ for _ in range(1) if mark("x") is None]  # type: ignore[name-defined]


def test_a_class_is_made_by_its_twins() -> None:
    def body() -> Any:
        return Derived("d")

    run = execute(body)
    assert type(run.result) is Derived
    assert run.steps == ["w/start@1/Derived.__init__/Base.__init__#base", "w/start@1/Derived.__init__#derived"]


def test_methods_of_every_kind_are_segments() -> None:
    made = Derived("d")

    def body() -> Any:
        return made.greet(), Derived.double(2), made.double(3) if False else None, made(4), made.reveal(), made.names()

    run = execute(body)
    assert run.result == ("I am d!!!!!", 4, None, 4, "hidden", ["Derived"])
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("/Derived.greet#mine", "/Derived.greet/Base.greet#greet", "/Base.double#double"),
        *("/Base.__call__#call", "/Derived.reveal/Derived.__hidden#hidden", "/Derived.names[0]#x"),
    ]


def test_a_classmethod_makes_the_class_it_is_called_on() -> None:
    def body() -> Any:
        return type(Derived.make("d"))

    run = execute(body)
    assert run.result is Derived
    assert run.steps[0] == "w/start@1/Base.make#make"


def test_an_unbound_method_is_the_same_segment() -> None:
    made = Base("b")

    def body() -> Any:
        return Base.greet(made)

    assert steps(body) == ["/Base.greet#greet"]


class Cached:
    instances = 0

    def __new__(cls, number: int) -> Cached:
        mark("new")
        made = super().__new__(cls)
        cls.instances += 1
        return made

    def __init__(self, number: int) -> None:
        mark("init")
        self.number = number


class Elsewhere:
    def __new__(cls) -> Any:
        mark("new")
        return "another"

    def __init__(self) -> None:
        mark("never")


def test_new_runs_as_a_twin() -> None:
    def body() -> Any:
        return Cached(3).number, Elsewhere()

    run = execute(body)
    assert run.result == (3, "another")
    assert [step.removeprefix("w/start@1") for step in run.steps] == [
        *("/Cached.__new__#new", "/Cached.__init__#init", "/Elsewhere.__new__#new")
    ]


def test_arguments_that_do_not_fit_fail_as_ever() -> None:
    def body() -> None:
        Base()  # type: ignore[call-arg]

    with pytest.raises(TypeError, match=r"Base.__init__\(\) missing 1 required positional argument: 'name'"):
        execute(body)


def test_a_local_class_is_compiled_when_it_is_used() -> None:
    def body() -> Any:
        start = 1

        class Local:
            def __init__(self, number: int) -> None:
                mark("init")
                self.__number = number + start

            @property
            def number(self) -> int:
                return self.__number

            def get(self) -> Any:
                mark("get")
                return self.number, Local.__name__, __class__.__name__  # type: ignore[name-defined]

        class Heir(Local):
            def get(self) -> Any:
                return super().get()

        return Heir(2).get()

    run = execute(body)
    assert run.result == (3, "Local", "Local")
    name = "test_a_local_class_is_compiled_when_it_is_used.body"
    assert run.steps == [
        f"w/start@1/{name}.Local.__init__#init",
        f"w/start@1/{name}.Heir.get/{name}.Local.get#get",
    ]


@dataclass(frozen=True)
class Money:
    amount: int
    tags: list[str] = field(default_factory=list)

    def plus(self, other: Money) -> Money:
        mark("plus")
        return Money(self.amount + other.amount)


class Colour(enum.Enum):
    RED = 1

    def shout(self) -> str:
        mark("shout")
        return self.name + "!"


class Point(NamedTuple):
    x: int
    y: int = 0

    def moved(self) -> Point:
        mark("moved")
        return self._replace(x=self.x + 1)


class Mistake(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(f"code {code}")
        mark("mistake")
        self.code = code


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> int: ...


class Square(Shape):
    def __init__(self, side: int) -> None:
        mark("square")
        self.side = side

    def area(self) -> int:
        mark("area")
        return self.side * self.side


class Box(Generic[T]):
    def __init__(self, value: T) -> None:
        mark("box")
        self.value = value


class Speaks(Protocol):
    def speak(self) -> str: ...


class Dog(Speaks):
    def __init__(self) -> None:
        mark("dog")

    def speak(self) -> str:
        mark("speak")
        return "woof"


def test_the_standard_kinds_of_classes_work() -> None:
    def body() -> Any:
        try:
            raise Mistake(4)
        except Mistake as mistake:
            code = mistake.code, str(mistake), mistake.args
        boxed = Box[int](5)
        return [
            Money(1).plus(Money(2)) == Money(3),
            Colour(1).shout(),
            Point(1).moved(),
            code,
            Square(3).area(),
            boxed.value,
            getattr(boxed, "__orig_class__", None) == Box[int],
            Dog().speak(),
        ]

    run = execute(body)
    assert run.result == [True, "RED!", (2, 0), (4, "code 4", ("code 4",)), 9, 5, True, "woof"]
    assert [step.removeprefix("w/start@1/") for step in run.steps] == [
        *("Mistake.__init__#mistake", "Box.__init__#box", "Money.plus#plus", "Colour.shout#shout"),
        *("Point.moved#moved", "Square.__init__#square", "Square.area#area", "Dog.__init__#dog", "Dog.speak#speak"),
    ]


def test_an_abstract_class_cannot_be_made() -> None:
    def body() -> None:
        Shape()  # type: ignore[abstract]

    with pytest.raises(TypeError, match="abstract"):
        execute(body)


class Meta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs), "by the metaclass"


class Special(metaclass=Meta):
    def __init__(self, number: int) -> None:
        self.number = number


def test_a_metaclass_that_makes_instances_is_left_to_itself() -> None:
    def body() -> Any:
        made, how = Special(3)  # type: ignore[misc]
        return made.number, how

    assert execute(body).result == (3, "by the metaclass")


@dataclass
class Checked:
    number: int

    def __post_init__(self) -> None:
        mark("x")


class Priced:
    @property
    def price(self) -> int:
        mark("x")
        return 1

    @functools.cached_property
    def cost(self) -> int:
        mark("x")
        return 1

    def __add__(self, other: Any) -> Any:
        mark("x")
        return self


@functools.lru_cache
def cached(number: int) -> int:
    mark("x")
    return number


@pytest.mark.parametrize(
    ("reach", "reason"),
    [
        (lambda: Checked(1), "__post_init__"),
        (lambda: Priced().price, "property"),
        (lambda: Priced().cost, "property"),
        (lambda: Priced() + 1, "__add__"),
        (lambda: cached(1), "lru_cache"),
    ],
)
def test_a_step_where_nothing_is_called_says_why(reach: Any, reason: str) -> None:
    def body() -> None:
        reach()

    with pytest.raises(NotCompiled, match=reason):
        execute(body)
