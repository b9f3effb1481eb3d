"""Fault 57: what else the name of a forgotten person may mean is listed, and can be forgotten
too.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from recollect.cli.app import run
from recollect.streams.language.names import mentions
from tests.forget.kit import Recollect, line

PERSON = "Quentin Zyzzyva"


def by(number: int, content: str, sender: str = "Ada", **fields: Any) -> dict[str, Any]:
    return line(f"m{number}", content, sender_id=sender.lower(), sender_name=sender, **fields)


def listed(recollect: Recollect, *arguments: str) -> list[dict[str, Any]]:
    """Return what a dry run lists besides the person."""
    answer = recollect.run("forget", "--entity", PERSON, *arguments, "--dry-run")
    found: list[dict[str, Any]] = answer["also_possible"]
    return found


@pytest.mark.parametrize(
    "text",
    [
        "Mr Zyzzyva called about the diabetes pump.",
        "I met Q. Zyzzyva in Rome.",
        "mr zyzzyva was late",
        "Zyzzyva's car broke.",
        "The pump of Zyzzyva beeped.",
        "Mrs. Zyzzyva is ill.",
    ],
)
def test_a_part_of_the_name_is_listed_and_forgotten_on_demand(
    recollect: Recollect, text: str
) -> None:
    recollect.ingest(by(1, f"{PERSON} bought a boat."), by(2, text), by(3, "I like green tea."))
    (found,) = listed(recollect)
    assert found["events"] == 1
    assert found["id"]
    answer = recollect.run("forget", "--entity", PERSON, "--also", found["id"])
    assert answer["forgotten"] == ["m1", "m2"]
    assert answer["also_possible"] == []
    assert not recollect.left("Zyzzyva", "zyzzyva")
    assert recollect.run("status")["events"] == 1
    assert recollect.whole()


@pytest.mark.parametrize(
    "text",
    [
        "Anna Zyzzyva is a nurse.",
        "I met Bob Baker in Rome.",
        "I like green tea.",
        "Quentin Baker sings.",
    ],
)
def test_another_person_is_not_listed(recollect: Recollect, text: str) -> None:
    recollect.ingest(by(1, f"{PERSON} bought a boat."), by(2, text))
    assert listed(recollect) == []


def test_an_ordinary_word_of_a_name_is_not_listed(recollect: Recollect) -> None:
    recollect.ingest(
        by(1, "I bought a boat.", sender="Will Smith"),
        by(2, "Will you come?"),
        by(3, "the smith may come"),
    )
    answer = recollect.run("forget", "--entity", "Will Smith", "--dry-run")
    assert answer["also_possible"] == []


def test_what_is_listed_stays_unless_it_is_named(recollect: Recollect) -> None:
    recollect.ingest(by(1, f"{PERSON} bought a boat."), by(2, "Mr Zyzzyva called."))
    answer = recollect.run("forget", "--entity", PERSON)
    assert answer["forgotten"] == ["m1"]
    assert [item["events"] for item in answer["also_possible"]] == [1]
    assert recollect.run("status")["events"] == 1


@pytest.mark.parametrize(("answers", "left"), [("yy", 0), ("ny", 1), ("nn", 2)])
def test_on_a_terminal_it_is_offered(
    recollect: Recollect,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    answers: str,
    left: int,
) -> None:
    recollect.ingest(by(1, f"{PERSON} bought a boat."), by(2, "Mr Zyzzyva called."))
    given = iter(answers)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: next(given))
    capfd.readouterr()
    run(["--home", str(recollect.home), "forget", "--entity", PERSON])
    assert "the name may also mean:" in capfd.readouterr().err
    assert recollect.run("status")["events"] == left


def test_other_criteria_hold_for_what_is_listed(recollect: Recollect) -> None:
    recollect.ingest(
        by(1, f"{PERSON} bought a boat.", thread_id="one"),
        by(2, "Mr Zyzzyva called.", thread_id="two"),
    )
    assert len(listed(recollect)) == 1
    assert listed(recollect, "--thread", "one") == []


def test_an_unknown_id_besides_erases_nothing(recollect: Recollect) -> None:
    recollect.ingest(by(1, f"{PERSON} bought a boat."))
    assert recollect.end("forget", "--entity", PERSON, "--also", "nothing").status == 2
    assert recollect.run("status")["events"] == 1


def test_a_certificate_covers_what_was_named_besides(recollect: Recollect) -> None:
    recollect.ingest(by(1, f"{PERSON} bought a boat."), by(2, "Mr Zyzzyva called."))
    (found,) = listed(recollect)
    path = recollect.home.parent / "certificate.json"
    recollect.run("forget", "--entity", PERSON, "--also", found["id"], "--certificate", str(path))
    statement = json.loads(path.read_text())["statement"]
    assert len(statement["erased"]) == 2
    assert statement["request"]["selectors"] == ["also", "entity"]
    assert "zyzzyva" not in path.read_text().lower()


def test_a_text_that_is_forgotten_anyway_is_not_analysed(
    recollect: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person is named in all of their messages; only those of others need a closer look."""
    own = (by(n, f"{PERSON} bought boat {n}.", sender=PERSON) for n in range(30))
    others = ("I met Zyzzyva in Rome.", "The pump of Zyzzyva beeped.")
    recollect.ingest(*own, *(by(n, text) for n, text in enumerate(others, start=50)))
    analysed: list[str] = []
    find_mentions = mentions.mentions

    def noted(text: str) -> object:
        analysed.append(text)
        return find_mentions(text)

    monkeypatch.setattr(mentions, "mentions", noted)
    assert listed(recollect)
    assert analysed
    assert not [text for text in analysed if "boat" in text]
