"""Notes: a folder of Markdown or text is imported in one go, and changed notes as edits."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect import Recollect, Zone
from recollect.home.home_directory import Home
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, Message
from recollect.streams.adapters.notes.front_matter import split_front_matter
from recollect.streams.adapters.notes.markdown import words_of
from tests.adapters.kit import Opened, opened, zipped

MD = ".md"
MAY_1 = int(datetime(2024, 5, 1, 8, tzinfo=UTC).timestamp())
HARBOUR = """\
---
title: "Harbour: plans"
created: 2024-03-01T10:00:00+02:00
tags: [boats, "pier, old"]
aliases:
  - Port # the old name
---
# Plans

Met [[People/Ada Byron|Ada]] at [[Pier 3#East side]]. #regatta Her ==boat== is red. ^b7
See [the map](https://maps.example/x) and [the list](../files/rope%20list.pdf). ![[boat.png|200]]
![The mast](img/mast.jpg)

> Quoted from a book
> second line

> [!tip] Mine
> I own two oars.

`[[code]]` stays.
```
> [[also]] ![[this.png]]
```
%% hidden %%
"""


def write(folder: Path, files: Mapping[str, str | bytes], at: int = MAY_1) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.utime(path, (at, at))
    return folder


def by_id(found: Opened) -> dict[str | None, str]:
    return {one.source_id: one.content for one in found.contents}


def seconds(found: Opened) -> list[int]:
    return [draft.occurred_at // 1000 for draft in found.drafts]


def test_a_note_keeps_its_words_links_files_quotations_and_properties(tmp_path: Path) -> None:
    found = opened(write(tmp_path / "Log", {f"sea/Harbour{MD}": HARBOUR, "boat.png": b""}))
    assert (found.formats, found.rejections) == (["notes"], [])
    (note,) = found.contents
    assert isinstance(note, Message)
    assert note.content == (
        "Harbour: plans\n\nPlans\n\nMet Ada at Pier 3, East side. #regatta Her boat is red.\n"
        "See [the map](https://maps.example/x) and the list.\n\n"
        "Mine\nI own two oars.\n\n`[[code]]` stays.\n```\n> [[also]] ![[this.png]]\n```"
    )
    assert note.attachments == (
        Attachment(type="file", name="rope list.pdf"),
        Attachment(type="image", name="boat.png"),
        Attachment(type="image", name="mast.jpg", caption="The mast"),
        Attachment(type="quotation", caption="Quoted from a book\nsecond line"),
    )
    assert (note.source_id, note.thread_id, note.peer_id, note.sender_id) == (
        f"Log/sea/Harbour{MD}", f"Log/sea/Harbour{MD}", "Log", "user",
    )  # fmt: skip
    assert note.metadata == {
        "title": "Harbour: plans",
        "folder": "sea",
        "tags": ["boats", "pier, old", "regatta"],
        "links": ["People/Ada Byron", "Pier 3"],
        "properties": {
            "title": "Harbour: plans",
            "created": "2024-03-01T10:00:00+02:00",
            "tags": ["boats", "pier, old"],
            "aliases": ["Port"],
        },
    }
    assert found.drafts[0].occurred_at == datetime(2024, 3, 1, 8, tzinfo=UTC).timestamp() * 1000


def test_plain_text_is_kept_as_it_is_with_the_name_of_its_file(tmp_path: Path) -> None:
    text = "# not a heading\r\n> [[x]] Caf\xe9\r\n"
    found = opened(write(tmp_path / "n", {"Café list.txt": text.encode("cp1252")}))
    assert found.texts == ["Café list\n\n# not a heading\n> [[x]] Café"]


@pytest.mark.parametrize(
    ("name", "head", "zone", "at"),
    [
        (f"a{MD}", "", None, (2024, 5, 1, 8)),
        (f"a{MD}", "---\ndate: 2024-02-03\n---\n", None, (2024, 2, 3)),
        (f"a{MD}", "---\ndate: 2024-02-03 18:30\n---\n", "Asia/Tokyo", (2024, 2, 3, 9, 30)),
        (f"a{MD}", "---\r\ncreated: '[[2024-02-03]]'\r\n---\r\n", None, (2024, 2, 3)),
        (f"2024-02-04{MD}", "---\ndate: 2024-02-03\n---\n", None, (2024, 2, 3)),
        (f"2024-02-04 Regatta{MD}", "---\ndate: soon\n---\n", None, (2024, 2, 4)),
        (f"2024_02_04{MD}", "", "Asia/Tokyo", (2024, 2, 3, 15)),
        (f"2024-02-31{MD}", "", None, (2024, 5, 1, 8)),
        (f"1850-01-01 Battle{MD}", "---\ndate: 1851-01-01\n---\n", None, (2024, 5, 1, 8)),
    ],
)
def test_a_note_has_the_time_it_states_or_that_of_its_name_or_file(
    tmp_path: Path, name: str, head: str, zone: str | None, at: tuple[int, ...]
) -> None:
    folder = write(tmp_path / "n", {name: f"{head}I bought a rope."})
    found = opened(folder, timezone=zone)
    assert seconds(found) == [int(datetime(*at, tzinfo=UTC).timestamp())]  # type: ignore[misc, arg-type]


def test_a_folder_and_its_zip_give_the_same_ids(tmp_path: Path) -> None:
    files = {"Log/.obsidian/app.json": "{}", f"Log/a{MD}": "One", "Log/b/c.txt": "Two",
             f"Log/.trash/old{MD}": "Gone", "Log/b/data.json": "{}"}  # fmt: skip
    write(tmp_path, files)
    (tmp_path / "any.zip").write_bytes(zipped({k: v.encode() for k, v in files.items()}))
    expected = {f"Log/a{MD}": "a\n\nOne", "Log/b/c.txt": "c\n\nTwo"}
    assert by_id(opened(tmp_path / "Log")) == expected
    zip_of_1980 = opened(tmp_path / "any.zip")
    assert by_id(zip_of_1980) == expected
    assert by_id(opened(tmp_path)) == expected


def test_folders_with_other_exports_are_not_taken_for_notes(tmp_path: Path) -> None:
    """Neither a description beside an export, nor a chat beside notes, becomes a note."""
    event = '{"platform":"p","sender_id":"s","occurred_at":1714557600000,"content":"hi"}\n'
    chat = (
        "[01.05.24, 10:00:00] Ada: Hi\n[01.05.24, 10:00:05] Bob: Ho\n[01.05.24, 10:01:00] Ada: ok"
    )
    log = "2024-05-01 10:00 x\n2024-05-01 10:01 y\n2024-05-01 10:02 z\n"
    exports = ({f"README{MD}": "About.", "a.jsonl": event},
               {f"a{MD}": "One", f"b{MD}": "Two", "chat.txt": chat})  # fmt: skip
    for number, files in enumerate(exports):
        found = opened(write(tmp_path / str(number), files), timezone="Europe/Berlin")
        assert found.formats in (["jsonl"], ["whatsapp"])
        assert found.input.skipped[0].files == len(files) - 1
    others = ({f"a{MD}": "One", "b.txt": log},
              {"no-data.txt": "x", "1.html": "<html>", "2.html": "<html>"})  # fmt: skip
    for number, files in enumerate(others):
        folder = write(tmp_path / f"x{number}", files)
        with pytest.raises(InvalidInput, match="is in a known format"):
            opened(folder)
        assert len(opened(folder, "notes").texts) == 2 - number


def test_a_folder_of_notes_beside_a_chat_is_read_as_notes(tmp_path: Path) -> None:
    chat = (
        "[01.05.24, 10:00:00] Ada: Hi\n[01.05.24, 10:00:05] Bob: Ho\n[01.05.24, 10:01:00] Ada: ok"
    )
    files = {"chat.txt": chat, f"mine/a{MD}": "One", f"mine/b/c{MD}": "Two"}
    found = opened(write(tmp_path, files), timezone="Europe/Berlin")
    assert sorted(found.formats) == ["notes", "whatsapp"]
    assert {f"mine/a{MD}", f"mine/b/c{MD}"} < set(by_id(found))


def test_a_single_markdown_file_is_a_note_named_after_its_folder(tmp_path: Path) -> None:
    write(tmp_path / "n", {f"a{MD}": "One", "b.txt": "Two"})
    assert by_id(opened(tmp_path / "n" / f"a{MD}")) == {f"n/a{MD}": "a\n\nOne"}
    assert by_id(opened(tmp_path / "n" / "b.txt", "notes")) == {"n/b.txt": "b\n\nTwo"}


def test_a_single_text_is_a_note_if_asked_for_and_the_error_says_how(tmp_path: Path) -> None:
    path = write(tmp_path / "n", {"b c.txt": "Two"}) / "b c.txt"
    with pytest.raises(InvalidInput, match=f"recollect ingest --format notes '{path}'$"):
        opened(path)


def test_notion_pages_lose_the_id_in_their_name_and_empty_notes_are_left_out(
    tmp_path: Path,
) -> None:
    name = f"Rope 0123456789abcdef0123456789abcdef{MD}"
    found = opened(write(tmp_path / "n", {name: "Buy it.", f"e{MD}": "---\ntags: x\n---\n\n"}))
    assert found.texts == ["Rope\n\nBuy it."]


def test_a_page_of_a_notion_database_has_the_time_and_the_tags_it_states(tmp_path: Path) -> None:
    text = "# Rope\n\nCreated: March 5, 2024 1:02 PM\nTags: sea, boats\n\nBuy it."
    page = f"Rope 0123456789abcdef0123456789abcdef{MD}"
    found = opened(write(tmp_path / "n", {page: text, f"Other{MD}": text}))
    assert seconds(found) == [MAY_1, int(datetime(2024, 3, 5, 13, 2, tzinfo=UTC).timestamp())]
    assert found.contents[1].metadata["tags"] == ["sea", "boats"]
    assert found.contents[1].metadata["properties"] == {
        "created": "March 5, 2024 1:02 PM", "tags": "sea, boats",
    }  # fmt: skip
    assert "tags" not in found.contents[0].metadata


def test_damaged_notes_are_rejected_by_name_and_others_read(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"a{MD}": b"a\0b",
        f"b{MD}": "---\nunclosed: x\nOne",
        f"c{MD}": b"x" * (4 << 20 | 1),
    }
    found = opened(write(tmp_path / "n", files))
    assert found.texts == ["b\n\n---\nunclosed: x\nOne"]
    assert [(Path(one.path).name, one.reason) for one in found.rejections] == [
        (f"a{MD}", "the file is not text"),
        (f"c{MD}", "the note is too long; the maximum is 4194304 bytes"),
    ]
    with zipfile.ZipFile(tmp_path / "n.zip", "w") as archive:
        # Without a time, as some programs write it.
        archive.writestr(zipfile.ZipInfo(f"n/a{MD}"), "One")
        archive.writestr(zipfile.ZipInfo(f"n/2024-05-01{MD}"), "Two")
    undated = opened(tmp_path / "n.zip")
    assert undated.texts == ["Two"]
    assert [one.reason.partition(",")[0] for one in undated.rejections] == [
        "the note states no date"
    ]


def test_a_changed_note_is_an_edit_and_importing_again_adds_nothing(tmp_path: Path) -> None:
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    folder, counts, works = tmp_path / "n", [], []
    first, second = "I work at Acme.", "I work at Bolt."
    versions = (  # (undated, dated, time of the files)
        (first, first, MAY_1), (first, first, MAY_1 + 9), (second, first, MAY_1 + 20),
        (second, second, MAY_1 + 30), (second, second, MAY_1 + 40), (first, second, MAY_1),
    )  # fmt: skip
    with Recollect(home) as recollect:
        zone = recollect.zone("ada")
        for undated, dated, at in versions:
            write(folder, {f"job{MD}": undated, f"2024-04-01{MD}": dated}, at)
            report = zone.ingest_files([folder])
            counts.append((report.new, report.duplicate, report.rejected))
            works.append({fact.text for fact in zone.facts()})
    assert counts == [(2, 0, 0), (0, 2, 0), (1, 1, 0), (1, 1, 0), (0, 2, 0), (0, 2, 0)]
    assert works[0] == {"user: I work at Acme."}
    assert works[-1] == {"user: I work at Bolt."}


@pytest.mark.parametrize("piece", ["<!-- ", "%% a %% ", "[[a", "![a](", "`` ", "> a\n", "#a "])
def test_notes_that_are_made_to_be_slow_are_read_with_their_words(piece: str) -> None:
    count = 500_000 // len(piece)
    words = words_of(f"I own a boat.\n\n{piece * count}")
    assert words.text.startswith("I own a boat.")
    lists = ("[" + "x, " * count + "]", "- x\n" * count)
    properties, text = split_front_matter("---\na: {}\nb:\n{}---\nx".format(*lists))
    assert (len(properties["a"]), len(properties["b"]), text) == (count, count, "x")


def test_an_unclosed_comment_is_text() -> None:
    assert words_of("a <!-- b -->c <!-- d %%e").text == "a c <!-- d %%e"


@pytest.mark.parametrize(
    ("written", "text", "quoted"),
    [
        ("I teach C# at school. Room # 12", "I teach C# at school. Room # 12", ""),
        ("## Part # one ##\nx", "Part # one\nx", ""),
        ("```here``` is code\n> said", "```here``` is code", "said"),
        ("```\n# %%\nx\n# %%\n```\na %% b %%c", "```\n# %%\nx\n# %%\n```\na c", ""),
        ("`100%%` and `50%%` <!-- a\n\nb -->left", "`100%%` and `50%%` left", ""),
        ("``a`b`` [[x|y]] `[[c", "``a`b`` y `[[c", ""),
    ],
)
def test_only_markup_is_removed_and_none_of_it_in_code(
    written: str, text: str, quoted: str
) -> None:
    words = words_of(written)
    assert (words.text, words.quoted) == (text, quoted)


def test_prose_between_rules_is_text_and_an_embedded_image_keeps_no_bytes() -> None:
    written = "---\nDear diary, first entry.\n---\nSecond entry."
    assert split_front_matter(written) == ({}, written)
    shown = words_of("![a map](data:image/png;base64,AAAA)").attachments
    assert shown == (Attachment(type="image", caption="a map"),)


@pytest.mark.parametrize("kind", ["a backtick run of each length", "spaces in a heading"])
def test_code_and_headings_are_read_in_linear_time(kind: str) -> None:
    """In more than quadratic time, this would take minutes."""
    runs = " ".join("`" * length + "a" for length in range(1, 1000))
    written = runs if kind.startswith("a") else "# a" + " " * 200_000 + "x"
    assert words_of(written).text == written.removeprefix("# ")


def test_texts_beside_other_exports_are_not_notes_but_a_folder_around_notes_is(
    tmp_path: Path,
) -> None:
    event = b'{"platform": "chat", "id": "1", "sender_id": "u", "content": "x", '
    event += b'"occurred_at": "2024-05-01T08:00:00Z"}\n'
    files: dict[str, str | bytes] = {
        "a.jsonl": event,
        "files/contract.txt": "I live in Rome.",
        f"tool/README{MD}": "Hi",
    }
    assert opened(write(tmp_path / "mixed", files)).formats == ["jsonl"]
    assert opened(write(tmp_path / "outer", {"in/a.txt": "A", "in/b.txt": "B"})).formats == [
        "notes"
    ]


def test_a_note_from_standard_input_has_no_name_and_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"text": "I work at Acme."})
    with (tmp_path / "text").open() as text:
        monkeypatch.setattr("sys.stdin", text)
        with pytest.raises(InvalidInput, match="import the file in place of its content"):
            opened(Path("-"), "notes")


def test_a_note_that_is_changed_back_or_states_an_earlier_time_is_an_edit(tmp_path: Path) -> None:
    """It is not if its file is older than what is known: an old copy of the folder."""
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    acme, bolt, old = "I work at Acme.", "I work at Bolt.", "---\ncreated: 2020-01-01\n---\n"
    versions = (
        *((acme, 0, 1), (bolt, 10, 1), (acme, 20, 1), (bolt, 10, 0), (acme, 30, 0)),
        *((old + bolt, 40, 1), (old + acme, 50, 1), (old + acme, 50, 0), (bolt, 10, 0)),
    )
    with Recollect(home) as recollect:
        for user, name in (("ada", f"job{MD}"), ("bob", f"2024-04-01 job{MD}")):
            zone = recollect.zone(user)
            for text, at, new in versions:
                report = zone.ingest_files([write(tmp_path / name, {name: text}, MAY_1 + at)])
                assert (report.new, report.rejected) == (new, 0), (name, text, at)
            works = {fact.text for fact in zone.facts() if fact.current}
            assert works == {"user: I work at Acme."}


def shown(zone: Zone, note: str) -> str:
    """Fold the events of a note, in order, to its text."""
    texts: dict[str, str] = {}
    for line in zone.export_lines():
        event = json.loads(line)
        if event["kind"] == "deletion":
            del texts[event["target"]]
        elif event.get("thread_id") == note:
            texts[event.get("target") or event["id"]] = event["content"]
    return "".join(texts[id_] for id_ in sorted(texts))


def test_a_long_note_that_became_shorter_keeps_no_old_end(tmp_path: Path) -> None:
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    filler = "The sea is wide. " * 16_000  # 272,000 bytes, more than an event may have
    long, longer, short = filler + "I work at Bolt.", 2 * filler + "I work at Bolt.", "I rest."
    with Recollect(home) as recollect:
        zone = recollect.zone("ada")
        for step, text in enumerate((longer, short, long, longer, short)):
            notes = {f"2024-04-01{MD}": text, f"b{MD}": "B"}
            for new in (1, 0):
                report = zone.ingest_files([write(tmp_path / "n", notes, MAY_1 + step)])
                assert report.rejected == 0
                assert new or report.new == 0
            assert shown(zone, f"n/2024-04-01{MD}") == text, step


def test_a_note_whose_file_is_older_and_has_other_words_is_a_conflict(tmp_path: Path) -> None:
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    texts = ("I work at Acme.", "---\ncreated: 2020-01-01\n---\nI work at Bolt.")
    with Recollect(home) as recollect:
        zone = recollect.zone("ada")
        reports = [
            zone.ingest_files([write(tmp_path / "n", {f"a{MD}": text, f"b{MD}": "B"}, MAY_1 - at)])
            for at, text in enumerate(texts)
        ]
    assert [(each.new, each.duplicate, each.rejected) for each in reports] == [(2, 0, 0), (0, 1, 1)]
    assert "conflict" in reports[1].rejections[0].reason
