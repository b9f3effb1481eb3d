"""Whatever the text, the answer is well formed, the same every time, and linear to compute."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from types import FrameType
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.grammar.text_reading import (
    ReadName,
    ReadSentence,
    ReadValue,
    ReadWord,
    TextReading,
)
from recollect.streams.language.names.mentions import mentions
from recollect.streams.language.statements.document import Document
from recollect.streams.language.statements.statements import analyse
from recollect.text.dates.dates_in_text import date_references
from recollect.text.sentences import sentences
from tests.language.stating import stated

TraceFunction: TypeAlias = Callable[[FrameType, str, Any], Any]

#: Words that set off every reader, so that random texts reach beyond the first test.
FRAGMENTS = (
    "Ada Tom's I'm I my email number is discord call me Mel yesterday last Friday May 3 in 2016 "
    "the 15th (Kate) (aka goes by moved to Berlin New York Room 101 Dr. U.S. a@b.co two weeks "
    "https://a.io/x +49 30 123456 > -- On wrote: ``` ... ?! 😀 ’ ' , . : ; - / # @ $5 20% C++ "
    "2026-05-07 14:00 2pm ago from now weekend summer of Because that Actually, Cheers, From: "
    "Sent: To: because no. 5 i.e. J. born on birthday İ ß ¼ \u3002 \u0301 \u200b | \n \t \r"
)
PIECES = FRAGMENTS.split(" ")
TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=40).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
)


@settings(max_examples=400)
@given(TEXTS, st.one_of(st.none(), st.text(max_size=12)), st.integers(-(2**50), 2**50))
def test_every_part_is_where_it_says(text: str, speaker: str | None, at_ms: int) -> None:
    analysis = stated(text, speaker=speaker, at_ms=at_ms)
    assert analysis == stated(text, speaker=speaker, at_ms=at_ms)
    previous = 0
    for statement in analysis.statements:
        assert previous <= statement.start < statement.end <= len(text)
        previous = statement.end
        assert statement.sentence == " ".join(text[statement.start : statement.end].split())
        at = statement.start
        for mention in statement.mentions:
            assert at <= mention.start < mention.end <= statement.end
            assert text[mention.start : mention.end] == mention.text
            at = mention.end
        at = statement.start
        for date in statement.dates:
            assert at <= date.start < date.end <= statement.end
            assert text[date.start : date.end] == date.text
            at = date.end
    for contact in analysis.contacts:
        assert 0 <= contact.start < contact.end <= len(text)
        assert contact.value
    for introduction in analysis.introductions:
        assert text[introduction.start : introduction.end] == introduction.name


@settings(max_examples=400)
@given(TEXTS)
def test_sentences_mentions_and_dates_are_in_order_and_apart(text: str) -> None:
    is_question(text)
    at = 0
    for start, end in sentences(text):
        assert at <= start < end <= len(text)
        assert end - start <= 1000
        assert text[start:end] == text[start:end].strip()
        at = end
    at = 0
    for mention in mentions(text):
        assert at <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end] == mention.text
        at = mention.end
    at = 0
    for date in date_references(text, at_ms=0):
        assert at <= date.start < date.end <= len(text)
        assert text[date.start : date.end] == date.text
        at = date.end


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["a ", "....", "((((", "1", "A", "A ", "Aa ", "a.", "a@", "a@a.", "www.", "http://a ",
     "> a\n", "On 1\n", "On 1 wrote:\n", "```\n", "\n", "\r", "- a\n", "From: a\n", "P.S.\n",
     "Cheers,\n", "last ", "May ", "1 May ", "on the 1st ", "in 1 day ", "2 days ago ",
     "Tom (T) ", "Tom goes by ", "I'm A ", "call me ", "my name is ", "my email is ",
     "reach me at ", "+1 ", "my number is 555-1234. ", "my phone is 5551234 ", "555-",
     "discord ", "x#1234 discord ", "I live in ", "A of the ", "J. ", "'s", "’", " ", "あ", "。",
     "\"", "'a ", "“a ", "he said a: ", "said ", "Sat the 14th ", "moved to May 3 ", "1 to 2 ",
     "was moved to the 3rd ", "Ab Cd\n\n", "Ab Cd\n", "555-1234\n", "Hi, ", "Ab Park ",
     "the first of May ", "\n \n", "😀", "a-", "a_",
     "\u0301", "_", "#", "? ", "! a", "Dr. ", "x" * 60 + "\n", ", ",
     "I gave her 300 euros in Ghent on Monday. ", '"They sold 12 cars." I gave him 300 euros. '],
)  # fmt: skip
def test_time_grows_with_the_length_and_not_faster(unit: str) -> None:
    number = count()

    def seconds(size: int) -> float:
        # Another text each time: what was just read is remembered.
        text = f"{(unit * (size // len(unit) + 1))[:size]}x{next(number)}"
        # The garbage of all tests before it is no part of it.
        gc.disable()
        try:
            begin = time.process_time()
            stated(text, speaker="Ada", at_ms=0)
            return time.process_time() - begin
        finally:
            gc.enable()

    # Quadratic work would grow 64 times. The floor keeps the clock's grain out of the ratio, and
    # another try what else the machine did meanwhile.
    assert any(seconds(64_000) / max(seconds(8_000), 0.004) < 20 for _ in range(5))


def test_work_grows_with_the_sentences_that_a_reader_read_and_not_faster() -> None:
    few, many = instructions_for(200), instructions_for(800)
    assert many < 5 * few


def instructions_for(count_: int) -> int:
    """Return the instructions to analyse sentences that each may end and state something."""
    unit = "Rex is 7 now. "
    text = unit * count_
    starts = range(0, len(text), len(unit))
    words = [
        ReadWord(start + match.start(), start + match.end(), tag, 60)
        for start in starts
        for match, tag in zip(re.finditer(r"\w+", unit), ("NNP", "VBZ", "CD", "RB"), strict=True)
    ]
    reading = TextReading(
        tuple(words),
        tuple(ReadName(start, start + 3, "PERSON", 90) for start in starts),
        tuple(ReadSentence(at, at + 13, "statement", 100, (("age", 40),)) for at in starts),
        tuple(ReadValue(at + 7, at + 8, 90, "age", 90) for at in starts),
    )
    document = Document(text=text, speaker="Ada", at_ms=0, utc_offset_minutes=0, reading=reading)
    instructions = count()

    def trace(frame: FrameType, event: str, _: object) -> TraceFunction:
        frame.f_trace_opcodes = True
        if event == "opcode":
            next(instructions)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        analyse(document)
    finally:
        sys.settrace(before)
    return next(instructions)


def test_the_answer_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from tests.language.stating import stated\n"
        'text = "Hi, I\'m Tyler. My email is t@x.org. I moved to Berlin with Tom last week."\n'
        "print(stated(text, speaker='Ada', at_ms=1_000_000_000_000))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(answers) == 1
