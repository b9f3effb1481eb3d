"""What slot a value fills that the reader found: by its type, or the noun that it is said of."""

from __future__ import annotations

from itertools import pairwise

import pytest

from recollect.streams.language.attributes.stated_values import stated_slot
from recollect.streams.language.grammar.analysis import Claim, Mention
from recollect.streams.language.grammar.text_reading import (
    ReadSentence,
    ReadValue,
    ReadWord,
    TextReading,
    ValueType,
)


def claim(tagged: str, value: str, people: str = "") -> Claim | None:
    """Return the claim of a text that Ada wrote; `tagged` are its words, each with its tag."""
    return slot(tagged, value, people)


def slot(
    tagged: str,
    value: str,
    people: str = "",
    type_: ValueType = "open",
    own: int = 100,
    holds: int = 100,
    sure: int = 90,
    ends: int = 0,
    sentences: int = 1,
) -> Claim | None:
    """Return the slot of a text that Ada wrote, with one value, of which the heads say this.

    `ends`: the probability that the sentence ends facts of the value's type. `sentences`: 2 if the
    reader parts the text at its first full stop.
    """
    pairs = [word.rsplit("/", 1) for word in tagged.split(" ")]
    text = " ".join(word for word, _ in pairs)
    words, at = [], 0
    for word, tag in pairs:
        words.append(ReadWord(at, at + len(word), tag))
        at += len(word) + 1
    start = text.rindex(value)
    values = (ReadValue(start, start + len(value), 80, type_, sure, own, holds),)
    found = [
        Mention(text.index(one), text.index(one) + len(one), one, "PERSON")
        for one in people.split()
    ]
    told = ((type_, ends),) if ends else ()
    parts = [0, *([text.index(".") + 1] if sentences == 2 else ()), len(text)]
    read = tuple(ReadSentence(*part, "statement", 100, told) for part in pairwise(parts))
    reading = TextReading(tuple(words), (), read, values)
    return stated_slot(text, (0, len(text)), "Ada", found, reading)


@pytest.mark.parametrize(
    ("tagged", "value", "subject", "attribute"),
    [
        ("the/DT boiler/NN is/VBZ broken/VBN", "broken", "Ada", "boiler"),
        ("the/DT food/NN is/VBZ great/JJ", "great", "Ada", "food"),
        ("his/PRP$ knee/NN is/VBZ swollen/JJ", "swollen", "Ada", "knee"),
        ("my/PRP$ sister/NN 's/POS knee/NN is/VBZ sore/JJ", "sore", "Ada", "knee"),
        ("my/PRP$ knees/NNS are/VBP swollen/JJ", "swollen", "Ada", "knees"),
        ("my/PRP$ girlfriend/NN Lena/NNP", "Lena", "Ada", "girlfriend"),
        ("his/PRP$ job/NN in/IN Portland/NNP", "Portland", "Ada", "job in"),
    ],
)
def test_an_open_attribute_is_named_by_its_noun(
    tagged: str, value: str, subject: str, attribute: str
) -> None:
    assert claim(tagged, value) == Claim(subject, attribute, value)


@pytest.mark.parametrize(
    ("tagged", "value", "attribute"),
    [
        ("my/PRP$ left/JJ knee/NN is/VBZ swollen/JJ", "swollen", "…'s left knee is"),
        ("my/PRP$ operation/NN is/VBZ on/IN Monday/NNP", "Monday", "…'s operation is"),
        ("my/PRP$ new/JJ locker/NN is/VBZ 31/CD", "31", "…'s locker is"),
        ("the/DT guest/NN code/NN is/VBZ plum42/NN", "plum42", "…'s guest code is"),
    ],
)
def test_one_thing_has_one_value_at_a_time(tagged: str, value: str, attribute: str) -> None:
    assert claim(tagged, value) == Claim("Ada", attribute, value)


@pytest.mark.parametrize(
    ("tagged", "attribute"),
    [
        ("the/DT code/NN for/IN the/DT shed/NN is/VBZ", "…'s shed code is"),
        ("the/DT shed/NN code/NN is/VBZ", "…'s shed code is"),
        ("our/PRP$ porter/NN at/IN the/DT office/NN is/VBZ", "…'s office porter is"),
        # Of several sheds, and of what passes.
        ("the/DT code/NN for/IN Tom/NNP 's/POS shed/NN is/VBZ", "shed code"),
        ("the/DT end/NN of/IN the/DT lane/NN is/VBZ", "lane end"),
    ],
)
def test_a_noun_is_named_with_the_phrase_after_it(tagged: str, attribute: str) -> None:
    assert claim(f"{tagged} 4411/CD", "4411") == Claim("Ada", attribute, "4411")


