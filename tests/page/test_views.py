"""Every view of the page in a real Chromium, by roles and names."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from recollect.cli.app import run
from tests.page.kit import HOSTILE, POTTERY, Page, message, settle, shown, view
from tests.service.kit import Served

pytestmark = pytest.mark.slow

expect: Any = None


@pytest.fixture(autouse=True, scope="module")
def expectations() -> None:
    global expect
    expect = pytest.importorskip("playwright.sync_api").expect


#: An id as the service gives it.
ID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")


def results(main: Any) -> Any:
    return main.locator("ol.results > li")


def test_the_first_view_is_that_of_the_first_zone(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="Ask", level=1)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/#/ada/ask$"))
    expect(page.get_by_label("Zone")).to_have_value("ada")


def test_a_question_is_asked_and_stands_in_the_address(page: Page) -> None:
    main = view(page, "ada/ask")
    main.get_by_label("Question").fill("Where does Ada live?")
    main.get_by_role("button", name="Ask").click()
    expect(results(main).first).to_contain_text("Oslo")
    expect(page).to_have_url(re.compile(r"query=Where\+does\+Ada\+live"))
    expect(results(main).first).to_contain_text(re.compile(r"statement\s*\d"))
    page.reload()
    expect(results(main).first).to_contain_text("Oslo")
    page.go_back()
    expect(results(main)).to_have_count(0)


def test_a_result_shows_its_fusion_its_rank_and_its_sources(page: Page) -> None:
    main = view(page, "ada/ask?query=Where+does+Ada+live%3F")
    first = results(main).first
    first.get_by_text("How it was found").click()
    expect(first.get_by_text(re.compile(r"^1, score \d\.\d{3}$"))).to_be_visible()
    expect(first.get_by_text("Rank in all searches together")).to_be_visible()
    expect(first.get_by_text(re.compile(r"record \d+ of the ledger")).first).to_be_visible()


def test_why_not_finds_what_is_missed_by_its_words(page: Page) -> None:
    main = view(page, "ada/ask?query=Where+does+Ada+live%3F&show=why-not")
    main.get_by_label("Id or text of the missing memory").fill("dog called Rex")
    main.get_by_role("button", name="Explain").click()
    nearest = main.get_by_role("list", name="Nearest memories").locator("> li").first
    expect(nearest).to_contain_text("Rex")
    expect(nearest).to_contain_text("Rank in each search")
    expect(nearest).to_contain_text("Rank in the answer")


def test_the_context_of_an_agent_is_shown_with_its_tokens(page: Page) -> None:
    main = view(page, "ada/ask?query=Where+does+Ada+live%3F&show=context")
    expect(main.get_by_label("Context block")).to_contain_text("Oslo")
    expect(main.get_by_role("status")).to_contain_text(re.compile(r"\d+ tokens for"))


def test_the_slider_shows_what_was_known_then(page: Page) -> None:
    main = view(page, "ada/ask?query=Where+does+Ada+live%3F")
    expect(results(main).first).to_contain_text("Oslo")
    main.get_by_label("Known at, date and time in UTC").fill("2026-05-05T12:00")
    main.get_by_label("Known at, date and time in UTC").blur()
    expect(results(main).first).to_contain_text("Turin")
    expect(results(main).filter(has_text="Oslo.").filter(has_text="moved")).to_have_count(0)
    expect(page).to_have_url(re.compile("known_at=2026-05-05T12"))
    main.get_by_role("button", name="Known at: back to now").click()
    expect(results(main).first).to_contain_text("Oslo")
    slider = main.get_by_role("slider", name="Known at")
    slider.focus()
    slider.press("Home")
    expect(page).to_have_url(re.compile("known_at=2026-05-01"))


def test_a_period_leads_to_what_was_known_at_its_end(page: Page) -> None:
    main = view(page, "ada/timeline?at=2026-05-05")
    main.get_by_role("link", name="Show what was known at the end of 5 May 2026").click()
    expect(page).to_have_url(re.compile("known_at=2026-05-06T00%3A00%3A00Z"))
    expect(main.get_by_role("slider", name="Known at")).to_have_value("5")
    expect(main.get_by_role("link", name=re.compile("^Show what was known"))).to_have_count(0)


def test_two_moments_are_compared(page: Page) -> None:
    main = view(page, "ada/timeline?at=2026-05&known_at=2026-05-31T00:00:00Z")
    main.get_by_role("button", name="Compare with another time").click()
    main.get_by_label("Compared: known at, date and time in UTC").fill("2026-05-08T00:00")
    main.get_by_label("Compared: known at, date and time in UTC").blur()
    difference = main.get_by_role("region", name="Difference")
    expect(difference).to_contain_text("Ada moved to Oslo")
    expect(difference.locator("li.added").filter(has_text="shed")).to_have_count(1)
    changed = difference.locator("li.changed")
    expect(changed).to_have_count(1)
    expect(changed).to_contain_text("Ada lives in Turin. current, then no longer so")


def test_a_comparison_with_the_same_time_asks_for_another(page: Page) -> None:
    main = view(page, "ada/ask?query=pottery")
    main.get_by_role("button", name="Compare with another time").click()
    same = main.get_by_role("status").filter(has_text="Both times are the same.")
    expect(same).to_be_visible()
    main.get_by_label("Compared: known at, date and time in UTC").fill("2026-05-08T00:00")
    main.get_by_label("Compared: known at, date and time in UTC").blur()
    expect(main.get_by_role("region", name="Difference")).to_contain_text("shed")
    expect(same).to_have_count(0)


@pytest.mark.parametrize("place", ["ada/timeline?at=2026-05&", "ada/ask?query=pottery+shed&"])
def test_a_past_moment_is_the_earlier_one_of_a_comparison_with_now(page: Page, place: str) -> None:
    main = view(page, f"{place}known_at=2026-05-08T00:00:00Z")
    main.get_by_role("button", name="Compare with another time").click()
    difference = main.get_by_role("region", name="Difference")
    expect(difference).to_contain_text("From known at 8 May 2026, 00:00 to known now")
    expect(difference.locator("li.added").filter(has_text="shed")).not_to_have_count(0)
    expect(difference.locator("li.removed").filter(has_text="shed")).to_have_count(0)


def test_valid_at_shows_what_was_true_then(page: Page) -> None:
    main = view(page, "ada/timeline?at=2026&valid_at=2026-05-06T00:00:00Z")
    expect(main.get_by_text("Ada lives in Turin.")).to_be_visible()
    expect(main.get_by_text("Ada moved to Oslo.")).to_have_count(0)


def test_the_time_line_zooms_from_years_to_a_day(page: Page) -> None:
    main = view(page, "ada/timeline")
    main.get_by_role("link", name=re.compile(r"^2026 \d+ facts")).click()
    main.get_by_role("link", name=re.compile(r"^May 2026 \d+ facts")).click()
    main.get_by_role("link", name=re.compile(r"^9 May 2026 1 fact")).click()
    expect(main.get_by_role("list", name="Days")).to_contain_text("Ada moved to Oslo.")
    expect(main.get_by_role("list", name="Days")).not_to_contain_text("pottery")
    main.get_by_role("navigation", name="Zoom").get_by_role("link", name="2026", exact=True).click()
    expect(page).to_have_url(re.compile("at=2026$"))


def test_a_person_is_shown_as_it_was_valid_then(page: Page) -> None:
    main = view(page, "ada/people/Ada?known_at=2026-05-05T12:00:00Z")
    main.get_by_role("button", name="show what was valid then").click()
    expect(page).to_have_url(re.compile(r"\?valid_at=2026-05-05T12"))
    expect(main.get_by_role("region", name="Facts")).to_contain_text("Ada lives in Turin.")
    expect(main.get_by_role("region", name="Facts")).not_to_contain_text("moved to Oslo")


def test_a_state_that_takes_long_to_project_is_asked_for_again(page: Page) -> None:
    times_out = [True, True]

    def answer(route: Any) -> None:
        if times_out:
            times_out.pop()
            problem = {"type": "urn:recollect:problem:timed-out", "title": "Timeout", "status": 503}
            route.fulfill(status=503, json=problem, content_type="application/problem+json")
        else:
            route.continue_()

    page.route("**/v1/zones/ada/timeline?*", answer)
    main = view(page, "ada/timeline?at=2026-05&known_at=2026-05-05T12:00:00Z")
    expect(main).to_contain_text("Ada lives in Turin.")
    assert times_out == []


def test_a_person_leads_to_its_erasure(page: Page) -> None:
    main = view(page, "ada/people/Ada")
    main.get_by_role("link", name="Forget Ada").click()
    erased = main.get_by_role("list", name="What would be erased")
    expect(erased).to_contain_text("Turin")
    expect(main.get_by_text("Chosen: Ada")).to_be_visible()


def test_people_are_found_by_a_part_of_their_name(page: Page) -> None:
    main = view(page, "ada/people")
    expect(main.get_by_role("link", name="Ada", exact=True)).to_be_visible()
    main.get_by_label("Name or account").fill("u-bo")
    main.get_by_role("button", name="Search").click()
    expect(main.get_by_role("link", name="Ada", exact=True)).to_have_count(0)
    main.get_by_role("link", name="Bob", exact=True).click()
    expect(main.get_by_role("heading", name="Bob")).to_be_visible()


def test_an_entity_shows_attributes_profile_facts_and_company(page: Page) -> None:
    main = view(page, "ada/people/Ada")
    homes = main.get_by_role("row").filter(has_text="home")
    expect(homes.first).to_contain_text("Oslo")
    expect(main.get_by_role("row").filter(has_text="Turin")).to_contain_text("no longer so")
    observed = main.get_by_role("region", name="Observations")
    expect(observed).to_contain_text("pottery")
    expect(observed).to_contain_text("first mentioned in the last 30 days")
    expect(main.get_by_role("img", name=re.compile("around Ada"))).to_be_visible()
    together = main.get_by_role("list", name="Named together with")
    expect(together.get_by_role("link", name="Bob")).to_be_visible()
    expect(main.get_by_role("list", name="Facts").first).to_contain_text("Ada moved to Oslo.")


def test_a_name_of_nobody_leads_to_a_search(page: Page) -> None:
    main = view(page, "ada/people/Zoltan")
    expect(main.get_by_role("alert")).to_contain_text("Zoltan")
    main.get_by_role("link", name="Search for Zoltan").click()
    expect(main.get_by_text("No entity has such a name.")).to_be_visible()


def test_an_observation_leads_to_the_words_and_its_versions(page: Page) -> None:
    main = view(page, "ada/observations")
    main.get_by_role("link", name=re.compile("pottery")).first.click()
    quotes = main.get_by_role("blockquote")
    expect(quotes.filter(has_text=POTTERY[1]).locator("mark").first).to_contain_text("two bowls")
    expect(main.get_by_text(re.compile("Version 2 of 2"))).to_be_visible()
    expect(main.locator("ins").filter(has_text="shed").first).to_be_visible()


def test_an_observation_is_shown_as_it_was_known(page: Page) -> None:
    main = view(page, "ada/observations")
    main.get_by_role("link", name=re.compile("pottery")).first.click()
    expect(main.get_by_role("heading", name="Sources")).to_be_visible()
    main.get_by_label("Known at, date and time in UTC").fill("2026-05-10T00:00")
    main.get_by_label("Known at, date and time in UTC").blur()
    expect(main.locator("p.report")).to_contain_text("winter market")
    expect(main.locator("p.report")).not_to_contain_text("shed")


def test_attributes_and_observations_are_listed_as_they_were_known(page: Page) -> None:
    main = view(page, "ada/people/Ada?known_at=2026-05-02T12:00:00Z")
    expect(main.get_by_role("row").filter(has_text="Turin")).not_to_contain_text("no longer so")
    expect(main.get_by_role("row").filter(has_text="Oslo")).to_have_count(0)
    main = view(page, "ada/observations?known_at=2026-05-02T12:00:00Z")
    expect(main.get_by_text("There is no such observation.")).to_be_visible()
    main = view(page, "ada/observations?compare=1&then_known_at=2026-05-02T12:00:00Z")
    expect(main.get_by_role("region", name="Difference")).to_contain_text("pottery")


def test_a_mental_model_shows_its_versions_as_differences(page: Page) -> None:
    main = view(page, "ada/models")
    main.get_by_role("link", name="Homes").click()
    expect(main.locator(".report")).to_contain_text("Ada lives in Oslo.")
    main.get_by_text(re.compile("Version 2 of 2")).click()
    expect(main.locator("li.added")).to_contain_text("Ada lives in Oslo.")
    expect(main.locator("li.removed")).to_contain_text("Ada lives in Turin.")


def test_a_refresh_is_tried_before_it_is_done(page: Page, filled: Served) -> None:
    main = view(page, "ada/models")
    main.get_by_role("link", name="Ada", exact=True).click()
    refresh = main.get_by_role("button", name="Refresh", exact=True)
    expect(refresh).to_be_disabled()
    main.get_by_role("button", name="See what a refresh would change").click()
    expect(main.get_by_role("status").filter(has_text="would")).to_be_visible()


def test_a_thread_shows_what_each_message_gave(page: Page) -> None:
    main = view(page, "ada/messages?by=thread")
    main.get_by_role("list", name="Threads").get_by_role("link").first.click()
    said = main.locator("li.message").filter(has_text="My dog is called Rex.")
    expect(said.get_by_role("list", name="Derived facts")).to_contain_text("Rex")
    expect(said.locator("mark")).to_contain_text("dog is called Rex")


def test_a_memory_of_any_kind_has_a_page(page: Page, filled: Served) -> None:
    main = view(page, "ada/memory/Ada-5-1")
    expect(main.get_by_role("list", name="Derived facts")).to_contain_text("Ada lives in Turin.")
    main.get_by_role("list", name="Derived facts").get_by_role("link").first.click()
    expect(main.get_by_role("region", name="Replaced by")).to_contain_text("Oslo")
    expect(main.get_by_role("blockquote")).to_contain_text("I live in Turin.")


def test_what_somebody_else_retracts_is_shown_when_asked_for(page: Page, filled: Served) -> None:
    """A retraction changes no count."""
    with filled.bare() as client:
        said = message(2, "I keep 12 bees.", id="others-2")
        client.post("/v1/zones/others/events?wait=true", json=said).raise_for_status()
        main = view(page, "others/people/Ada")
        facts = main.get_by_role("region", name="Facts")
        expect(facts).to_contain_text("Ada keeps 12 bees.")
        news = page.get_by_role("button", name="The memory has changed: show the current state")
        page.wait_for_timeout(1_000)
        expect(news).to_have_count(0)
        (fact,) = client.get("/v1/zones/others/facts").json()["facts"]
        client.post(f"/v1/zones/others/memories/{fact['id']}/retract", json={}).raise_for_status()
        news.click(timeout=20_000)
        expect(facts).to_contain_text("No fact.")
        expect(news).to_have_count(0)


@pytest.mark.parametrize(("kind", "offered"), [("recalled", 0), ("retract", 1)])
def test_a_counted_recall_is_no_change(page: Page, filled: Served, kind: str, offered: int) -> None:
    with filled.bare() as client:
        status = client.get("/v1/zones/ada/status").json()
    more = [{**file, "watermark": file["watermark"] + 1} for file in status["models"]]
    body = "".join(
        f"event: status\r\ndata: {json.dumps(each)}\r\n\r\n"
        for each in (status, {**status, "models": more})
    )
    asked = []

    def records(route: Any) -> None:
        asked.append(route.request.url)
        number = more[0]["watermark"]
        route.fulfill(json={"records": [{"number": number, "kind": kind}], "next_cursor": None})

    page.route(
        "**/v1/zones/ada/status/stream",
        lambda route: route.fulfill(body=body, content_type="text/event-stream"),
    )
    page.route("**/v1/zones/ada/records?*", records)
    with page.expect_response("**/v1/zones/ada/records?*"):
        view(page, "ada/timeline")
    news = page.get_by_role("button", name="The memory has changed: show the current state")
    page.wait_for_timeout(300)
    expect(news).to_have_count(offered)
    assert f"first={more[0]['watermark']}" in asked[0]


def test_a_merge_of_namesakes_shows_their_accounts(page: Page, filled: Served) -> None:
    with filled.bare() as client:
        for at, account in enumerate(("ada-1", "ada-2")):
            said = {**message(2 + at, "Hello all.", id=account), "sender_id": account}
            client.post("/v1/zones/namesakes/events?wait=true", json=said).raise_for_status()
        platform = said["platform"]
    merge = view(page, "namesakes/merges").get_by_role("list", name="Merges")
    expect(merge).to_contain_text(
        f"Ada (person, {platform} ada-1) and Ada (person, {platform} ada-2)"
    )


def test_one_of_several_of_a_name_is_chosen(page: Page, filled: Served) -> None:
    with filled.bare() as client:
        for account in ("eve-1", "eve-2"):
            said = {**message(2, f"I met {account}.", id=account, by="Eve"), "sender_id": account}
            client.post("/v1/zones/two/events?wait=true", json=said).raise_for_status()
    main = view(page, "two/people/Eve")
    expect(main.get_by_role("alert")).to_contain_text("Eve is the name of 2 people or things.")
    expect(main).not_to_contain_text(ID)
    second = main.get_by_role("list", name="Namesakes").get_by_role("listitem")
    second.filter(has_text="eve-2").get_by_role("link").click()
    expect(main.get_by_role("heading", name="Eve")).to_be_visible()
    expect(main.get_by_text("chat eve-2")).to_be_visible()


def test_the_steps_of_a_derivation_lead_to_what_they_name(page: Page) -> None:
    main = view(page, "ada/people/Ada")
    main.get_by_role("row").filter(has_text="Oslo").get_by_role("link").first.click()
    steps = main.get_by_role("region", name="How it was derived")
    expect(steps.get_by_text("decided by the rule writer, as of 9 May 2026, 10:00")).to_be_visible()
    expect(steps).not_to_contain_text(ID)
    expect(steps).to_contain_text("Ada, 9 May 2026, 10:00: I moved to Oslo.")
    steps.get_by_role("link", name=re.compile("^record ")).click()
    expect(main.get_by_text("I moved to Oslo.", exact=True)).to_be_visible()
    page.go_back()
    expect(steps).to_contain_text(re.compile(r"\ba fact\b"))
    expect(steps).to_contain_text("extracted when the event was processed")
    steps.get_by_role("link", name="fact").first.click()
    expect(main.get_by_role("region", name="Replaced by")).to_contain_text("Oslo")


def test_a_retracted_fact_is_marked_as_retracted(page: Page, filled: Served) -> None:
    with filled.bare() as client:
        said = message(2, "I play the cello.", by="Cleo")
        client.post("/v1/zones/taken/events?wait=true", json=said).raise_for_status()
        taken = client.post("/v1/zones/taken/memories/Cleo-5-2/retract", json={})
        taken.raise_for_status()
    main = view(page, "taken/memory/Cleo-5-2")
    facts = main.get_by_role("list", name="Derived facts")
    expect(facts).to_contain_text("Cleo plays the cello. retracted")
    main = view(page, "taken/messages?by=thread")
    main.get_by_role("list", name="Threads").get_by_role("link").first.click()
    expect(facts).to_contain_text("retracted")
    expect(facts).not_to_contain_text("no longer so")


def test_a_narrow_list_shows_accounts_and_its_filter_on_one_line(
    browser: Any, filled: Served
) -> None:
    with shown(browser, filled, viewport={"width": 390, "height": 800}) as page:
        rows = view(page, "ada/people").get_by_role("list", name="People and things")
        expect(rows.get_by_text("chat u-Ada")).to_be_visible()
        main = view(page, "ada/observations")
        field = main.get_by_label("Only about").bounding_box()
        button = main.get_by_role("button", name="Apply").bounding_box()
        assert abs(field["y"] - button["y"]) < field["height"]


#: Puts words into an element, and returns the number of their lines and their width beyond it.
LINES = """(element, words) => {
  element.textContent = words;
  const range = document.createRange();
  range.selectNodeContents(element);
  const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
  return [lines.size, Math.max(0, Math.round(range.getBoundingClientRect().right
    - element.getBoundingClientRect().right))];
}"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    ("place", "cell", "words"),
    [
        ("ada/people", "li.entity .kind", "unknown type"),
        ("ada/ledger", "li.record .kind", "refresh mental model"),
        ("ada/timeline?at=2026-05", ".bars .period", "20 May 2026"),
    ],
)
def test_a_column_is_wide_enough_for_its_words(
    browser: Any, filled: Served, width: int, place: str, cell: str, words: str
) -> None:
    with shown(browser, filled, viewport={"width": width, "height": 800}) as page:
        found = view(page, place).locator(cell).first
        found.wait_for()
        assert found.evaluate(LINES, words) == [1, 0]


