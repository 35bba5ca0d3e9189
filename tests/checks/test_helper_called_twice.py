"""Rule O18: when two calls of one helper are one path too many, and when they are not."""

from __future__ import annotations

import pytest
from check_programs import assert_refused, assert_right, found, model_of, program

from semel.checks import refusals

RULE = "helper-called-twice"
pytestmark = pytest.mark.rule("O18")

REFUSED = {
    "in a row": """
        notify(1) #~
        notify(2) #!
    """,
    "in one expression": """
        return notify(1) + notify(2) #! #~ #!
    """,
    "one inside the arguments of the other": """
        notify( #~
            notify(1)) #!
    """,
    "in an arm and after the statement": """
        if a:
            notify(1) #~
        notify(2) #!
    """,
    "before the statement and in an arm": """
        notify(1) #~
        if a:
            pass
        else:
            notify(2) #!
    """,
    "twice in one arm": """
        if a:
            notify(1) #~
            notify(2) #!
        else:
            plain()
    """,
    "in the test of an if and in its arm": """
        if notify(1): #~
            notify(2) #!
    """,
    "in the test of an if and in its else": """
        if notify(1): #~
            pass
        else:
            notify(2) #!
    """,
    "in the test of an elif and in its arm": """
        if a:
            pass
        elif notify(1): #~
            notify(2) #!
    """,
    "in the test of an elif and in the else": """
        if a:
            pass
        elif notify(1): #~
            pass
        else:
            notify(2) #!
    """,
    "in the tests of an if and an elif": """
        if notify(1): #~
            pass
        elif notify(2): #!
            pass
    """,
    "in a match subject and a case": """
        match notify(1): #~
            case 1:
                notify(2) #!
    """,
    "in a guard and its own case": """
        match a:
            case 1 if notify(1): #~
                notify(2) #!
    """,
    "in a guard and a later case": """
        match a:
            case 1 if notify(1): #~
                pass
            case 2:
                notify(2) #!
    """,
    "in two guards": """
        match a:
            case 1 if notify(1): #~
                pass
            case 2 if notify(2): #!
                pass
    """,
    "in a case and after the match": """
        match a:
            case 1:
                notify(1) #~
        notify(2) #!
    """,
    "in the test of a conditional expression": """
        return (notify(1) #~
            if notify(2) else 0) #!
    """,
    "on both sides of and": """
        return (notify(1) #~
            and notify(2)) #!
    """,
    "on both sides of or": """
        return (notify(1) #~
            or notify(2)) #!
    """,
    "in a try and its handler": """
        try:
            notify(1) #~
        except Down:
            notify(2) #!
    """,
    "returned from a try and from its handler": """
        try:
            return notify(1) #~
        except Down:
            return notify(2) #!
    """,
    "in a try and its else": """
        try:
            notify(1) #~
        except Down:
            pass
        else:
            notify(2) #!
    """,
    "in a try and its finally": """
        try:
            notify(1) #~
        finally:
            notify(2) #!
    """,
    "in a handler and the finally": """
        try:
            plain()
        except Down:
            notify(1) #~
        finally:
            notify(2) #!
    """,
    "in two handlers": """
        try:
            plain()
        except Down:
            notify(1) #~
        except KeyError:
            notify(2) #!
    """,
    "in a handler and the else": """
        try:
            plain()
        except Down:
            notify(1) #~
        else:
            notify(2) #!
    """,
    "in two groups of except*": """
        try:
            plain()
        except* Down:
            notify(1) #~
        except* KeyError:
            notify(2) #!
    """,
    "in an else and the finally": """
        try:
            plain()
        except Down:
            pass
        else:
            notify(1) #~
        finally:
            notify(2) #!
    """,
    "returned in a try with a finally": """
        try:
            if a:
                return notify(1) #~
        finally:
            notify(2) #!
    """,
    "returned from two finallys inside": """
        try:
            try:
                return notify(1) #~
            finally:
                plain()
        finally:
            notify(2) #!
    """,
    "continue and a finally": """
        for x in xs:
            try:
                if x:
                    notify(1) #~
                    continue
            finally:
                notify(2) #!
    """,
    "break and a finally": """
        for x in xs:
            try:
                if x:
                    notify(1) #~
                    break
            finally:
                notify(2) #!
    """,
    "raise and a finally": """
        try:
            if a:
                notify(1) #~
                raise Down
        finally:
            notify(2) #!
    """,
    "a call that never returns and a finally": """
        try:
            if a:
                notify(1) #~
                stop()
        finally:
            notify(2) #!
    """,
    "raise that a try may catch, and after the try": """
        try:
            if a:
                notify(1) #~
                raise Down
        except Down:
            pass
        notify(2) #!
    """,
    "raise that a try may catch, and its handler": """
        try:
            notify(1) #~
            raise Down
        except Down:
            notify(2) #!
    """,
    "raise that a with may catch, and after the with": """
        with guard():
            if a:
                notify(1) #~
                raise Down
        notify(2) #!
    """,
    "raise under suppress": """
        with contextlib.suppress(Down):
            if a:
                notify(1) #~
                raise Down
        notify(2) #!
    """,
    "return under suppress, where the call itself may fail": """
        with contextlib.suppress(Down):
            return notify(1) #~
        return notify(2) #!
    """,
    "return in a try, where the call itself may fail": """
        try:
            return notify(1) #~
        except Down:
            pass
        return notify(2) #!
    """,
    "a call that never returns, which a try may catch": """
        try:
            if a:
                notify(1) #~
                stop()
        except SystemExit:
            pass
        notify(2) #!
    """,
    "sys.exit which a try may catch": """
        try:
            notify(1) #~
            sys.exit()
        except SystemExit:
            notify(2) #!
    """,
    "raise in a handler that an outer try may catch": """
        try:
            try:
                plain()
            except KeyError:
                notify(1) #~
                raise Down
        except Down:
            pass
        notify(2) #!
    """,
    "a return that is not in every way through the arm": """
        if a:
            notify(1) #~
            if b:
                return
        notify(2) #!
    """,
    "continue does not skip what follows the loop": """
        for x in xs:
            for y in xs:
                notify(1) #~
                continue
            for z in xs:
                notify(2) #!
    """,
    "break does not skip what follows the loop": """
        for x in xs:
            for y in xs:
                notify(1) #~
                break
            for z in xs:
                notify(2) #!
    """,
    "in one pass of a loop": """
        for x in xs:
            notify(1) #~
            notify(2) #!
    """,
    "in two loops, one after the other": """
        for x in xs:
            notify(x) #~
        for x in xs:
            notify(x) #!
    """,
    "in a loop and the loop in its else": """
        for x in xs:
            notify(x) #~
        else:
            for y in xs:
                notify(y) #!
    """,
    "in a comprehension and a loop": """
        sent = [notify(x) for x in xs] #~
        for x in xs:
            notify(x) #!
    """,
    "in the condition and the element of a comprehension": """
        return [notify(x) for x in xs if #~
            notify(x)] #!
    """,
    "in the test and the body of a while": """
        while notify(1): #~
            notify(2) #!
    """,
    "in a loop that may end, and the next": """
        while True:
            notify(1) #~
            if a:
                break
        while a:
            notify(2) #!
    """,
    "in two loops over each": """
        for x in each(xs):
            notify(x) #~
        for x in each(xs):
            notify(x) #!
    """,
    "under one label": """
        once("both", lambda: (notify(1), #~
            notify(2))) #!
    """,
    "in the body of a with and after it": """
        with open("x") as file:
            notify(file) #~
        notify(2) #!
    """,
    "awaited at once": """
        await asyncio.gather(anotify(1), #~
            anotify(2)) #!
    """,
    "as tasks of a group": """
        async with asyncio.TaskGroup() as group:
            group.create_task(anotify(1)) #~
            group.create_task(anotify(2)) #!
    """,
    "in threads of a pool": """
        await asyncio.to_thread(notify, 1) #~
        await asyncio.to_thread(notify, 2) #!
    """,
    "called, and given to a thread of a pool": """
        notify(1) #~
        await asyncio.to_thread(notify, 2) #!
    """,
    "given twice to one foreign function": """
        sorted(xs, key=notify) #~
        sorted(xs, key=notify) #!
    """,
    "by a partial": """
        later = partial(notify, 1)
        later() #~
        later() #!
    """,
    "by an alias": """
        tell = notify
        notify(1) #~
        tell(2) #!
    """,
    "by one helper that calls what it is given": """
        def quietly(work, *args):
            try:
                return work(*args)
            except Down:
                return None
        @app.workflow
        def fulfil(a):
            quietly(notify, 1) #~
            quietly(notify, 2) #!
    """,
    "three times": """
        notify(1) #~
        if a:
            notify(2) #! #~
        notify(3) #!
    """,
    "after an assert": """
        assert notify(1) #~
        notify(2) #!
    """,
    "recursion twice": """
        def walk(node):
            once("visit", lambda: pay(node))
            walk(node.left) #~
            walk(node.right) #!
        @app.workflow
        def fulfil(a):
            walk(a)
    """,
    "in a helper that the body calls": """
        def helper(x):
            notify(x) #~
            notify(x) #!
        @app.workflow
        def fulfil(a):
            helper(a)
    """,
    "a helper that holds steps three deep": """
        def first(x): second(x)
        def second(x): notify(x)
        @app.workflow
        def fulfil(a):
            first(1) #~
            first(2) #!
    """,
    "a constructor": """
        class Order:
            def __init__(self, x): once("new", lambda: pay(x))
        @app.workflow
        def fulfil(a):
            Order(1) #~
            Order(2) #!
    """,
    "a method by self": """
        class Flow:
            def send(self, x): once("send", lambda: pay(x))
            def go(self):
                self.send(1) #~
                self.send(2) #!
        @app.workflow
        def fulfil(a):
            Flow().go()
    """,
    "an inherited method by super": """
        class Base:
            def send(self, x): once("send", lambda: pay(x))
        class Flow(Base):
            def send(self, x):
                super().send(1) #~
                super().send(2) #!
        @app.workflow
        def fulfil(a):
            Flow().send(1)
    """,
    "a method of an annotated parameter": """
        class Mailer:
            def deliver(self, x): once("send", lambda: pay(x))
        @app.workflow
        def fulfil(mailer: "Mailer | None"):
            mailer.deliver(1) #~
            mailer.deliver(2) #!
    """,
    "a method of two instances": """
        class Mailer:
            def deliver(self, x): once("send", lambda: pay(x))
        @app.workflow
        def fulfil(a):
            first, second = Mailer(), Mailer()
            first.deliver(1) #~
            second.deliver(2) #!
    """,
    "a method of an attribute": """
        class Mailer:
            def deliver(self, x): once("send", lambda: pay(x))
        class Shop:
            def __init__(self): self.mailer = Mailer()
            def go(self):
                self.mailer.deliver(1) #~
                self.mailer.deliver(2) #!
        @app.workflow
        def fulfil(a):
            Shop().go()
    """,
    "a protocol's only implementation": """
        class Notifier(Protocol):
            def deliver(self, x): ...
        class Mailer:
            def deliver(self, x): once("send", lambda: pay(x))
        @app.workflow
        def fulfil(by: Notifier):
            by.deliver(1) #~
            by.deliver(2) #!
    """,
    "one of a protocol's implementations, by one name": """
        class Notifier(Protocol):
            def deliver(self, x): ...
        class Mailer:
            def deliver(self, x): once("send", lambda: pay(x))
        class Pigeon:
            def deliver(self, x): once("send", lambda: pay(x))
        @app.workflow
        def fulfil(by: Notifier):
            by.deliver(1) #~
            by.deliver(2) #!
    """,
    "a method known by its name alone": """
        class Mailer:
            def deliver(self, x): once("send", lambda: pay(x))
        @app.workflow
        def fulfil(mailer):
            mailer.deliver(1) #~
            mailer.deliver(2) #!
    """,
    "a context manager": """
        class Lease:
            def __enter__(self): once("take", lambda: pay())
            def __exit__(self, *_): return None
        @app.workflow
        def fulfil(a):
            with Lease(): #~
                pass
            with Lease(): #!
                pass
    """,
    "a generator context manager": """
        @contextlib.contextmanager
        def lease():
            once("take", lambda: pay())
            yield
        @app.workflow
        def fulfil(a):
            with lease(): #~
                pass
            with lease(): #!
                pass
    """,
    "raise through a manager that may catch": """
        class Guard:
            def __enter__(self): ...
            def __exit__(self, *_): return True
        @app.workflow
        def fulfil(a):
            with Guard():
                if a:
                    notify(1) #~
                    raise Down
            notify(2) #!
    """,
    "a wrapped helper": """
        def logged(f):
            @functools.wraps(f)
            def wrapper(*args): return f(*args)
            return wrapper
        @logged
        def tell(x): once("tell", lambda: pay(x))
        @app.workflow
        def fulfil(a):
            tell(1) #~
            tell(2) #!
    """,
    "two helpers under one wrapper with a step": """
        def logged(f):
            def wrapper(*args):
                once("log", lambda: pay())
                return f(*args)
            return wrapper
        @logged
        def one(): ...
        @logged
        def two(): ...
        @app.workflow
        def fulfil(a):
            one() #~
            two() #!
    """,
    "a nested function": """
        @app.workflow
        def fulfil(a):
            def tell(x): once("tell", lambda: pay(x))
            tell(1) #~
            tell(2) #!
    """,
    "a lambda with a name": """
        @app.workflow
        def fulfil(a):
            tell = lambda x: notify(x)
            tell(1) #~
            tell(2) #!
    """,
}

