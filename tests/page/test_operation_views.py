"""The views of a zone's operation, in a real Chromium: from its ledger to its tokens."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.cli.app import run
from recollect.home.access_tokens import AccessTokens
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.publishing.inbox import InboxRecord, ingest_records
from tests.page.kit import HOSTILE, Page, message, settle, shown, view
from tests.service.kit import Served, served

pytestmark = pytest.mark.slow

expect: Any = None
FLAKY = '''
"""An agent that fails on some messages as long as a file is there."""

from pathlib import Path

from recollect.streams.agents import Agent, Extract

BROKEN = Path(__file__).with_name("broken")


class Flaky(Agent):
    kinds = frozenset({"message"})

    def extract(self, event, conversation):
        if BROKEN.exists() and "parcel" in event.payload.content:
            raise RuntimeError("the parcel service is away")
        return Extract(None)

    def resolve(self, event, extract, state):
        return []


AGENT = Flaky()
'''


@pytest.fixture(autouse=True, scope="module")
def expectations() -> None:
    global expect
    expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a package with an agent that fails, imported anew for each set-up."""
    folder = tmp_path_factory.mktemp("agents")
    (folder / "parcels").mkdir()
    (folder / "parcels" / "__init__.py").write_text("")
    (folder / "parcels" / "flaky.py").write_text(FLAKY)
    (folder / "parcels" / "broken").write_text("")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    for name in ("parcels", "parcels.flaky"):
        sys.modules.pop(name, None)


def fill(home: Path) -> None:
    """Make a home with dead letters, commands and hostile texts."""
    agents = ("--agents", "own,parcels.flaky:AGENT")
    assert run(["--home", str(home), "init", "--encoder", "none", *agents]) == 0
    with Recollect(home) as opened:
        zone = opened.zone("ada")
        zone.ingest([message(1, "I live in Turin."), message(2, "I have a dog called Rex.")])
        zone.ingest([message(3, "The parcel is from Lima.")])
        zone.retract("Ada-5-2")
        zone.remember("Ada likes tea.", sender_id="Bob")
        hostile = opened.zone("hostile")
        hostile.ingest(
            message(day, text, by=f"Mallory {text[:20]}", id=f"h{day}", sender_id=f"m{day}")
            for day, text in enumerate(HOSTILE, 1)
        )
        for text in HOSTILE:
            hostile.remember(text)
        given = AccessTokens(home)
        given.create(("hostile",), ("read",), user=HOSTILE[0], agent=HOSTILE[1])
        trials = opened.zone("trials")
        trials.ingest([message(1, "I live in Turin."), message(2, "The parcel is from Rome.")])
    ledger = EmbeddedLedger(home)
    broken = b'{"platform": "chat", "sender_id": "u-Ada", "sender_name": "Ada", "id": "late", '
    broken += b'"occurred_at": "2026-05-04T10:00:00Z", "content": "I have a cat called Tom."'
    bodies = [(b"ada", broken), *((b"hostile", text.encode()) for text in HOSTILE)]
    ingest_records(ledger, [InboxRecord(zone, body, 1_700_000_000_000) for zone, body in bodies])
    ledger.close()
    with Recollect(home) as opened:
        for name in ("ada", "hostile"):
            opened.zone(name).decide()


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory, package: Path) -> Iterator[Served]:
    """A service without sign-in, over zones with something to mend."""
    home = tmp_path_factory.mktemp("operated") / "home"
    fill(home)
    with served(home, no_auth=True) as found:
        yield found


@pytest.fixture
def page(browser: Any, operated: Served) -> Iterator[Page]:
    """A tab on the page of `operated`."""
    with shown(browser, operated) as found:
        yield found


