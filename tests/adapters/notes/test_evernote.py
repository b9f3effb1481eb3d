"""Notes of Evernote."""

from __future__ import annotations

from pathlib import Path

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment
from tests.adapters.kit import Opened, import_counts, opened

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">
<en-export export-date="20240305T120000Z" application="Evernote" version="10.68.2">
"""


def note(title: str, body: str, created: str = "20240301T101112Z", more: str = "") -> str:
    return f"""  <note>
    <title>{title}</title>
    <created>{created}</created>
    {more}
    <content>
      <![CDATA[<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE en-note SYSTEM "http://xml.evernote.com/pub/enml2.dtd"><en-note>{body}</en-note>]]>
    </content>
    <resource>
      <data encoding="base64">iVBORw0KGgo=</data><mime>image/png</mime>
      <resource-attributes><file-name>boat.png</file-name></resource-attributes>
    </resource>
  </note>
"""


BOAT = note(
    "Boats &amp; more",
    "<div>My boat is <b>Otter</b>, caf\u00e9&nbsp;\u00e0 bord.</div>"
    '<div><en-todo checked="true"/>paint</div><div><en-todo checked="false"/>sail</div>'
    '<div><en-crypt cipher="AES" length="128">QUJDREVG</en-crypt></div>'
    '<en-media type="image/png" hash="abc"/>',
    more="<updated>20240302T101112Z</updated><tag>boats</tag><tag>sea</tag>\n"
    "    <note-attributes><author>Ada</author><source-url>https://boats.example/"
    "</source-url></note-attributes>",
)
PLAIN = note("Untitled Note", "<div>I live in Porto.</div>").partition("    <resource>")[0]


def export(*notes: str) -> str:
    return HEAD + "".join(notes) + "</en-export>\n"


def write(path: Path, *notes: str) -> Path:
    file = path / "Notebook.enex"
    file.write_text(export(*notes), encoding="utf-8")
    return file


def read(path: Path, *notes: str) -> Opened:
    return opened(write(path, *notes))


def test_a_note_is_kept_with_its_lists_its_tags_and_its_files(tmp_path: Path) -> None:
    found = read(tmp_path, BOAT, f"{PLAIN}  </note>\n")
    assert (found.formats, found.rejections) == (["evernote"], [])
    assert found.texts == [
        "Boats & more\n\nMy boat is Otter, caf\u00e9 \u00e0 bord.\n- [x] paint\n- [ ] sail",
        "Untitled Note\n\nI live in Porto.",
    ]
    assert [draft.occurred_at for draft in found.drafts] == [1_709_374_272_000, 1_709_287_872_000]
    first = found.contents[0]
    assert first.source_id == "2024-03-01T10:11:12Z:Boats & more"
    assert first.metadata == {"title": "Boats & more", "tags": ["boats", "sea"]}
    assert first.attachments == (
        Attachment(type="image", name="boat.png", mime_type="image/png"),
        Attachment(type="link", url="https://boats.example/"),
    )
    assert {one.sender_id for one in found.contents} == {"user"}


def test_what_is_damaged_is_rejected_by_line_and_what_was_before_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, note("No time", "Hi", created=""), BOAT)
    assert (len(found.texts), [one.line for one in found.rejections]) == (1, [4])
    assert "no time" in found.rejections[0].reason
    cut = write(tmp_path, BOAT)
    cut.write_text(cut.read_text() + "<note>")
    found = opened(cut)
    assert (len(found.texts), len(found.rejections)) == (1, 1)
    assert "not XML from here on" in found.rejections[0].reason


def test_entities_that_multiply_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path, BOAT)
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<en-export'
    text = file.read_text().replace("<en-export", bomb, 1)
    file.write_text("\n".join(line for line in text.splitlines() if "evernote-export4" not in line))
    found = opened(file)
    assert not found.drafts
    assert "declares XML entities" in found.rejections[0].reason


def test_notes_of_the_same_title_and_second_are_kept_apart(tmp_path: Path) -> None:
    notes = [
        note("Untitled", f"<div>I live in {town}.</div>") for town in ("Porto", "Rome", "Oslo")
    ]
    same = "2024-03-01T10:11:12Z:Untitled"
    contents = read(tmp_path, *notes).contents
    assert [one.source_id for one in contents] == [same, f"{same}:2", f"{same}:3"]
    assert [one.thread_id for one in contents] == [same, f"{same}:2", f"{same}:3"]
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as recollect:
        zone = recollect.zone("me")
        reports = [zone.ingest_files([write(tmp_path, *notes)]) for _ in range(2)]
    assert [(report.new, report.duplicate) for report in reports] == [(3, 0), (0, 3)]


def test_a_changed_note_is_an_edit(tmp_path: Path) -> None:
    later = BOAT.replace("Otter", "Heron").replace("20240302T", "20240303T")
    exports = (write(tmp_path, one) for one in (BOAT, later, later))
    counts = import_counts(tmp_path / "home", exports)
    assert counts == [(1, 0, 0), (1, 0, 0), (0, 1, 0)]
