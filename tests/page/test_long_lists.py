"""Long lists: pages are asked for as they come near, and what is far away is not drawn."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.page.kit import Page, settle
from tests.service.kit import Served

pytestmark = pytest.mark.slow

ENTITIES, PER_PAGE = 10_000, 100


@pytest.fixture
def many(page: Page) -> Page:
    """A page whose service has ten thousand entities."""

    def answer(route: Any) -> None:
        query = parse_qs(urlsplit(route.request.url).query)
        first = int(query.get("cursor", ["0"])[0])
        entities = [
            {
                "id": f"{number:026}",
                "name": f"Person {number}",
                "type": "person",
                "aliases": [],
                "handles": [],
                "facts": 1,
                "mentions": 1,
            }
            for number in range(first, first + PER_PAGE)
        ]
        following = first + PER_PAGE
        cursor = str(following) if following < ENTITIES else None
        route.fulfill(json={"entities": entities, "cursor": cursor})

    page.route("**/v1/zones/ada/entities*", answer)
    return page


def rows(page: Page) -> Any:
    return page.get_by_role("main").locator("li.entity")


def test_ten_thousand_entities_are_scrolled_to_the_end_with_few_rows(many: Page) -> None:
    many.goto("/#/ada/people")
    rows(many).first.wait_for()
    most = 0
    # A hundred pages; the last one has no further one.
    for _ in range(ENTITIES // PER_PAGE * 4):
        many.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        many.wait_for_timeout(20)
        most = max(most, rows(many).count())
        if many.locator(".pages .end").count() == 0:
            break
    assert many.get_by_role("link", name="Person 9999", exact=True).is_visible()
    assert PER_PAGE <= most <= 12 * PER_PAGE
    many.evaluate("scrollTo(0, 0)")
    many.get_by_role("link", name="Person 0", exact=True).wait_for()
    many.wait_for_timeout(200)
    assert rows(many).count() <= 12 * PER_PAGE


def test_the_keyboard_walks_through_a_list_into_its_next_page(many: Page) -> None:
    many.goto("/#/ada/people")
    rows(many).first.wait_for()
    many.get_by_role("link", name="Person 0", exact=True).focus()
    for _ in range(PER_PAGE + 20):
        many.keyboard.press("Tab")
    focused = many.evaluate("document.activeElement.textContent")
    assert focused == f"Person {PER_PAGE + 20}"


def test_a_refresh_keeps_the_rows_the_place_and_the_focus(many: Page, filled: Served) -> None:
    """The service's status announces a change, which the reader asks to see."""
    with filled.bare() as client:
        status = client.get("/v1/zones/ada/status").json()
    told = [{**status, "facts": status["facts"] + more} for more in (0, 1)]
    body = "".join(f"event: status\r\ndata: {json.dumps(each)}\r\n\r\n" for each in told)
    many.route(
        "**/v1/zones/ada/status/stream",
        lambda route: route.fulfill(body=body, content_type="text/event-stream"),
    )
    many.goto("/#/ada/people")
    row = rows(many).filter(has=many.get_by_role("link", name="Person 150", exact=True))
    many.get_by_role("link", name="Person 0", exact=True).wait_for()
    many.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    row.wait_for()
    link = row.get_by_role("link")
    link.focus()
    before = link.element_handle()
    place = row.bounding_box()
    news = many.get_by_role("button", name="The memory has changed: show the current state")
    with many.expect_response(lambda found: "cursor=100" in found.url):
        # A click with a pointer would move the focus.
        news.dispatch_event("click")
    settle(many)
    assert many.evaluate("given => document.activeElement === given", before)
    assert place["y"] == pytest.approx(row.bounding_box()["y"], abs=60)