def test_the_ledger_is_sought_by_number_kind_and_time(page: Page) -> None:
    main = view(page, "ada/ledger")
    rows = main.get_by_role("list", name="Records").get_by_role("listitem")
    expect(rows.last).to_contain_text("I live in Turin.")
    main.get_by_label("Number").fill("2")
    main.get_by_role("button", name="Seek").click()
    expect(rows.first).to_contain_text("Rex")
    main.get_by_label("Number").fill("")
    main.get_by_label("Kinds").fill("retract, park")
    main.get_by_role("button", name="Seek").click()
    expect(page).to_have_url(re.compile("kinds=retract"))
    # No message; other tests may have retracted more.
    expect(rows.filter(has_text="Turin")).to_have_count(0)
    expect(rows.nth(1)).to_be_visible()
    main.get_by_label("Kinds").fill("telegram")
    main.get_by_role("button", name="Seek").click()
    expect(main.get_by_role("alert")).to_contain_text("there is no such kind")
    main = view(page, "ada/ledger?at=2026-05-02T12:00:00Z&kinds=message")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("parcel")


def test_pages_without_a_record_are_passed_over(page: Page) -> None:
    def empty_at_first(route: Any) -> None:
        if "cursor" in route.request.url:
            route.continue_()
        else:
            route.fulfill(json={"records": [], "cursor": "1"})

    page.route("**/v1/zones/ada/records**", empty_at_first)
    main = view(page, "ada/ledger?order=oldest")
    expect(main.get_by_role("list", name="Records")).to_contain_text("I live in Turin.")


def test_a_record_is_followed_through_agents_and_files(page: Page) -> None:
    main = view(page, "ada/ledger/1")
    expect(main.get_by_role("region", name="Content")).to_contain_text("I live in Turin.")
    decision = main.get_by_role("region", name="Decision")
    expect(decision).to_contain_text("writer")
    facts = decision.get_by_role("row").filter(
        has=page.get_by_role("cell", name="facts", exact=True)
    )
    expect(facts).to_contain_text("memory")
    expect(main.get_by_text("The first record")).to_be_visible()
    hash_ = main.get_by_role("region", name="Chain").locator("dd").first.inner_text()
    main.get_by_role("link", name="Next record").click()
    expect(main.get_by_role("heading", name="Record 2: message")).to_be_visible()
    expect(main.get_by_role("region", name="Chain").locator("dd").nth(1)).to_have_text(hash_)


