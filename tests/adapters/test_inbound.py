"""Input: a line becomes a draft that can be stored, or is refused in a plain sentence."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import (
    KINDS,
    Attachment,
    Content,
    Draft,
    Message,
    Remember,
    TurnCompleted,
)
from recollect.schemas.inbound import InboundEvent, decode_inbound, draft_of
from recollect.schemas.times import format_time, parse_time
from recollect.schemas.zones import check_zone

BASE: dict[str, Any] = {
    "platform": "slack",
    "sender_id": "U1",
    "occurred_at": "2026-05-08T13:56:00Z",
    "content": "hi",
}
AT = 1_778_248_560_000


def line(**fields: Any) -> bytes:
    return json.dumps({**BASE, **fields}).encode()


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in BASE.items() if key != name}).encode()


def raw(text: str | bytes) -> bytes:
    """Return a good line with more members, written as they come."""
    more = text.encode() if isinstance(text, str) else text
    return line()[:-1] + b", " + more + b"}"


def draft(text: bytes) -> Draft:
    return draft_of(decode_inbound(text))


def message(text: bytes) -> Message:
    payload = draft(text).payload
    assert isinstance(payload, Message)
    return payload


FROM_OUTSIDE = {"message", "turn_completed", "remember", "edit", "deletion", "reaction", "notice"}

REFUSED: dict[str, tuple[bytes, str]] = {
    # No JSON
    "an empty object": (b"{}", "`platform`"),
    "cut short": (line()[:-1], "not JSON"),
    "cut short in a string": (line()[:-4], "not JSON"),
    "nothing": (b"", "not JSON"),
    "not JSON": (b"hello", "not JSON"),
    "two objects": (line() + line(), "not JSON"),
    "something after it": (line() + b" x", "not JSON"),
    "single quotes": (b"{'platform': 'slack'}", "not JSON"),
    "NaN": (raw('"metadata": {"a": NaN}'), "not JSON"),
    "a byte order mark": (b"\xef\xbb\xbf" + line(), "not JSON"),
    # No object
    "an array": (b"[1]", "expected `object`"),
    "a string": (b'"hello"', "expected `object`"),
    "a number": (b"1", "expected `object`"),
    "null": (b"null", "expected `object`"),
    # Missing and mistyped
    **{f"no {name}": (without(name), f"`{name}`") for name in BASE},
    **{f"{name} is null": (line(**{name: None}), f"{name}: expected") for name in BASE},
    **{f"{name} is a list": (line(**{name: ["x"]}), f"{name}: expected") for name in BASE},
    **{
        f"{name} is a number": (line(**{name: 5}), f"{name}: expected")
        for name in ("platform", "sender_id", "content", "id", "sender_name", "peer_id")
    },
    "an attachment is a string": (line(attachments=["x"]), "attachments[0]: expected"),
    "attachments are an object": (line(attachments={}), "attachments: expected"),
    "an attachment's size is a string": (line(attachments=[{"size": "1"}]), ".size"),
    "metadata is a list": (line(metadata=[1]), "metadata: expected"),
    "an unknown peer_kind": (line(peer_kind="room"), "'room'; choose from dm, group, channel"),
    "an unknown direction": (line(direction="up"), "'up'; choose from in, out"),
    # Empty
    "an empty platform": (line(platform=""), "platform is empty"),
    "a blank platform": (line(platform=" \t"), "platform is empty"),
    "an empty sender": (line(sender_id=""), "sender_id is empty"),
    "an empty id": (line(id=""), "id is empty"),
    "empty content": (line(content=""), "content is empty"),
    "blank content": (line(content=" \t\n\u3000\u00a0"), "content is empty"),
    # Large
    "huge content": (
        line(content="x" * 262_145),
        "content has 262145 bytes; the maximum is 262144",
    ),
    "content that is huge in UTF-8": (line(content="é" * 131_073), "262146 bytes"),
    "a huge record": (line(metadata={"x": "x" * 1_048_576}), "the maximum is 1048576"),
    **{
        f"a long {name}": (
            line(**{name: "x" * 1_025}),
            f"{name} has 1025 bytes; the maximum is 1024",
        )
        for name in (
            *("platform", "sender_id", "sender_name", "id", "peer_id"),
            *("thread_id", "session_id", "reply_to", "turn_id"),
        )
    },
    # Times
    "the 30th of February": (line(occurred_at="2026-02-30T10:00:00Z"), "is not a time"),
    "25 o'clock": (line(occurred_at="2026-02-20T25:00:00Z"), "is not a time"),
    "no zone": (line(occurred_at="2026-05-08T13:56:00"), "has no time zone"),
    "a date": (line(occurred_at="2026-05-08"), "has no time zone"),
    "the year 1": (line(occurred_at="0001-01-01T00:00:00Z"), "outside 1970"),
    "the year 1, east": (line(occurred_at="0001-01-01T00:00:00+14:00"), "outside 1970"),
    "the year 9999": (line(occurred_at="9999-12-31T23:59:59Z"), "outside 1970"),
    "the year 9999, west": (line(occurred_at="9999-12-31T23:59:59-14:00"), "outside 1970"),
    "just before 1970": (line(occurred_at="1969-12-31T23:59:59.999Z"), "outside 1970"),
    "the year 2200": (line(occurred_at="2200-01-01T00:00:00Z"), "outside 1970"),
    "negative milliseconds": (line(occurred_at=-1), "outside 1970"),
    "negative milliseconds in a string": (line(occurred_at="-1"), "outside 1970"),
    "seconds": (line(occurred_at=AT // 1000), f"send milliseconds, {AT}"),
    "seconds in a string": (line(occurred_at=str(AT // 1000)), "looks like unix seconds"),
    "seconds of the next century": (line(occurred_at=9_999_999_999), "looks like unix seconds"),
    "a number that is hardly a time": (line(occurred_at=1), "1970-01-01T00:00:01.000Z"),
    "a day in digits": (line(occurred_at="20260508"), "or ISO 8601"),
    "microseconds": (line(occurred_at=AT * 1000), f"unix microseconds ({format_time(AT)})"),
    "nanoseconds": (line(occurred_at=AT * 10**6), f"send milliseconds, {AT}"),
    "seconds for ingested_at": (line(ingested_at=AT // 1000), "ingested_at: "),
    "a gigantic number": (line(occurred_at=10**400), "outside 1970"),
    "a number of 5,000 digits": (raw('"ingested_at": 1' + "0" * 5000), "out of range"),
    "a gigantic number in a string": (line(occurred_at="9" * 400), "too long"),
    "two signs": (line(occurred_at="--5"), "is not a time"),
    "a sign": (line(occurred_at="-"), "is not a time"),
    "true": (line(occurred_at=True), "`bool`"),
    "a fraction": (line(occurred_at=1.5), "`float`"),
    "a whole float": (line(occurred_at=1e12), "`float`"),
    "no time": (line(occurred_at=""), "is not a time"),
    "a word": (line(occurred_at="yesterday"), "is not a time"),
    "digits of another script": (line(occurred_at="١٢٣"), "is not a time"),
    "a long word": (line(occurred_at="x" * 300_000), "too long"),
    "a zone of 24 hours": (line(occurred_at="2026-05-08T13:56:00+24:00"), "is not a time"),
    "a bad ingested_at": (line(ingested_at="later"), "ingested_at"),
    "a boolean ingested_at": (line(ingested_at=False), "ingested_at: expected"),
    # Characters
    "NUL in content": (raw('"content": "a\\u0000b"'), "content holds a NUL"),
    "NUL in an id": (raw('"id": "\\u0000"'), "id holds a NUL"),
    "NUL in metadata": (raw('"metadata": {"a": [{"b": "\\u0000"}]}'), "metadata holds a NUL"),
    "NUL in a name in metadata": (raw('"metadata": {"\\u0000": 1}'), "metadata holds a NUL"),
    "NUL in an attachment": (raw('"attachments": [{"caption": "\\u0000"}]'), "holds a NUL"),
    "NUL in an unknown field": (raw('"more": "\\u0000"'), "holds a NUL"),
    "NUL as it is": (raw(b'"content": "a\x00b"'), "not JSON"),
    "a control character": (raw(b'"content": "a\x01b"'), "not JSON"),
    "a surrogate in UTF-8": (raw(b'"content": "\xed\xa0\xbd"'), "not UTF-8 at byte"),
    "no UTF-8": (raw(b'"content": "caf\xe9"'), "not UTF-8 at byte"),
    "no UTF-8 in an unknown field": (raw(b'"more": "\xff"'), "not UTF-8 at byte"),
    "no UTF-8 in a name": (raw(b'"\xff": 1'), "not UTF-8 at byte"),
    "UTF-16": (line().decode().encode("utf-16"), "not JSON"),
    # Ids
    **{
        f"{what} in {name}": (line(**{name: f"U1{sign}x"}), f"{name} holds {code}, a control")
        for name in (
            *("platform", "sender_id", "id", "peer_id"),
            *("thread_id", "session_id", "reply_to", "turn_id"),
        )
        for what, sign, code in (
            ("an escape", "\x1b[2J", "U+001B"),
            ("a line feed", "\n", "U+000A"),
            ("a C1 code", "\x9b31m", "U+009B"),
            ("an override", "\u202e", "U+202E"),
            ("an isolate", "\u2066", "U+2066"),
            ("a mark of direction", "\u200e", "U+200E"),
            ("a line separator", "\u2028", "U+2028"),
            ("a blank of no width", "\u200b", "U+200B"),
            ("a tag", "\U000e0041", "U+E0041"),
        )
    },
    "a long peer_kind": (line(peer_kind="k" * 100_000), "…"),
    # Kinds
    "an unknown kind": (line(kind="telegram"), "unknown kind 'telegram'; known are message"),
    "an empty kind": (line(kind=""), "unknown kind ''"),
    "a kind in capitals": (line(kind="Message"), "unknown kind"),
    "a long kind": (line(kind="k" * 100_000), "unknown kind"),
    **{
        f"the command {kind}": (line(kind=kind), f"kind '{kind}' is a command")
        for kind in sorted(set(KINDS) - FROM_OUTSIDE)
    },
    **{
        f"{kind} of nothing": (line(kind=kind), "target is missing")
        for kind in ("edit", "deletion", "reaction")
    },
    "a message with a target": (line(target="m1"), "for an answer, use reply_to"),
    "a message said before": (line(said_at=AT), "said_at applies to edits only"),
    "an edit that was never said": (line(kind="edit", target="m", said_at="now"), "said_at"),
    "an edit without words": (line(kind="edit", target="m", content=""), "content is empty"),
    "a turn that is not named": (line(kind="turn_completed"), "needs turn_id"),
    # Depth and numbers
    "100,000 brackets": (b"[" * 100_000, "expected `object`"),
    "100,000 objects": (b'{"a":' * 100_000, "nested too deeply"),
    "100,000 brackets beside it": (
        raw('"more": ' + "[" * 100_000 + "]" * 100_000),
        "nested too deeply",
    ),
    "100 brackets in metadata": (
        raw('"metadata": {"a": ' + "[" * 100 + "]" * 100 + "}"),
        "metadata is nested too deeply; the maximum is 64 levels",
    ),
    "an integer beyond 64 bits": (line(metadata={"n": 2**64}), "beyond 64 bits"),
    "a negative integer beyond 64 bits": (line(metadata={"n": -(2**63) - 1}), "beyond 64 bits"),
    "an unknown integer beyond 64 bits": (line(more=10**30), "beyond 64 bits"),
    "a size beyond 64 bits": (line(attachments=[{"size": 10**30}]), "beyond 64 bits"),
    "a number beyond all": (raw('"metadata": {"a": 1e999}'), "out of range"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_in_a_plain_sentence(text: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        draft(text)
    said = str(refused.value)
    assert reason in said
    assert len(said) < 200
    assert said.isprintable()


KEPT: dict[str, bytes] = {
    "the least": line(),
    "white space around it": b" \t" + line() + b" ",
    "content as large as it may be": line(content="x" * 262_144),
    "content as large as it may be in UTF-8": line(content="é" * 131_072),
    "names as long as they may be": line(platform="x" * 1_024, id="é" * 512),
    "an attachment and no words": line(content="", attachments=[{}]),
    "an attachment and blank words": line(content=" ", attachments=[{"type": "image"}]),
    "a turn without words": line(content="", kind="turn_completed", turn_id="t"),
    "null where there may be nothing": line(id=None, sender_name=None, turn_id=None),
    "null for what has a default": line(metadata=None, attachments=None, kind=None),
    "an unknown member of an attachment": line(attachments=[{"weird": 1}]),
    "a pair of surrogates": raw('"content": "\\ud83d\\ude00"'),
    "an escaped backslash before u0000": raw('"content": "\\\\u0000"'),
    "an escaped backslash before ud800": raw('"content": "\\\\ud800"'),
    "integers of 64 bits": line(metadata={"a": 2**64 - 1, "b": -(2**63)}),
    "metadata of 60 levels": raw('"metadata": {"a": ' + "[" * 60 + "]" * 60 + "}"),
    "milliseconds of 1970": line(occurred_at=0),
    "the last of 2199": line(occurred_at="2199-12-31T23:59:59.999Z"),
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_it_is_kept(text: bytes) -> None:
    made = draft(text)
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(made), type=Draft)
    assert again == made


def test_an_event_is_kept_as_it_was_given() -> None:
    fields = {
        "id": "m-1",
        "sender_name": "Ada",
        "peer_id": "C42",
        "peer_kind": "channel",
        "thread_id": "1700000000.1",
        "session_id": "s",
        "direction": "in",
        "reply_to": "m-0",
        "attachments": [{"type": "image", "name": "a", "url": "b", "mime_type": "c",
                         "caption": "d", "size": 5}],
        "metadata": {"a": 1},
        "kind": "message",
        "turn_id": "t",
        "occurred_at": "2026-05-08T15:56:00+02:00",
        "ingested_at": AT + 7,
    }  # fmt: skip
    made = draft(line(**fields))
    assert (made.platform, made.occurred_at, made.ingested_at) == ("slack", AT, AT + 7)
    kept = json.loads(msgspec.json.encode(made.payload))
    beside = ("id", "occurred_at", "ingested_at")
    assert kept == {
        **{name: value for name, value in fields.items() if name not in beside},
        "source_id": "m-1",
        "sender_id": "U1",
        "content": "hi",
        "utc_offset": 120,
    }


@pytest.mark.parametrize(
    ("kind", "cls"),
    [("message", Message), ("turn_completed", TurnCompleted), ("remember", Remember)],
)
def test_each_kind_of_words_is_its_own(kind: str, cls: type) -> None:
    assert type(draft(line(kind=kind, turn_id="t")).payload) is cls


def test_what_recollect_does_not_know_is_kept_under_metadata() -> None:
    made = message(line(team="T1", metadata={"a": 1}, reactions=[{"name": "+1"}], edited=None))
    assert made.metadata == {"team": "T1", "a": 1, "reactions": [{"name": "+1"}], "edited": None}


def test_metadatas_own_word_stands_before_an_unknown_field_of_that_name() -> None:
    assert message(line(team="outer", metadata={"team": "inner"})).metadata == {"team": "inner"}


def test_of_a_field_given_twice_the_last_counts() -> None:
    assert message(raw('"content": "again", "more": 1, "more": 2')).content == "again"
    assert message(raw('"more": 1, "more": 2')).metadata == {"more": 2}


def test_line_ends_and_white_space_in_content_stay() -> None:
    assert message(line(content=" a\r\n\tb ")).content == " a\r\n\tb "


def test_a_blank_turn_id_is_none() -> None:
    assert message(line(turn_id="")).turn_id is None


def test_a_record_without_an_id_is_known_by_its_content() -> None:
    same = draft_of(decode_inbound(line(sender_name="x", metadata={"n": 1}))).payload.source_id
    assert draft(line()).payload.source_id == same
    others = [
        draft(line(**field)).payload.source_id
        for field in (
            {"content": "ho"},
            {"sender_id": "U2"},
            {"platform": "mail"},
            {"thread_id": "t"},
            {"occurred_at": AT + 1},
        )
    ]
    ordinals = [draft_of(decode_inbound(line()), n).payload.source_id for n in (1, 2)]
    assert len({same, *others, *ordinals}) == 8


def test_what_no_json_can_hold_is_refused_from_a_program_too() -> None:
    for metadata in (
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": (2**64,)},
    ):
        event = InboundEvent(
            platform="p", sender_id="s", occurred_at=AT, content="c", metadata=metadata
        )
        with pytest.raises(InvalidInput, match="metadata"):
            draft_of(event)


HALVES = {
    "\\ud83d": "\ufffd",
    "\\uD83D and more": "\ufffd and more",
    "\\ude00": "\ufffd",
    "\\ude00\\ud83d": "\ufffd\ufffd",
    "\\ud83d\\ud83d\\ude00": "\ufffd\U0001f600",
    "\\ud83d\\ude00\\ude00": "\U0001f600\ufffd",
    "\\\\ud83d": "\\ud83d",
    "\\\\\\ud83d": "\\\ufffd",
    "\\ud83d\\n\\ude00": "\ufffd\n\ufffd",
    "\\u00e9\\ud83d": "é\ufffd",
}


@pytest.mark.parametrize(("written", "kept"), HALVES.items())
def test_half_a_character_becomes_a_replacement_character(written: str, kept: str) -> None:
    """FAULTS 17."""
    found = decode_inbound(
        raw(f'"content": "{written}", "metadata": {{"{written}": ["{written}"]}}, "x": "{written}"')
    )
    assert found.content == kept
    assert found.metadata == {kept: [kept], "x": kept}


def test_half_a_character_is_replaced_in_every_field() -> None:
    """FAULTS 17."""
    names = ("sender_id", "sender_name", "content", "id", "peer_id", "thread_id", "session_id")
    draft = draft_of(
        InboundEvent(
            platform="p\udcff",
            occurred_at=AT,
            attachments=(Attachment(name="\ud83d"),),
            metadata={"\ud800": {"a": ["\ude00"]}},
            **dict.fromkeys(names, "x\udcff"),  # type: ignore[arg-type]
        )
    )
    payload = draft.payload
    assert isinstance(payload, Content)
    assert draft.platform == "p\ufffd"
    assert payload.source_id == payload.content == payload.sender_name == "x\ufffd"
    assert payload.attachments == (Attachment(name="\ufffd"),)
    assert payload.metadata == {"\ufffd": {"a": ["\ufffd"]}}


@settings(max_examples=300)
@given(st.binary(max_size=60))
@example(b"{}")
@example(b'{"platform":1e400}')
def test_any_bytes_are_refused_or_kept_and_never_more(text: bytes) -> None:
    with pytest.raises(InvalidInput):
        draft(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@settings(max_examples=300)
@given(
    st.dictionaries(st.sampled_from([*InboundEvent.__struct_fields__, "unknown"]), JSON, max_size=4)
)
def test_whatever_a_field_holds_is_refused_or_can_be_kept(fields: dict[str, Any]) -> None:
    try:
        made = draft(line(**fields))
    except InvalidInput:
        return
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(made), type=Draft) == made


# Times and zones


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-08t13:56:00z",
        "2026-05-08t15:56:00+02:00",
        # The + of a query in a URL that is not escaped.
        "2026-05-08T15:56:00 02:00",
        "2026-05-08T15:56:00.000 0200",
    ],
)
def test_a_time_may_be_written_so(text: str) -> None:
    assert parse_time(text)[0] == AT


@pytest.mark.parametrize(
    "text", ["2026-05-08 13:56", "2026-05-08 1356", "13:56:00 02:00", "x 02:00"]
)
def test_a_space_is_no_sign_elsewhere(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"is not a time|has no time zone"):
        parse_time(text)


def test_null_is_as_if_it_were_not_there() -> None:
    names = ("id", "metadata", "attachments", "kind", "direction", "ingested_at")
    assert draft(line(**dict.fromkeys(names), more=None)) == draft(line(more=None))


@given(st.integers(0, 7_258_118_399_999), st.integers(-23 * 60, 23 * 60))
def test_a_time_is_the_same_in_every_zone(milliseconds: int, offset: int) -> None:
    zone = timezone(timedelta(minutes=offset))
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    moment = (epoch + timedelta(milliseconds=milliseconds)).astimezone(zone)
    assert parse_time(moment.isoformat()) == (milliseconds, offset)
    if not 0 < milliseconds < 10**10:
        assert parse_time(milliseconds) == parse_time(str(milliseconds)) == (milliseconds, 0)
    assert parse_time(format_time(milliseconds)) == (milliseconds, 0)


@pytest.mark.parametrize(
    "name", ["a", "A", "0", "a.b", "a..b", "a-b_c", "default", "x" * 64, "tenant-1.eu"]
)
def test_a_name_of_a_zone(name: str) -> None:
    assert check_zone(name) == name


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../a", "a/b", "a\\b", ".a", "_a", "-a", "x" * 65, "é", "a b", " a", "a\n",
     "a\0", "\u0661", "a:b", "~", "a*", "\ud800", "\uff41"],
)  # fmt: skip
def test_no_name_of_a_zone(name: str) -> None:
    with pytest.raises(InvalidInput, match="zone") as refused:
        check_zone(name)
    assert str(refused.value).isprintable()
