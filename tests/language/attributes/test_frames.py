"""Which plain sentences fill a slot, and which slot; whoever likes tea may like coffee too."""

from __future__ import annotations

import pytest

from recollect.streams.language.attributes.frames import find_frame


@pytest.mark.parametrize(
    ("sentence", "subject", "frame", "value"),
    [
        ("The mayor of Porto is Ana Prado.", "Porto", "the mayor of … is", "Ana Prado"),
        ("The mayor of Porto is now Rui Leal.", "Porto", "the mayor of … is", "Rui Leal"),
        ("Actually, the mayor of Porto is Rui Leal!", "Porto", "the mayor of … is", "Rui Leal"),
        ("Kelp's operation is on Monday.", "Kelp", "…'s operation is on", "Monday"),
        ("My dentist is Dr. Brandt.", "Ada", "…'s dentist is", "Dr. Brandt"),
        ("My new dentist is Dr. Brandt.", "Ada", "…'s dentist is", "Dr. Brandt"),
        ("Ada's current dentist is named Dr. Brandt.", "Ada", "…'s dentist is", "Dr. Brandt"),
        ("Ada's dentist is Dr. Brandt.", "Ada", "…'s dentist is", "Dr. Brandt"),
        ("Back to Work was founded by Ana Prado.", "Back to Work", "… is founded by", "Ana Prado"),
        (
            "The headquarters of Bell and Sons is located in the city of Turin.",
            "Bell and Sons",
            "the headquarters of … is located in the city of",
            "Turin",
        ),
        (
            "Ana Prado plays the position of point guard.",
            "Ana Prado",
            "… plays the position of",
            "point guard",
        ),
        ("chess was created in the country of India.", "chess",
         "… is created in the country of", "India"),
        ("Ana Prado is a citizen of Chile.", "Ana Prado", "… is a citizen of", "Chile"),
        ("The Prime Minister of Chad is Ana Prado.", "Chad",
         "the prime minister of … is", "Ana Prado"),
        ("Like a Prayer was performed by Ana Prado.", "Like a Prayer",
         "… is performed by", "Ana Prado"),
        ("No Doubt was founded by Ana Prado.", "No Doubt", "… is founded by", "Ana Prado"),
        ("Our Mutual Friend was written by Ana da Costa.", "Our Mutual Friend",
         "… is written by", "Ana da Costa"),
        ("Trek: The Next Turn was created by Ana Prado.", "Trek: The Next Turn",
         "… is created by", "Ana Prado"),
        ("The capital of Oz is Washington, D.C..", "Oz", "the capital of … is", "Washington, D.C."),
    ],
)  # fmt: skip
def test_a_plain_sentence_fills_the_slot_of_its_subject(
    sentence: str, subject: str, frame: str, value: str
) -> None:
    found = find_frame(sentence, "Ada")
    assert found is not None
    assert (found.subject, found.attribute, found.value) == (subject, frame, value)


@pytest.mark.parametrize(
    "sentence",
    [
        "Ada likes tea.",
        "Ada is interested in Rome.",
        "Ada is a fan of Arsenal.",
        "Ada is in Rome.",
        "The mayor of Porto is not Ana Prado.",
        "The mayor of Porto might be Ana Prado.",
        "If the mayor of Porto is Ana Prado, good.",
        "Is the mayor of Porto Ana Prado?",
        "The best part of Rome is the Forum.",
        "The view of Rome is great.",
        "The mayor of Porto is going to Rome.",
        "The mayors are Ana Prado and Rui Leal.",
        "It was founded by Ana Prado.",
        "She is a citizen of Chile.",
        "In Porto was founded Ana Prado.",
        "When it is founded by Ana Prado.",
        "We are located in Porto.",
        "My name is on eleven things.",
        "My plan is to move to Rome.",
        "My internet is finished.",
        "Our users are international users.",
        "Ana said the mayor of Porto is nice, I think.",
        "so tired",
        "",
        "is is is",
        "The of is Rome.",
    ],
)
def test_what_is_doubtful_or_can_be_many_at_a_time_fills_none(sentence: str) -> None:
    assert find_frame(sentence, "Ada") is None


def test_without_a_speaker_nothing_is_theirs() -> None:
    assert find_frame("My dentist is Dr. Brandt.", None) is None
