"""What a reader of the page may change, in a real Chromium: each with its undo or its proof."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from recollect import Recollect
from recollect.cli.app import run
from tests.page.kit import HOSTILE, Page, message, settle, shown, view
from tests.service.kit import Served, served

pytestmark = pytest.mark.slow

expect: Any = None


@pytest.fixture(autouse=True, scope="module")
def expectations() -> None:
    global expect
    expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service without sign-in, over zones that these tests change, one for each."""
    home = tmp_path_factory.mktemp("changed") / "home"
    assert run(["--home", str(home), "init", "--encoder", "none"]) == 0
    with Recollect(home) as opened:
        forgotten = opened.zone("forgotten")
        forgotten.ingest([message(1, "I live in Turin.", by="Ada Moreau")])
        forgotten.ingest([message(2, "My dog is called Rex.", by="Bob")])
        forgotten.ingest([message(3, "Moreau called about the invoice.", by="Cleo")])
        corrected = opened.zone("corrected")
        corrected.ingest([message(1, "I live in Turin."), message(2, "I have a dog called Rex.")])
        corrected.create_mental_model("Homes", "Ada lives in Turin.")
        corrected.add_directive("Always answer in French.")
        for name in ("merged", "compared"):
            zone = opened.zone(name)
            zone.ingest([message(1, "I live in Turin.", by="Ada Moreau")])
            zone.ingest([message(2, "I play the cello.", by="Lovelace")])
            zone.ingest([message(3, "I collect stamps.", by="Cleo")])
        first, second = (
            next(each.id for each in opened.zone("merged").entities() if each.name == name)
            for name in ("Ada Moreau", "Lovelace")
        )
        opened.zone("merged").propose_merge(first, second, 0.7, "both write to the kitchen")
        hostile = opened.zone("hostile")
        hostile.ingest(
            message(day, text, by=f"Mallory {text[:20]}", id=f"h{day}", sender_id=f"m{day}")
            for day, text in enumerate(HOSTILE, 1)
        )
        hostile.create_mental_model(HOSTILE[1], HOSTILE[0], tags=[HOSTILE[0][:90]])
        hostile.add_directive(f"Always answer with {HOSTILE[0]}.")
        people = [each.id for each in hostile.entities() if each.type == "person"]
        hostile.propose_merge(people[0], people[1], 0.5, HOSTILE[1] + HOSTILE[0])
    with served(home, no_auth=True) as found:
        yield found


@pytest.fixture
def page(browser: Any, changed: Served) -> Iterator[Page]:
    """A tab on the page of `changed`."""
    with shown(browser, changed) as found:
        yield found


def texts(service: Served, zone: str) -> list[str]:
    """Return the facts that the service has, as another client is given them."""
    with service.bare() as client:
        found = client.get(f"/v1/zones/{zone}/facts").json()["facts"]
    return [fact["text"] for fact in found]


def test_a_person_is_forgotten_with_a_certificate(page: Page, changed: Served) -> None:
    main = view(page, "forgotten/forget")
    main.get_by_label("Person or thing").fill("Ada Moreau")
    main.get_by_role("button", name="Show what would be erased").click()
    goes = main.get_by_role("list", name="What would be erased")
    expect(goes).to_contain_text("I live in Turin.")
    expect(goes).not_to_contain_text("Rex")
    stays = main.get_by_role("list", name="What stays")
    expect(stays).to_contain_text("Moreau called about the invoice.")
    forget = main.get_by_role("button", name="Forget", exact=True)
    expect(forget).to_be_disabled()
    stays.get_by_role("checkbox").check()
    expect(goes).to_contain_text("invoice")
    main.get_by_label(re.compile("^Type forget")).fill("forget 1")
    expect(forget).to_be_disabled()
    assert any("Turin" in text for text in texts(changed, "forgotten"))
    main.get_by_label(re.compile("^Type forget")).fill("forget 2")
    forget.click()
    expect(main.get_by_role("heading", name="Forgotten", exact=True)).to_be_focused()
    expect(page).not_to_have_url(re.compile("Moreau"))
    assert not any("Turin" in text for text in texts(changed, "forgotten"))
    with page.expect_download() as saved:
        main.get_by_role("link", name="Download the certificate").click()
    certificate = json.loads(saved.value.path().read_text("utf-8"))
    assert [each["number"] for each in certificate["statement"]["erased"]] == [1, 3]
    main.get_by_role("button", name="Check it").click()
    expect(main.get_by_text("The certificate is valid:")).to_be_visible()
    expect(main.get_by_role("list", name="Checks").get_by_role("listitem")).to_have_count(6)
    expect(main.get_by_role("list", name="Certificates")).to_contain_text("by the owner: 2 records")
    change = view(page, "forgotten/changes").get_by_role("list", name="Changes").locator("> li")
    expect(change.filter(has_text="the owner forgot")).to_contain_text("records 1, 3")
    certified = change.filter(has_text="the owner certified an erasure")
    expect(certified).to_contain_text(re.compile(r"the erasure by record \d+"))


