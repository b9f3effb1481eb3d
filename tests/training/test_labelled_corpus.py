"""The labelled corpus: its labels stand in its texts, and its splits share no source."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest

from recollect.text.lexicon import word_set
from training.labelled_corpus import (
    CORPUS,
    LIVES,
    LIVES_DEV,
    PUBLIC,
    SLOTLESS,
    TOLD,
    LabelledMessage,
    lives,
    messages,
    read,
    sources,
)

SOURCES = sources()
ATTRIBUTES = word_set(
    """name home address employer job school partner child parent sibling relation pet diet allergy
    health birthday age phone email language like dislike possession habit appointment deadline
    price place status membership skill open"""
)
MENTION_TYPES = word_set("PERSON ORG LOCATION EVENT PRODUCT TECHNOLOGY CONCEPT OTHER")


@pytest.fixture(scope="module", params=[*(each.name for each in SOURCES), TOLD.stem])
def source_messages(request: pytest.FixtureRequest) -> list[LabelledMessage]:
    return messages(request.param)


def test_every_file_is_a_source_of_one_split() -> None:
    files = {path.stem for path in CORPUS.glob("*.jsonl")} - {
        "attributes",
        "endings",
        "endings-dev",
        "endings-test",
        "lives",
        "lives-dev",
        "public",
        "talk",
        "told",
        "updates",
        "updates-dev",
        "updates-test",
    }
    assert files == {source.name for source in SOURCES}
    assert {source.split for source in SOURCES} == {"train", "dev", "test"}


def test_each_split_has_several_kinds_of_source() -> None:
    for split in ("train", "dev", "test"):
        assert len(sources(split)) >= 5


def test_labels_stand_in_their_texts(source_messages: list[LabelledMessage]) -> None:
    for message in source_messages:
        spans = [(each.start, each.end) for each in message.sentences]
        assert spans == sorted(spans)
        spans += [(each.start, each.end) for each in message.mentions]
        spans += [(each.start, each.end) for each in message.dates]
        spans += [each.quote for each in message.facts]
        spans += [each.value for each in message.facts if each.value is not None]
        for start, end in spans:
            assert 0 <= start < end <= len(message.text)
            assert message.text[start:end].strip() == message.text[start:end]


def test_labels_are_known(source_messages: list[LabelledMessage]) -> None:
    for message in source_messages:
        assert all(0 <= each.worth <= 3 for each in message.sentences)
        for fact in message.facts:
            assert fact.type in ATTRIBUTES | SLOTLESS
            assert fact.text.strip()
            assert fact.sentence < len(message.sentences)
        assert all(each.type in MENTION_TYPES for each in message.mentions)


def test_days_are_days_in_order(source_messages: list[LabelledMessage]) -> None:
    for message in source_messages:
        assert datetime.fromisoformat(message.at).tzinfo is not None
        days = [(each.first, each.last) for each in message.facts]
        days += [(each.first, each.last) for each in message.dates]
        for first, last in days:
            assert (first is None) == (last is None)
            if first is not None and last is not None:
                assert date.fromisoformat(first) <= date.fromisoformat(last)


def test_what_a_fact_ends_was_said_before(source_messages: list[LabelledMessage]) -> None:
    places = {message.id: place for place, message in enumerate(source_messages)}
    assert len(places) == len(source_messages)
    ends = [
        (place, places[fact.ends])
        for place, message in enumerate(source_messages)
        for fact in message.facts
        if fact.ends is not None
    ]
    for place, earlier in ends:
        assert source_messages[earlier].at <= source_messages[place].at or earlier < place


def test_nothing_is_concluded_from_an_assistant(source_messages: list[LabelledMessage]) -> None:
    assert not [each.id for each in source_messages if each.sender == "assistant" and each.facts]


@pytest.mark.parametrize("path", [LIVES, LIVES_DEV], ids=lambda path: path.stem)
def test_the_facts_of_lives_have_values_and_end_earlier_messages(path: Path) -> None:
    ids = set()
    for life in lives(path):
        assert life.id not in ids
        ids.add(life.id)
        assert [each.at for each in life.messages] == sorted(each.at for each in life.messages)
        for place, message in enumerate(life.messages):
            for fact in message.facts:
                assert all(0 <= earlier < place for earlier in fact.ends), life.id
                if fact.value is not None:
                    said = message.text[slice(*fact.value)]
                    assert said == said.strip() != "", life.id


def test_messages_of_public_sets_have_labels_and_no_words() -> None:
    found = list(read(PUBLIC))
    assert len({each.id for each in found}) == len(found)
    for message in found:
        assert message.id.split("/")[0] in {"realmem", "life"}
        assert not message.text
        assert not any(each.text for each in message.facts)
        assert {each.subject for each in message.facts} <= {
            "I",
            "we",
            "i",
            "We",
            "…",
            message.sender,
        }
        end = message.sentences[-1].end if message.sentences else 0
        for fact in message.facts:
            assert fact.type in ATTRIBUTES | SLOTLESS
            assert 0 <= fact.quote[0] < fact.quote[1] <= end
