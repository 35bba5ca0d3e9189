"""``workflow-handler-swallows-a-park``."""

from __future__ import annotations

import pytest
from lint_programs import assert_right, assert_told

RULE = "workflow-handler-swallows-a-park"


@pytest.mark.rule("E")
@pytest.mark.parametrize(
    "source",
    [
        """
        try:
            once("pay", lambda: pay(1))  #~
        except:  #!
            print("failed")
        """,
        """
        try:
            once("pay", lambda: pay(1))
        except BaseException as error:  #!
            print(error)
        """,
        """
        try:
            notify(order)  #~
        except (ValueError, BaseException):  #!
            pass
        """,
        """
        try:
            httpx.get("https://a.example")  #~
        except:  #!
            pass
        """,
        """
        with contextlib.suppress(BaseException):  #!
            once("pay", lambda: pay(1))  #~
        """,
        """
        for x in xs:
            try:
                once("pay", lambda: pay(1))
            finally:
                if x:
                    continue  #!
        """,
        """
        try:
            once("pay", lambda: pay(1))
        finally:
            return 1  #!
        """,
        """
        try:
            await once("pay", lambda: aask())
        except ValueError:
            raise
        except:  #!
            pass
        """,
        """
        try:
            once("pay", lambda: pay(1))
        except* BaseException:  #!
            print("failed")
        """,
        """
        failures = []
        for x in xs:
            try:
                once("pay", lambda: pay(1))
            except BaseException as error:  #!
                failures.append(error)
        """,
    ],
)
def test_what_ends_every_exception_round_a_step_is_told(source: str) -> None:
    assert_told(source, RULE)


def test_the_corrected_line_is_the_authors_with_exception_in_it() -> None:
    source = 'try:\n    once("pay", lambda: pay(1))\nexcept BaseException as e:  #!\n    print(e)'
    assert assert_told(source, RULE).fix == "except Exception as e:"


@pytest.mark.parametrize(
    "source",
    [
        """
        try:
            once("pay", lambda: pay(1))
        except Exception:
            pass
        """,
        """
        try:
            once("pay", lambda: pay(1))
        except:
            print("failed")
            raise
        """,
        """
        try:
            once("pay", lambda: pay(1))
        except BaseException as e:
            if not isinstance(e, Exception):
                raise
        """,
        """
        try:
            once("pay", lambda: pay(1))
        except BaseException as e:
            raise RuntimeError("failed") from e
        """,
        """
        try:
            once("pay", lambda: pay(1))
        except BaseException:
            stop()
        """,
        """
        failure = None
        try:
            once("pay", lambda: pay(1))
        except BaseException as e:
            failure = e
        if failure:
            raise failure
        """,
        """
        done = asyncio.Future()
        try:
            await aask()
            once("pay", lambda: pay(1))
        except BaseException as e:
            done.set_exception(e)
        """,
        """
        try:
            int(order)
        except:
            pass
        """,
        """
        with contextlib.suppress(BaseException):
            int(order)
        """,
        """
        with contextlib.suppress(ValueError):
            once("pay", lambda: pay(1))
        """,
        """
        try:
            once("pay", lambda: pay(1))
        finally:
            for x in xs:
                if x:
                    break
        """,
        """
        try:
            once("pay", lambda: pay(1))
        finally:
            def late() -> int:
                return 1
            late()
        """,
        """
        try:
            int(order)
        finally:
            once("pay", lambda: pay(1))
        """,
        """
        class BaseExceptions(Exception): ...
        try:
            once("pay", lambda: pay(1))
        except BaseExceptions:
            pass
        """,
    ],
)
def test_what_lets_go_or_has_no_step_in_it_is_not_told(source: str) -> None:
    assert_right(source)


def test_a_handler_outside_of_runs_is_not_told() -> None:
    assert_right(
        """
        def script() -> None:
            try:
                notify("a")
            except:
                pass
        @app.workflow
        def fulfil(order: str) -> None:
            once("pay", lambda: pay(1))
        """
    )
