"""Items and lines under a heading that names an entity do not repeat that name."""

from __future__ import annotations

import time

import pytest

from recollect.streams.consolidation.repeated_names import named_once, without_name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Ada Moreau sold Ada's boat", "sold their boat"),
        ("Ada rents a flat near Ada Moreau’s bakery", "rents a flat near their bakery"),
        (
            "Ada likes the sea, but Ada is afraid of storms",
            "likes the sea, but is afraid of storms",
        ),
        ("At noon, Ada sold Ada's boat", "At noon, Ada sold their boat"),
        (
            "Last week (5 Jan 2026), Ada sold Ada's boat",
            "Last week (5 Jan 2026), Ada sold their boat",
        ),
        ("Ada painted Ada's boat, and Ada now sails", "painted their boat, and now sails"),
        ("Ada rows because Ada is fond of the sea", "rows because they are fond of the sea"),
        ("Ada rests when Ada hears rain and sees fog", "rests when they hear rain and see fog"),
        ("Ada says that Ada never swims", "says that they never swim"),
        ("Ada knows what Ada's boat did for Ada", "knows what their boat did for them"),
        ("It showed Ada how far Ada had come", "It showed Ada how far they had come"),
        ("Ada was glad after Ada and others had sailed", "was glad after they had sailed"),
        ("Ada came in May since Ada lives in Oslo", "came in May since they live in Oslo"),
        ("Ada left. From then on, Ada will row", "left. From then on, they will row"),
        (
            "Ada woke up, then what kept Ada informed broke",
            "woke up, then what kept them informed broke",
        ),
        ("Ada knows the LGBTQ centre of Ada's town", "knows the LGBTQ centre of their town"),
    ],
)
def test_the_name_is_not_repeated(text: str, shown: str) -> None:
    assert without_name(text, "Ada Moreau") == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        # "Their" would be Bob's, the twins' or the neighbours'.
        ("Ada showed Bob Ada's boat", "showed Bob Ada's boat"),
        ("Ada took the twins to Ada's office", "took the twins to Ada's office"),
        ("Ada asked everyone about Ada's boat", "asked everyone about Ada's boat"),
        # Without the name, Bob or the twins would be the ones who swim.
        ("Ada met Bob, and Ada swims", "met Bob, and Ada swims"),
        ("Ada fed the twins, and Ada swims", "fed the twins, and Ada swims"),
        ("Ada likes the sea, and Ada and Bob sail", "likes the sea, and Ada and Bob sail"),
        # The name is not the subject.
        ("Ada and Bob sold Ada's boat", "Ada and Bob sold Ada's boat"),
        ("Ada's boat sank", "Ada's boat sank"),
        # The uncle may have lost his own keys.
        ("Ada's uncle lost Ada's keys", "Ada's uncle lost Ada's keys"),
        ("Ada ate after Ada and others had sold Ada's boat", "ate after they had sold Ada's boat"),
        # A name that begins a sentence stays, and so does one that is no plain subject or object.
        ("Ada rests. Ada is tired", "rests. Ada is tired"),
        (
            "Ada says that the sea and Ada are old friends",
            "says that the sea and Ada are old friends",
        ),
        ("While Bob slept, Ada sold Ada's boat", "While Bob slept, Ada sold Ada's boat"),
        ("With the twins, Ada sold Ada's boat", "With the twins, Ada sold Ada's boat"),
        ("Adam sold Ada's boat", "Adam sold Ada's boat"),
    ],
)
def test_the_name_stays_where_somebody_else_could_be_meant(text: str, shown: str) -> None:
    assert without_name(text, "Ada") == shown


@pytest.mark.parametrize(
    ("text", "name", "shown"),
    [
        ("Ada sold Ada's boat", "ada", "sold their boat"),
        ("ada sold Ada's boat", "ada moreau", "sold their boat"),
        ("ADA sold ADA's boat", "Ada", "sold their boat"),
        ("Will knows that will power helps", "Will", "knows that will power helps"),
        ("Tigran sold Tigran's boat", "iran", "Tigran sold Tigran's boat"),
    ],
)
def test_a_name_counts_in_any_case(text: str, name: str, shown: str) -> None:
    assert without_name(text, name) == shown


def test_a_text_without_a_known_name_is_left() -> None:
    assert without_name("Ada sold Ada's boat", "") == "Ada sold Ada's boat"


def test_a_whole_fact_names_its_subject_once() -> None:
    assert named_once("Ada met Ada's aunt when Ada was ill", "Ada") == (
        "Ada met their aunt when they were ill"
    )


def test_a_verb_after_several_names_is_replaced_once() -> None:
    text = "Ada left because Ada hopes since Ada paints and swims in the sea"
    told = "Ada left because they hope since they paint and swim in the sea"
    assert named_once(text, "Ada") == told


def test_the_time_grows_with_the_length_of_a_text() -> None:
    def seconds(times: int) -> float:
        start = time.process_time()
        named_once("Ada is running " * times, "Ada")
        return time.process_time() - start

    seconds(10)
    assert seconds(1_600) < 16 * seconds(400)
