"""Fault 35: a chat whose file has another name is the same chat."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.cli.app import run
from recollect.streams.adapters.chats.chat_recognition import known_place
from recollect.streams.adapters.import_options import ChatPlace

SAID = ["I live in Porto.", "Really?", "Since May.", "Nice: and the boat?", "Sold.", "Oh no"]


def whatsapp(*texts: str) -> str:
    people = ("Ada", "Bob")
    return "".join(
        f"25/06/2020, 15:{number:02} - {people[number % 2]}: {text}\n"
        for number, text in enumerate(texts)
    )


Ingest = Callable[..., tuple[int, int, int]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("RECOLLECT_HOME", "RECOLLECT_LEDGER", "RECOLLECT_FAILPOINT"):
        monkeypatch.delenv(name, raising=False)
    directory = tmp_path / "home"
    assert run(["--home", str(directory), "init", "--encoder", "none"]) == 0
    return directory


@pytest.fixture
def ingest(home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Ingest:
    """Return a function that ingests texts under names, and returns read, new and rejected."""

    def ingested(*named: tuple[str, str]) -> tuple[int, int, int]:
        paths: list[str] = []
        for number, (name, text) in enumerate(named):
            path = tmp_path / f"in-{number}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            paths.append(str(path))
        capfd.readouterr()
        command = ["--home", str(home), "ingest", "--no-wait", "--json", "--timezone", "UTC"]
        run([*command, "--date-order", "dmy", *paths])
        report = json.loads(capfd.readouterr().out)
        for given in paths:
            Path(given).unlink()
        return report["read"], report["new"], report["rejected"]

    return ingested


FIRST = "WhatsApp Chat with Zoë & Trip.txt"
NAMES = [
    "WhatsApp_Chat_with_Zoë_&_Trip.txt",
    unicodedata.normalize("NFD", FIRST),
    "WhatsApp Chat - Zoë & Trip (2).txt",
    "Chat de WhatsApp con Zoë & Trip.txt",
    "WhatsApp Chat with Summer house.txt",
    "_chat.txt",
    "chat.txt",
]


@pytest.mark.parametrize("name", NAMES)
def test_fault_35_chat_under_another_name_adds_nothing(ingest: Ingest, name: str) -> None:
    assert ingest((FIRST, whatsapp(*SAID))) == (6, 6, 0)
    assert ingest((name, whatsapp(*SAID))) == (6, 0, 0)
    assert ingest((name, whatsapp(*SAID, "And now?"))) == (7, 1, 0)
    assert ingest((FIRST, whatsapp(*SAID, "And now?", "Swimming."))) == (8, 1, 0)


def test_fault_35_chat_without_a_name_gets_none_later(ingest: Ingest) -> None:
    assert ingest(("_chat.txt", whatsapp(*SAID))) == (6, 6, 0)
    assert ingest((FIRST, whatsapp(*SAID))) == (6, 0, 0)


def test_fault_35_chat_twice_in_one_import_is_one(ingest: Ingest) -> None:
    named = [(FIRST, whatsapp(*SAID)), ("WhatsApp Chat with Summer house.txt", whatsapp(*SAID))]
    assert ingest(*named) == (12, 6, 0)


def test_fault_35_chat_through_standard_input_is_the_same(ingest: Ingest, home: Path) -> None:
    assert ingest((FIRST, whatsapp(*SAID))) == (6, 6, 0)
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "--home", str(home), "ingest", "--no-wait", "--json",
         "--timezone", "UTC", "--date-order", "dmy", "-"],
        input=whatsapp(*SAID).encode(), capture_output=True, check=True, timeout=120,
    )  # fmt: skip
    assert json.loads(done.stdout)["new"] == 0


def test_fault_35_older_part_of_a_chat_joins_it(ingest: Ingest) -> None:
    """A phone exports the last messages only, with pictures fewer of them."""
    lines = whatsapp(*SAID).splitlines(keepends=True)
    assert ingest((FIRST, "".join(lines[3:]))) == (3, 3, 0)
    assert ingest(("WhatsApp Chat with Summer house.txt", "".join(lines))) == (6, 3, 0)


def test_fault_35_other_chats_stay_apart(ingest: Ingest) -> None:
    """The same was forwarded to both in one minute, among other words."""
    same = ["Hello", "My new number is 7700.", "Bye"]
    first = whatsapp("One.", *same, "Two.", "Three.")
    second = whatsapp("Else.", *same, "Other.", "Still other.")
    assert ingest(("WhatsApp Chat with Ada.txt", first)) == (6, 6, 0)
    assert ingest(("WhatsApp Chat with Bob.txt", second)) == (6, 6, 0)
    assert ingest(("WhatsApp Chat with Ada.txt", first)) == (6, 0, 0)


def signal(*texts: str) -> str:
    people = ("Ada", "Me")
    return "".join(
        f"[2020-06-25 15:{number:02}:00] {people[number % 2]}: {text}\n"
        for number, text in enumerate(texts)
    )


def irc(*texts: str) -> str:
    return "".join(f"15:{number:02} <ada> {text}\n" for number, text in enumerate(texts))


@pytest.mark.parametrize(
    ("name", "other", "text"),
    [
        ("Trip/chat.txt", "Summer/chat.txt", signal(*SAID)),
        ("Trip/chat.txt", "chat.txt", signal(*SAID)),
        ("#tea_2020-06-25.log", "#milk_2020-06-25.log", irc(*SAID)),
    ],
)
def test_fault_35_other_chats_named_by_their_file_are_known(
    ingest: Ingest, name: str, other: str, text: str
) -> None:
    assert ingest((name, text)) == (6, 6, 0)
    assert ingest((other, text)) == (6, 0, 0)


TRIP, HOUSE, NAMELESS = (ChatPlace("whatsapp", name) for name in ("Trip", "House", None))


@pytest.mark.parametrize(
    ("own", "places", "found"),
    [
        (TRIP, [[]] * 5, TRIP),
        (TRIP, [[HOUSE]] * 5, HOUSE),
        (TRIP, [[HOUSE], [HOUSE, TRIP], [HOUSE]], TRIP),
        (TRIP, [[HOUSE]] * 3 + [[]] * 40, HOUSE),
        (TRIP, [[]] * 40 + [[HOUSE]] * 3, HOUSE),
        (TRIP, [[]] + [[HOUSE]] * 3 + [[]], TRIP),
        (TRIP, [[HOUSE]] * 2 + [[]] * 3, TRIP),
        (NAMELESS, [[HOUSE]] * 2 + [[]] * 3, HOUSE),
        (TRIP, [[ChatPlace("whatsapp", "trip")]] * 2 + [[]], ChatPlace("whatsapp", "trip")),
        (TRIP, [[HOUSE]] * 2, HOUSE),
        (TRIP, [[HOUSE]], TRIP),
        (NAMELESS, [[HOUSE]], HOUSE),
    ],
)
def test_fault_35_place_is_that_of_the_first_or_last_messages(
    own: ChatPlace, places: Any, found: ChatPlace
) -> None:
    assert known_place(own, places) == found