def test_what_arrives_meanwhile_is_shown_when_asked_for(page: Page, filled: Served) -> None:
    with filled.bare() as client:

        def say(number: int) -> None:
            said = message(number, f"I bought {number} boats.", id=f"live-{number}")
            client.post("/v1/zones/live/events?wait=true", json=said).raise_for_status()

        say(2)
        main = view(page, "live/timeline?at=2026-05")
        expect(main.get_by_text("Ada bought 2 boats.")).to_be_visible()
        news = page.get_by_role("button", name="The memory has changed: show the current state")
        page.wait_for_timeout(1_000)
        expect(news).to_have_count(0)
        say(3)
        news.click()
        expect(main.get_by_text("Ada bought 3 boats.")).to_be_visible()
        expect(news).to_have_count(0)
        main = view(page, "live/people/Ada")
        facts = main.get_by_role("region", name="Facts")
        expect(facts).to_contain_text("Ada bought 3 boats.")
        say(4)
        news.click()
        expect(facts).to_contain_text("Ada bought 4 boats.")
        expect(main.get_by_text("3 facts")).to_be_visible()


VIEWS = (
    "ask?query=Where+does+Ada+live%3F&known_at=2026-05-30T00:00:00Z",
    "ask?query=pottery&show=context",
    "timeline?at=2026-05&entity=Ada",
    "people",
    "people/Ada",
    "messages?by=day",
    "observations",
    "models",
    "memory/Ada-5-1",
)


