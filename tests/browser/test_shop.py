"""The shop of ``examples/shop`` in a browser: an order is placed, the server dies in the charge and starts again."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="Chromium and ChromeDriver are programs of the system, and not on this machine"
)


@pytest.fixture
def browser() -> Iterator[Any]:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    quiet = ("background-networking", "component-update", "sync", "extensions", "gpu", "quic", "dev-shm-usage")
    for argument in ("headless=new", "no-sandbox", "no-first-run", *(f"disable-{name}" for name in quiet)):
        options.add_argument(f"--{argument}")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=str(DRIVER)))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    root = Path(__file__).parents[2]
    monkeypatch.syspath_prepend(str(root / "examples" / "shop"))
    monkeypatch.setenv("PYTHONPATH", str(root / "src"))
    monkeypatch.setenv("NO_PROXY", "*")
    for name in ("services", "story"):
        sys.modules.pop(name, None)
    from story import opened  # type: ignore[import-not-found]

    with opened() as opened_shop:
        yield opened_shop


@pytest.mark.rule("W4")
@pytest.mark.rule("O9")
def test_an_order_is_charged_once_and_one_mail_is_sent_though_the_server_dies_in_the_charge(
    browser: Any, shop: Any
) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    shop.bank.answers.clear()
    browser.get(shop.url)
    browser.find_element(By.NAME, "email").send_keys("ann@example.org")
    browser.find_element(By.TAG_NAME, "button").click()
    WebDriverWait(browser, 30).until(lambda page: page.current_url.endswith("/orders/1"))
    assert browser.find_element(By.ID, "stage").text == "placed"
    assert shop.bank.charged.wait(30)
    shop.kill()
    shop.bank.answers.set()
    shop.start()
    assert shop.post.came.wait(30)
    browser.get(f"{shop.url}/orders/1")
    WebDriverWait(browser, 30).until(lambda page: page.find_element(By.ID, "stage").text == "shipped")
    assert "receipt-1" in browser.page_source
    assert list(shop.bank.charges.values()) == [19]
    assert len(shop.bank.requests) == 2
    assert len(shop.post.letters) == 1
    assert "To: ann@example.org" in shop.post.letters[0]
