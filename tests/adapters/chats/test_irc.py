"""Logs of IRC: who said what and when, whichever client wrote it down."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import SystemNotice
from tests.adapters.kit import EXPORTS, Opened, opened

IRSSI = """--- Log opened Mon Nov 15 12:00:00 2004
12:18 -!- ada [~ada@host] has joined #house
12:18 < ada> I live in Porto.
12:19 <@bob> nice
12:19  * ada waves
12:20 -!- ada is now known as ada_
12:20 < ada_> still me
--- Day changed Tue Nov 16 2004
00:01 < ada_> next day
--- Log closed Tue Nov 16 00:02:00 2004
"""
WEECHAT = (
    "2020-01-02 12:18:33\t-->\tada (~ada@host) has joined #house\n"
    "2020-01-02 12:18:40\t@ada\tI live in Porto.\n"
    "2020-01-02 12:18:41\t *\tada waves\n"
    "2020-01-02 12:18:42\t--\tada is now known as eve\n"
    "2020-01-02 12:18:43\teve\tstill me\n"
)
ZNC = """[12:18:33] *** Joins: ada (~ada@host)
[12:18:34] <ada> I live in Porto.
[12:18:35] * ada waves
[12:18:36] <***> Buffer Playback...
[12:18:37] *** Quits: ada (~ada@host) (bye)
"""
HEXCHAT = """**** BEGIN LOGGING AT Fri Dec 31 12:18:33 2004

Dec 31 12:18:33 *\tNow talking on #house
Dec 31 12:18:34 <ada>\tI live in Porto.
Jan 01 00:00:01 *\tada waves
"""
MIRC = """
Session Start: Mon Nov 15 12:18:33 2004
Session Ident: #house
[12:18] <@ada> I \x02\x0304,01live\x03 in Porto.
[23:59] * ada waves
[00:01] <relaybot> <Bob> hello
[00:01] *** bob has joined #house
Session Close: Tue Nov 16 00:02:00 2004
"""
UBUNTU = """[12:18] <ada> I live in Porto.
=== ada waves
=== bob [~bob@host]  has joined #ubuntu
[12:19] <bob> hi
[12:19] <bob> hi
=== ada is now known as ada|away
"""


def log(path: Path, name: str, text: str, timezone: str | None = "UTC") -> Opened:
    file = path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    return opened(file, timezone=timezone)


def said(found: Opened) -> list[tuple[str, str, str]]:
    assert found.formats == ["irc"]
    assert not found.rejections
    times = [datetime.fromtimestamp(draft.occurred_at / 1000, UTC) for draft in found.drafts]
    return [
        (f"{at:%m-%d %H:%M}", one.sender_id, one.content)
        for at, one in zip(times, found.contents, strict=True)
        if not isinstance(one, SystemNotice)
    ]


@pytest.mark.parametrize(
    ("name", "text", "expected", "told"),
    [
        (
            "#house.log",
            IRSSI,
            [
                ("11-15 12:18", "ada", "I live in Porto."),
                ("11-15 12:19", "bob", "nice"),
                ("11-15 12:19", "ada", "ada waves"),
                ("11-15 12:20", "ada", "still me"),
                ("11-16 00:01", "ada", "next day"),
            ],
            2,
        ),
        (
            "irc.net.#house.weechatlog",
            WEECHAT,
            [
                ("01-02 12:18", "ada", "I live in Porto."),
                ("01-02 12:18", "ada", "ada waves"),
                ("01-02 12:18", "ada", "still me"),
            ],
            2,
        ),
        (
            "#house/2020-01-02.log",
            ZNC,
            [("01-02 12:18", "ada", "I live in Porto."), ("01-02 12:18", "ada", "ada waves")],
            3,
        ),
        (
            "net-#house.log",
            HEXCHAT,
            [("12-31 12:18", "ada", "I live in Porto."), ("01-01 00:00", "ada", "ada waves")],
            1,
        ),
        (
            "#house.log",
            MIRC,
            [
                ("11-15 12:18", "ada", "I live in Porto."),
                ("11-15 23:59", "ada", "ada waves"),
                ("11-16 00:01", "bob", "hello"),
            ],
            1,
        ),
        (
            "2004-11-15-#house.txt",
            UBUNTU,
            [
                ("11-15 12:18", "ada", "I live in Porto."),
                ("11-15 12:18", "ada", "ada waves"),
                ("11-15 12:19", "bob", "hi"),
                ("11-15 12:19", "bob", "hi"),
            ],
            2,
        ),
    ],
)
def test_what_each_client_wrote_down(
    tmp_path: Path, name: str, text: str, expected: list[tuple[str, str, str]], told: int
) -> None:
    found = log(tmp_path, name, text)
    assert said(found) == expected
    assert found.kinds["notice"] == told
    assert {one.peer_id for one in found.contents} == {"#house"}
    assert len({one.source_id for one in found.contents}) == len(found.contents)


def test_the_zone_is_asked_for_and_counts(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="`timezone`"):
        log(tmp_path, "#house.log", IRSSI, None)
    found = log(tmp_path, "#house.log", IRSSI, "Europe/Lisbon")
    assert found.contents[0].utc_offset == 0
    found = log(tmp_path, "#house.log", IRSSI, "America/New_York")
    assert found.contents[0].utc_offset == -300
    zoned = "[2020-01-02T12:18:33+0100] <ada> I live in Porto.\n"
    assert said(log(tmp_path, "house.log", zoned, None)) == [
        ("01-02 11:18", "ada", "I live in Porto.")
    ]


def test_a_log_without_a_day_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="without a date"):
        log(tmp_path, "#house.log", ZNC)


def test_a_log_that_grew_repeats_what_was_there(tmp_path: Path) -> None:
    whole = log(tmp_path, "#house.log", IRSSI).contents
    rows = IRSSI.splitlines(keepends=True)
    for end in range(3, len(rows)):
        before = log(tmp_path, "#house.log", "".join(rows[:end])).contents
        assert before == whole[: len(before)]


def test_lines_of_other_encodings_are_read(tmp_path: Path) -> None:
    found = log(tmp_path, "2020-01-02-#house.log", "[12:18] <ada> caf\udce9\n[12:19] <ada> café\n")
    assert found.texts == ["café", "café"]


@pytest.mark.parametrize("broken", ["what is this", "12:18 what is this", "[25:61] <ada> hi"])
def test_what_is_not_understood_is_refused_with_its_place(tmp_path: Path, broken: str) -> None:
    found = log(tmp_path, "#house.log", IRSSI + broken + "\n[00:03] <ada> hi\n")
    assert found.texts[-1] == "hi"
    assert [rejection.line for rejection in found.rejections] == [11]


@pytest.mark.skipif(not EXPORTS.exists(), reason="the exports are not at hand")
def test_a_real_log() -> None:
    found = opened(EXPORTS / "irc", timezone="UTC")
    assert found.formats == ["irc"]
    assert not found.rejections
    # 1,077 lines with a time; of 173 without, 22 say what somebody did.
    assert found.kinds == {"message": 1099, "notice": 151}
    assert found.texts[0] == "usual, quite stable though  :)"


#: Logs of further clients, each of ada, who says something, waves, and is told of.
LOGS = {
    "#house (2020-01-02).txt": """[2020-01-02T12:18:33+0000] <ada> I live in Porto.
