"""A text mentions the names, places, dates, numbers and addresses that a reader would underline."""

from __future__ import annotations

import pytest

from recollect.streams.language.names.mentions import mentions


def found(text: str) -> list[tuple[str, str]]:
    return [(mention.text, mention.type) for mention in mentions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I met Zorblax in Iran.", [("Zorblax", "OTHER"), ("Iran", "LOCATION")]),
        ("Zorblax lives in Yerevan.", [("Zorblax", "PERSON"), ("Yerevan", "LOCATION")]),
        ("Tom and Sarah left.", [("Tom", "PERSON"), ("Sarah", "PERSON")]),
        ("Tom's car", [("Tom", "PERSON")]),
        ("Zorblax’s sister called.", [("Zorblax", "PERSON")]),
        ("my friend Zorblax came", [("Zorblax", "PERSON")]),
        ("Dr. Blorp said so", [("Blorp", "PERSON")]),
        ("we asked J. R. Smith", [("J. R. Smith", "OTHER")]),
        ("we work at Acme Corp", [("Acme Corp", "ORG")]),
        ("the University of Oxford", [("University of Oxford", "ORG")]),
        ("we saw Bright Foods, Inc. there", [("Bright Foods, Inc", "ORG")]),
        ("he joined Google", [("Google", "ORG")]),
        ("in New York City", [("New York City", "LOCATION")]),
        ("i live in san francisco", [("san francisco", "LOCATION")]),
        ("we moved to Gnarlville", [("Gnarlville", "LOCATION")]),
        ("she gave it to Gnarlville", [("Gnarlville", "OTHER")]),
        ("we hiked around Lake Foo", [("Lake Foo", "LOCATION")]),
        ("I live in Georgia", [("Georgia", "LOCATION")]),
        ("dinner with Georgia", [("Georgia", "PERSON")]),
        ("Our CEO, Mark Lane, quit.", [("CEO", "CONCEPT"), ("Mark Lane", "PERSON")]),
        ("Grace Park said hi", [("Grace Park", "PERSON")]),
        ("my boss Peter Hill left", [("Peter Hill", "PERSON")]),
        ("Dorothy Day told me", [("Dorothy Day", "PERSON")]),
        ("I met Grace Park", [("Grace Park", "OTHER")]),
        ("a mail from Grace Park", [("Grace Park", "PERSON")]),
        ("we like Golden Park", [("Golden Park", "OTHER")]),
        ("we walked in Hyde Park", [("Hyde Park", "LOCATION")]),
        ("we went to Victoria Park", [("Victoria Park", "LOCATION")]),
        ("12 Oak Street is home", [("12", "NUMBER"), ("Oak Street", "LOCATION")]),
        ("I live on Oak Street", [("Oak Street", "LOCATION")]),
        ("the Rhine Valley is green", [("Rhine Valley", "LOCATION")]),
        ("Heathrow Airport is busy", [("Heathrow Airport", "LOCATION")]),
        ("please use rue Shannon", [("Shannon", "LOCATION")]),
        ("I'm leaving Cartolane", [("Cartolane", "OTHER")]),
        ("Cake moved to Thursday", [("Thursday", "DATE")]),
        ("physio on Mondays and Sundays", []),
        ("Go Tuesday 🚀 Release is out", [("Tuesday", "DATE")]),
        ("Christmas in London", [("Christmas", "EVENT"), ("London", "LOCATION")]),
        ("at the Berlin Marathon", [("Berlin Marathon", "EVENT")]),
        ("I use python and Kafka", [("python", "TECHNOLOGY"), ("Kafka", "TECHNOLOGY")]),
        ("my new iPhone 15 broke", [("iPhone 15", "PRODUCT")]),
        ("I speak German", [("German", "CONCEPT")]),
        ("from Room 101 to room 102", [("Room 101", "LOCATION"), ("room 102", "LOCATION")]),
        ("it costs $5,000 or 20%", [("$5,000", "NUMBER"), ("20%", "NUMBER")]),
        ("it costs USD 400 today", [("USD 400", "NUMBER"), ("today", "DATE")]),
        ("we paid NOK 90 and 1,250 CHF", [("NOK 90", "NUMBER"), ("1,250 CHF", "NUMBER")]),
        ("3.5 kg at 14:30", [("3.5 kg", "NUMBER"), ("14:30", "TIME")]),
        ("it was -3.5 degrees", [("-3.5 degrees", "NUMBER")]),
        ("- 5 apples", [("5", "NUMBER")]),
        ("open 9-17 daily", [("9-17", "NUMBER")]),
        ("call +44 20 7946 0958 today", [("+44 20 7946 0958", "NUMBER"), ("today", "DATE")]),
        ("call (555) 123-4567", [("(555) 123-4567", "NUMBER")]),
        ("ring 0151 234 5678, ext 7", [("0151 234 5678", "NUMBER"), ("7", "NUMBER")]),
        ("my site is example.com.", [("example.com", "URL")]),
        ("it is in github.com/acme/app", [("github.com/acme/app", "URL")]),
        ("mail ada.org@corp.com", [("ada.org@corp.com", "EMAIL")]),
        ("in (2019) 1234 came", [("2019", "NUMBER"), ("1234", "NUMBER")]),
        ("at 2pm or 3 pm", [("2pm", "TIME"), ("3 pm", "TIME")]),
        ("yesterday at Tom's", [("yesterday", "DATE"), ("Tom", "PERSON")]),
        ("write to a.b@c.org.", [("a.b@c.org", "EMAIL")]),
        ("see https://a.io/Tom?x=1.", [("https://a.io/Tom?x=1", "URL")]),
        ("go to www.a.io!", [("www.a.io", "URL")]),
    ],
)
def test_what_is_named_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Painting is fun. Dogs are nice. Life's tough.",
        "Thanks! Setbacks helped me. Searching pays.",
        "May I go? I will march on.",
        "i hope you split the bill, it was nice reading you",
        "the apple and the windows",
        "my mum and my boss",
        "LOL OMG BTW",
        "PLEASE DO NOT REPLY TO THIS",
        "open README.md and main.py",
    ],
)
def test_a_capital_alone_is_no_name(text: str) -> None:
    assert found(text) == []


def test_a_text_in_german_does_not_name_its_nouns() -> None:
    text = "Ich habe mit meinem Bruder den neuen Garten in München besucht und der Hund war da."
    assert found(text) == [("München", "LOCATION")]


def test_a_name_has_one_type_in_one_text() -> None:
    text = "Zorblax lives here. I like Zorblax."
    assert found(text) == [("Zorblax", "PERSON"), ("Zorblax", "PERSON")]


def test_names_end_where_sentences_end() -> None:
    assert found("I saw Anna. Boris left.") == [("Anna", "PERSON"), ("Boris", "PERSON")]


def test_near_names_stay_apart() -> None:
    assert found("Iran is far") == [("Iran", "LOCATION")]
    assert ("Iran", "LOCATION") not in found("my friend Tigran is near")


def test_a_weekday_belongs_to_its_date_in_the_year_of_the_text() -> None:
    in_2024 = 1_704_103_200_000  # 1 January, a Monday
    text = "Dentist on Tue Jan 16."
    assert [each.text for each in mentions(text, at_ms=in_2024)] == ["Tue Jan 16"]