def test_a_value_of_somebody_named_is_theirs() -> None:
    found = claim("Bob/NNP 's/POS knee/NN is/VBZ sore/JJ", "sore", people="Bob")
    assert found == Claim("Bob", "…'s knee is", "sore")


def test_who_takes_a_role_over_fills_it() -> None:
    text = "we/PRP have/VBP a/DT new/JJ landlord/NN ,/, Mrs/NNP Stone/NNP"
    found = slot(text, "Mrs Stone", type_="relation")
    assert found == Claim("Ada", "…'s landlord is", "Mrs Stone")


@pytest.mark.parametrize(
    ("tagged", "value"),
    [
        ("Ghent/NNP it/PRP is/VBZ", "Ghent"),
        ("I/PRP thought/VBD about/IN a/DT nap/NN", "a nap"),
        ("my/PRP$ dog/NN", "dog"),
        ("when/WRB it/PRP rains/NNS Pepper/NNP", "Pepper"),
        ("if/IN she/PRP calls/NNS :/: Pepper/NNP", "Pepper"),
    ],
)
def test_a_value_that_is_said_of_no_noun_fills_no_slot(tagged: str, value: str) -> None:
    assert claim(tagged, value) is None


def test_a_thing_called_like_a_listed_attribute_does_not_fill_that() -> None:
    assert claim("the/DT phone/NN is/VBZ broken/VBN", "broken") is None
    found = claim("my/PRP$ phone/NN is/VBZ broken/VBN", "broken")
    assert found == Claim("Ada", "…'s phone is", "broken")


def test_a_typed_value_fills_the_slot_of_its_type() -> None:
    found = slot("we/PRP settled/VBD in/IN Ghent/NNP", "Ghent", type_="home")
    assert found == Claim("Ada", "home", "Ghent")


@pytest.mark.parametrize(
    "tagged",
    [
        "we/PRP viewed/VBD a/DT flat/NN in/IN Ghent/NNP",
        "we/PRP visited/VBD a/DT house/NN in/IN Ghent/NNP",
        "I/PRP am/VBP considering/VBG Ghent/NNP",
        "they/PRP showed/VBD us/PRP a/DT flat/NN in/IN Ghent/NNP",
        "looked/VBD at/IN a/DT place/NN in/IN Ghent/NNP",
    ],
)
def test_what_was_looked_at_is_no_home(tagged: str) -> None:
    assert slot(tagged, "Ghent", type_="home") is None


@pytest.mark.parametrize(
    "tagged",
    [
        "I/PRP met/VBD Tom/NNP at/IN the/DT museum/NN",
        "I/PRP met/VBD up/RP with/IN Tom/NNP",
        "I/PRP met/VBD a/DT man/NN called/VBN Tom/NNP",
    ],
)
def test_somebody_who_was_met_is_no_partner(tagged: str) -> None:
    assert slot(tagged, "Tom", "Tom", type_="partner") is None


def test_a_partner_may_have_been_met() -> None:
    tagged = "I/PRP met/VBD Tom/NNP in/IN May/NNP and/CC we/PRP married/VBD"
    assert slot(tagged, "Tom", "Tom", type_="partner") == Claim("Ada", "partner", "Tom")


def test_what_somebody_looks_after_may_be_theirs() -> None:
    found = slot("I/PRP look/VBP after/IN Elmfield/NNP", "Elmfield", type_="employer")
    assert found == Claim("Ada", "employer", "Elmfield")


def test_a_value_of_somebody_else_is_not_the_speakers() -> None:
    tagged = "my/PRP$ sister/NN settled/VBD in/IN Ghent/NNP"
    assert slot(tagged, "Ghent", type_="home", own=5) == Claim("Ada's sister", "home", "Ghent")
    named = "Bob/NNP settled/VBD in/IN Ghent/NNP"
    assert slot(named, "Ghent", "Bob", type_="home", own=5) == Claim("Bob", "home", "Ghent")


