"""Notes of Google Keep: their words, lists, labels and links, and what was changed later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment
from tests.adapters.kit import opened

AT = 1_714_557_600_000_000


def note(text: str = "", at: int = AT, **more: Any) -> dict[str, Any]:
    return {
        "color": "DEFAULT", "isTrashed": False, "isPinned": False, "isArchived": False,
        "textContent": text, "title": "", "userEditedTimestampUsec": at,
        "createdTimestampUsec": AT, **more,
    }  # fmt: skip


LIST = note(
    title="Boat", createdTimestampUsec=AT - 5, textContent=None, labels=[{"name": "sea"}],
    listContent=[{"text": "rope", "isChecked": True}, {"text": "öl", "isChecked": False}],
    attachments=[{"filePath": "a.jpg", "mimetype": "image/jpeg"}],
    annotations=[{"title": "Map", "url": "https://maps.example/x", "source": "WEBLINK"}],
)  # fmt: skip


def write(folder: Path, *notes: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "Labels.txt").write_text("sea\n")
    for number, one in enumerate(notes):
        (folder / f"{number}.json").write_text(json.dumps(one))
        (folder / f"{number}.html").write_text("<html></html>")
    return folder


def test_a_folder_of_notes_keeps_texts_lists_labels_files_and_links(tmp_path: Path) -> None:
    gone, empty = note("gone", isTrashed=True), note()
    timeless = note("x", createdTimestampUsec=None, userEditedTimestampUsec="x")
    found = opened(write(tmp_path / "Keep", note("I moved to Oslo."), LIST, gone, empty, timeless))
    assert found.formats == ["keep"]
    assert found.texts == ["I moved to Oslo.", "Boat\n\n- [x] rope\n- [ ] öl"]
    assert found.contents[1].attachments == (
        Attachment(type="image", name="a.jpg", mime_type="image/jpeg"),
        Attachment(type="link", url="https://maps.example/x", caption="Map"),
    )
    assert found.contents[1].metadata == {"title": "Boat", "tags": ["sea"]}
    assert found.drafts[0].occurred_at == AT // 1000
    assert [one.reason.partition(" (")[0] for one in found.rejections] == ["the note has no time"]


def test_a_note_beside_another_export_does_not_hide_it(tmp_path: Path) -> None:
    event = {"platform": "p", "sender_id": "s", "occurred_at": AT // 1000, "content": "hi"}
    found = opened(write(tmp_path / "x", LIST, event))
    assert sorted(found.formats) == ["jsonl", "keep"]
    assert not found.rejections


def test_a_single_note_is_read(tmp_path: Path) -> None:
    assert opened(write(tmp_path / "x", LIST) / "0.json").texts == ["Boat\n\n- [x] rope\n- [ ] öl"]


@pytest.mark.parametrize("format_", ["auto", "keep"])
def test_a_long_note_whose_times_are_far_from_its_beginning_is_read(
    tmp_path: Path, format_: str
) -> None:
    text = "I moved to Oslo. " * 5_000
    folder = write(tmp_path / "Keep", note(text), note("short"))
    assert opened(folder, format_).texts == [text.strip(), "short"]
    assert opened(folder / "0.json", format_).texts == [text.strip()]


def test_a_changed_note_is_an_edit(tmp_path: Path) -> None:
    counts = []
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as recollect:
        zone = recollect.zone("ada")
        for text, at in (("I work at Acme.", AT), ("I work at Bolt.", AT + 10**9)) * 2:
            report = zone.ingest_files([write(tmp_path / "Keep", note(text, at))])
            counts.append((report.new, report.duplicate, report.rejected))
        facts = {fact.text for fact in zone.facts()}
    assert counts == [(1, 0, 0), (1, 0, 0), (0, 1, 0), (0, 1, 0)]
    assert facts == {"user: I work at Bolt."}