RIGHT = {
    "arms of an if": """
        if a: notify(1)
        elif b: notify(2)
        else: notify(3)
    """,
    "cases of a match": """
        match a:
            case 1: notify(1)
            case 2 if b: notify(2)
            case _: notify(3)
    """,
    "sides of a conditional expression": "return notify(1) if a else notify(2)",
    "nested arms": """
        if a:
            if b: notify(1)
            else: notify(2)
        else:
            notify(3)
    """,
    "return skips what follows": """
        if a:
            notify(1)
            return
        notify(2)
    """,
    "return in nested arms": """
        if a:
            if b:
                return notify(1)
            else:
                return notify(2)
        return notify(3)
    """,
    "return in a case": """
        match a:
            case 1: return notify(1)
            case 2: return notify(2)
        return notify(3)
    """,
    "return with the call": """
        if a: return notify(1)
        return notify(2)
    """,
    "return out of a loop": """
        for x in xs:
            for y in xs:
                return notify(1)
        for x in xs:
            for y in xs:
                notify(2)
    """,
    "return out of a with that lets all through": """
        with open("x") as file:
            if a:
                return notify(file)
        return notify(2)
    """,
    "return out of a with nobody knows": """
        with lock:
            if a:
                return notify(1)
        return notify(2)
    """,
    "raise skips what follows": """
        if a:
            notify(1)
            raise Down
        notify(2)
    """,
    "raise in a try that only cleans up": """
        try:
            if a:
                notify(1)
                raise Down
        finally:
            plain()
        notify(2)
    """,
    "raise in a handler": """
        try:
            plain()
        except Down:
            notify(1)
            raise
        notify(2)
    """,
    "return in a handler": """
        try:
            plain()
        except Down:
            return notify(1)
        return notify(2)
    """,
    "return in each handler": """
        try:
            plain()
        except Down:
            return notify(1)
        except KeyError:
            return notify(2)
        return notify(3)
    """,
    "return in a handler, and the else": """
        try:
            plain()
        except Down:
            return notify(1)
        else:
            return notify(2)
    """,
    "raise under open": """
        with open("x"):
            if a:
                notify(1)
                raise Down
        notify(2)
    """,
    "what follows a raise in the same block of a try": """
        try:
            if a:
                notify(1)
                raise SystemExit
            plain()
        except Down:
            return
    """,
    "continue skips the rest of the pass": """
        for x in xs:
            if x:
                notify(1)
                continue
            notify(2)
    """,
    "break skips the rest of the pass": """
        for x in xs:
            if x:
                notify(1)
                break
            notify(2)
    """,
    "break skips the else": """
        for x in xs:
            for y in xs:
                if y:
                    notify(1)
                    break
            else:
                for z in xs:
                    plain()
    """,
    "break skips a loop in the else": """
        for y in xs:
            if y:
                notify(1)
                break
        else:
            for z in xs:
                notify(2)
    """,
    "a call that never returns": """
        if a:
            notify(1)
            stop()
        notify(2)
    """,
    "sys.exit": """
        if a:
            notify(1)
            sys.exit(3)
        notify(2)
    """,
    "os._exit": """
        if a:
            notify(1)
            os._exit(3)
        notify(2)
    """,
    "a coroutine that never returns": """
        async def end() -> Never: ...
        @app.workflow
        async def fulfil(a):
            if a:
                await anotify(1)
                await end()
            await anotify(2)
    """,
    "a method that never returns": """
        class Flow:
            def end(self) -> "NoReturn": raise Down
            def go(self, a):
                if a:
                    notify(1)
                    self.end()
                notify(2)
        @app.workflow
        def fulfil(a): Flow().go(a)
    """,
    "an endless loop never falls through": """
        while True:
            if a:
                return notify(1)
            plain()
        while a:
            notify(2)
    """,
    "nothing follows an endless loop": """
        while True:
            notify(1)
        while a:
            notify(2)
    """,
    "in a loop and outside of it": """
        for x in xs:
            notify(x)
        notify(2)
    """,
    "in loops of different depth": """
        for x in xs:
            notify(x)
            for y in xs:
                notify(y)
    """,
    "in a loop by number and one by key": """
        for x in [1, 2]:
            notify(x)
        for x in each(xs):
            notify(x)
    """,
    "under two labels": """
        once("first", lambda: notify(1))
        once("second", lambda: notify(2))
    """,
    "under a label and plainly": """
        once("first", lambda: notify(1))
        notify(2)
    """,
    "given to once and called": """
        once("first", notify)
        notify(2)
    """,
    "a helper without steps": """
        plain(1)
        plain(2)
    """,
    "as a value, not called": """
        print(notify, notify)
        known = {"a": notify, "b": notify}
        return isinstance(a, type(notify))
    """,
    "through two foreign functions": """
        sorted(xs, key=notify)
        max(xs, key=notify)
    """,
    "through two helpers": """
        def one(x): notify(x)
        def two(x): notify(x)
        @app.workflow
        def fulfil(a):
            one(1)
            two(2)
    """,
    "recursion once": """
        def walk(node):
            once("visit", lambda: pay(node))
            if node.next:
                walk(node.next)
        @app.workflow
        def fulfil(a): walk(a)
    """,
    "recursion in a loop": """
        def walk(node):
            once("visit", lambda: pay(node))
            for child in node:
                walk(child)
        @app.workflow
        def fulfil(a): walk(a)
    """,
    "recursion in arms": """
        def walk(node):
            once("visit", lambda: pay(node))
            if node.big: walk(node.left)
            else: walk(node.right)
        @app.workflow
        def fulfil(a): walk(a)
    """,
    "two functions that call each other": """
        def even(n):
            once("even", lambda: pay(n))
            return odd(n - 1)
        def odd(n):
            once("odd", lambda: pay(n))
            return even(n - 1)
        @app.workflow
        def fulfil(a): even(a)
    """,
    "a workflow that no body reaches": """
        def script():
            notify(1)
            notify(2)
    """,
    "two implementations by two names": """
        class Notifier(Protocol):
            def deliver(self, x): ...
        class Mailer:
            def deliver(self, x): once("send", lambda: pay(x))
        class Pigeon:
            def deliver(self, x): once("send", lambda: pay(x))
        @app.workflow
        def fulfil(primary: Notifier, backup: Notifier):
            primary.deliver(1)
            backup.deliver(2)
    """,
    "a method of a foreign object with the same name": """
        import socket
        class Mailer:
            def send(self, x): once("send", lambda: pay(x))
        @app.workflow
        def fulfil(a):
            peer = socket.socket()
            peer.send(1)
            peer.send(2)
    """,
    "a method as common as get": """
        class Orders:
            def get(self, x): return once("get", lambda: pay(x))
        @app.workflow
        def fulfil(a, cache):
            cache.get(1)
            cache.get(2)
    """,
    "a variable that changes": """
        class Mailer:
            def deliver(self, x): once("send", lambda: pay(x))
        @app.workflow
        def fulfil(by, other):
            by.deliver(1)
            by = other
            by.deliver(2)
    """,
    "the base's method and its override": """
        class Base:
            def deliver(self): once("base", lambda: pay())
        class Mailer(Base):
            def deliver(self):
                once("mail", lambda: pay())
                super().deliver()
        @app.workflow
        def fulfil(a): Mailer().deliver()
    """,
    "a nested function that is not called": """
        @app.workflow
        def fulfil(a):
            def tell(): once("tell", lambda: pay())
            return None
    """,
    "a function that is kept for later": """
        class Shop:
            def __init__(self): self.hooks = []
            def on_sale(self, hook): self.hooks.append(hook)
        @app.workflow
        def fulfil(a):
            shop = Shop()
            shop.on_sale(notify)
            shop.on_sale(notify)
    """,
    "two runs started in one body": """
        @app.workflow
        def fulfil(a): notify(a)
        @app.workflow
        def all_of_them(a):
            app.start(fulfil, 1)
            app.start(fulfil, 2)
    """,
    "two wrapped helpers": """
        def logged(f):
            @functools.wraps(f)
            def wrapper(*args):
                return f(*args)
            return wrapper
        @logged
        def one(): once("one", lambda: pay())
        @logged
        def two(): once("two", lambda: pay())
        @app.workflow
        def fulfil(a):
            one()
            two()
    """,
    "after a comprehension of another depth": """
        return [notify(x) for x in xs] + [notify(y) for x in xs for y in x]
    """,
    "in the first iterable of a comprehension": """
        return [notify(x) for x in notify(xs)]
    """,
    "loops of a set and of numbers": """
        for x in {1, 2}: notify(x)
        for x in range(3): notify(x)
    """,
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_two_calls_that_may_both_run_are_refused(text: str) -> None:
    if text.count("#!") == text.count("#!\n") and "#! #~" not in text:
        assert_refused(text, RULE)
    else:
        assert found(program(text), RULE)


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_calls_that_exclude_each_other_or_have_two_paths_are_fine(text: str) -> None:
    assert_right(text)


def test_the_message_names_both_lines_and_the_two_ways_out() -> None:
    text = program("notify(a) #~\nnotify(b) #!")
    problem = found(text, RULE)[0]
    first, second = problem.others[0].line, problem.place.line
    assert second == first + 1
    assert f"on lines {first} and {second}" in problem.message
    assert "notify" in problem.message
    assert '"send"' in problem.message
    assert "for item in (a, b):\n    notify(item)" in problem.fix
    assert "def notify_first" in problem.fix


def test_a_corrected_loop_keeps_the_arguments_that_do_not_change() -> None:
    fix = found(program("notify(a, to='me', n=1)\nnotify(b, to='me', n=1)"), RULE)[0].fix
    assert "for item in (a, b):\n    notify(item, to='me', n=1)" in fix


def test_calls_in_two_modules_are_followed() -> None:
    model = model_of(
        "from semel import App\nfrom mail import tell\napp = App('x')\n"
        "@app.workflow\ndef fulfil(a):\n    tell(1)\n    tell(2)\n",
        mail="from semel import once\ndef tell(x):\n    once('tell', lambda: x)\n",
    )
    problem = refusals(model)[0]
    assert (problem.rule, problem.place.line, problem.others[0].line) == (RULE, 7, 6)
