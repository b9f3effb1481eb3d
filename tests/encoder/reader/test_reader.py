"""What a reader reads: the same on any worker, in any text, and as it was recorded."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from bench.kit.made import Writer
from recollect.home import home_directory
from recollect.home.home_directory import Home
from recollect.home.ledgers import gateway_of
from recollect.home.settings.configuration import Configuration
from recollect.operations.writing.extracting import Extractor
from recollect.schemas.errors import IntegrityError, InvalidInput
from recollect.streams.encoder.catalog import Precision
from recollect.streams.encoder.encoder import Encoder
from recollect.streams.encoder.pin import ReaderPin
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.reader import reader_loading
from recollect.streams.reader.head_file import OWN, read_heads, sha256_of
from recollect.streams.reader.packed_reading import packed, unpacked
from recollect.streams.reader.reader_installing import install_reader
from recollect.streams.reader.reader_loading import load_reader
from recollect.streams.reader.text_reader import TextReader
from tests.encoder.reader.plain_reading import read_plainly

TEXTS = [
    "Ada Lovelace moved to Lisbon in May.",
    "i met ryan gosling at the airport lol",
    "Did Maria call? She works for Siemens now, and she doesn't like it.",
    "I'm 32 and live in Turin.",
    "",
    "   \n\t ",
    "…!!!???",
    "👩‍👩‍👧 Zo\u200bë и Мария в Москве مرحبا بك يا أحمد 東京に住んでいます",
    "\u202eolleH\u202c @user #tag https://example.org/a_b?c=d \ud800 \x00 \ufeff",
    "n't 's 'll don't can't U.S.A. 3.5 2026-05-07",
]


@pytest.fixture(scope="module")
def pin(model_cache: Path) -> ReaderPin:
    return install_reader(None, cache=model_cache)


@pytest.fixture(scope="module")
def reader(pin: ReaderPin, model_cache: Path) -> Iterator[TextReader]:
    loaded = load_reader(pin, cache=model_cache)
    yield loaded
    loaded.encoder.close()


def read(reader: TextReader, text: str) -> TextReading:
    (found,) = reader.read([text])
    return unpacked(text, found.content)


def named(reader: TextReader, text: str) -> list[tuple[str, str]]:
    return [(text[name.start : name.end], name.type) for name in read(reader, text).names]


def test_its_vectors_are_those_of_the_encoder_to_the_bit(
    reader: TextReader, minilm: dict[Precision, Encoder]
) -> None:
    texts = [text for text in TEXTS if text.strip()]
    plain = minilm["int8"]
    assert np.array_equal(reader.encoder.encode(texts), plain.encode(texts))
    for ours, theirs in zip(reader.read(texts), plain.encode_tokens(texts), strict=True):
        assert ours.tokens is not None
        assert np.array_equal(ours.tokens.vectors, theirs.vectors)
        assert np.array_equal(ours.tokens.pooled, theirs.pooled)


def test_it_reads_the_same_in_any_batch_and_order(reader: TextReader) -> None:
    together = [each.content for each in reader.read(TEXTS)]
    backwards = [each.content for each in reader.read(TEXTS[::-1])][::-1]
    alone = [reader.read([text])[0].content for text in TEXTS]
    assert together == backwards == alone


def test_it_reads_what_is_calculated_one_word_after_the_other(reader: TextReader) -> None:
    texts = [
        *TEXTS,
        "Antidisestablishmentarianism!! I met Zbigniew Brzeziński and his wife in Kraków-Podgórze.",
        "Please help. Don't you work at Siemens Healthineers AG?\n- we have two cats\n- x = {1: 2}",
        "The New York Times wrote that Dr. Smith-Jones of St. Mary's moved from Rio to São Paulo",
    ]
    heads = read_heads(OWN, sha256_of(OWN))
    for text, found in zip(texts, reader.read(texts), strict=True):
        assert found.content == read_plainly(reader.encoder, heads, text)


def test_a_text_is_read_the_same_alone_and_in_company(reader: TextReader) -> None:
    long = "Nils sails to Bergen on Friday, and Ada is not at all pleased about it. " * 40
    company = [f"Room {number} in Graz is free, says Lena." for number in range(150)]
    company[10:10] = company[70:70] = [long, *TEXTS, "", long[:90]]
    backwards = company[::-1]
    alone = {text: reader.read([text])[0].content for text in company}
    for texts in (company, backwards, company[5:40]):
        assert [each.content for each in reader.read(texts)] == [alone[text] for text in texts]
    assert reader.read([]) == []


def test_it_reads_the_same_in_another_process(reader: TextReader, model_cache: Path) -> None:
    program = """
