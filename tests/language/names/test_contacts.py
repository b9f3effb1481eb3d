"""A contact detail belongs to somebody only when the sentence says whose it is."""

from __future__ import annotations

import pytest

from tests.language.stating import stated


def contacts(text: str) -> list[tuple[str, str, str | None]]:
    return [
        (item.kind, item.value, item.owner)
        for item in stated(text, speaker="Ada", at_ms=0).contacts
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My email is Ada.L@Example.COM.", [("email", "ada.l@example.com", None)]),
        ("my new work e-mail: ada@x.org", [("email", "ada@x.org", None)]),
        ("ada@x.org is my email address", [("email", "ada@x.org", None)]),
        ("You can reach me at 555-1234.", [("phone", "5551234", None)]),
        ("Call me at (415) 555-1234", [("phone", "4155551234", None)]),
        ("My phone number is +49 (0)30 123456", [("phone", "+4930123456", None)]),
        ("my number is 0044 20 7946 0000", [("phone", "+442079460000", None)]),
        ("Tom's number is 555 123 4567", [("phone", "5551234567", "Tom")]),
        ("Tom Brandt's email is tom@x.org", [("email", "tom@x.org", "Tom Brandt")]),
        ("You can reach Tom Brandt at tom@x.org", [("email", "tom@x.org", "Tom Brandt")]),
        ("My Discord is CoolGamer42#1234", [("discord_handle", "coolgamer42#1234", None)]),
        ("My Discord is CoolGamer42#1234 btw", [("discord_handle", "coolgamer42#1234", None)]),
        ("my discord is coolgamer", [("discord_handle", "coolgamer", None)]),
        ("I'm @ada_l on Telegram", [("telegram_handle", "ada_l", None)]),
        ("add me on slack as @ada_l", [("slack_handle", "ada_l", None)]),
        ("My website is https://ada.dev/Me.", [("url", "https://ada.dev/Me", None)]),
        ("I have a new phone number. It is now 555-2222.", [("phone", "5552222", None)]),
        ("I changed my number! The new one is 555-2222.", [("phone", "5552222", None)]),
        ("My e-mail has changed. It's ada@x.org", [("email", "ada@x.org", None)]),
        (
            "Reach me at 555-1234 or a@x.org",
            [("phone", "5551234", None), ("email", "a@x.org", None)],
        ),
        (
            "My email is a@x.org and my phone is +1 415 555 1234.",
            [("email", "a@x.org", None), ("phone", "+14155551234", None)],
        ),
    ],
)
def test_an_owner_is_named(text: str, expected: list[tuple[str, str, str | None]]) -> None:
    assert contacts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "info@x.org answers fast",
        "I have a new phone number. Tell info@x.org.",
        "I have a new phone. It is now 1234567 seconds old, they say.",
        "Tom has a new phone number. It is now 555-2222.",
        "I need a number. I have 555 and so on. It is now 555-2222.",
        "His number is 555-9876",
        "Is your number 555-9876?",
        "my email is not a@x.org",
        "Your email is a@x.org",
        "call support at 555-1234567",
        "We sold 1234567 tickets",
        "my discord is down",
        "my discord is down today",
        "I am on Telegram a lot",
        "I talked to Tom on Slack",
        "my slack is great",
        "> my email is a@x.org",
    ],
)
def test_nobody_is_named(text: str) -> None:
    assert contacts(text) == []


def test_an_address_without_an_owner_is_still_a_mention() -> None:
    (statement,) = stated("I wrote to info@x.org twice", speaker="Ada", at_ms=0).statements
    assert [(item.text, item.type) for item in statement.mentions] == [("info@x.org", "EMAIL")]


def test_a_contact_is_where_it_says() -> None:
    text = "Hi!  My email is Ada@X.org, ok"
    (contact,) = stated(text, speaker=None, at_ms=0).contacts
    assert text[contact.start : contact.end] == "Ada@X.org"


def test_nothing_inside_a_contact_is_a_name_or_a_number() -> None:
    for text in ("My number is 555 123 4567.", "My IRC nick is CoolGamer42#1234."):
        (statement,) = stated(text, speaker="Ada", at_ms=0).statements
        assert [item.text for item in statement.mentions if item.text != "IRC"] == []


def test_what_it_is_is_said_where_only_the_sentence_before_says_it() -> None:
    said = stated("I have a new number. It is now 555-2222.", speaker="Ada", at_ms=0).statements
    assert said[-1].text == "Ada's phone number is now 555-2222."
    assert said[-1].claim is not None
    assert (said[-1].claim.attribute, said[-1].claim.value) == ("phone", "5552222")