def test_a_record_of_a_list_is_summarised_with_its_json_folded(page: Page) -> None:
    main = view(page, "ada/ledger?order=oldest")
    rows = main.get_by_role("list", name="Records").get_by_role("listitem")
    retraction = rows.filter(has_text="the owner retracted a memory")
    expect(retraction).to_have_count(1)
    expect(retraction).not_to_contain_text("stated_at")
    unread = rows.filter(has_text="input that could not be read: not JSON")
    expect(unread).not_to_contain_text("content")
    first = rows.first
    expect(first).to_contain_text("I live in Turin.")
    expect(first).to_contain_text("Ada")
    first.get_by_role("link").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    decision = first.get_by_text(re.compile("^Wrote 1 fact, "))
    expect(decision).to_contain_text("other rows.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    content = first.locator("pre")
    expect(content).to_contain_text('"content": "I live in Turin."')
    assert json.loads(content.inner_text())["record"]["number"] == 1
    page.keyboard.press("Tab")
    expect(content).to_be_focused()


def test_a_change_and_a_record_are_summarised_with_their_json_folded(page: Page) -> None:
    main = view(page, "ada/changes")
    change = main.get_by_role("list", name="Changes").locator("> li").filter(has_text="tea").first
    change.get_by_text("Details and undo").press("Enter")
    expect(change.get_by_text(re.compile("^Wrote 1 fact, "))).to_be_visible()
    expect(change.locator("pre")).to_have_count(0)
    change.get_by_text("JSON", exact=True).press("Enter")
    expect(change.locator("pre")).to_contain_text('"kind": "remember"')
    main = view(page, "ada/ledger/1")
    decision = main.get_by_role("region", name="Decision")
    expect(decision.get_by_text(re.compile("^Wrote 1 fact, "))).to_be_visible()
    main.locator("details.fold").get_by_text("JSON", exact=True).press("Enter")
    expect(main.locator("pre")).to_contain_text('"sender_name": "Ada"')


def test_changes_are_listed_and_undone(page: Page, operated: Served) -> None:
    main = view(page, "ada/changes")
    rows = main.get_by_role("list", name="Changes").locator("> li")
    expect(rows.filter(has_text="Ada likes tea.")).to_contain_text("the owner remembered")
    expect(rows.filter(has_text="Ada likes tea.")).to_contain_text("said by Bob")
    taken = rows.filter(has_text="retracted a memory").last
    expect(taken.get_by_role("link", name=re.compile("Rex"))).to_be_visible()
    taken.get_by_text("Details and undo").click()
    taken.get_by_role("button", name="Undo it").click()
    expect(main.get_by_role("status").filter(has_text="Undone.")).to_be_visible()
    expect(rows.filter(has_text="restored a memory")).to_have_count(1)
    with operated.bare() as client:
        facts = client.get("/v1/zones/ada/facts").json()["facts"]
    assert any("Rex" in fact["text"] for fact in facts)


def test_an_unreadable_record_is_edited_and_decided(page: Page, operated: Served) -> None:
    main = view(page, "ada/health")
    expect(main.get_by_text("Records that could not be processed.")).to_be_visible()
    letters = main.get_by_role("list", name="Dead letters")
    expect(letters).to_contain_text("unreadable input: not JSON")
    unreadable = letters.get_by_role("listitem").filter(has_text=", unreadable input:")
    unreadable.get_by_role("button", name=re.compile("^Retry record")).click()
    expect(main.get_by_role("status").filter(has_text="still cannot be processed")).to_be_visible()
    unreadable.get_by_role("button", name=re.compile("^Edit record")).click()
    editor = unreadable.get_by_label("The event as JSON")
    unreadable.get_by_role("button", name="Publish the correction").click()
    expect(main.get_by_role("alert")).to_contain_text("This is not JSON")
    editor.fill(editor.input_value() + "}")
    unreadable.get_by_role("button", name="Publish the correction").click()
    expect(main.get_by_role("status").filter(has_text="A corrected record")).to_be_visible()
    expect(unreadable).to_have_count(0)
    with operated.bare() as client:
        facts = client.get("/v1/zones/ada/facts").json()["facts"]
    assert any("Tom" in fact["text"] for fact in facts)


def test_a_message_that_cannot_be_decided_is_edited(page: Page, operated: Served) -> None:
    main = view(page, "trials/health")
    letter = main.get_by_role("list", name="Dead letters").get_by_role("listitem")
    letter.get_by_role("button", name="Edit record 2").click()
    letter.get_by_label("Its text").fill("I have a cat called Mia.")
    letter.get_by_role("button", name="Publish the correction").click()
    expect(main.get_by_role("status").filter(has_text="A corrected record")).to_be_visible()
    expect(letter).to_have_count(0)
    with operated.bare() as client:
        facts = client.get("/v1/zones/trials/facts").json()["facts"]
    assert "Ada has a cat called Mia." in {fact["text"] for fact in facts}


def test_a_dead_letter_is_retried_once_the_cause_is_gone(page: Page, package: Path) -> None:
    main = view(page, "ada/health")
    letters = main.get_by_role("list", name="Dead letters").get_by_role("listitem")
    letter = letters.filter(has_text="Record 3, message: ")
    expect(letter).to_contain_text("the parcel service is away")
    expect(letter.get_by_role("blockquote")).to_have_text("Ada: The parcel is from Lima.")
    letter.get_by_role("button", name=re.compile("^Retry record")).click()
    expect(main.get_by_role("status").filter(has_text="still cannot be processed")).to_be_visible()
    (package / "parcels" / "broken").unlink()
    letter.get_by_role("button", name=re.compile("^Retry record")).click()
    expect(main.get_by_role("status").filter(has_text="Record 3 is processed.")).to_be_visible()
    expect(letter).to_have_count(0)


def test_an_unreadable_dead_letter_shows_what_came_in(page: Page) -> None:
    letters = view(page, "hostile/health").get_by_role("list", name="Dead letters")
    quotes = letters.get_by_role("blockquote")
    expect(quotes.filter(has_text=HOSTILE[-1])).to_have_count(1)
    expect(quotes).to_have_count(len(HOSTILE))


def test_a_list_does_not_move_while_one_of_its_buttons_is_pressed(page: Page) -> None:
    """A retry adds a dead letter to the list; here its answer arrives during the next press."""
    letters = [
        {"number": number, "kind": "message", "reason": "away", "state": "parked", "parked_at": 0}
        for number in range(1, 9)
    ]
    held: list[Any] = []
    retried: list[str] = []

    def answer(route: Any) -> None:
        if "/retry" in route.request.url:
            retried.append(route.request.url)
            route.fulfill(json={"parked": True})
        elif retried and not held:
            held.append(route)
        else:
            route.fulfill(json={"dead_letters": letters if retried else letters[4:]})

    page.route("**/v1/zones/ada/dead-letters**", answer)
    main = view(page, "ada/health")
    button = main.get_by_role("button", name="Retry record 5")
    button.click()
    expect(main.get_by_role("status").filter(has_text="Record 5 still cannot")).to_be_visible()
    page.wait_for_timeout(300)
    button.hover()
    page.mouse.down()
    assert len(held) == 1
    held[0].fulfill(json={"dead_letters": letters})
    page.wait_for_timeout(500)
    page.mouse.up()
    expect(main.get_by_role("list", name="Dead letters").get_by_role("listitem")).to_have_count(8)
    assert retried == [retried[0]] * 2


def send_status(page: Page, operated: Served, *changed: dict[str, Any]) -> None:
    """Answer the page with the zone's status, changed; in the place of the service's stream."""
    with operated.bare() as client:
        found = client.get("/v1/zones/ada/status").json()
    data = [json.dumps({**found, **each}) for each in changed]
    body = "".join(f"event: status\r\ndata: {each}\r\n\r\n" for each in data)
    page.route(
        "**/v1/zones/ada/status/stream",
        lambda route: route.fulfill(body=body, content_type="text/event-stream"),
    )


@pytest.mark.parametrize("stalled", [False, True])
def test_the_service_tells_whether_a_zone_is_stalled(
    page: Page, operated: Served, stalled: bool
) -> None:
    """The service's own clock cannot be waited for, so its answer is given here."""
    told = {"lag": 7, "lag_seconds": 400.0, "seconds_since_progress": 70.0, "stalled": stalled}
    send_status(page, operated, told)
    main = view(page, "ada/health")
    expect(main.get_by_text("7 records wait, the first for 7 minutes")).to_be_visible()
    expect(main.get_by_role("alert")).to_have_count(1 if stalled else 0)
    if stalled:
        expect(main.get_by_role("alert")).to_contain_text("Stalled")
        since = re.compile(r"since \d+ \w+ \d{4}, \d\d:\d\d")
        expect(main.get_by_role("alert")).to_contain_text(since)
        expect(main.get_by_role("alert")).to_contain_text("recollect worker")


def test_a_zone_in_which_nothing_was_ever_decided_is_stalled(page: Page, operated: Served) -> None:
    told = {"lag": 7, "lag_seconds": 70.0, "seconds_since_progress": None, "stalled": True}
    send_status(page, operated, told)
    alert = view(page, "ada/health").get_by_role("alert")
    expect(alert).to_contain_text(
        "7 records wait, the first for 70 seconds; none was ever processed"
    )


def test_stalled_zones_are_marked_in_the_menu_and_the_list(page: Page, operated: Served) -> None:
    def stall(route: Any) -> None:
        answer = route.fetch().json()
        for zone in answer["zones"]:
            zone["stalled"] = zone["zone"] == "ada"
        route.fulfill(json=answer)

    page.route("**/v1/access", stall)
    page.route("**/v1/zones", stall)
    main = view(page, "ada/tokens")
    table = main.get_by_role("region", name="Zones")
    expect(table.get_by_role("rowheader", name="ada stalled")).to_be_visible()
    expect(table.get_by_role("rowheader", name="stalled")).to_have_count(1)
    expect(page.get_by_role("combobox").first).to_contain_text("ada (stalled)")


def test_a_stalled_zone_is_named_in_every_view_and_leads_to_the_reason(
    page: Page, operated: Served
) -> None:
    def stall(route: Any) -> None:
        answer = route.fetch().json()
        for zone in answer["zones"]:
            zone["stalled"] = zone["zone"] == "ada"
        route.fulfill(json=answer)

    page.route("**/v1/access", stall)
    why = "another process has locked a file of the zone; end that process"
    told = {"lag": 7, "lag_seconds": 70.0, "stalled": True, "problem": why}
    send_status(page, operated, told)
    page.set_viewport_size({"width": 390, "height": 844})
    view(page, "trials/ask")
    notice = page.get_by_role("banner").get_by_role("status").filter(has_text="Stalled:")
    notice.get_by_role("link", name="ada").click()
    expect(page).to_have_url(re.compile("#/ada/health"))
    alert = page.get_by_role("main").get_by_role("alert")
    expect(alert).to_contain_text(f"Why: {why}.")
    expect(alert).not_to_contain_text("recollect worker")
    expect(notice).to_have_count(0)


def test_a_zone_with_a_damaged_file_hides_no_other_zone(tmp_path: Path, browser: Any) -> None:
    home = tmp_path / "home"
    with Recollect(home, encoder=None) as opened:
        opened.zone("ada").ingest([message(1, "I live in Turin.")])
        opened.zone("torn").ingest([message(1, "I live in Oslo.")])
        opened.zone("torn").ingest([message(2, "I moved to Lima.")], wait=False)
    (torn,) = (home / "zones" / "torn").glob("g*/memory.db")
    torn.write_bytes(b"x" * 4096)
    with served(home, no_auth=True) as service, browser.new_page(base_url=service.url) as page:
        page.goto("/")
        expect(page.get_by_role("heading", name="Ask")).to_be_visible()
        page.get_by_role("banner").get_by_role("link", name="torn").click()
        alert = page.get_by_role("main").get_by_role("alert").first
        expect(alert).to_contain_text("a file of the zone is damaged")
        expect(alert).to_contain_text("recollect rebuild")
        expect(view(page, "ada/people").get_by_text("Turin")).to_be_visible()
        main = view(page, "torn/health")
        main.get_by_role("button", name="Rebuild and activate").click()
        expect(main.get_by_text("Every record is processed.")).to_be_visible()
        expect(page.get_by_role("banner").get_by_text("Stalled:")).to_have_count(0)


def test_the_lag_is_drawn_as_it_is_sent(page: Page, operated: Served) -> None:
    send_status(page, operated, *({"lag": lag, "lag_seconds": 3.0} for lag in (9, 5, 2)))
    main = view(page, "ada/health")
    expect(main.get_by_role("img", name=re.compile("at most 9, down by 7"))).to_be_visible()


def test_a_page_watches_the_status_by_one_stream(page: Page, operated: Served) -> None:
    watched: list[str] = []
    page.on("request", lambda asked: watched.append(asked.url))
    main = view(page, "ada/health")
    expect(main.get_by_role("img", name=re.compile("Waiting records"))).to_be_visible()
    assert sum(url.endswith("/status/stream") for url in watched) == 1


def test_a_page_with_a_revoked_token_stops_watching(page: Page, operated: Served) -> None:
    watched: list[str] = []

    def refuse(route: Any) -> None:
        watched.append(route.request.url)
        problem = json.dumps({"title": "The token was revoked", "detail": "", "status": 401})
        body = f"event: problem\r\ndata: {problem}\r\n\r\n"
        route.fulfill(body=body, content_type="text/event-stream")

    page.clock.install()
    page.route("**/v1/zones/ada/status/stream", refuse)
    main = view(page, "ada/health")
    expect(main.get_by_role("alert").filter(has_text="The token was revoked")).to_be_visible()
    page.clock.run_for(60_000)
    settle(page)
    assert len(watched) == 1


def test_a_generation_is_compared_used_and_left_again(page: Page, operated: Served) -> None:
    main = view(page, "ada/health")
    part = main.get_by_role("region", name="Generations")
    expect(part.get_by_role("button", name="Build and compare")).to_be_disabled()
    part.get_by_label("Rebuild").select_option("derive")
    part.get_by_role("button", name="Build and compare").click()
    expect(part.get_by_role("region", name="Difference")).to_contain_text("the same")
    with operated.bare() as client:
        before = client.get("/v1/zones/ada/status").json()["generation"]
        part.get_by_role("button", name="Cut over to it").click()
        expect(part.get_by_text(re.compile("in use, in"))).to_be_visible()
        after = client.get("/v1/zones/ada/status").json()["generation"]
        assert after != before
        part.get_by_role("button", name="Roll back").click()
        expect(part.get_by_text(f"Generation {before} is in use again.")).to_be_visible()
    expect(main.get_by_role("list", name="Earlier operations")).to_contain_text(
        "The rollback has succeeded."
    )


def test_verification_shows_what_is_equal(page: Page) -> None:
    main = view(page, "trials/health")
    part = main.get_by_role("region", name="Verify")
    part.get_by_role("button", name="Replay and compare").click()
    expect(part.get_by_text("every file equals its replay")).to_be_visible()
    part.get_by_label(re.compile("^A head")).fill("9:" + "0" * 32)
    part.get_by_role("button", name="Replay and compare").click()
    expect(part.get_by_text(re.compile(r"the ledger ends at event \d+"))).to_be_visible()


def test_a_branch_is_made_compared_promoted_and_dropped(page: Page, operated: Served) -> None:
    main = view(page, "trials/branches")
    expect(main.get_by_text("The zone trials has no branch.")).to_be_visible()
    main.get_by_label("A new branch").fill("what if")
    main.get_by_role("button", name="Create").click()
    expect(main.get_by_role("alert")).to_contain_text("what if")
    main.get_by_label("A new branch").fill("trial")
    main.get_by_role("button", name="Create").click()
    rows = main.get_by_role("list", name="Branches")
    expect(rows).to_contain_text("trial")
    with operated.bare() as client:
        said = {**message(9, "I moved to Oslo."), "ingested_at": None}
        path = "/v1/zones/trials@trial/events?wait=true"
        client.post(path, json=said).raise_for_status()
    rows.get_by_text("Compare with the zone").click()
    expect(rows.get_by_role("region", name="Gained")).to_contain_text("Oslo")
    rows.get_by_role("button", name="Promote trial").click()
    expect(main.get_by_role("status").filter(has_text="published to trials")).to_be_visible()
    with operated.bare() as client:
        facts = client.get("/v1/zones/trials/facts").json()["facts"]
    assert any("Oslo" in fact["text"] for fact in facts)
    rows.get_by_role("button", name="Drop trial").press("Enter")
    # The pressed button is replaced, and the focus stays among the branch's own.
    expect(rows.get_by_role("listitem").first.locator(":focus")).to_have_count(1)
    rows.get_by_role("button", name="Delete trial for good").click()
    expect(main.get_by_text("The zone trials has no branch.")).to_be_visible()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory, package: Path) -> Iterator[Served]:
    """The same zones, with sign-in."""
    home = tmp_path_factory.mktemp("guarded") / "home"
    fill(home)
    with served(home) as found:
        yield found