import hashlib, sys
from pathlib import Path
from recollect.streams.reader.reader_installing import install_reader
from recollect.streams.reader.reader_loading import load_reader
from tests.encoder.reader.test_reader import TEXTS
cache = Path(sys.argv[1])
reader = load_reader(install_reader(None, cache=cache), cache=cache)
print(hashlib.sha256(b"".join(each.content for each in reader.read(TEXTS))).hexdigest())
"""
    command = [sys.executable, "-c", program, str(model_cache)]
    other = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    ours = b"".join(each.content for each in reader.read(TEXTS))
    assert other == hashlib.sha256(ours).hexdigest()


def test_names_and_parts_of_speech_are_those_that_people_see(reader: TextReader) -> None:
    assert ("Ada Lovelace", "PERSON") in named(reader, TEXTS[0])
    assert ("Lisbon", "LOCATION") in named(reader, TEXTS[0])
    assert ("ryan gosling", "PERSON") in named(reader, TEXTS[1])
    assert ("Maria", "PERSON") in named(reader, TEXTS[2])
    tags = {TEXTS[3][word.start : word.end]: word.tag for word in read(reader, TEXTS[3]).words}
    assert tags["I"] == "PRP"
    assert tags["32"] == "CD"
    assert tags["'m"] == tags["live"] == "VBP"
    assert tags["Turin"] == "NNP"
    assert named(reader, "thanks, see you tomorrow then") == []


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS,
        "word " * 4_000,
        "x" * 100_000,
        "👍🏽" * 2_000,
        "שלום עולם, אני גר בתל אביב. " * 60,
        "a\u200b" * 3_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_every_place_that_it_names_is_in_the_text(reader: TextReader, text: str) -> None:
    found = read(reader, text)
    for spans in (found.words, found.names, found.sentences):
        last = 0
        for span in spans:
            assert last <= span.start < span.end <= len(text)
            assert not text[span.start].isspace()
            last = span.end
    assert all(0 <= sentence.own <= 100 for sentence in found.sentences)
    assert all(0 <= word.salience <= 100 for word in found.words)
    assert packed(text, found) == reader.read([text])[0].content


def test_a_long_text_is_read_to_its_end(reader: TextReader) -> None:
    text = "It rained all day and nothing happened at all. " * 60 + "Ada Lovelace lives in Lisbon."
    assert ("Ada Lovelace", "PERSON") in named(reader, text)[-2:]


@pytest.mark.parametrize("content", [b"", b"\x00", b"\x63" + bytes(8), b"\x01\x01"])
def test_what_is_no_reading_of_a_text_is_refused(content: bytes) -> None:
    with pytest.raises(IntegrityError):
        unpacked("Ada lives in Lisbon.", content)


def test_heads_that_were_changed_are_not_used(
    pin: ReaderPin, model_cache: Path, tmp_path: Path
) -> None:
    changed = bytearray(OWN.read_bytes())
    changed[len(changed) // 2] ^= 1
    (tmp_path / "changed.heads").write_bytes(changed)
    with pytest.raises(IntegrityError, match="SHA-256"):
        read_heads(tmp_path / "changed.heads", pin.heads)
    (tmp_path / "other.heads").write_bytes(b"no heads")
    with pytest.raises(InvalidInput, match="is not a valid reader file"):
        install_reader(tmp_path / "other.heads", cache=model_cache)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("My sister lives in Turin.", "statement"),
        ("When does the train to Turin leave?", "question"),
        ("Nice one!", "fragment"),
    ],
)
def test_what_a_sentence_does(reader: TextReader, text: str, kind: str) -> None:
    assert [sentence.kind for sentence in read(reader, text).sentences] == [kind]


def test_salient_words_are_those_of_lasting_statements(reader: TextReader) -> None:
    lasting = [
        "I'm allergic to walnuts.",
        "My daughter Lucía started at the music school in Graz.",
        "We decided to keep our servers in Frankfurt.",
        "I work as a nurse at the children's hospital.",
    ]
    passing = ["Thanks a lot!", "Can you make it shorter?", "lol that's hilarious", "Good morning"]

    def salience(text: str) -> float:
        words = read(reader, text).words
        return sum(word.salience for word in words) / len(words)

    assert min(map(salience, lasting)) > 50 > max(map(salience, passing))


def test_a_quotation_is_not_the_senders_own(reader: TextReader) -> None:
    own = read(reader, "I moved to Graz in May, and my sister Ann lives next door.").sentences
    quoted = read(reader, 'Tom said: "I moved to Ghent in May."').sentences
    assert min(each.own for each in own) > 50 > max(each.own for each in quoted)


@pytest.mark.parametrize("kept", [(), ("names",), ("names", "tags")])
def test_a_reader_with_some_heads_or_none_reads_what_it_can(
    reader: TextReader, kept: tuple[str, ...]
) -> None:
    """A user may train some heads alone; a file without any is no fault."""
    whole = read_heads(OWN, sha256_of(OWN))
    some = msgspec.structs.replace(whole, heads={name: whole.heads[name] for name in kept})
    text = "Ada Lovelace moved to Lisbon in May."
    (found,) = TextReader(reader.encoder, some).read([text])
    reading = unpacked(text, found.content)
    assert bool(reading.names) == ("names" in kept)


def test_extract_loads_its_reader_once(
    model_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 25."""
    loaded: list[ReaderPin] = []

    def counted(pin: ReaderPin, *, cache: Path) -> TextReader:
        loaded.append(pin)
        return load_reader(pin, cache=cache)

    monkeypatch.setattr(reader_loading, "load_reader", counted)
    # A home of another test may still be open, whose reader would be shared.
    monkeypatch.setattr(home_directory, "_loaded", {})
    configuration = Configuration(
        tmp_path / "home", environment={"RECOLLECT_CACHE": str(model_cache)}
    )
    home = Home.create_or_open(tmp_path / "home", configuration, encoder="all-MiniLM-L6-v2")
    with Extractor("default", gateway_of(home)) as extractor:
        found = [extractor.extract(draft) for draft in Writer().drafts(3)]
    assert len(found) == 3
    assert len(loaded) == 1


