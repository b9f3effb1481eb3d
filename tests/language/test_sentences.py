"""A message falls into the sentences its speaker wrote, and nothing that was quoted or signed."""

from __future__ import annotations

import pytest

from recollect.text.sentences import sentences, without_broken_phrases


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved. It rains.", ["I moved.", "It rains."]),
        ("Really?! no way. ok", ["Really?!", "no way.", "ok"]),
        ("Dr. Smith met Mrs. Jones. They left.", ["Dr. Smith met Mrs. Jones.", "They left."]),
        ("Use e.g. tea, i.e. a drink.", ["Use e.g. tea, i.e. a drink."]),
        ("The U.S. Army left the U.S. It rained.", ["The U.S. Army left the U.S.", "It rained."]),
        ("Version v1.2.3 costs 3.5 euros. Good.", ["Version v1.2.3 costs 3.5 euros.", "Good."]),
        ("Well... maybe later. Hm… yes", ["Well... maybe later.", "Hm… yes"]),
        ("See https://a.io/x?y=1. Then call.", ["See https://a.io/x?y=1.", "Then call."]),
        ("J. R. Smith and I met. We ate.", ["J. R. Smith and I met.", "We ate."]),
        ("So do I. We met.", ["So do I.", "We met."]),
        ('"Really?" he asked. "Yes."', ['"Really?" he asked.', '"Yes."']),
        ("one line\nother line", ["one line", "other line"]),
        ("List:\n- tea\n* two cups\n1. milk", ["List:", "tea", "two cups", "milk"]),
        ("Great! 🎉 I moved 😀", ["Great!", "I moved 😀"]),
        ("😀 🎉", []),
        ("我搬家了。我很高兴。", ["我搬家了。", "我很高兴。"]),
        ("no punctuation at all", ["no punctuation at all"]),
        ("", []),
        (" \n\t ", []),
        ("He said no. 5 came.", ["He said no. 5 came."]),
        ("1. Buy milk. 2. Go.", ["1. Buy milk.", "2. Go."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_quoted_lines_are_not_the_speakers() -> None:
    assert split("I agree.\n> I disagree.\n>> Me too.\nLet us meet.") == [
        "I agree.",
        "Let us meet.",
    ]
    assert split("> only quoted") == []


@pytest.mark.parametrize(
    "attribution",
    [
        "On Tue, Apr 3, 2012 at 4:19 PM, Bob <bob@example.com> wrote:",
        "On Apr 3, 2012, at 4:19 PM, Bob\n<bob@example.com> wrote:",
        "Am 03.04.2012 um 16:19 schrieb Bob:",
        "Le 3 avr. 2012 à 16:19, Bob a écrit :",
        "2012/4/3 Bob <bob@example.com>:",
    ],
)
def test_an_attribution_goes_with_its_quotation(attribution: str) -> None:
    assert split(f"Fine by me.\n\n{attribution}\n\n> Shall we?\n\nSee you.") == [
        "Fine by me.",
        "See you.",
    ]


def test_all_below_an_attribution_without_marks_is_quoted() -> None:
    assert split("Fine.\n\nOn 3 May 2012, Bob wrote:\nShall we?\nI hope so.") == ["Fine."]


@pytest.mark.parametrize(
    "header",
    [
        "-----Original Message-----\nI am quoted.",
        "---------- Forwarded message ---------\nI am quoted.",
        "Begin forwarded message:\nI am quoted.",
        "From: Bob\nSent: Monday\nTo: Ada\n\nI am quoted.",
        "*From:* Bob\n*Date:* Monday\n*Subject:* Tea\n\nI am quoted.",
        "________________________________\nI am quoted.",
    ],
)
def test_a_forwarded_message_ends_the_speech(header: str) -> None:
    assert split(f"Here it is.\n\n{header}") == ["Here it is."]


def test_a_signature_is_not_speech() -> None:
    assert split("It works.\n-- \nAda Lovelace\nAnalyst") == ["It works."]
    assert split("It works.\n\nBest regards,\nAda Lovelace\n+44 20 1234") == ["It works."]
    assert split("It works.\n\nCheers,\nAda\n\nPS: Bring tea.") == ["It works.", "PS: Bring tea."]
    assert split("It works.\nSent from my iPhone") == ["It works."]


@pytest.mark.parametrize(
    "signature",
    [
        "Dr. Ilse Brandt",
        "Dr. Ilse Brandt\nLarch Street Clinic\n514-555-0117 | desk@larch.example",
        "G. Fenn\nGestion Fenn, tel. 514-555-0108",
        "Anna Smith\nHead of Sales, Acme Corp\nTel. +49 30 1234567\nwww.acme.org",
        "Amara Nwosu\nPeople team, Bellwether Transit | 514-555-0188",
        "With my warm regards,\nAnna Smith",
    ],
)
def test_a_block_of_name_and_contact_at_the_end_is_a_signature(signature: str) -> None:
    assert split(f"The tooth is out.\n\n{signature}") == ["The tooth is out."]
    assert split(f"The tooth is out.\n\n{signature}\n\n> Is it?") == ["The tooth is out."]
    assert split(f"The tooth is out.\n\n{signature}\n\nPS: Bring tea.") == [
        "The tooth is out.",
        "PS: Bring tea.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Guests:\n\nAnna Smith\nTom Jones",
        "The winner is\n\nAnna Smith",
        "His card:\nBob Miller\n514-555-0117",
        "I met two people.\nAnna Smith\nTom Jones",
        "I love it.\n\nSent the invoice",
        "News.\n\nBerlin Marathon on Sunday",
        "Tasks done.\n\nBuy milk",
        "Anna Smith",
    ],
)
def test_other_short_lines_are_no_signature(text: str) -> None:
    assert split(text) == [line for line in text.split("\n") if line]


def test_thanks_above_a_message_is_no_signature() -> None:
    assert split("Hello.\nThanks,\nit works now.") == ["Hello.", "Thanks,", "it works now."]


def test_fenced_code_is_not_speech() -> None:
    assert split("Try:\n```\nI = 1\n```\nIt works.") == ["Try:", "It works."]


def test_hard_wrapped_lines_are_joined() -> None:
    text = (
        "I think you are onto something. I will try to fix the problem as soon as I\n"
        "get back to a computer. The tests are green on every machine that I could\n"
        "find in the office.\n"
        "Next paragraph of mine"
    )
    assert [" ".join(sentence.split()) for sentence in split(text)] == [
        "I think you are onto something.",
        "I will try to fix the problem as soon as I get back to a computer.",
        "The tests are green on every machine that I could find in the office.",
        "Next paragraph of mine",
    ]


def test_text_without_an_end_is_cut_between_words() -> None:
    pieces = split("word " * 1000)
    assert max(map(len, pieces)) <= 1000
    assert " ".join(pieces).split() == ["word"] * 1000
    assert max(map(len, split("x" * 5000))) <= 1000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met at the\nstation.", "We met at the station."),
        ("It starts on 14\r\nJune.", "It starts on 14  June."),
        ("14\nJune", "14\nJune"),
        ("Room 14\nBasel", "Room 14\nBasel"),
        ("are you in\nI am home", "are you in\nI am home"),
        ("soon the\n\nend", "soon the\n\nend"),
    ],
)
def test_a_line_break_inside_a_phrase_is_a_space(text: str, expected: str) -> None:
    assert without_broken_phrases(text) == expected
