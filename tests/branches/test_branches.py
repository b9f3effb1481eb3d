"""A branch goes on alone: the zone is not touched until it is promoted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import HomeError, InvalidInput, Recollect
from recollect.library.library_zone import Zone
from tests.protocol.kit import files_holding
from tests.writing.conftest import writing_home
from tests.writing.scripts import good


def said(id_: str, text: str, day: int = 1) -> dict[str, object]:
    return {
        "id": id_,
        "platform": "chat",
        "sender_id": "u1",
        "sender_name": "Ada",
        "peer_id": "p",
        "occurred_at": f"2026-05-{day:02}T10:00:00Z",
        "content": text,
    }


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Recollect]:
    with Recollect(tmp_path / "home", encoder="none") as opened:
        opened.zone("ada").ingest(
            [said("m1", "I live in Turin."), said("m2", "I own a red kayak.")]
        )
        yield opened


@pytest.fixture
def zone(library: Recollect) -> Zone:
    return library.zone("ada")


MESSAGES = [said("m1", "I live in Turin."), said("m2", "I own a red kayak.")]


def texts(zone: Zone) -> set[str]:
    return {fact.text for fact in zone.facts(superseded=True)}


def current(zone: Zone) -> set[str]:
    return {fact.text for fact in zone.facts()}


def test_a_branch_knows_what_its_zone_knew(library: Recollect, zone: Zone) -> None:
    zone.create_branch("trial")
    branch = library.zone("ada@trial")
    assert texts(branch) == texts(zone) == {"Ada lives in Turin.", "Ada owns a red kayak."}
    assert branch.verify().ok
    assert branch.recall("Where does Ada live?").results[0].source_event_ids == ["m1"]


def test_neither_changes_the_other(library: Recollect, zone: Zone) -> None:
    head = zone.status().head
    zone.create_branch("trial")
    branch = library.zone("ada@trial")
    branch.ingest([said("b1", "I live in Oslo.", 2)])
    assert "Ada lives in Turin." not in current(branch)
    assert zone.status().head == head
    zone.ingest([said("m3", "I play the oboe.", 3)])
    assert "Ada plays the oboe." not in texts(branch)
    (entry,) = zone.branches()
    assert (entry.name, entry.events, entry.zone_events) == ("trial", 1, 1)
    assert branch.verify().ok
    assert zone.verify().ok


def test_a_fork_at_an_earlier_head_knows_no_more(library: Recollect, zone: Zone) -> None:
    head = zone.status().head
    zone.ingest([said("m3", "I play the oboe.", 3)])
    zone.create_branch("before", at=head)
    assert texts(library.zone("ada@before")) == {"Ada lives in Turin.", "Ada owns a red kayak."}


def test_a_diff_shows_what_a_branch_concludes_otherwise(library: Recollect, zone: Zone) -> None:
    zone.create_branch("trial")
    library.zone("ada@trial").ingest([said("b1", "I live in Oslo.", 2)])
    found = zone.branch_diff("trial")
    assert [fact.text for fact in found.gained] == ["Ada lives in Oslo."]
    assert [(fact.after, fact.changed_fields) for fact in found.changed] == [
        ("Ada lives in Turin.", ["current"])
    ]
    assert (found.facts_lost, found.facts_same) == (0, 1)


def test_a_promotion_publishes_once_what_was_said(library: Recollect, zone: Zone) -> None:
    zone.create_branch("trial")
    branch = library.zone("ada@trial")
    branch.ingest([said("b1", "I live in Oslo.", 2)])
    (kayak,) = (fact for fact in branch.facts() if "kayak" in fact.text)
    branch.retract(kayak.id)
    zone.ingest([said("m3", "I play the oboe.", 3)])
    done = zone.promote_branch("trial")
    assert (done.published, done.duplicates, done.conflicts) == (2, 0, [])
    assert current(zone) == {"Ada lives in Oslo.", "Ada plays the oboe."}
    again = zone.promote_branch("trial")
    assert (again.published, again.duplicates) == (0, 2)
    assert zone.verify().ok


def test_an_erasure_in_a_branch_is_not_promoted(library: Recollect, zone: Zone) -> None:
    zone.create_branch("trial")
    branch = library.zone("ada@trial")
    branch.forget("m2")
    assert texts(branch) == {"Ada lives in Turin."}
    assert zone.promote_branch("trial").left == {"forget": 1}
    assert "Ada owns a red kayak." in texts(zone)


def test_an_id_with_other_content_is_named(library: Recollect, zone: Zone) -> None:
    zone.create_branch("trial")
    library.zone("ada@trial").ingest([said("x", "I live in Oslo.", 2)])
    zone.ingest([said("x", "I live in Rome.", 2)])
    done = zone.promote_branch("trial")
    assert (done.published, done.conflicts) == (0, ["x"])
    assert "Ada lives in Rome." in current(zone)


def test_what_the_zone_forgets_leaves_its_branches(library: Recollect, zone: Zone) -> None:
    zone.create_branch("trial")
    zone.forget("m2")
    branch = library.zone("ada@trial")
    assert texts(branch) == {"Ada lives in Turin."}
    assert not files_holding(library.home, b"kayak")
    assert branch.verify().ok
    branch.ingest([said("m2", "I own a red kayak.")])
    assert texts(branch) == {"Ada lives in Turin."}


def test_an_erasure_is_certified_if_the_zone_has_a_branch(library: Recollect, zone: Zone) -> None:
    zone.create_branch("trial")
    assert zone.forget("m2", certificate=True).certificate is not None
    assert not files_holding(library.home, b"kayak")


def test_what_was_forgotten_while_a_branch_was_closed_leaves_it(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as opened:
        opened.zone("ada").ingest(
            [said("m1", "I live in Turin."), said("m2", "I own a red kayak.")]
        )
        opened.zone("ada").create_branch("trial")
        branches = opened.home / "branches"
        branches.rename(tmp_path / "away")
        opened.zone("ada").forget("m2")
        (tmp_path / "away").rename(branches)
    with Recollect(tmp_path / "home") as opened:
        assert texts(opened.zone("ada@trial")) == {"Ada lives in Turin."}
        assert not files_holding(opened.home, b"kayak")


def test_a_fork_before_an_erasure_holds_nothing_of_it(library: Recollect, zone: Zone) -> None:
    head = zone.status().head
    zone.forget("m2")
    zone.create_branch("before", at=head)
    assert texts(library.zone("ada@before")) == {"Ada lives in Turin."}
    assert library.zone("ada@before").verify().ok


def test_a_dropped_branch_is_gone(library: Recollect, zone: Zone) -> None:
    zone.create_branch("trial")
    library.zone("ada@trial").ingest([said("b1", "I sail to Quxport.", 2)])
    zone.drop_branch("trial")
    assert zone.branches() == []
    assert not files_holding(library.home, b"Quxport")
    with pytest.raises(InvalidInput, match="has no branch 'trial'"):
        library.zone("ada@trial")
    zone.create_branch("trial")
    assert "Ada sails to Quxport." not in texts(library.zone("ada@trial"))


def test_an_interrupted_fork_is_made_again(library: Recollect, zone: Zone) -> None:
    zone.create_branch("trial")
    made = library.home / "branches" / "ada"
    zone.drop_branch("trial")
    zone.create_branch("trial")
    library.close()
    (made / "trial").rename(made / "_trial")
    with Recollect(library.home) as opened:
        again = opened.zone("ada")
        assert again.branches() == []
        again.create_branch("trial")
        assert texts(opened.zone("ada@trial")) == texts(again)


def test_two_branches_of_one_name_are_refused(zone: Zone) -> None:
    zone.create_branch("trial")
    with pytest.raises(InvalidInput, match="already"):
        zone.create_branch("trial")


@pytest.mark.parametrize("name", ["", "../x", "_x", "a@b", "x" * 65])
def test_names_of_branches_are_names(zone: Zone, name: str) -> None:
    with pytest.raises(InvalidInput):
        zone.create_branch(name)


def test_a_head_of_another_ledger_is_no_place_to_fork(zone: Zone) -> None:
    with pytest.raises(InvalidInput, match="at: "):
        zone.create_branch("trial", at=f"2:{'0' * 32}")


def test_a_branch_of_a_replaced_ledger_is_refused(tmp_path: Path) -> None:
    for name, text in (("one", "I live in Turin."), ("two", "I live in Oslo.")):
        with Recollect(tmp_path / name, encoder="none") as opened:
            opened.zone("ada").ingest([said("m1", text)])
            opened.zone("ada").create_branch("trial")
    (tmp_path / "two" / "branches").rename(tmp_path / "away")
    (tmp_path / "one" / "branches").rename(tmp_path / "two" / "branches")
    with (
        Recollect(tmp_path / "two") as opened,
        pytest.raises(HomeError, match="another ledger"),
    ):
        opened.zone("ada@trial")


def test_another_role_is_tried_in_a_branch_and_paid_for_once(tmp_path: Path) -> None:
    with writing_home(tmp_path / "home", good) as (memory, server):
        memory.ingest([said("m1", "The deploy is on Fridays at Marlowe Labs.")])
        memory.write()
        memory.create_branch("trial")
        trial = memory._recollect.zone(f"{memory.name}@trial")
        trial.set_writer_text("role", "Write only about boats.")
        assert trial.write(again=True, dry_run=True).calls > 0
        trial.write(again=True)
        asked = len(server.questions)
        assert memory.writer_texts()[0].number == 0
        assert memory.promote_branch("trial").answers > 0
        assert memory.writer_texts()[0].text.startswith("Write only about boats.")
        assert memory.write(again=True).processed == 1
        assert len(server.questions) == asked
        # An answer about a message that only the branch had is not the zone's.
        trial.ingest([said("m2", "The ferry leaves at noon.", 2)])
        trial.write()
        assert memory.promote_branch("trial").answers == 0
        assert memory.write().processed == 1
        assert len(server.questions) > asked
        assert memory.verify().ok


@pytest.mark.parametrize("text", ["Write only about trains.", ""])
def test_a_promotion_leaves_the_writer_prompts_that_the_zone_set_later(
    tmp_path: Path, text: str
) -> None:
    with writing_home(tmp_path / "home", good) as (memory, _):
        memory.ingest([said("m1", "The deploy is on Fridays at Marlowe Labs.")])
        memory.set_writer_text("early", "Ada is a sailor.")
        memory.set_writer_text("role", "Write only about boats.")
        memory.create_branch("trial")
        trial = memory._recollect.zone(f"{memory.name}@trial")
        trial.set_writer_text("role", "Write only about planes.")
        trial.set_writer_text("early", "Ada is a pilot.")
        memory.set_writer_text("role", text)
        in_force = memory.writer_texts()[0].text
        for _ in range(2):
            assert memory.promote_branch("trial").outdated == ["role"]
            role, early = memory.writer_texts()
            assert (role.text, early.text) == (in_force, "Ada is a pilot.")
        assert memory.verify().ok
