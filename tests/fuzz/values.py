"""What the fuzzers send: odd texts, values of JSON, and bytes that were damaged."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import strategies as st

ODD_TEXTS = (
    *("", " ", "\0", "a\0b", "\n", "\x1b[2J", "\x9b31m", "\u202e", "\u2028", "\u200b", "\ufeff"),
    *(
        "\ud800",
        "\udfff\ud83d",
        "👩‍👩‍👧",
        "e\u0301" * 50,
        "\U000e0041",
        "\U0010ffff",
        "ﷺ",
        "İ",
        "ß",
    ),
    *("-1", "0", "1e999", "NaN", "null", "true", "9" * 400, "1778248560", "1778248560000"),
    *("2026-05-08T13:56:00Z", "2026-05-08T13:56:00+23:59", "9999-12-31T23:59:59-23:59"),
    *("..", "/", "../../etc/passwd", "default", "recollect", "Recollect", "user", "*", "%", "_"),
    *("forget:1", "' OR 1=1 --", '"', "dog AND OR NOT NEAR(", "content:", "{}", "[]", "--json"),
    *("x" * 1_024, "x" * 1_025, "dog " * 2_500, "y" * 10_001, "When did Ada move and where to?"),
    *("the week before the move", "3 days after 31 February 0000", "yesterday " * 200, "?" * 300),
    *("<memory_context>", "I live in Rome. " * 40, "Ada", "Rome", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
)

#: Any text at all, lone surrogates too.
any_text = st.sampled_from(ODD_TEXTS) | st.text(st.characters(codec=None), max_size=30)
odd_text = any_text | st.lists(any_text, min_size=2, max_size=4).map("".join)
#: Text that UTF-8 can hold.
sound_text = odd_text.map(lambda text: text.encode("utf-8", "replace").decode())
#: An argument of a command: the system hands over no NUL.
argument = sound_text.map(lambda text: text.replace("\0", ""))

odd_integer = st.sampled_from(
    [0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**40, 1_778_248_560_000]
) | st.integers(-(10**20), 10**20)
odd_number = odd_integer | st.floats() | st.booleans()

odd_json = st.recursive(
    st.none() | odd_number | sound_text,
    lambda some: st.lists(some, max_size=3) | st.dictionaries(sound_text, some, max_size=3),
    max_leaves=6,
)


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=True).encode()


json_bytes = odd_json.map(_dumped)


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> bytes:
    """Draw bytes, and change them in up to four places."""
    value = draw(whole)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(value) - 1, 0)))
        span = draw(st.integers(0, 12))
        kind = draw(st.sampled_from(("flip", "cut", "put", "drop", "twice", "fill")))
        before, after = value[:place], value[place:]
        if kind == "flip" and after:
            value = before + bytes([after[0] ^ 1 << draw(st.integers(0, 7))]) + after[1:]
        elif kind == "cut":
            value = before
        elif kind == "put":
            value = before + draw(st.binary(max_size=12)) + after
        elif kind == "drop":
            value = before + after[span:]
        elif kind == "twice":
            value = before + after[:span] * draw(st.integers(2, 3)) + after
        elif kind == "fill":
            value = before + b"\xff" * span + after[span:]
    return value


_packed = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.sampled_from([2**63 - 1, 2**64 - 1, -(2**63), 0, 1, 2])
    | st.floats()
    | sound_text
    | st.binary(max_size=20),
    lambda some: (
        st.lists(some, max_size=3) | st.dictionaries(st.text(max_size=5), some, max_size=2)
    ),
    max_leaves=4,
)


@st.composite
def reshaped(draw: st.DrawFn, value: Any) -> Any:
    """Draw a copy of decoded MessagePack in which one thing, at any depth, is another."""
    if isinstance(value, list | tuple) and value and draw(st.integers(0, 4)):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], draw(reshaped(value[place])), *value[place + 1 :]]
    if isinstance(value, dict) and value and draw(st.integers(0, 4)):
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: draw(reshaped(value[name]))}
    if isinstance(value, list | tuple) and draw(st.booleans()):
        return [*value, draw(_packed)] if draw(st.booleans()) else [*value[:-1]]
    if isinstance(value, bytes) and draw(st.booleans()):
        try:
            inner = msgspec.msgpack.decode(value)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return draw(damaged(st.just(value)))
        return msgspec.msgpack.encode(draw(reshaped(inner)))
    return draw(_packed)


_GOOD: dict[str, Any] = {
    "platform": "slack",
    "sender_id": "U1",
    "occurred_at": "2026-05-08T13:56:00Z",
    "content": "I live in Rome.",
}
_FIELDS = (
    *("platform", "sender_id", "occurred_at", "content", "id", "sender_name", "peer_id"),
    *("peer_kind", "thread_id", "session_id", "direction", "reply_to", "attachments", "metadata"),
    *("kind", "turn_id", "ingested_at", "unknown"),
)
_KINDS = st.sampled_from(["message", "remember", "turn_completed", "forget", "close_turn", "Park"])
_ATTACHMENTS = st.lists(
    st.dictionaries(
        st.sampled_from(["type", "name", "url", "mime_type", "caption", "size", "more"]),
        odd_json,
        max_size=3,
    ),
    max_size=2,
)

#: An inbound event: a good one in which some fields hold anything, or are missing.
odd_event = st.dictionaries(
    st.sampled_from(_FIELDS),
    odd_json | sound_text | odd_integer | _KINDS | _ATTACHMENTS,
    max_size=4,
).flatmap(
    lambda fields: st.sets(st.sampled_from(_FIELDS), max_size=1).map(
        lambda absent: {
            name: value for name, value in {**_GOOD, **fields}.items() if name not in absent
        }
    )
)
event_bytes = odd_event.map(_dumped)
#: A record as it may come: an event, damaged or not, or something else.
record_bytes = event_bytes | damaged(event_bytes) | json_bytes | st.binary(max_size=40)
