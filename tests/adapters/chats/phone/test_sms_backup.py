"""Backups of an Android phone's messages: who wrote what to whom, of all kinds of messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment, kind_of
from tests.adapters.kit import Opened, opened

AT = 1_700_000_000_000
HEAD = """<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>
<!--File Created By SMS Backup & Restore v10.20.002 on 14/11/2023 23:13:20-->
<?xml-stylesheet type="text/xsl" href="sms.xsl"?>
<smses count="9" backup_set="x" backup_date="1700000000000" type="full">
"""


def sms(
    body: str, second: int, kind: int = 1, address: str = "+1 (555) 010-0001", name: str = "Ada"
) -> str:
    return (
        f'  <sms protocol="0" address="{address}" date="{AT + second * 1000}" type="{kind}" '
        f'subject="null" body="{body}" toa="null" sc_toa="null" service_center="null" read="1" '
        f'status="-1" locked="0" date_sent="0" sub_id="1" readable_date="x" '
        f'contact_name="{name}" />\n'
    )


def mms(second: int, box: int, address: str, name: str, parts: str, addresses: str) -> str:
    return (
        f'  <mms date="{AT + second * 1000}" rr="129" sub="null" ct_t="application/vnd.wap.x" '
        f'msg_box="{box}" address="{address}" m_id="m" contact_name="{name}">\n'
        f"    <parts>{parts}</parts>\n    <addrs>{addresses}</addrs>\n  </mms>\n"
    )


GROUP = "+15550100001~+15550100002"
RECORDS = (
    sms("I moved to Turin.&#10;It&apos;s &quot;fine&quot; &#55357;&#56832; &amp; sunny", 0),
    sms("When?", 1, 2, "+15550100001"),
    sms("a draft", 2, 3),
    sms("not sent", 3, 5),
    sms("Your code is 123", 4, address="SHOP", name="(Unknown)"),
    sms("Liked \u201cWhen?\u201d", 5),
    mms(6, 1, GROUP, "Ada, Bob",
        '<part seq="-1" ct="application/smil" text="&lt;smil/&gt;" />'
        '<part seq="0" ct="image/jpeg" name="null" cl="sea.jpg" text="null" data="QUJDREVG" />'
        '<part seq="0" ct="text/plain" cl="t.txt" text="Look!" />',
        '<addr address="+15550100002" type="137" charset="106" />'
        '<addr address="insert-address-token" type="151" charset="106" />'),
    mms(7, 2, "+15550100001", "Ada", '<part seq="0" ct="text/plain" text="Nice" />',
        '<addr address="insert-address-token" type="137" charset="106" />'),
    sms("Hello", 8, address="+15550100002", name="Bob"),
)  # fmt: skip


def backup(*records: str, end: str = "</smses>\n") -> str:
    return HEAD + "".join(records) + end


def write(path: Path, *records: str, end: str = "</smses>\n") -> Path:
    file = path / "sms-20231114.xml"
    file.write_text(backup(*records, end=end), encoding="utf-8")
    return file


def read(path: Path, *records: str, end: str = "</smses>\n") -> Opened:
    return opened(write(path, *records, end=end))


def test_messages_say_who_wrote_what_to_whom(tmp_path: Path) -> None:
    found = read(tmp_path, *RECORDS)
    assert (found.formats, found.rejections) == (["sms"], [])
    ada, bob = "+15550100001", "+15550100002"
    assert [
        (kind_of(one), one.sender_id, one.sender_name, one.direction, one.peer_id, one.content)
        for one in found.contents
    ] == [
        ("message", ada, "Ada", "in", ada, 'I moved to Turin.\nIt\'s "fine" 😀 & sunny'),
        ("message", "me", None, "out", ada, "When?"),
        ("message", "shop", None, "in", "shop", "Your code is 123"),
        ("notice", ada, "Ada", "in", ada, "Liked \u201cWhen?\u201d"),
        ("message", bob, None, "in", f"{ada}, {bob}", "Look!"),
        ("message", "me", None, "out", ada, "Nice"),
        ("message", bob, "Bob", "in", bob, "Hello"),
    ]
    assert [draft.occurred_at - AT for draft in found.drafts] == [
        0, 1000, 4000, 5000, 6000, 7000, 8000,
    ]  # fmt: skip
    picture = Attachment(type="image", name="sea.jpg", mime_type="image/jpeg", size=6)
    assert found.contents[4].attachments == (picture,)
    assert [one.peer_kind for one in found.contents[3:6]] == ["dm", "group", "dm"]


def test_calls_are_notices(tmp_path: Path) -> None:
    file = tmp_path / "calls.xml"
    call = '<call number="{}" duration="{}" date="{}" type="{}" contact_name="Ada" />'
    rows = [call.format("+1 555 0100001", 65, AT, 1), call.format("+15550100001", 0, AT + 1, 3)]
    file.write_text(f"<?xml version='1.0'?>\n<calls count=\"2\">{''.join(rows)}</calls>")
    found = opened(file)
    assert [(kind_of(one), one.content) for one in found.contents] == [
        ("notice", "Incoming call, 65 s"),
        ("notice", "Missed call"),
    ]


def test_a_later_backup_adds_only_what_is_new(tmp_path: Path) -> None:
    counts = []
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as recollect:
        zone = recollect.zone("me")
        for end in (2, len(RECORDS), len(RECORDS)):
            report = zone.ingest_files([write(tmp_path, *RECORDS[:end])])
            counts.append((report.new, report.duplicate, report.rejected))
    assert counts == [(2, 0, 0), (5, 2, 0), (0, 7, 0)]


def test_what_is_damaged_is_rejected_by_line_and_what_was_before_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, RECORDS[0], sms("no date", 1).replace("date=", "day="), RECORDS[1])
    assert (len(found.texts), [one.line for one in found.rejections]) == (2, [6])
    assert found.rejections[0].reason == "the record has no date"
    cut = read(tmp_path, *RECORDS[:2], end="  <sms address=")
    assert (len(cut.texts), len(cut.rejections)) == (2, 1)
    assert "not XML from here on" in cut.rejections[0].reason


def test_numbers_of_thousands_of_digits_are_rejected_in_plain_words(tmp_path: Path) -> None:
    long = sms("Hello", 1).replace(f'date="{AT + 1000}"', f'date="{"9" * 5000}"')
    assert long.count("9" * 5000) == 1
    found = read(tmp_path, long)
    assert [one.reason for one in found.rejections] == ["the record has no date"]
    file = tmp_path / "calls.xml"
    call = f'<call number="+15550100001" duration="{"9" * 5000}" date="{AT}" type="1" />'
    file.write_text(f"<?xml version='1.0'?>\n<calls count=\"1\">{call}</calls>")
    assert opened(file).texts == ["Incoming call"]


def test_entities_that_multiply_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path, *RECORDS)
    text = file.read_text(encoding="utf-8")
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]>\n<smses'
    file.write_text(text.replace("<smses", bomb, 1), encoding="utf-8")
    found = opened(file)
    assert not found.drafts
    assert [one.reason for one in found.rejections] == [
        "the file declares XML entities, which no backup does"
    ]


@pytest.mark.parametrize("size", [65_536, 65_540, 131_072])
def test_an_emoji_between_two_pieces_of_the_file_is_whole(tmp_path: Path, size: int) -> None:
    for shift in range(0, 24, 3):
        filler = "x" * (size - len(HEAD) - 80 + shift)
        found = read(tmp_path, sms(f"{filler}&#55357;&#56832;", 0))
        assert found.contents[0].content.endswith("x😀")
