"""`winmail.dat` of Outlook: its files and its text belong to the mail."""

from __future__ import annotations

import base64
import random
import struct
from pathlib import Path

import msgspec
import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from tests.adapters.kit import Opened, opened

STRING, UNICODE, INT, BINARY = 0x1E, 0x1F, 0x03, 0x102


def attribute(id_: int, content: bytes, *, level: int = 1) -> bytes:
    head = struct.pack("<BII", level, id_ | 0x0006_0000, len(content))
    return head + content + struct.pack("<H", sum(content) % 65_536)


def padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)


def properties(*values: tuple[int, int, bytes | int]) -> bytes:
    made = struct.pack("<I", len(values))
    for type_, id_, value in values:
        made += struct.pack("<HH", type_, id_)
        if isinstance(value, int):
            made += struct.pack("<I", value)
        else:
            made += struct.pack("<II", 1, len(value)) + padded(value)
    return made


def named(kind: int, value: bytes) -> bytes:
    """Return a property with a name, and a text."""
    head = struct.pack("<HH", UNICODE, 0x8001) + bytes(16) + struct.pack("<I", kind)
    text = "Name\0".encode("utf-16-le")
    head += struct.pack("<I", len(text)) + padded(text) if kind else struct.pack("<I", 0x8554)
    return head + struct.pack("<II", 1, len(value)) + padded(value)


def tnef(*attributes: bytes) -> bytes:
    return struct.pack("<IH", 0x223E9F78, 1) + b"".join(attributes)


CODE_PAGE = attribute(0x9007, struct.pack("<II", 1_251, 0))
FILE = b"".join(
    (
        attribute(0x9002, bytes(14), level=2),
        attribute(0x8010, b"PLAN~1.PDF\0", level=2),
        attribute(0x800F, b"%PDF-1.4 ...", level=2),
        attribute(0x9005, properties((UNICODE, 0x3707, "plán der Möbel.pdf\0".encode("utf-16-le")),
                                     (STRING, 0x370E, b"application/pdf\0")), level=2),
        attribute(0x9002, bytes(14), level=2),
        attribute(0x8010, "Фото.jpg".encode("cp1251") + b"\0", level=2),
        attribute(0x800F, b"\xff\xd8", level=2),
    )
)  # fmt: skip
FILES = (
    Attachment("file", "plán der Möbel.pdf", mime_type="application/pdf", size=12),
    Attachment("file", "Фото.jpg", size=2),
)


def mail(path: Path, packed: bytes, text: str = "") -> Opened:
    body = "" if not text else f"--x\nContent-Type: text/plain; charset=utf-8\n\n{text}\n"
    (path / "one.eml").write_text(
        "From: Ada <ada@example.org>\nTo: bob@example.org\nMessage-ID: <1@example.org>\n"
        "Date: Wed, 01 May 2024 10:00:00 +0200\nSubject: Plan\nMIME-Version: 1.0\n"
        f'Content-Type: multipart/mixed; boundary="x"\n\n{body}--x\n'
        'Content-Type: application/ms-tnef; name="winmail.dat"\n'
        "Content-Transfer-Encoding: base64\n\n"
        f"{base64.encodebytes(packed).decode()}\n--x--\n"
    )
    return opened(path / "one.eml")


def test_its_files_are_those_of_the_mail(tmp_path: Path) -> None:
    (found,) = mail(tmp_path, tnef(CODE_PAGE, FILE), "The plan is attached.").contents
    assert found.content == "The plan is attached."
    assert found.attachments == FILES


def test_its_text_counts_if_the_mail_has_no_other(tmp_path: Path) -> None:
    html = "<p>I moved to <b>Zürich</b>.</p>".encode("cp1252")
    packed = tnef(
        CODE_PAGE,
        attribute(0x9003, properties((INT, 0x3FDE, 1_252), (BINARY, 0x1013, html))),
    )
    assert mail(tmp_path, packed).texts == ["I moved to Zürich."]
    assert mail(tmp_path, packed, "I moved.").texts == ["I moved."]
    plain = tnef(CODE_PAGE, attribute(0x800C, "Ключ в сейфе.\r\n\0".encode("cp1251")), FILE)
    (found,) = mail(tmp_path, plain).contents
    assert (found.content, found.attachments) == ("Ключ в сейфе.", FILES)


