"""Calendars: what an appointment is, when, where and with whom, and what becomes of it later."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment, Deletion, Edit
from tests.adapters.kit import Opened, opened

REGATTA = """\
UID:regatta@club.example
CREATED:20240301T080000Z
LAST-MODIFIED:20240301T080000Z
DTSTAMP:20240520T111111Z
ORGANIZER;CN="Eve: Ruiz":mailto:Eve@Club.example
ATTENDEE;PARTSTAT=ACCEPTED;CN=Zed
  Okoro:mailto:zed@club.example
ATTENDEE;CN=amy@club.example:mailto:amy@club.example
ATTENDEE;PARTSTAT=DECLINED;CN=Tom:mailto:tom@club.example
ATTENDEE;CUTYPE=ROOM;CN=Boathouse:mailto:room@club.example
SUMMARY:Regatta\\, first day
DTSTART:20240504T070000Z
DTEND:20240504T150000Z
LOCATION:Pier 3\\nOld Harbour
DESCRIPTION:Bring oars\\; and a hat.\\nLunch is there.
URL:https://club.example/regatta
BEGIN:VALARM
TRIGGER:-PT15M
DESCRIPTION:An alarm
END:VALARM
"""
ROWING = """\
UID:rowing
CREATED:20240301T080000Z
DTSTART;TZID=Europe/Madrid:20240507T183000
DURATION:PT1H30M
RRULE:FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20240730T235959Z
EXDATE;TZID=Europe/Madrid:20240514T183000,20240516T183000
SUMMARY:Rowing
"""
HEAD = "X-WR-CALNAME:Boats\nX-WR-TIMEZONE:Europe/Madrid\n"


def calendar(*appointments: str, head: str = HEAD) -> str:
    body = "".join(f"BEGIN:VEVENT\n{one}END:VEVENT\n" for one in appointments)
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Club//EN\n{head}{body}END:VCALENDAR\n"
    return text.replace("\n", "\r\n")


def read(path: Path, *appointments: str, head: str = HEAD, timezone: str | None = None) -> Opened:
    file = path / "boats.ics"
    file.write_bytes(calendar(*appointments, head=head).encode())
    return opened(file, timezone=timezone)


def unix_ms(*time: int) -> int:
    return int(datetime(*time, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc, arg-type]


def changed(appointment: str, **lines: str) -> str:
    """Return an appointment with other values of some properties."""
    kept = [line for line in appointment.split("\n") if line.partition(":")[0] not in lines]
    return "\n".join((*(f"{name}:{value}" for name, value in lines.items()), *kept))


def moment(when: str, **more: str) -> str:
    return "".join(
        f"{line}\n"
        for line in ("UID:x", "CREATED:20240301T080000Z", "SUMMARY:Tea", *when.split("|"))
    )


def test_an_appointment_says_what_when_where_and_with_whom(tmp_path: Path) -> None:
    found = read(tmp_path, REGATTA)
    assert (found.formats, found.rejections, found.kinds) == (["icalendar"], [], {"message": 1})
    (one,) = found.contents
    assert one.content == (
        "Regatta, first day on Saturday 4 May 2024 from 09:00 to 17:00, at Pier 3, Old Harbour, "
        "with Zed Okoro and amy@club.example"
    )
    assert (one.source_id, one.sender_id, one.sender_name) == (
        "regatta@club.example", "eve@club.example", "Eve: Ruiz",
    )  # fmt: skip
    assert found.drafts[0].occurred_at == unix_ms(2024, 3, 1, 8)
    assert one.attachments == (
        Attachment(type="description", caption="Bring oars; and a hat.\nLunch is there."),
        Attachment(type="link", url="https://club.example/regatta"),
    )
    assert one.metadata == {
        "channel": "Boats",
        "starts_at": "2024-05-04T09:00:00+02:00",
        "ends_at": "2024-05-04T17:00:00+02:00",
        "timezone": "Europe/Madrid",
    }


def test_a_series_says_how_often_and_a_moved_date_what_it_replaces(tmp_path: Path) -> None:
    moved = (
        "UID:rowing\nCREATED:20240301T080000Z\nSUMMARY:Rowing\n"
        "RECURRENCE-ID;TZID=Europe/Madrid:20240521T183000\n"
        "DTSTART;TZID=Europe/Madrid:20240522T190000\n"
    )
    gone = (
        "UID:rowing\nLAST-MODIFIED:20240520T080000Z\nSUMMARY:Rowing\nSTATUS:CANCELLED\n"
        "RECURRENCE-ID;TZID=Europe/Madrid:20240523T183000\n"
    )
    found = read(tmp_path, ROWING, moved, gone)
    assert [(one.source_id, one.content) for one in found.contents] == [
        ("rowing", "Rowing on Tuesday 7 May 2024 from 18:30 to 20:00, every week on Tuesday and "
                   "Thursday until 30 July 2024, except on 14 May 2024 and 16 May 2024"),
        ("rowing:20240521T183000", "Rowing on Wednesday 22 May 2024 at 19:00, instead of Tuesday "
                                   "21 May 2024, 18:30"),
        ("rowing:20240523T183000:cancelled:message",
         "Rowing on Thursday 23 May 2024 is cancelled"),
        ("rowing:20240523T183000:cancelled", ""),
    ]  # fmt: skip
    assert {one.sender_id for one in found.contents} == {"owner"}
    assert {one.thread_id for one in found.contents} == {"rowing"}


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("DTSTART;VALUE=DATE:20240504", "on Saturday 4 May 2024"),
        ("DTSTART;VALUE=DATE:20240504|DTEND;VALUE=DATE:20240505", "on Saturday 4 May 2024"),
        ("DTSTART;VALUE=DATE:20240504|DURATION:P3D",
         "from Saturday 4 May 2024 to Monday 6 May 2024"),
        ("DTSTART:20240504T090000", "on Saturday 4 May 2024 at 09:00"),
        ("DTSTART:20240504T090000|DTEND:20240504T090000", "on Saturday 4 May 2024 at 09:00"),
        ("DTSTART:20240504T220000Z|DTEND:20240505T000000Z",
         "on Sunday 5 May 2024 from 00:00 to 02:00"),
        ("DTSTART;TZID=Europe/Madrid:20240504T220000|DTEND;TZID=Europe/Madrid:20240505T020000",
         "from Saturday 4 May 2024, 22:00 to Sunday 5 May 2024, 02:00"),
        ("DTSTART;TZID=Asia/Kolkata:20240504T090000|DTEND;TZID=Asia/Kolkata:20240504T100000",
         "on Saturday 4 May 2024 from 09:00 to 10:00 (UTC+5:30)"),
        ("DTSTART;TZID=America/New_York:20240504T090000|DTEND;TZID=Europe/Madrid:20240504T220000",
         "from Saturday 4 May 2024, 09:00 (UTC-4) to Saturday 4 May 2024, 22:00"),
        ("DTSTART;TZID=/club.example/2005_1/Asia/Tokyo:20240504T090000",
         "on Saturday 4 May 2024 at 09:00 (UTC+9)"),
        ("DTSTART;TZID=Romance Standard Time:20240504T090000",
         "on Saturday 4 May 2024 at 09:00"),
    ],
)  # fmt: skip
def test_times_are_those_that_the_calendar_shows(tmp_path: Path, when: str, words: str) -> None:
    found = read(tmp_path, moment(when))
    assert found.rejections == []
    assert [one.content for one in found.contents] == [f"Tea {words}"]


def test_utc_times_are_named_so_if_the_calendar_has_no_zone(tmp_path: Path) -> None:
    found = read(tmp_path, moment("DTSTART:20240504T220000Z"), head="")
    assert found.texts == ["Tea on Saturday 4 May 2024 at 22:00 (UTC)"]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("FREQ=DAILY;COUNT=5", "every day, 5 times"),
        ("FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=FR", "every 2 weeks on Friday"),
        ("FREQ=MONTHLY;BYDAY=1MO,-1FR", "every month on the first Monday and the last Friday"),
        ("freq=yearly", "every year"),
        (
            "FREQ=MONTHLY;BYMONTHDAY=1,22,13,31",
            "every month on the 1st, the 22nd, the 13th and the 31st",
        ),
        ("FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=-1", "every 3 months on the last day"),
        ("FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=2;COUNT=4", "every year in May on the 2nd, 4 times"),
        ("FREQ=YEARLY;BYMONTH=05;BYMONTHDAY=002", "every year in May on the 2nd"),
        ("FREQ=YEARLY;BYDAY=4TH;BYMONTH=11", "every year in November on the fourth Thursday"),
        *(
            (rule, f"repeated by the rule {rule}")
            for rule in (
                "FREQ=MONTHLY;BYMONTHDAY=-2",
                "FREQ=YEARLY;BYMONTH=13",
                "FREQ=MONTHLY;BYMONTHDAY=0",
                "FREQ=MONTHLY;BYMONTHDAY=00199",
                "FREQ=MONTHLY;BYMONTHDAY=311",
                "FREQ=YEARLY;BYMONTH=00113",
                "FREQ=DAILY;INTERVAL=" + "9" * 5_000,
                "FREQ=DAILY;COUNT=" + "9" * 5_000,
                "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
            )
        ),
        ("FREQ=YEARLY;BYWEEKNO=20", "repeated by the rule FREQ=YEARLY;BYWEEKNO=20"),
        ("FREQ=DAILY;UNTIL=20241399", "repeated by the rule FREQ=DAILY;UNTIL=20241399"),
        ("FREQ=NEVER", "repeated by the rule FREQ=NEVER"),
    ],
)
def test_a_rule_is_put_into_words_or_quoted(tmp_path: Path, rule: str, words: str) -> None:
    found = read(tmp_path, moment(f"DTSTART:20240504T090000|RRULE:{rule}"))
    assert found.texts == [f"Tea on Saturday 4 May 2024 at 09:00, {words}"]


def test_a_changed_appointment_is_an_edit_and_a_cancelled_one_a_deletion(tmp_path: Path) -> None:
    later = changed(REGATTA, **{"LAST-MODIFIED": "20240310T090000Z", "LOCATION": "Pier 9"})
    found = read(tmp_path, later)
    (edit,) = found.contents
    assert isinstance(edit, Edit)
    assert (edit.target, edit.said_at) == ("regatta@club.example", unix_ms(2024, 3, 1, 8))
    assert found.drafts[0].occurred_at == unix_ms(2024, 3, 10, 9)
    assert "at Pier 9" in edit.content
    cancelled = read(
        tmp_path, changed(REGATTA, STATUS="CANCELLED", **{"LAST-MODIFIED": "20240311T090000Z"})
    )
    (deletion,) = cancelled.contents
    assert isinstance(deletion, Deletion)
    assert (deletion.target, deletion.content) == ("regatta@club.example", "")
    assert cancelled.drafts[0].occurred_at == unix_ms(2024, 3, 11, 9)
    assert read(tmp_path, REGATTA, head="METHOD:CANCEL\n").kinds == {"deletion": 1}


def test_without_times_of_writing_the_start_and_the_sequence_count(tmp_path: Path) -> None:
    bare = "UID:x\nSUMMARY:Tea\nDTSTART:20240504T090000\nCREATED:00001231T000000Z\n"
    found = read(tmp_path, bare, timezone="Europe/Madrid")
    assert found.drafts[0].occurred_at == unix_ms(2024, 5, 4, 7)
    first, second = (read(tmp_path, f"{bare}SEQUENCE:{number}\n") for number in (1, 2))
    assert [one.contents[0].source_id for one in (first, second)] == [
        "x:edited:sequence-1", "x:edited:sequence-2",
    ]  # fmt: skip
    assert first.drafts[0].occurred_at < second.drafts[0].occurred_at


def test_characters_that_a_fold_splits_are_whole(tmp_path: Path) -> None:
    raw = calendar(moment("DTSTART:20240504T090000")).encode()
    split = raw.replace(b"SUMMARY:Tea", b"SUMMARY:Caf\xc3\r\n \xa9")
    path = tmp_path / "tea.ics"
    path.write_bytes(split)
    assert opened(path).texts == ["Café on Saturday 4 May 2024 at 09:00"]


def test_what_cannot_be_read_is_rejected_with_its_line(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "UID:a\nSUMMARY:no start\n",
        "UID:b\nDTSTART:tomorrow\n",
        moment("DTSTART:20240504T090000"),
        head="",
    )
    assert len(found.texts) == 1
    assert [(one.line, one.reason) for one in found.rejections] == [
        (4, "the appointment has no DTSTART"),
        (8, "the record is not as expected: 'tomorrow' is not a time of a calendar, such as "
             "20240501T100000Z"),
    ]  # fmt: skip
    path = tmp_path / "cut.ics"
    path.write_text(calendar(REGATTA).partition("SUMMARY")[0])
    assert [one.reason for one in opened(path).rejections] == ["the file ends within this entry"]


def test_a_later_export_adds_what_changed_and_nothing_twice(tmp_path: Path) -> None:
    later = changed(REGATTA, **{"LAST-MODIFIED": "20240310T090000Z", "LOCATION": "Pier 9"})
    gone = changed(later, STATUS="CANCELLED", **{"LAST-MODIFIED": "20240311T090000Z"})
    stamped = changed(gone, DTSTAMP="20240601T000000Z")
    file = tmp_path / "boats.ics"
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    counts, places = [], []
    with Recollect(home) as recollect:
        zone = recollect.zone("ada")
        for version in (REGATTA, REGATTA, later, later, gone, stamped):
            file.write_text(calendar(version, ROWING))
            report = zone.ingest_files([file])
            counts.append((report.new, report.duplicate, report.rejected))
            texts = [one.text for one in zone.recall("Where is the regatta?").results]
            places.append([text[text.index("Pier") :][:6] for text in texts if "Pier" in text])
    assert counts == [(2, 0, 0), (0, 2, 0), (1, 1, 0), (0, 2, 0), (1, 1, 0), (0, 2, 0)]
    assert places == [["Pier 3"], ["Pier 3"], ["Pier 9"], ["Pier 9"], [], []]


def test_an_appointment_without_a_time_of_its_change_is_edited_by_a_later_file(
    tmp_path: Path,
) -> None:
    """Also without a UID, if it keeps its title and its beginning."""
    club = "DTSTART:20240504T090000Z\nSUMMARY:Club\n"
    made = "CREATED:20240301T080000Z\n"
    file = tmp_path / "boats.ics"
    for zone_name, head in (("ada", ""), ("bob", f"UID:x\n{made}"), ("eve", "UID:x\n")):
        home = Home.create_or_open(tmp_path / zone_name, without_encoder=True)
        counts = []
        with Recollect(home) as recollect:
            zone = recollect.zone("z")
            for at, place in enumerate(("Pier 3", "Pier 3", "Pier 9", "Pier 3", "Pier 3")):
                file.write_text(calendar(f"{head}{club}LOCATION:{place}\n", ROWING))
                os.utime(file, (1_790_000_000 + at, 1_790_000_000 + at))
                report = zone.ingest_files([file])
                counts.append((report.new, report.duplicate, report.rejected))
            (text,) = (
                one.text for one in zone.recall("Where is the club?").results if "Pier" in one.text
            )
        assert counts == [(2, 0, 0), (0, 2, 0), (1, 1, 0), (1, 1, 0), (0, 2, 0)]
        assert "Pier 3" in text


def test_words_that_another_build_gave_an_edited_appointment_are_corrected(tmp_path: Path) -> None:
    later = changed(REGATTA, **{"LAST-MODIFIED": "20240310T090000Z"})
    file, home = tmp_path / "a.ics", Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Recollect(home) as recollect:
        zone = recollect.zone("z")
        for location, new in (("Pier 9", 1), ("Pier 3", 1), ("Pier 3", 0), ("Pier 9", 0)):
            file.write_text(calendar(changed(later, LOCATION=location)))
            report = zone.ingest_files([file])
            assert (report.new, report.rejected) == (new, 0)
        found = zone.recall("Where is the regatta?").results
    assert [one.text.partition("at ")[2][:6] for one in found] == ["Pier 3"]


RAW = calendar(REGATTA, ROWING).encode()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(RAW)), st.binary(max_size=4))
def test_a_calendar_that_is_damaged_raises_nothing(
    tmp_path_factory: pytest.TempPathFactory, at: int, noise: bytes
) -> None:
    path = tmp_path_factory.mktemp("calendar") / "one.ics"
    path.write_bytes(RAW[:at] + noise + RAW[at + 2 :])
    opened(path, "icalendar")
