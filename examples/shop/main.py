"""Places an order, kills the server in the middle of the charge, starts it again, and tells what came of it."""

import re

import httpx
from story import opened

with opened() as shop, httpx.Client(base_url=shop.url, follow_redirects=True, trust_env=False) as browser:
    shop.bank.answers.clear()
    order = browser.post("/orders", data={"email": "ann@example.org", "amount": "19"})
    place = order.url.path
    print(f"placed: {place}")
    shop.bank.charged.wait()
    shop.kill()
    print("the server was killed: the bank has charged, and nobody has recorded that")
    shop.bank.answers.set()
    shop.start()
    shop.post.came.wait()
    while "shipped" not in (text := browser.get(place).text):
        pass
    print(re.sub(r"<[^>]+>", "", text.partition("<p>")[2]))
    print(f"the bank was asked {len(shop.bank.requests)} times and has charged {list(shop.bank.charges.values())}")
    print(f"letters: {len(shop.post.letters)}")
