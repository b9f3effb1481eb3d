"""Feasts of many calendars lie on the days on which they were kept; every day is a literal.

The days are those that almanacs and newspapers gave. A Jewish feast of one day is on the day on
whose evening it begins.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.dates.dates_in_text import date_references


def days_of(text: str, moment: str, *, every: bool = True) -> list[tuple[str, str]]:
    at = int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp() * 1000)
    return [(item.first, item.last) for item in date_references(text, at_ms=at, every=every)]


@pytest.mark.parametrize(
    ("feast", "first", "last"),
    [
        ("Rosh Hashanah", "1999-09-10", "1999-09-12"),
        ("Rosh Hashanah", "2023-09-15", "2023-09-17"),
        ("Yom Kippur", "1973-10-05", "1973-10-05"),
        ("Sukkot", "2023-09-29", "2023-10-07"),
        ("Shemini Atzeret", "2023-10-06", "2023-10-06"),
        ("Simchat Torah", "2023-10-07", "2023-10-07"),
        ("Hanukkah", "2022-12-18", "2022-12-25"),
        ("Hanukkah", "2024-12-25", "2025-01-01"),
        ("Tu BiShvat", "2023-02-05", "2023-02-05"),
        ("Purim", "2024-03-23", "2024-03-23"),
        ("Passover", "1948-04-23", "1948-05-01"),
        ("Passover", "2024-04-22", "2024-04-30"),
        ("Yom HaShoah", "2024-05-05", "2024-05-05"),
        ("Yom HaAtzmaut", "2023-04-25", "2023-04-25"),
        ("Yom HaAtzmaut", "2024-05-13", "2024-05-13"),
        ("Lag BaOmer", "2023-05-08", "2023-05-08"),
        ("Shavuot", "2023-05-25", "2023-05-27"),
        ("Tisha B'Av", "2022-08-06", "2022-08-06"),
        ("Tisha B'Av", "2023-07-26", "2023-07-26"),
        ("Ramadan", "2024-03-11", "2024-04-09"),
        ("Eid al-Fitr", "2023-04-21", "2023-04-21"),
        ("Eid al-Adha", "2023-06-28", "2023-06-28"),
        ("Islamic New Year", "2023-07-19", "2023-07-19"),
        ("Day of Ashura", "2024-07-16", "2024-07-16"),
        ("Mawlid", "2023-09-27", "2023-09-27"),
        ("Jumu'atul-Wida", "2024-04-05", "2024-04-05"),
        ("Chinese New Year", "1950-02-17", "1950-02-17"),
        ("Chinese New Year", "1985-02-20", "1985-02-20"),
        ("Chinese New Year", "2020-01-25", "2020-01-25"),
        ("Chinese New Year", "2033-01-31", "2033-01-31"),
        ("Mid-Autumn Festival", "2020-10-01", "2020-10-01"),
        ("Dragon Boat Festival", "2023-06-22", "2023-06-22"),
        ("Tomb Sweeping Day", "2023-04-05", "2023-04-05"),
        ("Diwali", "2015-11-11", "2015-11-11"),
        ("Diwali", "2016-10-30", "2016-10-30"),
        ("Diwali", "2017-10-19", "2017-10-19"),
        ("Diwali", "2018-11-07", "2018-11-07"),
        ("Diwali", "2020-11-14", "2020-11-14"),
        ("Diwali", "2021-11-04", "2021-11-04"),
        ("Diwali", "2022-10-24", "2022-10-24"),
        ("Diwali", "2023-11-12", "2023-11-12"),
        ("Dhanteras", "2021-11-02", "2021-11-02"),
        ("Bhai Dooj", "2021-11-06", "2021-11-06"),
        ("Chhath Puja", "2021-11-10", "2021-11-10"),
        ("Dussehra", "2021-10-15", "2021-10-15"),
        ("Dussehra", "2022-10-05", "2022-10-05"),
        ("Navratri", "2021-10-07", "2021-10-15"),
        ("Holi", "2021-03-29", "2021-03-29"),
        ("Holi", "2024-03-25", "2024-03-25"),
        ("Holika Dahan", "2023-03-07", "2023-03-07"),
        ("Raksha Bandhan", "2021-08-22", "2021-08-22"),
        ("Janmashtami", "2021-08-30", "2021-08-30"),
        ("Ganesh Chaturthi", "2022-08-31", "2022-08-31"),
        ("Ram Navami", "2021-04-21", "2021-04-21"),
        ("Maha Shivratri", "2021-03-11", "2021-03-11"),
        ("Karva Chauth", "2022-10-13", "2022-10-13"),
        ("Vasant Panchami", "2021-02-16", "2021-02-16"),
        ("Ugadi", "2021-04-13", "2021-04-13"),
        ("Onam", "2021-08-21", "2021-08-21"),
        ("Onam", "2023-08-29", "2023-08-29"),
        ("Pongal", "2024-01-15", "2024-01-15"),
        ("Baisakhi", "1919-04-13", "1919-04-13"),
        ("Guru Nanak Jayanti", "1969-11-23", "1969-11-23"),
        ("Guru Nanak Jayanti", "2019-11-12", "2019-11-12"),
        ("Mahavir Jayanti", "2021-04-25", "2021-04-25"),
        ("Vesak", "2022-05-15", "2022-05-15"),
        ("Buddha Purnima", "2022-05-16", "2022-05-16"),
        ("Nowruz", "2023-03-21", "2023-03-21"),
        ("Parsi New Year", "2024-08-15", "2024-08-15"),
        ("Clean Monday", "2023-02-27", "2023-02-27"),
        ("Lazarus Saturday", "2023-04-08", "2023-04-08"),
        ("Great Lent", "2024-03-18", "2024-04-26"),
        ("Lent", "2024-02-14", "2024-03-30"),
        ("Boss's Day", "2022-10-17", "2022-10-17"),
        ("King's Day", "2025-04-26", "2025-04-26"),
        ("Earth Hour", "2024-03-23", "2024-03-23"),
        ("St Paddy's Day", "2024-03-17", "2024-03-17"),
        ("Advent Sunday", "2024-12-01", "2024-12-01"),
        ("Election Day", "2024-11-05", "2024-11-05"),
    ],
)
def test_a_feast_of_a_year_is_on_the_day_it_was_kept(feast: str, first: str, last: str) -> None:
    text = f"They came to us on {feast} {first[:4]}."
    assert days_of(text, "2020-06-15T12:00", every=False) == [(first, last)]


@pytest.mark.parametrize(
    ("names", "day"),
    [
        ("Hanukkah|Chanukah|Hannukah|Channukkah|hanuka", "2022-12-18"),
        ("Rosh Hashanah|rosh hashana|Rosh Ha-Shanah|Rosh Hashanna", "2022-09-25"),
        ("Sukkot|Succoth|Sukkos|Feast of Tabernacles|the feast of booths", "2022-10-09"),
        ("Tu BiShvat|Tu B'Shvat|tu bishevat|Tu B’Shevat", "2022-01-16"),
        ("Simchat Torah|simhat torah|Simchas Torah", "2022-10-17"),
        ("Eid al-Fitr|Eid ul Fitr|eid-ul-fitr|Id al-Fitr|Idul Fitri", "2022-05-02"),
        ("Eid al-Adha|Eid ul-Azha|Bakrid|the feast of sacrifice|Eid Al Adhā", "2022-07-09"),
        ("Ramadan|Ramazan|Ramzan|Ramadhan|the month of Ramadan", "2022-04-02"),
        ("Laylat al-Qadr|Lailatul Qadr|the Night of Power", "2022-04-28"),
        (
            "Diwali|Deepavali|Divali|Deewali|Dīpāvali|Diwali day|the festival of Diwali",
            "2022-10-24",
        ),
        ("Dussehra|Dasara|Dussera|Vijayadashami|Vijaya Dashami|vijayadasami", "2022-10-05"),
        ("Navratri|Navaratri|Navarathri|Sharad Navratri", "2022-09-26"),
        ("Janmashtami|Krishna Janmashtami|Gokulashtami|gokul ashtami", "2022-08-18"),
        ("Ganesh Chaturthi|Vinayaka Chathurthi|Vinayaka Chavithi", "2022-08-31"),
        ("Makar Sankranti|Makara Sankranthi|Pongal|Thai Pongal", "2022-01-14"),
        ("Vesak|Wesak|Vaisakha|Vesākha|Buddha Day", "2022-05-15"),
        ("Chinese New Year|lunar new year|Chinese New Year's Day|Tết|Seollal", "2022-02-01"),
        ("Mid-Autumn Festival|Mid Autumn Festival|Mooncake Festival|Chuseok", "2022-09-10"),
        ("Nowruz|Norooz|Naw-Ruz|Persian New Year", "2022-03-21"),
        ("Maundy Thursday|Covenant Thursday|Holy Thursday", "2022-04-14"),
        ("Saint Patrick's Day|St. Patrick's Day|St Paddy's Day|st patricks day", "2022-03-17"),
    ],
)
def test_names_of_one_feast_mean_one_day(names: str, day: str) -> None:
    for name in names.split("|"):
        found = days_of(f"We met on {name} 2022.", "2020-06-15T12:00")
        assert [first for first, _ in found] == [day], name


# 2026-05-08 is a Friday.
@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Call me before Eid al-Adha", "2026-05-27", "2026-05-27"),
        ("next Diwali", "2026-11-08", "2026-11-08"),
        ("last Chinese New Year", "2026-02-17", "2026-02-17"),
        ("last Ramadan", "2026-02-18", "2026-03-19"),
        ("Rosh Hashanah", "2026-09-11", "2026-09-13"),
        ("Deepavali in 2019", "2019-10-27", "2019-10-27"),
        ("Diwali of last year", "2025-10-20", "2025-10-20"),
        ("Holi two thousand and nineteen", "2019-03-21", "2019-03-21"),
        ("Christmas twenty eighteen", "2018-12-25", "2018-12-25"),
        ("Diwali in two years", "2028-10-17", "2028-10-17"),
        ("Diwali six years ago", "2020-11-14", "2020-11-14"),
        ("Christmas three years from now", "2029-12-25", "2029-12-25"),
        ("Chinese New Year's Eve 2020", "2020-01-24", "2020-01-24"),
        ("the eve of Eid al-Fitr 2023", "2023-04-20", "2023-04-20"),
        ("Passover eve 2024", "2024-04-22", "2024-04-22"),
        ("Erev Yom Kippur 2023", "2023-09-24", "2023-09-24"),
        ("the first day of Hanukkah 2022", "2022-12-18", "2022-12-18"),
        ("the last day of Ramadan 2024", "2024-04-09", "2024-04-09"),
        ("the day after Diwali 2019", "2019-10-28", "2019-10-28"),
        ("the day before Ramadan 2024", "2024-03-10", "2024-03-10"),
        ("three days before Diwali 2019", "2019-10-24", "2019-10-24"),
        ("It was on Waitangi Day - February 6 - of all days", "2026-02-06", "2026-02-06"),
        ("on Waitangi Day - February 6, 2024", "2024-02-06", "2024-02-06"),
        ("Two Eids: Eid al-Fitr 2000", "2000-01-08", "2000-01-08"),
    ],
)
def test_a_feast_without_its_year_is_the_one_that_is_meant(
    text: str, first: str, last: str
) -> None:
    assert days_of(text, "2026-05-08T13:56") == [(first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "He lent me his book.",
        "The bank lent 2000 euros.",
        "Holy moly, that was close.",
        "The chat 2019 saw most of is gone.",
        "On the boss's day off nothing works.",
        "Diwali Sharma wrote to Purim Levi.",
        "A Diwali lamp and Easter eggs.",
        "The king lives well; boss, I agree.",
        "We sang the song of the great fast car.",
        "Every Diwali we go home.",
        "id = 7, aid = none, tu as, no ruz",
    ],
)
def test_other_words_are_no_feasts(text: str) -> None:
    assert days_of(text, "2026-05-08T13:56") == []


def test_of_several_days_the_one_that_is_not_over_is_meant() -> None:
    assert days_of("We fast during Ramadan", "2023-01-10T12:00") == [("2023-03-23", "2023-04-20")]
    assert days_of("We fast during Ramadan", "2023-04-01T12:00") == [("2023-03-23", "2023-04-20")]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("We were in Delhi at Diwali.", "2025-10-20", "2025-10-20"),
        ("We visited them before Christmas.", "2025-12-25", "2025-12-25"),
        ("He fasted during Ramadan.", "2026-02-18", "2026-03-19"),
        ("We will visit them before Christmas.", "2026-12-25", "2026-12-25"),
        ("We left the day after Thanksgiving.", "2025-11-28", "2025-11-28"),
        ("We left three days before Diwali.", "2025-10-17", "2025-10-17"),
    ],
)
def test_the_tense_says_whether_a_feast_is_past(text: str, first: str, last: str) -> None:
    assert days_of(text, "2026-05-08T13:56") == [(first, last)]


@pytest.mark.parametrize(
    "text", ["She lent in 2018 what she had.", "On the advent of 2018 we met."]
)
def test_a_year_beside_another_word_is_that_year(text: str) -> None:
    assert days_of(text, "2026-05-08T13:56") == [("2018-01-01", "2018-12-31")]


@pytest.mark.parametrize("moment", ["0001-01-01T00:00", "9999-12-31T12:00", "1582-10-04T12:00"])
@pytest.mark.parametrize(
    "feast", ["Diwali", "Rosh Hashanah", "Ramadan", "Chinese New Year", "Lent", "Kwanzaa", "Nowruz"]
)
def test_the_ends_of_the_calendar_are_no_error(moment: str, feast: str) -> None:
    for text in (f"last {feast}", f"next {feast}", f"on {feast}", f"{feast} 2199", f"{feast} 1000"):
        for first, last in days_of(text, moment):
            assert first <= last


_PIECES = st.sampled_from(
    [
        "feast",
        "of",
        "the",
        "eve",
        "erev",
        "Diwali",
        "Eid",
        "al",
        "-",
        "'",
        ".",
        "Rosh",
        "ha",
        "2019",
        "in",
        "two",
        "thousand",
        "years",
        "next",
        "last",
        "day",
        "Purim",
        "tu",
        "b'",
        "́",
        "ﷺ",
        "İ",
        "中秋",
        "\u202e",
        "\x00",
    ]
)


@given(st.lists(_PIECES, max_size=14), st.sampled_from(["", " ", "\n"]))
def test_any_mixture_of_such_words_is_read_without_error(pieces: list[str], gap: str) -> None:
    text = gap.join(pieces)
    for item in date_references(text, at_ms=1_778_248_560_000, every=True):
        assert text[item.start : item.end] == item.text
        assert item.first <= item.last