def test_a_value_of_a_thing_is_one_of_every_thing_that_is_named() -> None:
    tagged = "the/DT fee/NN for/IN the/DT course/NN is/VBZ now/RB 90/CD"
    found = slot(tagged, "90", type_="price")
    assert found == Claim("Ada's fee", "…'s price", "90", also=("Ada's course",))


def test_a_thing_of_a_relative_is_not_the_relative() -> None:
    tagged = "my/PRP$ aunt/NN 's/POS train/NN arrives/VBZ at/IN four/CD"
    found = slot(tagged, "four", type_="appointment")
    assert found == Claim("Ada's train", "…'s date", "four")


def test_a_time_in_brackets_is_that_of_one_entry() -> None:
    tagged = "Family/NN dinner/NN (/( 3/CD May/NNP 18:30/CD )/)"
    assert slot(tagged, "3 May 18:30", type_="appointment") is None
    tagged = "the/DT dinner/NN is/VBZ on/IN 3/CD May/NNP"
    found = slot(tagged, "3 May", type_="appointment")
    assert found == Claim("Ada's dinner", "…'s date", "3 May")


def test_a_time_or_a_place_is_no_thing() -> None:
    assert slot("location/NN :/: the/DT pier/NN", "the pier", type_="place") is None
    tagged = "the/DT launch/NN date/NN is/VBZ 14/CD June/NNP"
    found = slot(tagged, "14 June", type_="deadline")
    assert found == Claim("Ada's launch", "…'s date", "14 June")


def test_a_thing_named_in_another_sentence_has_not_the_value() -> None:
    tagged = "a/DT photo/NN of/IN the/DT boat/NN ./. at/IN the/DT harbour/NN"
    assert slot(tagged, "the harbour", type_="place", sentences=2) is None
    assert slot(tagged, "the harbour", type_="place") is not None


def test_a_statement_of_its_own_is_no_value() -> None:
    tagged = "my/PRP$ back/NN is/VBZ stiff/JJ ,/, but/CC I/PRP cope/VBP"
    assert slot(tagged, "stiff , but I cope", type_="health") is None
    tagged = "my/PRP$ back/NN is/VBZ stiff/JJ ,/, but/CC I'm/PRP well/RB"
    assert slot(tagged, "stiff , but I'm well", type_="health") is None
    tagged = "lunch/NN is/VBZ soup/NN or/CC bread/NN or/CC rice/NN or/CC a/DT bit/NN of/IN fruit/NN"
    assert slot(tagged, "soup or bread or rice or a bit of fruit", type_="diet") is None


def test_a_value_with_a_verb_of_its_own_is_no_value() -> None:
    tagged = "my/PRP$ uncle/NN Leo/NNP bakes/VBZ bread/NN"
    assert slot(tagged, "Leo bakes bread", type_="family") is None
    tagged = "on/IN Sundays/NNPS I/PRP bake/VBP bread/NN"
    assert slot(tagged, "bake bread", type_="habit") == Claim("Ada", "activity", "bake bread")


def test_a_long_value_may_be_a_place() -> None:
    place = "the lower drawer of the desk beside the window"
    tagged = f"the/DT key/NN lies/VBZ in/IN {' '.join(f'{each}/NN' for each in place.split())}"
    assert slot(tagged, place, type_="place") == Claim("Ada's key", "…'s place", place)


def test_a_value_that_is_over_fills_no_slot() -> None:
    tagged = "I/PRP sold/VBD the/DT Golf/NNP"
    assert slot(tagged, "Golf", type_="possession", holds=4) is None


@pytest.mark.parametrize(
    ("holds", "ends", "fills"), [(60, 30, False), (60, 3, True), (95, 60, True)]
)
def test_a_value_that_its_sentence_seems_to_end_must_clearly_hold(
    holds: int, ends: int, fills: bool
) -> None:
    """ "Lena and I parted" does not say again that the partner is Lena."""
    tagged = "Lena/NNP and/CC I/PRP parted/VBD"
    found = slot(tagged, "Lena", type_="partner", holds=holds, ends=ends)
    assert (found is not None) == fills