def test_readings_without_scores_of_names_stay_readable() -> None:
    """Fault 56: those of earlier versions have the form 1."""
    text = "Ada lives in Lisbon."
    found = unpacked(text, bytes([1, 3, 12, 21, 3, 2, 0, 1, 0, 2, 1, 2]))
    assert [(text[name.start : name.end], name.type, name.sure) for name in found.names] == [
        ("Ada", "PERSON", None),
        ("Lisbon", "LOCATION", None),
    ]


def test_readings_without_values_stay_readable() -> None:
    """Those of earlier versions have the form 3."""
    text = "Ada lives in Lisbon."
    words = [3, 90, 12, 80, 21, 80, 3, 85]
    found = unpacked(text, bytes([3, *words, 1, 0, 1, 0, 99, 0, 20, 0, 97]))
    assert [text[name.start : name.end] for name in found.names] == ["Ada"]
    assert found.values == ()
    assert [(each.start, each.end, each.own) for each in found.sentences] == [(0, 20, 97)]


def test_readings_without_types_of_values_stay_readable() -> None:
    """Those of earlier versions have the form 4."""
    text = "Ada lives in Lisbon."
    words = [3, 90, 12, 80, 21, 80, 3, 85]
    found = unpacked(text, bytes([4, *words, 0, 1, 3, 1, 77, 0, 20, 0, 97]))
    (value,) = found.values
    assert (text[value.start : value.end], value.sure) == ("Lisbon", 77)
    assert (value.type, value.type_sure, value.own, value.holds) == ("open", 0, 100, 100)


def test_readings_without_occurrences_stay_readable() -> None:
    """Those of earlier versions have the form 6."""
    text = "Ada left Lisbon."
    words = [3, 90, 8, 80, 3, 85]
    found = unpacked(text, bytes([6, *words, 0, 0, 0, 16, 0, 97, 1, 1, 40]))
    (sentence,) = found.sentences
    assert (sentence.start, sentence.end, sentence.own) == (0, 16, 97)
    assert (sentence.ends, sentence.occurs) == ((("home", 40),), 0)