def test_a_long_erasure_is_announced(page: Page) -> None:
    """The erasure is held, and then refused: nothing is erased."""
    held: list[Any] = []

    def hold(route: Any) -> None:
        if route.request.post_data_json["dry_run"]:
            route.continue_()
        else:
            held.append(route)

    page.route("**/v1/zones/merged/forget", hold)
    main = view(page, "merged/forget?entity=Cleo")
    main.get_by_label(re.compile("^Type forget")).fill("forget 1")
    main.get_by_role("button", name="Forget", exact=True).click()
    said = main.get_by_role("status").filter(has_text="reading the whole ledger")
    expect(said).to_be_visible()
    held.pop().fulfill(status=409, json={"title": "Busy", "status": 409, "detail": "try again"})
    expect(main.get_by_role("alert")).to_contain_text("Busy")
    expect(said).to_have_count(0)


def test_one_of_several_of_a_name_is_forgotten(page: Page, changed: Served) -> None:
    with changed.bare() as client:
        for account in ("eve-1", "eve-2"):
            said = {**message(2, f"I met {account}.", id=account, by="Eve"), "sender_id": account}
            client.post("/v1/zones/two/events?wait=true", json=said).raise_for_status()
        found = client.get("/v1/zones/two/entities?query=eve").json()["entities"]
        first, second = (each["id"] for each in found if each["name"] == "Eve")
        proposal = {"entity_a": first, "entity_b": second, "confidence": 0.5, "reason": "a reason"}
        client.post("/v1/zones/two/merges", json=proposal).raise_for_status()
    main = view(page, "two/forget?entity=Eve")
    several = main.get_by_role("list", name="Namesakes").get_by_role("listitem")
    one = several.filter(has_text="eve-2")
    one.get_by_role("link").press("Enter")
    expect(main.get_by_text("Chosen: Eve (person, chat eve-2)")).to_be_visible()
    # The link is gone; the keyboard goes on in the view.
    expect(main).to_be_focused()
    goes = main.get_by_role("list", name="What would be erased")
    expect(goes).to_contain_text("I met eve-2.")
    expect(goes.get_by_role("link", name=re.compile("^propose merge: .*a reason"))).to_be_visible()
    main = view(page, "two/merges?a=Eve&b=Eve")
    for account in ("eve-1", "eve-2"):
        one = main.get_by_role("list", name="Namesakes").get_by_role("listitem")
        one.filter(has_text=account).get_by_role("link").click()
        expect(main.get_by_text(f"Chosen: Eve (person, chat {account})")).to_be_visible()
    expect(main.get_by_text("Possibly the same; a person should decide.")).to_be_visible()


def test_a_selection_without_a_condition_is_a_sentence(page: Page) -> None:
    main = view(page, "forgotten/forget?entity=Zoltan")
    expect(main.get_by_role("alert")).to_contain_text("Zoltan")
    expect(main.get_by_role("button", name="Forget", exact=True)).to_have_count(0)