[2020-01-02T12:18:34+0000] \u2022 ada waves
[2020-01-02T12:18:35+0000] bob (~bob@host) joined the channel
[2020-01-02T12:18:36+0000] bob is now known as bobby
[2020-01-02T12:18:37+0000] ada sets mode +o bobby
[2020-01-02T12:18:38+0000] -NickServ- identify yourself
""",
    "quassel.#house-2020-01-02.log": """[2020-01-02 12:18:33] <ada> I live in Porto.
[2020-01-02 12:18:34] -*- ada waves
[2020-01-02 12:18:35] --> bob (~b@h) has joined #house
[2020-01-02 12:18:36] <-- bob has quit
[2020-01-02 12:18:37] -bob:#house- a word
[2020-01-02 12:18:38] !irc.example.org rehashing
""",
    "konversation_#house.log": """[Thu 02 January 2020] [12:18:33] <ada>\tI live in Porto.
[Thu 02 January 2020] [12:18:34] *\tada waves
[Thu 02 January 2020] [12:18:35] Join\tbob (~b@h) has joined this channel.
[Thu 02 January 2020] [12:18:36] Nick\tbob is now known as bobby.
[Thu 02 January 2020] [12:18:37] Quit\tbobby has left this server.
[Thu 02 January 2020] [12:18:38] Topic\tThe channel topic is "tea".
""",
    "#house.2020-01-02.irssi.log": """12:18:33 <@ada> I live in Porto.
12:18:34  * ada waves
12:18:35 -!- mode/#house [+o bob] by ada
12:18:36 -NickServ- hello
12:18:37 -!- Netsplit a <-> b quits: bob
12:18:38 -!- bob is now known as bobby
""",
}


@pytest.mark.parametrize("name", LOGS)
def test_further_clients_are_read(tmp_path: Path, name: str) -> None:
    found = log(tmp_path, name, LOGS[name])
    assert said(found) == [
        ("01-02 12:18", "ada", "I live in Porto."), ("01-02 12:18", "ada", "ada waves"),
    ]  # fmt: skip
    assert found.kinds == {"message": 2, "notice": 4}
    assert {one.peer_id for one in found.contents} == {"#house"}


def test_a_nick_that_changed_is_the_same_person_in_any_words(tmp_path: Path) -> None:
    text = "[12:18:33] *** ada changed nick to lovelace\n[12:18:34] <lovelace> hi\n"
    found = log(tmp_path, "#house-2020-01-02.log", text)
    assert said(found) == [("01-02 12:18", "ada", "hi")]


def test_a_notice_without_the_host_and_a_line_without_a_prefix(tmp_path: Path) -> None:
    irssi = IRSSI.replace("--- Day", "12:21 -bob(~bob@host)- I am away\n--- Day")
    found = log(tmp_path, "#house.log", irssi)
    assert ("bob", "I am away") in [(one.sender_id, one.content) for one in found.contents]
    assert not found.rejections
    found = log(
        tmp_path, "#house.weechatlog", WEECHAT + "2020-01-02 12:19:00\t\tThe topic is tea\n"
    )
    assert (found.texts[-1], found.rejections) == ("The topic is tea", [])