def sign_in(page: Page, service: Served, rights: tuple[str, ...], place: str) -> Any:
    """Sign in with a new token to the zone ada, and return the part with the view."""
    with service.client("ada", rights) as client:
        token = client.headers["authorization"].removeprefix("Bearer ")
    page.goto(f"/#/{place}")
    page.get_by_label("Access token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    main = page.get_by_role("main")
    expect(main.get_by_role("heading", level=1)).not_to_have_text("recollect")
    return main


def test_a_token_is_made_shown_once_and_revoked(browser: Any, guarded: Served) -> None:
    with shown(browser, guarded) as page:
        main = sign_in(page, guarded, ("read", "write", "admin"), "ada/tokens")
        expect(main.get_by_role("table")).to_contain_text("read, write, admin")
        expect(main.get_by_role("checkbox", name=re.compile("^forget"))).to_be_disabled()
        main.get_by_label("For whom").fill("Cleo")
        main.get_by_role("button", name="Create").click()
        token = main.get_by_label("Access token", exact=True).input_value()
        with guarded.bare(Authorization=f"Bearer {token}") as client:
            assert client.get("/v1/access").json()["user"] == "Cleo"
            row = main.get_by_role("list", name="Access tokens").get_by_role("listitem")
            row.filter(has_text="Cleo").get_by_role("button", name=re.compile("^Revoke")).click()
            row.filter(has_text="Cleo").get_by_role("button", name=re.compile("for good$")).click()
            expect(row.filter(has_text="Cleo")).to_have_count(0)
            assert client.get("/v1/access").status_code == 401
        page.reload()
        expect(main.get_by_role("list", name="Access tokens")).to_be_visible()
        assert token not in page.content()
        assert token not in page.evaluate("JSON.stringify({...sessionStorage})")
        own = row.filter(has_text="the current token")
        own.get_by_role("button", name=re.compile("^Revoke")).click()
        own.get_by_role("button", name=re.compile("for good$")).click()
        expect(page.get_by_label("Access token", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_a_change_names_the_holder_of_the_token(browser: Any, guarded: Served) -> None:
    with shown(browser, guarded) as page:
        with guarded.client("ada", ("read", "write"), agent="scribe") as scribe:
            made = scribe.post("/v1/zones/ada/memories", json={"content": "Ada likes figs."})
            path = f"/v1/zones/ada/memories/{made.json()['event_id']}/retract"
            assert scribe.post(path, json={}).status_code == 200
        main = sign_in(page, guarded, ("read", "write"), "ada/changes")
        rows = main.get_by_role("list", name="Changes").locator("> li")
        expect(rows.nth(0)).to_contain_text("scribe retracted a memory")
        expect(rows.nth(1)).to_contain_text("scribe remembered")
        rows.nth(0).get_by_role("link", name=re.compile("^record")).click()
        expect(main.get_by_text("given by scribe")).to_be_visible()


READ_ONLY = {
    "merges": "Propose to merge them",
    "directives": "Add",
    "people/Ada": "Remember",
    "health": "Replay and compare",
    "branches": "Create",
}


def test_without_the_right_controls_are_disabled_with_the_reason(
    browser: Any, guarded: Served
) -> None:
    with shown(browser, guarded) as page:
        main = sign_in(page, guarded, ("read",), "ada/health")
        for place, button in READ_ONLY.items():
            page.goto(f"/#/ada/{place}")
            expect(main.get_by_text("This token has no right to").first).to_be_visible()
            for found in main.get_by_role("button", name=button, exact=True).all():
                expect(found).to_be_disabled()
        for place in ("forget", "tokens"):
            page.goto(f"/#/ada/{place}")
            expect(main.get_by_text("This token has no right to")).to_be_visible()
            expect(main.get_by_role("button")).to_have_count(0)


def test_the_progress_of_an_operation_is_followed_by_its_events(page: Page) -> None:
    told = {"kind": "verify", "state": "running", "done": 250, "total": 1000, "detail": None}
    held: list[Any] = []

    def running(route: Any) -> None:
        assert route.request.headers["accept"] == "text/event-stream"
        id_ = route.request.url.split("/")[-2]
        events = [{**told, "id": id_, "done": done, "result": None} for done in (1, 250)]
        body = "".join(f"event: operation\ndata: {json.dumps(each)}\n\n" for each in events)
        route.fulfill(content_type="text/event-stream", body=body)

    page.route("**/operations/*/progress", running)
    page.route("**/operations/*", lambda route: held.append(route))
    main = view(page, "trials/health")
    part = main.get_by_role("region", name="Verify")
    part.get_by_role("button", name="Replay and compare").click()
    progress = part.get_by_role("progressbar", name="Progress of the verification")
    expect(progress).to_have_attribute("value", "250")
    expect(part.get_by_text("250 of 1,000 records")).to_be_visible()
    # The numbers change too often to be announced.
    expect(part.get_by_role("status")).to_have_text("The verification runs.")
    expect(part.get_by_role("button", name="Cancel")).to_be_visible()
    expect(part.get_by_role("button", name="Replay and compare")).to_be_disabled()
    page.wait_for_timeout(500)
    held.pop().continue_()
    expect(part.get_by_text("every file equals its replay")).to_be_visible()
    expect(progress).to_have_count(0)


def test_an_operation_is_followed_again_after_its_events_break_off(page: Page) -> None:
    asked: list[str] = []

    def broken_off(route: Any) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            route.continue_()
        else:
            route.fulfill(content_type="text/event-stream", body="")

    def still_running(route: Any) -> None:
        if len(asked) > 1:
            route.continue_()
            return
        found = route.fetch().json()
        route.fulfill(json={**found, "state": "running", "result": None})

    page.route("**/operations/*/progress", broken_off)
    page.route("**/operations/*", still_running)
    part = view(page, "trials/health").get_by_role("region", name="Verify")
    part.get_by_role("button", name="Replay and compare").click()
    expect(part.get_by_text("every file equals its replay")).to_be_visible()
    assert len(asked) == 2


VIEWS = (
    "merges",
    "forget?entity=Ada",
    "forget?ids=Ada-5-1&time_before=2026-06-01",
    "forget",
    "directives?superseded=1",
    "changes",
    "health",
    "ledger?kinds=message+park&at=2026-05-01T00:00:00Z",
    "ledger?first=2",
    "ledger/1",
    "branches",
    "tokens",
)


@pytest.mark.parametrize("place", VIEWS)
def test_the_command_and_the_request_of_each_give_an_answer(
    page: Page, operated: Served, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main = view(page, f"ada/{place}")
    same = main.get_by_role("group").filter(has_text="The same answer elsewhere")
    same.get_by_text("The same answer elsewhere").click()
    command, request = (same.locator("dd").nth(at).inner_text() for at in (0, 1))
    words = shlex.split(command)
    assert words.pop(0) == "recollect"
    assert run(["--home", str(operated.home), *words, "--json"]) == 0
    assert capsys.readouterr().err == ""
    method, url, *rest = shlex.split(request)
    with operated.bare() as client:
        answer = client.request(method, url, json=json.loads(rest[1]) if rest else None)
    assert answer.is_success
    same.get_by_role("button", name="Show the JSON").click()
    expect(same.locator("pre.json")).to_contain_text("{")


HOSTILE_VIEWS = ("ledger", "ledger/1", "ledger/2", "changes", "health", "branches", "tokens")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("place", HOSTILE_VIEWS)
def test_hostile_texts_do_nothing_where_a_zone_is_operated(
    browser: Any, operated: Served, place: str, width: int
) -> None:
    with shown(browser, operated, viewport={"width": width, "height": 800}) as page:
        main = view(page, f"hostile/{place}")
        expect(main.locator("section, li, p").first).to_be_visible()
        page.wait_for_timeout(500)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#page img, #page script, main main").count() == 0
        assert page.get_by_role("heading", name="Nothing").count() == 0
        assert page.title() != "1"
        assert not set("\u202e\u200b\u2066") & set(main.inner_text())
