"""Whether a text states a value of an attribute in words of its kind."""

from __future__ import annotations

import pytest

from recollect.streams.mental_models.value_statements import is_stated


@pytest.mark.parametrize(
    ("attribute", "value", "text"),
    [
        ("pet", "cat", "Ada has a cat."),
        ("pet", "another cat named Rex", "Ada got another cat named Rex."),
        ("pet", "Rex", "Ada's dog is called Rex."),
        ("likes", "chess", "Ada is fond of chess."),
        ("likes", "Painting boats", "Painting boats is one of Ada's favourites."),
        ("membership", "rowing club", "Ada rows in the rowing club."),
        ("membership", "the Greens", "Ada joined the Greens."),
        ("possession", "red bicycle", "Ada owns a red bicycle."),
        ("health", "asthma", "Ada has asthma."),
        ("health", "nuts", "Ada is allergic to nuts."),
        ("age", "31", "Ada turned 31."),
        ("home", "Oslo", "Ada lives in Oslo."),
        ("school", "Turin", "Ada studies in Turin."),
        ("family", "sister Carla", "Ada visited Ada's sister Carla."),
        ("family", "husband and kids", "Ada thanked Ada's husband and kids."),
        ("partner", "Tom", "Ada's husband Tom rows."),
        ("role", "assistant manager", "Ada is an assistant manager."),
        ("activity", "rowing", "Ada took up rowing."),
        ("skill", "harp", "Ada plays the harp."),
        ("email", "ada@example.org", "Ada's address is ada@example.org."),
        ("phone", "514-555-0100", "Ada's number is 514-555-0100."),
        ("trait", "patient", "Ada is patient."),
        ("possession", "their boat", "Ada has Ada's boat."),
        ("possession", "their boat", "James has James' boat."),
    ],
)
def test_a_value_is_stated_in_words_of_its_kind(attribute: str, value: str, text: str) -> None:
    assert is_stated(value, text, attribute)


@pytest.mark.parametrize(
    ("attribute", "value", "text"),
    [
        ("pet", "rust", "Ada saw the rust."),
        ("pet", "Rex", "Ada painted Rex."),
        ("likes", "tulips", "Ada planted tulips."),
        ("membership", "angry tourists", "Ada met a bus of angry tourists."),
        ("membership", "youth", "Ada joined a programme for the youth."),
        ("possession", "walls", "Ada has painted walls."),
        ("possession", "meetings, plan trips", "Ada has meetings, plan trips."),
        ("health", "long day", "Ada has a long day."),
        ("health", "knee injury", "Ada read about a knee injury."),
        ("age", "17", "Ada rows since Ada was 17 or so."),
        ("age", "8 year old", "Ada has an 8 year old."),
        ("school", "course", "Ada finished the course."),
        ("family", "adopted", "Ada adopted."),
        ("family", "son help with the boat", "Ada had Ada's son help with the boat."),
        ("partner", "Tom", "Ada's partner Tom checked the survey."),
        ("role", "certification", "Ada is working on a certification."),
        ("activity", "rowing", "Ada is done rowing."),
        ("activity", "stay on track with it", "Ada rows to stay on track with it."),
        ("email", "ada@example.org. Lunch at 12", "Write to ada@example.org. Lunch at 12."),
        ("phone", "12", "Call 12."),
        ("home", "Oslo", "Ada does not live in Oslo."),
    ],
)
def test_other_words_do_not_state_it(attribute: str, value: str, text: str) -> None:
    assert not is_stated(value, text, attribute)


@pytest.mark.parametrize(
    ("value", "text", "attribute"),
    [
        ("head of the children", "Ada is head of the children's library.", "role"),
        ("Tuesdays and Sundays", "Ada can only do Tuesdays and Sundays.", "activity"),
        ("Mum", "Mum fell on Ada's stairs.", "family"),
        ("50", "Ada is turning 50 on 9 February.", "age"),
        ("migraine diary", "Ada has a migraine diary.", "health"),
        ("75 on the 9th", "Ada is 75 on the 9th.", "birthday"),
        ("photos of the oven", "Ada has photos of the oven.", "possession"),
        ("Turin marathon", "Ada signed up for the Turin marathon.", "membership"),
    ],
)
def test_a_part_of_a_name_a_weekday_or_a_parent_is_no_value(
    value: str, text: str, attribute: str
) -> None:
    assert not is_stated(value, text, attribute)


@pytest.mark.parametrize(
    "value", ["9 May", "9 may", "May", "Sept. 3rd", "january", "9 Mar", "9.5."]
)
def test_a_birthday_names_its_month(value: str) -> None:
    assert is_stated(value, f"Ada's birthday is {value}.", "birthday")


@pytest.mark.parametrize(
    "value", ["marvellous", "decent", "maybe on Friday", "may be on Friday", "octopus party"]
)
def test_a_word_that_begins_like_a_month_is_no_birthday(value: str) -> None:
    assert not is_stated(value, f"Ada's birthday is {value}.", "birthday")


def test_a_value_may_end_before_what_it_is() -> None:
    assert is_stated("cat", "Ada has a cat. The cat's name is Momo.", "pet")
    assert is_stated("9 May", "Ada's birthday is 9 May.", "birthday")
    assert is_stated("rowing course", "Ada signed up for a rowing course.", "membership")
    assert is_stated("gardener", "Ada is the gardener. The gardener's shed is locked.", "role")