def test_an_unsure_type_ends_no_earlier_value_of_a_person() -> None:
    tagged = "my/PRP$ last/JJ day/NN is/VBZ Friday/NNP"
    assert slot(tagged, "Friday", type_="birthday", sure=54) == Claim("Ada", "last day", "Friday")
    assert slot("I/PRP drink/VBP oat/NN milk/NN", "oat milk", type_="diet", sure=54) == (
        Claim("Ada", "diet", "oat milk")
    )


@pytest.mark.parametrize(
    ("tagged", "value", "type_"),
    [
        ("I/PRP used/VBD to/TO live/VB in/IN Ghent/NNP", "Ghent", "home"),
        ("we/PRP lived/VBD in/IN Ghent/NNP", "Ghent", "home"),
        ("I/PRP might/MD move/VB to/TO Ghent/NNP", "Ghent", "home"),
        ("I/PRP 'd/MD love/VB to/TO live/VB in/IN Ghent/NNP", "Ghent", "home"),
        ("I/PRP am/VBP thinking/VBG of/IN moving/VBG to/TO Ghent/NNP", "Ghent", "home"),
        ("if/IN I/PRP lived/VBD in/IN Ghent/NNP", "Ghent", "home"),
        ("I/PRP left/VBD my/PRP$ job/NN at/IN Bell/NNP", "Bell", "employer"),
        ("I/PRP worked/VBD at/IN Bell/NNP", "Bell", "employer"),
        ("I/PRP 'm/VBP not/RB a/DT nurse/NN", "nurse", "job"),
        ("my/PRP$ ex-wife/NN is/VBZ Eva/NNP", "Eva", "partner"),
        ("I/PRP wish/VBP I/PRP had/VBD a/DT dog/NN", "dog", "pet"),
        ("I/PRP almost/RB bought/VBD a/DT boat/NN", "boat", "possession"),
        ("we/PRP moved/VBD house/NN from/IN Ghent/NNP", "Ghent", "home"),
        ("I/PRP sold/VBD the/DT canoe/NN", "canoe", "possession"),
        ("I/PRP gave/VBD up/RP learning/VBG Welsh/NNP", "Welsh", "language"),
        ("I/PRP stopped/VBD eating/VBG pork/NN", "pork", "diet"),
        # Another person, and a thing.
        ("I/PRP have/VBP a/DT new/JJ cook/NN", "cook", "job"),
        ("I/PRP read/VBD a/DT Welsh/JJ poem/NN", "Welsh poem", "language"),
    ],
)
def test_what_is_past_denied_or_only_thought_of_fills_no_slot(
    tagged: str, value: str, type_: ValueType
) -> None:
    assert slot(tagged, value, type_=type_) is None


@pytest.mark.parametrize(
    ("tagged", "value", "type_", "attribute"),
    [
        ("we/PRP moved/VBD to/TO Ghent/NNP", "Ghent", "home", "home"),
        ("we/PRP moved/VBD from/IN Bonn/NNP to/TO Ghent/NNP", "Ghent", "home", "home"),
        ("I/PRP have/VBP a/DT job/NN as/IN cook/NN", "cook", "job", "role"),
        ("my/PRP$ birthday/NN is/VBZ on/IN 3/CD May/NNP", "3 May", "birthday", "birthday"),
        ("the/DT gala/NN is/VBZ on/IN 3/CD May/NNP", "3 May", "birthday", "…'s gala is"),
        ("I/PRP learn/VBP Old/NNP Welsh/NNP", "Old Welsh", "language", "language"),
        ("I/PRP 've/VBP lived/VBN in/IN Ghent/NNP", "Ghent", "home", "home"),
        ("I/PRP want/VBP tea/NN ,/, I/PRP live/VBP in/IN Ghent/NNP", "Ghent", "home", "home"),
        ("I/PRP got/VBD a/DT job/NN at/IN Bell/NNP", "Bell", "employer", "employer"),
        ("I/PRP was/VBD promoted/VBN to/TO chef/NN", "chef", "job", "role"),
        ("I/PRP 'm/VBP not/RB a/DT fan/NN of/IN opera/NN", "opera", "dislike", "dislikes"),
        ("not/RB here/RB ,/, I/PRP am/VBP in/IN Ghent/NNP", "Ghent", "home", "home"),
    ],
)
def test_what_is_so_now_fills_its_slot(
    tagged: str, value: str, type_: ValueType, attribute: str
) -> None:
    assert slot(tagged, value, type_=type_) == Claim("Ada", attribute, value)
