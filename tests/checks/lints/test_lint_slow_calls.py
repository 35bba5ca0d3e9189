"""``workflow-first-step-waits-on-a-slow-call``: what is slow stands in no transaction."""

from __future__ import annotations

import pytest
from lint_programs import assert_right, assert_told

RULE = "workflow-first-step-waits-on-a-slow-call"


@pytest.mark.rule("W1")
@pytest.mark.parametrize(
    "source",
    [
        """
        with app.session() as session:
            session.add(order)
            session.flush()  #~
            once("pay", lambda: pay(1))  #!
        """,
        """
        session = app.session()
        session.execute(insert(Order).values(id=1))  #~
        httpx.post("https://a.example")  #!
        """,
        """
        session = app.session()
        session.execute(text("UPDATE orders SET paid = 1"))  #~
        notify(order)  #!
        """,
        """
        session = app.session()
        session.add(order)
        found = session.scalars(select(Order)).all()  #~
        once("pay", lambda: pay(1))  #!
        """,
        """
        async with app.async_session() as session:
            session.add(order)
            await session.flush()  #~
            await once("ask", lambda: aask())  #!
        """,
        """
        for x in xs:
            once("pay", lambda: pay(1))  #!
            app.session().flush()  #~
        """,
        """
        def save(session: Session, order: str) -> None:
            session.add(order)
            session.flush()
        @app.workflow
        def fulfil(order: str) -> None:
            session = app.session()
            save(session, order)  #~
            once("pay", lambda: pay(1))  #!
        """,
        """
        engine = sqlalchemy.create_engine("sqlite://")
        @app.workflow
        def fulfil(order: str) -> None:
            with engine.begin() as connection:  #~
                connection.execute(text("DELETE FROM orders"))
                once("pay", lambda: pay(1))  #!
        """,
        """
        engine = sqlalchemy.create_engine("sqlite://")
        @app.workflow
        def fulfil(order: str) -> None:
            with Session(engine) as session:
                session.add(order)
                session.flush()  #~
                once("pay", lambda: pay(1))  #!
                session.commit()
        """,
        """
        session = app.session()
        with session.begin_nested():  #~
            once("pay", lambda: pay(1))  #!
        """,
        """
        @app.workflow
        def fulfil(order: str) -> None: ...
        def order_placed(order: str) -> None:
            with app.session() as session:
                session.add(order)
                session.flush()  #~
                app.start(fulfil, order)  #!
                session.commit()
        """,
    ],
)
def test_a_slow_call_inside_a_transaction_is_told(source: str) -> None:
    assert_told(source, RULE)


def test_the_corrected_lines_are_the_authors_in_the_other_order() -> None:
    source = 'session = app.session()\nsession.flush()  # now\nreceipt = once("pay", lambda: pay(1))  #!'
    fix = assert_told(source, RULE).fix
    assert fix.startswith('receipt = once("pay", lambda: pay(1))')
    assert "session.flush()" in fix.split("\n")[1]


def test_a_run_that_is_started_in_a_step_after_a_flush_is_told_to_lock_itself_out() -> None:
    source = 'app.session().flush()\nonce("start", lambda: app.start(fulfil, order).id)  #!'
    assert "wait for the body's own lock" in assert_told(source, RULE).message


@pytest.mark.parametrize(
    "source",
    [
        """
        once("pay", lambda: pay(1))
        with app.session() as session:
            session.add(order)
            session.flush()
        """,
        """
        with app.session() as session:
            found = session.scalars(select(Order)).all()
            once("pay", lambda: pay(1))
            session.add(order)
        """,
        """
        session = app.session()
        session.add(order)
        once("pay", lambda: pay(1))
        """,
        """
        session = app.session()
        session.add(order)
        with session.no_autoflush:
            session.scalars(select(Order)).all()
        once("pay", lambda: pay(1))
        """,
        """
        session = app.session()
        if order:
            session.flush()
        else:
            once("pay", lambda: pay(1))
        """,
        """
        session = app.session()
        if not order:
            session.flush()
            return
        once("pay", lambda: pay(1))
        """,
        """
        engine = sqlalchemy.create_engine("sqlite://")
        @app.workflow
        def fulfil(order: str) -> None:
            with Session(engine) as session:
                session.flush()
            once("pay", lambda: pay(1))
            other = Session(engine)
            other.flush()
            other.commit()
            notify(order)
        """,
        """
        sys.stdout.flush()
        once("pay", lambda: pay(1))
        """,
        """
        @app.workflow
        def fulfil(order: str) -> None: ...
        def order_placed(order: str) -> None:
            with app.session() as session:
                session.add(order)
                session.flush()
                session.commit()
                app.start(fulfil, order)
            with app.session() as session:
                session.flush()
            app.start(fulfil, order)
        """,
        """
        def save(session: Session, order: str) -> None:
            session.flush()
        @app.workflow
        def fulfil(order: str) -> None:
            once("pay", lambda: pay(1))
            save(app.session(), order)
        """,
    ],
)
def test_a_slow_call_before_the_transaction_is_not_told(source: str) -> None:
    assert_right(source)