def test_a_merge_is_made_and_undone(page: Page, changed: Served) -> None:
    main = view(page, "merged/merges")
    waiting = main.get_by_role("list", name="Merges")
    expect(waiting).to_contain_text("both write to the kitchen")
    expect(waiting).to_contain_text("the owner proposed to merge, ")
    change = view(page, "merged/changes").get_by_role("list", name="Changes").locator("> li")
    proposed = change.filter(has_text="the owner proposed to merge")
    expect(proposed.get_by_role("link", name="Lovelace")).to_be_visible()
    main = view(page, "merged/merges")
    waiting.get_by_text("Facts about both").click()
    expect(waiting.get_by_role("region", name="Lovelace")).to_contain_text("cello")
    waiting.get_by_role("button", name="Merge Ada Moreau and Lovelace").click()
    merged = main.get_by_role("status").filter(has_text="Merged: Ada Moreau and Lovelace.")
    expect(merged).to_be_visible()
    main = view(page, "merged/people/Lovelace")
    main.get_by_role("link", name="Merges", exact=True).click()
    shown = main.get_by_role("list", name="Merges")
    expect(shown).to_contain_text("the owner merged them, ")
    expect(shown).not_to_contain_text("Cleo")
    main.get_by_role("link", name="Merges of everybody and everything").click()
    expect(shown).to_contain_text("Cleo")
    main.get_by_text("Facts of the merged entity").first.click()
    both = main.get_by_role("region", name=re.compile("^Ada Moreau, also Lovelace"))
    expect(both.get_by_text("cello")).to_have_count(1)
    undo = main.get_by_role("button", name="Undo the merge of Ada Moreau and Lovelace")
    undo.click()
    expect(main.get_by_text("Separate again: Ada Moreau and Lovelace.")).to_be_visible()
    expect(undo).to_have_count(0)
    # The button is gone; the keyboard goes on from what it did.
    expect(main.locator(".outcome:focus")).to_contain_text("Separate again")
    undone = view(page, "merged/merges?status=undone").get_by_role("list", name="Merges")
    expect(undone).to_contain_text("the owner undid a merge, ")
    with changed.bare() as client:
        found = client.get("/v1/zones/merged/entities").json()["entities"]
    assert {"Ada Moreau", "Lovelace"} <= {each["name"] for each in found}


def propose(service: Served, zone: str, first: str, *others: str) -> dict[str, str]:
    """Fill a zone, and propose to merge the first sender with others; return the senders' ids."""
    with service.bare() as client:
        path = f"/v1/zones/{zone}"
        for day, name in enumerate((first, *others), 1):
            said = message(day, f"I collect stamps number {day}.", by=name)
            client.post(f"{path}/events?wait=true", json=said).raise_for_status()
        found = client.get(f"{path}/entities").json()["entities"]
        ids = {each["name"]: each["id"] for each in found}
        for name in others:
            two = {"entity_a": ids[first], "entity_b": ids[name]}
            reason = {"confidence": 0.4, "reason": "both collect stamps"}
            client.post(f"{path}/merges", json=two | reason).raise_for_status()
    return ids


def test_a_rejected_merge_is_named_among_the_changes(page: Page, changed: Served) -> None:
    propose(changed, "rejected", "Ada Moreau", "Lovelace")
    main = view(page, "rejected/merges")
    main.get_by_role("button", name="Reject the merge of Ada Moreau and Lovelace").first.click()
    expect(main.get_by_role("status").filter(has_text="Rejected")).to_be_visible()
    rows = view(page, "rejected/changes").get_by_role("list", name="Changes").locator("> li")
    proposed = rows.filter(has_text="the owner proposed to merge").first
    expect(proposed).to_contain_text("both collect stamps (confidence 0.4)")
    rejected = rows.filter(has_text="the owner rejected a merge").first
    for name in ("Ada Moreau", "Lovelace"):
        expect(rejected.get_by_role("link", name=name, exact=True)).to_be_visible()
    rejected.get_by_role("link", name="kept separate").click()
    expect(main.get_by_role("list", name="Merges")).to_contain_text("Lovelace")
    expect(main.get_by_role("link", name="Rejected")).to_have_attribute("aria-current", "true")


def test_both_names_of_a_merge_stay_named_after_it(page: Page, changed: Served) -> None:
    propose(changed, "named", "Ada Moreau", "Lovelace")
    merge = view(page, "named/merges").get_by_role("button", name=re.compile("^Merge "))
    expect(merge.first).to_be_visible()
    while merge.count():
        merge.first.click()
        settle(page)
    rows = view(page, "named/changes").get_by_role("list", name="Changes").locator("> li")
    for said in ("the owner merged them", "the owner proposed to merge"):
        row = rows.filter(has_text=said).first
        for name in ("Ada Moreau", "Lovelace"):
            expect(row.get_by_role("link", name=name, exact=True)).to_be_visible()
        expect(row.get_by_role("link", name="now merged")).to_be_visible()