@pytest.mark.parametrize("place", VIEWS)
def test_the_command_and_the_request_of_a_view_give_an_answer(
    page: Page, filled: Served, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main = view(page, f"ada/{place}")
    main.get_by_text("The same answer elsewhere").click()
    command, request = (
        main.locator("dl > dd").filter(has_text=start).last.inner_text()
        for start in ("recollect --zone", "/v1/zones/ada")
    )
    words = shlex.split(command)
    assert words.pop(0) == "recollect"
    assert run(["--home", str(filled.home), *words, "--json"]) == 0
    assert capsys.readouterr().out
    method, url, *rest = shlex.split(request)
    with filled.bare() as client:
        body = json.loads(rest[1]) if rest else None
        answer = client.request(method, url, json=body)
    assert answer.is_success
    main.get_by_role("button", name="Show the JSON").click()
    expect(main.locator("pre.json")).to_contain_text("{")


HOSTILE_VIEWS = (
    "ask?query=dog+invoice+script+called",
    "timeline?at=2026-05",
    "people",
    "messages?by=thread",
    "memory/h1",
    "memory/h2",
    "memory/h3",
    "memory/h4",
)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("place", HOSTILE_VIEWS)
def test_hostile_texts_are_shown_and_do_nothing(
    browser: Any, filled: Served, place: str, width: int
) -> None:
    with shown(browser, filled, viewport={"width": width, "height": 800}) as page:
        main = view(page, f"hostile/{place}")
        expect(main.locator("li, p.report").first).to_be_visible()
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#page img, #page script, main main").count() == 0
        assert page.title() != "1"
        assert not set("\u202e\u200b\u2066") & set(main.inner_text())
        if place == "memory/h2":
            expect(main.locator("p.report")).to_contain_text("U+202E")
            expect(main.get_by_title("right-to-left override").first).to_be_visible()
        if place == "memory/h1":
            expect(main.locator("p.report")).to_contain_text(HOSTILE[0])


def test_no_text_of_a_hostile_thread_leaves_its_line(browser: Any, filled: Served) -> None:
    with shown(browser, filled) as page:
        main = view(page, "hostile/messages?by=thread")
        main.get_by_role("list", name="Threads").get_by_role("link").first.click()
        expect(main.locator("li.message")).to_have_count(len(HOSTILE) + 1)
        assert page.get_by_role("heading", name="Nothing").count() == 0


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    from tests.page.kit import filled_service

    with filled_service(tmp_path_factory.mktemp("guarded") / "home") as found:
        yield found


def token_of(service: Served, rights: tuple[str, ...]) -> str:
    with service.client("ada", rights) as client:
        return client.headers["authorization"].removeprefix("Bearer ")


def test_a_token_is_asked_for_and_never_in_the_address(browser: Any, guarded: Served) -> None:
    token = token_of(guarded, ("read",))
    with shown(browser, guarded) as page:
        addresses: list[str] = []
        page.on("request", lambda asked: addresses.append(asked.url))
        page.goto("/#/ada/ask?query=pottery")
        page.get_by_label("Access token").fill("rct_wrong_token")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("access token is required")
        page.get_by_label("Access token").fill(token)
        page.get_by_role("button", name="Sign in").click()
        expect(results(page.get_by_role("main")).first).to_contain_text("pottery")
        page.reload()
        expect(results(page.get_by_role("main")).first).to_contain_text("pottery")
        assert not [each for each in [*addresses, page.url] if token in each or "rct_" in each]
        assert page.context.cookies() == []
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Access token")).to_be_visible()
        assert page.evaluate("JSON.stringify({...sessionStorage, ...localStorage})") == "{}"


def test_the_names_around_a_person_are_not_cut_off(browser: Any, filled: Served) -> None:
    names = ("Bartholomew Featherstone", "Maximiliana Wintergarden", "Christopher Underwood")
    with filled.bare() as client:
        for day, name in enumerate((*names, "Alexandrina Mountbatten"), 1):
            said = message(day, f"I met {name} in Lima.", by="Zoe")
            client.post("/v1/zones/around/events?wait=true", json=said).raise_for_status()
    for width in (390, 1280):
        with shown(browser, filled, viewport={"width": width, "height": 900}) as page:
            graph = view(page, "around/people/Zoe").get_by_role(
                "img", name=re.compile("around Zoe")
            )
            expect(graph.locator("text")).not_to_have_count(0)
            assert graph.locator("text").filter(has_text="…").count() > 1
            inside = """(svg) => [...svg.querySelectorAll("text")].map((each) => {
                const { left, right } = each.getBoundingClientRect();
                const frame = svg.getBoundingClientRect();
                return Math.max(frame.left - left, right - frame.right); })"""
            # The view has a margin of at least this.
            assert max(graph.evaluate(inside)) <= 14


def test_what_each_search_compares_is_told_to_a_keyboard(page: Page) -> None:
    main = view(page, "ada/ask?query=pottery")
    main.get_by_text("What each search compares").press("Enter")
    expect(main.get_by_role("definition").filter(has_text="words of the message")).to_be_visible()


def test_a_filter_that_nothing_passes_does_not_say_that_all_is_empty(page: Page) -> None:
    main = view(page, "ada/observations?entity=Lima")
    expect(main.get_by_text("There is no such observation.")).to_be_visible()
    expect(main.get_by_text("recollect init")).to_have_count(0)


def test_the_ledger_tells_in_words_what_is_asked_of_reports(page: Page) -> None:
    def due(route: Any) -> None:
        answer = route.fetch().json()
        record = {**answer["records"][0], "kind": "refresh_models", "sender": None}
        route.fulfill(json={"records": [{**record, "text": "min_facts 20"}], "cursor": None})

    page.route("**/v1/zones/ada/records**", due)
    main = view(page, "ada/ledger")
    rows = main.get_by_role("list", name="Records").get_by_role("listitem")
    expect(rows.first).to_contain_text("renew the reports that are due")
    expect(rows.first).not_to_contain_text("min_facts")


def test_the_record_of_a_rewritten_report_leads_to_the_report(page: Page) -> None:
    main = view(page, "ada/ledger?kinds=update_mental_model")
    main.get_by_role("link", name=re.compile("^Record")).first.click()
    main.get_by_role("region", name="Content").get_by_role("link", name="Homes").click()
    expect(page.get_by_role("heading", name="Mental models")).to_be_visible()
    expect(main.get_by_role("heading", name="Homes")).to_be_visible()


def test_without_the_right_to_write_the_page_only_reads(browser: Any, guarded: Served) -> None:
    with shown(browser, guarded) as page:
        page.goto("/#/ada/models")
        page.get_by_label("Access token").fill(token_of(guarded, ("read",)))
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("main").get_by_role("link", name="Ada", exact=True).click()
        expect(page.get_by_role("button", name="See what a refresh")).to_be_disabled()
        expect(page.get_by_text("This token has no right to write.")).to_be_visible()
        expect(page.get_by_label("Zone").get_by_role("option")).to_have_count(1)


def test_the_focus_stays_where_a_pressed_button_was(page: Page) -> None:
    main = view(page, "ada/timeline?at=2026-05&known_at=2026-05-08T00:00:00Z")
    main.get_by_role("button", name="Known at: back to now").press("Enter")
    expect(main.locator(".slider").first.locator(":focus")).to_have_count(1)
    expect(main.get_by_role("button", name="Known at: back to now")).to_have_count(0)
    main = view(page, "hostile/messages?by=thread")
    main.get_by_role("list", name="Threads").get_by_role("link").first.click()
    long = main.locator("li.message").filter(has_text="WWW")
    long.get_by_role("button", name=re.compile("^Show all")).press("Enter")
    expect(long.locator(":focus")).to_have_count(1)
    page.keyboard.press("Tab")
    expect(page.locator("body")).not_to_be_focused()


def test_the_keyboard_reaches_the_view_and_escape_closes_the_menu(
    browser: Any, filled: Served
) -> None:
    with shown(browser, filled, viewport={"width": 390, "height": 800}) as page:
        view(page, "ada/ask")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the view")).to_be_focused()
        menu = page.locator("#menu-button")
        menu.focus()
        page.keyboard.press("Enter")
        expect(menu).to_have_attribute("aria-expanded", "true")
        expect(page.get_by_role("link", name="Timeline")).to_be_visible()
        page.keyboard.press("Escape")
        expect(menu).to_be_focused()
        expect(menu).to_have_attribute("aria-expanded", "false")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Timeline").press("Enter")
        expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
        expect(page.get_by_role("main")).to_be_focused()
