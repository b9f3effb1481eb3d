"""Token counts hold for the tokenizers of models that read them (fault 23).

The counts were made once with OpenAI's two tokenizers (js-tiktoken, o200k_base and cl100k_base).
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from recollect.home.home_directory import Home
from recollect.home.token_counting import estimate_tokens, token_counter
from tests.memory import Memory

# ruff: noqa: E501
#: Texts, each with its tokens in o200k and in cl100k.
COUNTED = {
    "English": (
        "Ada moved to Lisbon in May 2026 because her sister Ann lives there, and works as a nurse.",
        22,
        22,
    ),
    "dates and times": (
        "[Thursday 14 May 2026, Ada] The review is at 9:30am in room 102, not at 10.",
        30,
        30,
    ),
    "a message in Thai": ("ฉันย้ายไปอยู่ที่กรุงเทพเมื่อเดือนที่แล้วเพราะงานใหม่ของฉัน", 21, 52),
    "a message in Burmese": ("ကျွန်တော်သည် ရန်ကုန်မြို့တွင် နေထိုင်ပါသည်", 19, 82),
    "a message in Amharic": ("እኔ በአዲስ አበባ እኖራለሁ እና በሆስፒታል ውስጥ እሠራለሁ", 67, 90),
    "a message in Khmer": ("ខ្ញុំបានផ្លាស់ទៅភ្នំពេញកាលពីខែមុន", 16, 54),
    "a message in Tamil": ("நான் கடந்த மாதம் சென்னைக்கு குடிபெயர்ந்தேன்", 14, 61),
    "a message in Hindi": ("मैं पिछले महीने अपनी बहन के साथ लिस्बन चली गई", 14, 43),
    "a message in Russian": (
        "Я переехала в Лиссабон в мае, потому что там живёт моя сестра",
        20,
        31,
    ),
    "a message in Greek": ("Μετακόμισα στη Λισαβόνα τον Μάιο με την αδελφή μου", 24, 44),
    "a message in Arabic": ("انتقلت إلى لشبونة في مايو مع أختي", 12, 24),
    "a message in Hebrew": ("עברתי לליסבון במאי עם אחותי", 11, 25),
    "a message in Chinese": ("我五月份搬到了里斯本,因为我的姐姐住在那里", 14, 27),
    "a message in Japanese": ("私は五月に姉とリスボンに引っ越しました。", 16, 21),
    "a message in Korean": ("저는 오월에 언니와 리스본으로 이사했습니다", 15, 21),
    "a message in German": (
        "Ich bin im Mai nach Lissabon gezogen, weil meine Schwester dort Straßenbahn fährt.",
        18,
        25,
    ),
    "emoji": (
        "🎉🎉👩‍👩‍👧‍👦🏳️‍🌈🇵🇹🥳👍🏽🧑🏿‍🚒🫶🏻🎉🎉👩‍👩‍👧‍👦🏳️‍🌈🇵🇹🥳👍🏽🧑🏿‍🚒🫶🏻🎉🎉👩‍👩‍👧‍👦🏳️‍🌈🇵🇹🥳👍🏽🧑🏿‍🚒🫶🏻",
        126,
        195,
    ),
    "base64": (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
        52,
        53,
    ),
    "more base64": (
        "q7Zk1Xw0RfJt9LmVb3PyNcDh6GsKu8EoTi2AaWxQzYvHnMjBpUdS4rCg5lIFeO+/x1bTmWqZ7YkKJh",
        60,
        73,
    ),
    "hexadecimal": ("550e8400e29b41d4a716446655440000d41d8cd98f00b204e9800998ecf8427e", 35, 35),
    "a web address": (
        "https://example.org/a/b_c?utm_source=x&id=550e8400-e29b-41d4-a716-446655440000#frag",
        33,
        33,
    ),
    "code": (
        "def getUserName(self, userId: int) -> Optional[str]:\n    return self.__cache.get(f'user:{userId}')\n",
        27,
        24,
    ),
    "blank lines": ("a\n\n\n   b\t\tc    d", 8, 8),
    "numbers": ("1 2 3 4 5 6 7 8 9 10 314159265358979", 25, 25),
    "cuneiform": ("𒀀𒁀𒂀𒃀𒄀", 20, 20),
}


def _of_words(text: str) -> int:
    """Count as an encoder does that knows short words whole, and maps an endless one to a token."""
    return sum(1 if len(word) > 100 else -(-len(word) // 4) for word in text.split())


def counters() -> dict[str, Any]:
    gateway = SimpleNamespace(model="m", count_tokens=_of_words)
    zone = SimpleNamespace(node=SimpleNamespace(gateway=gateway))
    return {"without an encoder": estimate_tokens, "with one": token_counter(cast(Any, zone))}


@pytest.mark.parametrize("counter", ["without an encoder", "with one"])
@pytest.mark.parametrize("text", [name for name in COUNTED if name != "English"])
def test_no_text_takes_more_tokens_than_are_counted(text: str, counter: str) -> None:
    written, *tokens = COUNTED[text]
    assert counters()[counter](written) >= max(tokens)


@pytest.mark.parametrize("counter", ["without an encoder", "with one"])
def test_english_is_counted_at_about_what_it_takes(counter: str) -> None:
    written, *tokens = COUNTED["English"]
    assert 0.9 * max(tokens) <= counters()[counter](written) <= 2 * max(tokens)


def test_counting_parts_counts_no_less_than_the_whole() -> None:
    for written, *_ in COUNTED.values():
        half = len(written) // 2
        assert estimate_tokens(written[:half]) + estimate_tokens(
            written[half:]
        ) + 1 >= estimate_tokens(written)


@pytest.mark.parametrize("kind", ["a message in Thai", "a message in Amharic", "emoji", "base64"])
def test_a_context_block_keeps_to_its_tokens(tmp_path: Path, kind: str) -> None:
    """A line takes as many of OpenAI's tokens as it does alone."""
    written, *tokens = COUNTED[kind]
    Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Memory(tmp_path / "home") as memory:
        memory.ingest(
            [
                {
                    "platform": "chat",
                    "id": f"m{day}",
                    "sender_id": "ada",
                    "occurred_at": f"2026-05-{day:02d}T13:00:00Z",
                    "content": f"I took the harbour ferry number {day} to Quayside Yard: {written}",
                }
                for day in range(1, 21)
            ]
        )
        block = memory.context("Which harbour ferry did Ada take to Quayside Yard?", max_tokens=600)
    lines = block.block.count(written)
    assert lines >= 1
    assert lines * max(tokens) <= block.tokens <= 600
