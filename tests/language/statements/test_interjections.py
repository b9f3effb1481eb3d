"""What a statement leaves out before it begins, by the parts of speech of the reader."""

from __future__ import annotations

import pytest

from recollect.streams.language.grammar.text_reading import ReadSentence, ReadWord, TextReading
from recollect.streams.language.statements.document import Document
from recollect.streams.language.statements.statements import analyse
from recollect.text.sentences import sentences
from recollect.text.tokenizer import tokenise

WEDNESDAY = 1_715_169_600_000  # 2024-05-08T12:00:00Z


def facts(text: str, *interjections: str) -> list[str]:
    """Return the facts of a text that Ada wrote; the reader takes these words for interjections."""
    tokens = tokenise(text)
    reading = TextReading(
        tuple(
            ReadWord(start, end, "UH" if text[start:end] in interjections else "VBD", 90)
            for start, end in zip(tokens.starts, tokens.ends, strict=True)
        ),
        (),
        tuple(ReadSentence(*span, "statement", 100, (), 0) for span in sentences(text)),
    )
    document = Document(text=text, speaker="Ada", at_ms=WEDNESDAY, reading=reading)
    return [each.text for each in analyse(document).statements]


@pytest.mark.parametrize(
    ("text", "interjections", "fact"),
    [
        ("hej wow, the van is in Ghent.", ["hej", "wow"], "Ada: the van is in Ghent."),
        ("hej - I sold the van on Friday", ["hej"], "Ada sold the van on Friday (2024-05-03)."),
        ('hej "Dune" starts at nine', ["hej"], 'Ada: "Dune" starts at nine'),
        ("The van, hej, is in Ghent.", ["hej"], "Ada: The van, hej, is in Ghent."),
    ],
)
def test_interjections_before_a_statement_are_no_part_of_it(
    text: str, interjections: list[str], fact: str
) -> None:
    assert facts(text, *interjections) == [fact]


def test_interjections_with_hardly_a_word_behind_them_stay() -> None:
    assert facts("hej hej Ghent again", "hej") == ["Ada: hej hej Ghent again"]