PACKED = Attachment("file", "winmail.dat", mime_type="application/ms-tnef", size=275)


@pytest.mark.parametrize("mail_id", ["1@example.org", None])
@pytest.mark.parametrize(
    ("text", "derived_id"),
    [
        ("", "without-id:ff246be94b1798823487c2fac3a89211"),
        ("The plan is attached.", "without-id:d076da5545efd71a7b9ad6d74ad42116"),
    ],
)
def test_one_imported_before_it_was_unpacked_is_known(
    tmp_path: Path, text: str, derived_id: str, mail_id: str | None
) -> None:
    # As builds that did not unpack read this mail, with the id that they derived.
    before = InboundEvent(
        platform="email", sender_id="ada@example.org", sender_name="Ada", content=text,
        id=mail_id or derived_id, occurred_at="2024-05-01T10:00:00+02:00", thread_id=mail_id,
        peer_id="ada@example.org, bob@example.org", peer_kind="dm", attachments=(PACKED,),
    )  # fmt: skip
    file, exported = tmp_path / "one.eml", tmp_path / "before.jsonl"
    exported.write_bytes(msgspec.json.encode(before))
    body = attribute(0x800C, "Ключ в сейфе.\r\n\0".encode("cp1251"))
    (found,) = mail(tmp_path, tnef(CODE_PAGE, body, FILE), text).contents
    assert found.attachments == FILES
    if mail_id is None:
        file.write_text(file.read_text().replace("Message-ID: <1@example.org>\n", ""))
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Recollect(home) as opened_home:
        zone = opened_home.zone("ada")
        assert zone.ingest_files(exported).new == 1
        again = zone.ingest_files(file)
        assert (again.new, again.duplicate, again.rejected) == (0, 1, 0)
        file.write_text(file.read_text().replace("From: Ada <ada@", "From: Eve <eve@"))
        other = zone.ingest_files(file)
        assert (other.new, other.rejected) == ((0, 1) if mail_id else (1, 0))


def test_properties_with_names_are_skipped(tmp_path: Path) -> None:
    text = "The key is here.\0".encode("utf-16-le")
    body = properties((UNICODE, 0x1000, text))
    for kind in (0, 1):
        value = "x\0".encode("utf-16-le")
        packed = tnef(attribute(0x9003, struct.pack("<I", 2) + named(kind, value) + body[4:]))
        assert mail(tmp_path, packed).texts == ["The key is here."]


WHOLE = tnef(CODE_PAGE, FILE)


@pytest.mark.parametrize(
    "packed",
    [b"", b"PK\3\4", WHOLE[:-1], WHOLE[:60], WHOLE.replace(b"PLAN", b"PLUM"),
     tnef(attribute(0x9003, struct.pack("<I", 2**32 - 1))),
     tnef(attribute(0x9003, struct.pack("<IHHI", 1, 0x1001, 0x3001, 100_000)))],
)  # fmt: skip
def test_a_damaged_one_is_a_file_and_the_mail_is_kept(tmp_path: Path, packed: bytes) -> None:
    found = mail(tmp_path, packed, "The plan is attached.")
    (content,) = found.contents
    assert content.content == "The plan is attached."
    assert [(one.name, one.size) for one in content.attachments] == [("winmail.dat", len(packed))]
    assert not found.rejections


def test_one_without_its_mail_is_named(tmp_path: Path) -> None:
    path = tmp_path / "winmail.dat"
    path.write_bytes(WHOLE)
    with pytest.raises(InvalidInput, match="name the mail to which it is attached"):
        opened(path)


def test_altered_bytes_are_no_crash(tmp_path: Path) -> None:
    draw = random.Random(7)
    for _ in range(200):
        altered = bytearray(WHOLE)
        altered[draw.randrange(len(altered))] = draw.randrange(256)
        assert mail(tmp_path, bytes(altered), "Hi.").texts == ["Hi."]
