"""Faults 37 and 43: unknown inputs are named once, and one that is refused stops no other."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.schemas.errors import InvalidInput
from recollect.streams.adapters import Options
from recollect.streams.adapters.formats import open_input
from recollect.streams.adapters.input.input_files import InputFile
from recollect.streams.adapters.input.json_documents import items
from tests.adapters.chats import test_telegram
from tests.adapters.kit import opened, zipped
from tests.adapters.test_folders import lines

TELEGRAM_PAGE = """<!DOCTYPE html>
<html>
 <head><meta charset="utf-8"/><title>Exported Data</title></head>
 <body><div class="page_wrap"><a class="entry block_link">Hej</a></div></body>
</html>
"""

#: What is given, under which name, and what is said of it.
UNKNOWN = {
    "Telegram's page": (TELEGRAM_PAGE, "chats.html", "page of Telegram's export.*messages.html"),
    "Discord's page": (
        "<!DOCTYPE html><html><head><title>Club - tea</title></head>"
        "<body><div class=chatlog__message-container>hi</div></body></html>",
        "tea.html",
        "DiscordChatExporter's HTML.*JSON",
    ),
    "Discord's text": (
        f"{'=' * 62}\nGuild: Club\nChannel: Text / tea\n{'=' * 62}\n\n"
        "[5/8/2023 1:32 PM] ada\nhello: all\n\n[5/8/2023 1:33 PM] bob\nhi\n",
        "tea.txt",
        "DiscordChatExporter's text.*JSON",
    ),
    "ChatGPT's page": (
        "<html><head><title>ChatGPT Data Export</title></head><script>var jsonData = [];</script>",
        "chat.html",
        "ChatGPT's chat.html.*conversations.json",
    ),
    "Messages' page": (
        '<html>\n<head>\n<meta charset="UTF-8">\n<style>\n.message {}\n</style></head>\n<body>\n'
        '<div class="message">\n    <div class="sent iMessage">\n<p>\n',
        "Bob.html",
        "imessage-exporter's HTML.*--format txt",
    ),
    "a page": ("<html><body><p>Hello</p></body></html>", "page.htm", "a web page"),
    "Slack's people": (
        json.dumps([{"id": "U1", "team_id": "T1", "name": "ada", "profile": {}}]),
        "users.json",
        "a part of Slack's export",
    ),
    "contacts": ("BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nEND:VCARD\n", "ada.vcf", "list of contacts"),
    "objects": (
        '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "ho"}\n',
        "talk.jsonl",
        "holds no events: its first object has the fields content, role",
    ),
    "one object": (
        json.dumps({"title": "Tea", "steps": [1, 2], "author": {"name": "Ada"}}, indent=2),
        "recipe.json",
        "holds no events: its first object has the fields author, steps, title",
    ),
    "a large object": (
        json.dumps({"notes": [{"text": "x" * 100} for _ in range(2_000)]}),
        "notes.json",
        "holds no events: its first object has the fields notes, text",
    ),
    "an array of objects": (
        json.dumps([{"question": "Why?", "answer": "So."}] * 3),
        "cards.json",
        "holds no events: its first object has the fields answer, question",
    ),
    "an array of numbers": ("[\n1,\n2\n]\n", "numbers.json", "holds no events"),
}


@pytest.mark.parametrize(("text", "name", "told"), UNKNOWN.values(), ids=UNKNOWN)
def test_fault_37_unknown_input_is_named_once(
    tmp_path: Path, text: str, name: str, told: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=told) as caught:
        opened(path, timezone="UTC")
    assert str(path) in str(caught.value)
    assert "jq" not in str(caught.value), "no recipe that leads to the same refusal"


def test_fault_37_array_of_events_is_told_how_to_come_apart(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps([json.loads(line) for line in lines("one", "two").splitlines()]))
    with pytest.raises(InvalidInput, match=re.escape("jq -c '.[]'")):
        opened(path)


def test_fault_37_folder_says_what_its_first_unknown_file_is(tmp_path: Path) -> None:
    (tmp_path / "chats.html").write_text(TELEGRAM_PAGE)
    with pytest.raises(InvalidInput, match=r"chats\.html: it looks like a page of Telegram's"):
        opened(tmp_path)


def test_fault_37_unknown_lines_in_a_folder_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "talk.jsonl").write_text(UNKNOWN["objects"][0])
    (tmp_path / "events.jsonl").write_bytes(lines("one"))
    found = opened(tmp_path)
    assert (found.texts, found.rejections) == (["one"], [])
    assert found.input.skipped[0].names == ["talk.jsonl"]


def test_fault_37_bad_lines_among_events_are_refused_each(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"a": 1}\n' + lines("one") + b'{"b": 2}\n')
    found = opened(path)
    assert found.texts == ["one"]
    assert [item.line for item in found.rejections] == [1, 3]


CLEAR = "25/06/2020, 15:05 - Ada: hello\n26/06/2020, 15:05 - Ada: again\n"
UNCLEAR = "03/04/20, 15:05 - Ada: hello\n05/06/20, 15:05 - Ada: again\n"


@pytest.mark.parametrize("packed", [False, True])
def test_fault_43_undecidable_chat_stops_no_other(tmp_path: Path, packed: bool) -> None:
    files = {
        "WhatsApp Chat with Ada.txt": CLEAR.encode(),
        "WhatsApp Chat with Bob.txt": UNCLEAR.encode(),
        "irclogs/tea.log": b"15:05 <ada> hello\n15:06 <bob> hi\n",
        "more.jsonl": lines("one"),
    }
    folder = tmp_path / "chats"
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (tmp_path / "chats.zip").write_bytes(zipped(files))
    path = tmp_path / "chats.zip" if packed else folder
    found = opened(path, timezone="UTC")
    assert sorted(found.texts) == ["again", "hello", "one"]
    assert sorted((item.path, item.reason) for item in found.rejections) == [
        (f"{path}/WhatsApp Chat with Bob.txt", found.rejections[0].reason),
        (f"{path}/irclogs/tea.log", found.rejections[1].reason),
    ]
    assert "date_order" in found.rejections[0].reason
    assert "IRC log without a date" in found.rejections[1].reason


def test_fault_43_missing_option_is_asked_for_where_nothing_else_is(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"WhatsApp Chat with {name}.txt").write_text(CLEAR)
    with pytest.raises(InvalidInput, match=r"`timezone`.*\(and 1 more export likewise\)"):
        opened(tmp_path)


def test_fault_43_named_chat_that_is_undecidable_stops_no_other(tmp_path: Path) -> None:
    from recollect.operations.ingestion.ingesting import open_inputs
    from recollect.streams.adapters import ByteCounter

    clear, unclear = tmp_path / "clear.txt", tmp_path / "unclear.txt"
    clear.write_text(CLEAR)
    unclear.write_text(UNCLEAR)
    options = Options.of("UTC", None)
    found = open_inputs([unclear, clear], "auto", options, ByteCounter())
    assert [len(one.exports) for one in found] == [0, 1]
    assert [item.path for one in found for item in one.rejections] == [str(unclear)]
    with pytest.raises(InvalidInput, match="date_order"):
        open_inputs([unclear], "auto", options, ByteCounter())


def refusing(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let no folder or file of one of these names be opened, as where its rights forbid it."""
    scan, open_file = os.scandir, __import__("io").FileIO

    def scandir(path: Any) -> Iterator[os.DirEntry[str]]:
        if Path(path).name in names:
            raise PermissionError(13, "Permission denied")
        return scan(path)

    def file(path: Any, *how: Any, **more: Any) -> Any:
        if not isinstance(path, int) and Path(path).name in names:
            raise PermissionError(13, "Permission denied")
        return open_file(path, *how, **more)

    monkeypatch.setattr("recollect.streams.adapters.input.folders.os.scandir", scandir)
    monkeypatch.setattr("recollect.streams.adapters.input.input_files.io.FileIO", file)