def test_a_removed_directive_is_named_among_the_changes(page: Page, changed: Served) -> None:
    with changed.bare() as client:
        path = "/v1/zones/removed/directives"
        made = client.post(path, json={"text": "Always answer in French."}).json()
        client.delete(f"{path}/{made['id']}").raise_for_status()
    rows = view(page, "removed/changes").get_by_role("list", name="Changes").locator("> li")
    removed = rows.filter(has_text="the owner retracted a memory").first
    expect(removed.get_by_role("link", name="Always answer in French.")).to_be_visible()
    removed.get_by_text("Details and undo").press("Enter")
    removed.get_by_role("button", name="Undo it").click()
    expect(page.get_by_role("status").filter(has_text="Undone.")).to_be_visible()
    with changed.bare() as client:
        (obeyed,) = client.get(path).json()["directives"]
    assert obeyed["text"] == "Always answer in French."


def test_two_are_compared_before_the_list_and_it_is_filtered(page: Page, changed: Served) -> None:
    ids = propose(changed, "filtered", "Ada Moreau", "Lovelace", "Cleo")
    main = view(page, "filtered/merges")
    merges = main.get_by_role("list", name="Merges")
    expect(merges).to_contain_text("Lovelace")
    compare = main.get_by_role("region", name="Compare two").get_by_label("First")
    assert compare.bounding_box()["y"] < merges.bounding_box()["y"]
    main.get_by_label("Only about").fill("Cleo")
    main.get_by_role("button", name="Apply").click()
    expect(merges).not_to_contain_text("Lovelace")
    expect(merges).to_contain_text("Cleo")
    # An id is shown by the name that it stands for.
    main = view(page, f"filtered/merges?entity={ids['Lovelace']}&a={ids['Cleo']}")
    expect(main.get_by_text("Chosen: Lovelace")).to_be_visible()
    expect(main.get_by_text("Chosen: Cleo")).to_be_visible()
    for field in ("Only about", "First"):
        expect(main.get_by_label(field)).to_have_value("")
    main.get_by_label("Second").fill("Lovelace")
    main.get_by_role("button", name="Compare", exact=True).click()
    expect(main.get_by_text(re.compile(r"Confidence \d"))).to_be_visible()


def test_a_time_to_forget_is_entered_as_anywhere_else(page: Page) -> None:
    main = view(page, "forgotten/forget?time_before=2026-05-03")
    expect(main.get_by_label("Before (UTC)")).to_have_value("2026-05-03T00:00")
    main.get_by_label("After (UTC)").fill("2026-05-02T00:00:30")
    main.get_by_role("button", name="Show what would be erased").click()
    expect(main.get_by_role("list", name="What would be erased")).to_contain_text("Rex")
    expect(page).to_have_url(re.compile("time_after=2026-05-02T00%3A00%3A30Z"))
    expect(page).to_have_url(re.compile("time_before=2026-05-03T00%3A00%3A00Z"))
    expect(main.get_by_text(re.compile("1 record of the ledger, 1 fact, "))).to_be_visible()
    expect(main.get_by_text("0 vectors")).to_have_count(0)


def test_two_people_are_compared_and_proposed(page: Page) -> None:
    main = view(page, "compared/merges")
    main.get_by_label("First").fill("Ada Moreau")
    main.get_by_label("Second").fill("Lovelace")
    main.get_by_role("button", name="Compare", exact=True).click()
    expect(main.get_by_text("These are considered different.")).to_be_visible()
    main.get_by_role("button", name="Propose to merge them").click()
    expect(main.get_by_role("list", name="Merges")).to_contain_text("proposed on the page")
    merge = main.get_by_role("button", name=re.compile("^Merge "))
    merge.click()
    main.get_by_role("button", name="Undo", exact=True).click()
    expect(main.get_by_text("Undone.")).to_be_visible()


