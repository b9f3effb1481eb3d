"""Mental models that are made from facts, and directives, in a home (A12, A24, G4)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import InvalidInput, Recollect, Zone

LIFE = (
    "I live in Turin.",
    "I have a cat.",
    "I work at Larch as an engineer.",
    "I plan to learn Danish.",
    "I am allergic to walnuts.",
    "I play the violin.",
    "I like green tea.",
    "I own a red bicycle.",
)

GAMES = ("chess", "tennis", "golf", "poker", "squash", "darts", "judo", "fencing", "bowls")
TOWNS = ("Bonn", "Turin", "Oslo", "Lyon", "Porto", "Ghent", "Basel", "Graz", "Turku")


def said(text: str, day: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"{day}: {text}",
        "platform": "chat",
        "sender_id": "u1",
        "sender_name": "Ada Moreau",
        "occurred_at": f"2026-05-{day:02}T10:00:00Z",
        "ingested_at": f"2026-05-{day:02}T10:00:00Z",
        "content": text,
        **fields,
    }


@pytest.fixture
def zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Zone]:
    monkeypatch.setenv("RECOLLECT_PROFILE_FACTS", "5")
    with Recollect(tmp_path / "home", encoder="none") as r:
        yield r.zone("ada")


def profile(zone: Zone) -> Any:
    (found,) = [each for each in zone.mental_models() if each.refresh == "profile"]
    return zone.mental_model(found.id)


@pytest.mark.usefixtures("nothing_salient")
def test_A12_an_entity_with_enough_facts_has_a_profile(zone: Zone) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    found = profile(zone)
    assert found.name == "Profile of Ada Moreau"
    assert found.subtype == "emergent"
    assert "- home: Turin (said 1 May 2026)" in found.description.splitlines()
    assert "- pet: cat" in found.description
    assert not found.is_stale


@pytest.mark.usefixtures("nothing_salient")
def test_A12_every_line_of_a_profile_leads_to_quoted_words(zone: Zone) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    found = profile(zone)
    known = {fact.id for fact in zone.facts()}
    assert found.blocks
    for block in found.blocks:
        assert known.issuperset(block.facts)
        assert block.text in found.description
    shown = "\n".join(line for step in zone.why(found.id).steps for line in step.details)
    assert "I have a cat." in shown


@pytest.mark.usefixtures("nothing_salient")
def test_A24_a_changed_fact_makes_a_model_stale_until_it_is_refreshed(zone: Zone) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    before = profile(zone)
    zone.ingest(said("I moved to Oslo.", 20))
    assert profile(zone).is_stale
    tried = zone.refresh_mental_model(before.id, dry_run=True)
    assert any("Oslo" in line for line in tried.diff if line.startswith("+"))
    assert profile(zone).id == before.id, "a dry run writes nothing"
    done = zone.refresh_mental_model(before.id)
    after = profile(zone)
    assert (done.changed, done.diff) == (True, tried.diff)
    assert (after.id, after.previous, after.is_stale) == (done.id, before.id, False)
    untouched = {block.id: block.text for block in before.blocks if "home" not in block.id}
    kept = {block.id: block.text for block in after.blocks}
    assert kept["held:pet"] == untouched["held:pet"]
    assert [len(each.diff) > 0 for each in zone.mental_model_history(after.id).versions] == [
        True,
        True,
    ]


@pytest.mark.usefixtures("nothing_salient")
@pytest.mark.parametrize(
    ("refresh", "refreshes"),
    [
        ({"refresh": "after_changes"}, True),
        ({"refresh": "schedule", "every_hours": 0.000001}, True),
        ({"refresh": "schedule", "every_hours": 24}, False),
        ({"refresh": "by_hand"}, False),
        ({"refresh": "after_changes", "subtype": "pinned"}, False),
    ],
)
def test_A24_a_model_refreshes_by_itself_when_its_trigger_says(
    zone: Zone, refresh: dict[str, Any], refreshes: bool
) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    ada = next(each for each in zone.entities() if each.name == "Ada Moreau")
    made = zone.create_mental_model("Ada", "", entity_id=ada.id, **refresh)
    # Known from now on, as messages are that arrive after the model was made.
    time.sleep(0.01)  # longer than the shortest schedule above, which is 3.6 ms
    texts = ("I live in Oslo now.", "I like plums.")
    zone.ingest([said(text, day, ingested_at=None) for day, text in enumerate(texts, 20)])
    newest = [each for each in zone.mental_models() if each.name == "Ada"][-1]
    assert ("home: Oslo" in zone.mental_model(newest.id).description) == refreshes
    assert (newest.previous == made.id) == refreshes
    assert made.last_refreshed is not None
    assert newest.last_refreshed is not None
    assert (newest.last_refreshed > made.last_refreshed) == refreshes


@pytest.mark.usefixtures("nothing_salient")
def test_F3_a_refresh_without_facts_leaves_the_page(zone: Zone) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    before = profile(zone)
    for text in LIFE:
        zone.retract(f"{1 + LIFE.index(text)}: {text}")
    assert not zone.refresh_mental_model(before.id).changed
    assert profile(zone).description == before.description


@pytest.mark.usefixtures("nothing_salient")
def test_a_page_follows_a_text_by_hand_and_keeps_it(zone: Zone) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    ada = next(each for each in zone.entities() if each.name == "Ada Moreau")
    made = zone.create_mental_model("Ada", "My sister-in-law.", entity_id=ada.id, refresh="by_hand")
    assert made.description.startswith("My sister-in-law.\n## Attributes\n")
    zone.ingest(said("I moved to Oslo.", 20))
    zone.refresh_mental_model(made.id)
    newest = [each for each in zone.mental_models() if each.name == "Ada"][-1]
    assert newest.description.startswith("My sister-in-law.\n## Attributes\n- home: Oslo")


@pytest.mark.usefixtures("nothing_salient")
def test_a_profile_without_an_erased_message_is_as_if_never_told(
    zone: Zone, tmp_path: Path
) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    zone.forget(f"2: {LIFE[1]}")
    assert "Miso" not in profile(zone).description
    assert zone.verify().ok
    with Recollect(tmp_path / "other", encoder="none") as r:
        other = r.zone("ada")
        other.ingest([said(text, day) for day, text in enumerate(LIFE, 1) if day != 2])
        assert profile(other).description == profile(zone).description


@pytest.mark.usefixtures("nothing_salient")
def test_a_profile_is_the_same_after_deriving_again(zone: Zone) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    before = profile(zone)
    zone.rebuild(level="derive")
    assert profile(zone) == before


@pytest.mark.usefixtures("nothing_salient")
def test_broad_tasks_get_the_profile_and_narrow_ones_do_not(zone: Zone) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    broad = zone.context("Tell me about Ada Moreau", max_tokens=500)
    assert "Profile of Ada Moreau" in broad.block
    assert broad.tokens <= 500
    assert "Profile of" not in zone.context("Which pet does Ada Moreau have?").block
    types = {each.type for each in zone.recall("Where does Ada Moreau live?").results}
    assert "mental_model" not in types


@pytest.mark.usefixtures("nothing_salient")
def test_names_alone_in_a_block_are_said_to_be_names(zone: Zone) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    names = profile(zone).description.split("## Also named\n- ")[1].split("\n")[0]
    assert "Larch" in names
    block = zone.context("Tell me about Ada Moreau", max_tokens=2_000).block
    assert f"; also named: {names}" in block


@pytest.fixture
def champion(zone: Zone, salient_only: Callable[[str], None]) -> Zone:
    """A zone with a fact a day."""
    salient_only("tournament")
    wins = [
        f"I won a {game} tournament in {town}." for game, town in zip(GAMES, TOWNS, strict=True)
    ]
    zone.ingest([said(text, day) for day, text in enumerate(wins, 1)])
    return zone


def test_a_task_about_what_happened_gets_the_page_alone_as_far_as_it_fits(champion: Zone) -> None:
    happened = champion.context("What has happened in Ada Moreau's life?", max_tokens=200)
    assert happened.tokens <= 200
    assert [item.type for item in happened.items] == ["mental_model"]
    general = champion.context("Tell me about Ada Moreau", max_tokens=200)
    assert happened.items[0].text.count("won") > general.items[0].text.count("won") > 0


def test_a_task_that_also_asks_something_else_gets_more_than_the_page(champion: Zone) -> None:
    task = "What has happened in Ada Moreau's life? Which poker tournament did Ada Moreau win?"
    items = champion.context(task, max_tokens=200).items
    assert [item.type for item in items[:1]] == ["mental_model"]
    assert "I won a poker tournament in Lyon." in [item.text for item in items]


def test_a_page_that_is_out_of_date_leaves_room_for_what_is_new(champion: Zone) -> None:
    task = "What has happened in Ada Moreau's life?"
    before = champion.context(task, max_tokens=200).items[0]
    champion.ingest(said("I won a rowing tournament in Delft.", 20, ingested_at=None))
    after = champion.context(task, max_tokens=200).items[0]
    assert (before.is_stale, after.is_stale) == (False, True)
    assert before.text.count("won") > after.text.count("won") > 0


def test_reports_by_hand_take_no_room_from_a_page(champion: Zone) -> None:
    task = "What has happened in Ada Moreau's life?"
    before = champion.context(task, max_tokens=200).items[0]
    for number in range(6):
        champion.create_mental_model(f"Life of Ada Moreau {number}", "Ada Moreau has a life.")
    after = champion.context(task, max_tokens=200).items
    (page,) = [item for item in after if item.id == before.id]
    assert page.text.count("won") == before.text.count("won") > 1


def test_a_block_names_a_year_only_where_it_changes(champion: Zone) -> None:
    (page,) = champion.context("What has happened in Ada Moreau's life?", max_tokens=200).items
    assert page.text.count("won") > page.text.count("2026") == 1


@pytest.mark.usefixtures("nothing_salient")
def test_a_profile_that_is_recalled_cites_its_events(zone: Zone) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    (found,) = zone.recall({"query": "Ada Moreau", "scope": ["mental_models"]}).results
    assert f"1: {LIFE[0]}" in found.source_event_ids


@pytest.mark.usefixtures("nothing_salient")
def test_B1_a_recalled_model_is_counted(zone: Zone, tmp_path: Path) -> None:
    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    with Recollect(tmp_path / "home", count_accesses=True) as r:
        for _ in range(2):
            r.zone("ada").recall({"query": "Ada Moreau", "scope": ["mental_models"]})
    assert profile(zone).access_count == 2


@pytest.mark.usefixtures("nothing_salient")
def test_a_person_whose_accounts_are_merged_has_one_profile_of_both(zone: Zone) -> None:
    by_mail = {"platform": "mail", "sender_id": "ada@x.example", "sender_name": "A. Moreau"}
    others = {"platform": "mail", "sender_id": "bob@x.example", "sender_name": "Bob Stone"}

    def profiles() -> dict[str, bool]:
        """Return the texts of the profiles, and whether each has facts of both accounts."""
        texts = [zone.mental_model(each.id).description for each in zone.mental_models()]
        return {text: "bicycle" in text and "dog" in text for text in texts}

    zone.ingest([said(text, day) for day, text in enumerate(LIFE, 1)])
    zone.ingest([said(text.replace("cat", "dog"), 10 + day, **by_mail) for day, text in
                 enumerate(LIFE[:6] + LIFE[3:5])])  # fmt: skip
    assert [*profiles().values()] == [False, False]
    ids = [each.id for each in zone.entities() if each.name.endswith("Moreau")]
    merge = zone.propose_merge(ids[0], ids[1], confidence=0.95, reason="they said so").id
    zone.ingest([said(text, 20, **others) for text in ("Hello.", "Bye.")])
    assert [*profiles().values()] == [True]
    zone.decide_merge(merge, "undone")
    zone.ingest([said(text, 21, **others) for text in ("Hello.", "Bye.")])
    assert [*profiles().values()] == [False, False]


# Directives


def ordered(text: str, day: int, **fields: Any) -> dict[str, Any]:
    return said(text, day, direction="in", **fields)


def obeyed(zone: Zone) -> list[str]:
    return [each.text for each in zone.directives()]


def test_G4_a_directive_stands_in_every_context(zone: Zone) -> None:
    zone.ingest(ordered("Always answer in French.", 1))
    block = zone.context("What is the capital of Peru?", max_tokens=300).block
    assert block.splitlines()[1:3] == [
        "Standing instructions that the user gave you, to be followed:",
        "- Always answer in French.",
    ]


def test_G4_a_later_directive_of_the_same_form_replaces_it_in_any_order(zone: Zone) -> None:
    zone.ingest(ordered("From now on, answer in German.", 3))
    zone.ingest(ordered("Always answer in French.", 1))
    zone.ingest(ordered("Never use emojis with me.", 2))
    assert obeyed(zone) == ["Never use emojis with me.", "From now on, answer in German."]
    zone.ingest(ordered("You can use emojis again.", 4))
    assert obeyed(zone) == ["From now on, answer in German."]


@pytest.mark.parametrize(
    "fields",
    [
        {"direction": None},
        {"direction": "out"},
        {"peer_kind": "group", "peer_id": "g"},
        {"peer_kind": "channel", "peer_id": "c"},
        {"content": "My boss wrote: always answer in French."},
    ],
)
def test_F11_only_the_users_own_words_to_the_agent_order(zone: Zone, fields: Any) -> None:
    zone.ingest(ordered("Always answer in French.", 1) | fields)
    assert obeyed(zone) == []


def test_a_directive_ends_when_removed_edited_or_forgotten(zone: Zone) -> None:
    zone.ingest(ordered("Always answer in French.", 1))
    zone.ingest(ordered("Never use emojis with me.", 2))
    zone.ingest(ordered("Never call me sir.", 3))
    first, second, third = zone.directives()
    assert not zone.remove_directive(first.id).obeyed
    edit = {"kind": "edit", "target": second.source_event_ids[0], "id": "edited"}
    zone.ingest(ordered("Never mind.", 4) | edit)
    assert obeyed(zone) == ["Never call me sir."]
    zone.forget(third.source_event_ids[0])
    assert obeyed(zone) == []
    assert len(list(zone.directives(superseded=True))) == 2
    assert zone.verify().ok


def test_a_directive_by_hand_is_kept_and_replaces_a_said_one(zone: Zone) -> None:
    zone.ingest(ordered("Always answer in French.", 1))
    zone.add_directive("Always answer in Italian.")
    assert obeyed(zone) == ["Always answer in Italian."]


def test_directives_leave_room_in_a_small_context(zone: Zone) -> None:
    for day in range(1, 29):
        zone.ingest(ordered(f"Always cite source number {day} of {'many ' * 12}.", day))
        zone.add_directive(f"Mention rule {day}, which is about {'things ' * 9}.")
    block = zone.context("anything", max_tokens=200)
    assert 0 < block.tokens <= 200


def test_a_page_about_nothing_known_says_so(zone: Zone) -> None:
    zone.ingest([said("Hello there.", 1)])
    ada = zone.get_entity("Ada Moreau")
    with pytest.raises(InvalidInput, match="there are no facts about"):
        zone.create_mental_model("Nobody", "", entity_id=ada.id, refresh="by_hand")