SLACK = {
    "users.json": b'[{"id": "U1", "name": "ada"}]',
    "channels.json": b'[{"id": "C1", "name": "tea"}, {"id": "C2", "name": "milk"}]',
    "tea/2023-11-14.json": b'[{"type": "message", "user": "U1", "text": "Tea", '
    b'"ts": "1700000000.000100"}]',
    "milk/2023-11-14.json": b'[{"type": "message", "user": "U1", "text": "Milk", '
    b'"ts": "1700000000.000100"}]',
}
DISCORD = {
    f"{channel}/{name}": content
    for channel in ("c1", "c2")
    for name, content in {
        "channel.json": b'{"id": "%s", "type": "DM"}' % channel.encode(),
        "messages.json": b'[{"ID": "%s", "Timestamp": "2023-11-14 22:13:20", "Contents": "%s"}]'
        % (channel.encode(), channel.encode()),
    }.items()
}
MAIL = b"From: ada@a.example\nMessage-ID: <%s@a>\nDate: Tue, 14 Nov 2023 22:13:20 +0000\n\n%s\n"
MAILDIR = {f"cur/{name}": MAIL % (name.encode(), name.encode()) for name in ("one", "two", "zoo")}


@pytest.mark.parametrize(
    ("files", "closed", "texts"),
    [
        ({"a/one.jsonl": lines("one"), "b/two.jsonl": lines("two")}, "a", ["two"]),
        (SLACK, "milk", ["Tea"]),
        (DISCORD, "c1", ["c2"]),
        (MAILDIR, "two", ["one", "zoo"]),
    ],
    ids=["folders", "Slack", "Discord", "Maildir"],
)
def test_fault_43_unreadable_folder_or_file_stops_no_other(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, bytes],
    closed: str,
    texts: list[str],
) -> None:
    for name, content in files.items():
        (tmp_path / "export" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "export" / name).write_bytes(content)
    refusing(monkeypatch, closed)
    found = opened(tmp_path / "export")
    assert sorted(text.strip() for text in found.texts) == texts
    assert [Path(item.path).name for item in found.rejections] == [closed]
    assert "Permission denied" in found.rejections[0].reason