def test_a_fact_is_taken_back_and_restored(page: Page, changed: Served) -> None:
    main = view(page, "corrected/people/Ada")
    main.get_by_role("row").filter(has_text="Turin").get_by_role("link").click()
    main.get_by_role("button", name="Retract").click()
    expect(main.get_by_role("status").filter(has_text="Retracted")).to_be_visible()
    assert not any("Turin" in text for text in texts(changed, "corrected"))
    main.get_by_role("button", name="Undo").click()
    expect(main.get_by_text("Undone.")).to_be_visible()
    assert any("Turin" in text for text in texts(changed, "corrected"))
    who = main.get_by_role("list", name="Who changed it").get_by_role("listitem")
    expect(who).to_have_count(2)
    expect(who.first).to_contain_text(re.compile(r"^the owner retracted a memory, \d+ \w+ \d{4}"))
    expect(who.last).to_contain_text("the owner restored a memory, ")


def test_a_fact_is_said_better_and_the_old_words_come_back(page: Page, changed: Served) -> None:
    main = view(page, "corrected/people/Ada")
    main.get_by_role("link", name=re.compile("Rex")).first.click()
    main.get_by_label("Reword it").fill("Ada has a cat called Tom.")
    main.get_by_role("button", name="Replace").click()
    expect(main.get_by_role("status").filter(has_text="Replaced by your text")).to_be_visible()
    assert any("Tom" in text for text in texts(changed, "corrected"))
    assert not any("Rex" in text for text in texts(changed, "corrected"))
    main.get_by_role("button", name="Undo").click()
    expect(main.get_by_text("Undone.")).to_be_visible()
    assert any("Rex" in text for text in texts(changed, "corrected"))
    assert not any("Tom" in text for text in texts(changed, "corrected"))


def test_an_attribute_is_set_by_a_sentence(page: Page) -> None:
    main = view(page, "corrected/people/Ada")
    main.get_by_label(re.compile("^A sentence about")).fill("Ada lives in Lima.")
    main.get_by_role("button", name="Remember").click()
    expect(main.get_by_role("row").filter(has_text="Lima")).to_be_visible()
    expect(main.get_by_role("row").filter(has_text="Turin")).to_contain_text("no longer so")
    main.get_by_role("button", name="Undo").click()
    expect(main.get_by_role("row").filter(has_text="Turin")).not_to_contain_text("no longer so")


def test_a_mental_model_is_pinned_tagged_and_rewritten(page: Page, changed: Served) -> None:
    main = view(page, "corrected/models")
    main.get_by_role("link", name="Homes").click()
    main.get_by_role("button", name="Pin", exact=True).click()
    expect(main.get_by_role("button", name="Unpin")).to_be_visible()
    main.get_by_label("Add a tag").fill("places")
    main.get_by_role("button", name="Tag", exact=True).click()
    expect(main.get_by_role("button", name="Remove the tag places")).to_be_visible()
    main.get_by_role("button", name="Rewrite").click()
    main.get_by_label("Text of the report").fill("Ada lives by the river.")
    main.get_by_role("button", name="Save as a new version").click()
    main.get_by_role("link", name="Show the new version").click()
    expect(main.locator(".report")).to_contain_text("by the river")
    with changed.bare() as client:
        (model,) = client.get("/v1/zones/corrected/mental-models").json()["mental_models"]
    assert model["tags"] == ["pinned", "places"]


def test_a_directive_is_reworded_and_undone(page: Page) -> None:
    main = view(page, "corrected/directives")
    rows = main.get_by_role("list", name="Directives")
    rows.get_by_role("button", name="Reword: Always answer in French.").click()
    rows.get_by_label("New wording").fill("Never mention the weather.")
    rows.get_by_role("button", name="Replace").click()
    expect(rows).to_contain_text("Never mention the weather.")
    expect(rows).not_to_contain_text("French")
    main.get_by_role("button", name="Undo").click()
    expect(rows).to_contain_text("Always answer in French.")
    expect(rows).not_to_contain_text("weather")


HOSTILE_VIEWS = (
    "directives",
    "models",
    "merges",
    "forget?sender_id=m1",
    "forget?thread_id=kitchen",
)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("place", HOSTILE_VIEWS)
def test_hostile_texts_do_nothing_where_memory_is_changed(
    browser: Any, changed: Served, place: str, width: int
) -> None:
    with shown(browser, changed, viewport={"width": width, "height": 800}) as page:
        main = view(page, f"hostile/{place}")
        expect(main.locator("li").first).to_be_visible()
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#page img, #page script, main main").count() == 0
        assert page.get_by_role("heading", name="Nothing").count() == 0
        assert page.title() != "1"
        assert not set("\u202e\u200b\u2066") & set(main.inner_text())