def test_fault_43_unreadable_input_itself_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "export").mkdir()
    refusing(monkeypatch, "export")
    with pytest.raises(InvalidInput, match="the folder cannot be read: Permission denied"):
        open_input(tmp_path / "export")


def nested_object(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


@pytest.mark.parametrize("levels", [2_000, 1_999_999])
def test_deeply_nested_json_is_refused_in_little_memory(tmp_path: Path, levels: int) -> None:
    path = tmp_path / "conversations.json"
    start = '[{"title": "x", "create_time": 1, "mapping": {"a": {"id": "a", "message": '
    path.write_text(start + nested_object(levels))
    tracemalloc.start()
    found = opened(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [(one.line, "nested" in one.reason) for one in found.rejections] == [(1, True)]
    assert peak < 50_000_000


@given(st.text(alphabet='"\\\\[]{}:, a', max_size=40), st.integers(1, 120))
def test_brackets_within_strings_are_not_counted(text: str, copies: int) -> None:
    """Strings of any length and form nest nothing, wherever the file is cut into chunks."""
    document = {"messages": [{text: [text * copies, {"b": text}]}] * copies, text: text}
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "a.json"
        path.write_text(json.dumps(document))
        assert [value for _, value in items(InputFile(path), "")] == [document]


def test_a_malformed_record_is_described_without_python(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    document = {**test_telegram.CHAT, "messages": [17, test_telegram.said(1, "hi")]}
    path.write_text(json.dumps(document))
    (rejection,) = opened(path).rejections
    assert rejection.line == 1
    assert "one of its values has an unexpected type" in rejection.reason
    assert "Error" not in rejection.reason
