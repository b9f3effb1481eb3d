"""Support by day: what lies in several sources on one day is found together."""

from __future__ import annotations

from recollect.schemas.events import Draft
from tests.memory import Memory
from tests.recall.kit import DAY, HOUR, START, ask, cited, say, tell


def test_another_source_of_the_same_day_is_found(words_only: Memory) -> None:
    tell(
        words_only,
        [
            say("Dentist on Elm Street.", "appointment", platform="calendar"),
            say("Paid 40 at the counter.", "paid", platform="push", at=START + 3 * HOUR),
            say("Paid 12 at the counter.", "other", platform="push", at=START + 2 * DAY),
        ],
    )
    assert cited(ask(words_only, "Which dentist did I see?")) == ["appointment", "paid"]
    paid = ask(words_only, "Which dentist did I see?", explain=True)[1]
    assert paid.arms == {"day": 1}


def test_other_chats_of_a_platform_are_not_supported(words_only: Memory) -> None:
    tell(
        words_only,
        [
            say("Dentist on Elm Street.", "dentist", peer_id="a"),
            say("The choir sings.", "choir", by="Bob", peer_id="b", at=START + HOUR),
        ],
    )
    assert cited(ask(words_only, "Which dentist did I see?")) == ["dentist"]


def test_a_day_is_that_of_the_sender(words_only: Memory) -> None:
    # 18:00 and 23:00 of one day in Tokyo; and 4:00 of the next, which in UTC is still the same.
    times = {"dentist": "18:00", "paid": "23:00", "other": "04:00"}
    day = {"dentist": 5, "paid": 5, "other": 6}
    tell(
        words_only,
        [
            say(
                "Dentist on Elm Street." if id_ == "dentist" else f"At the counter: {id_}.",
                id_,
                platform="calendar" if id_ == "dentist" else "push",
                at=f"2026-01-0{day[id_]}T{clock}:00+09:00",  # type: ignore[arg-type]
            )
            for id_, clock in times.items()
        ],
    )
    assert cited(ask(words_only, "Which dentist did I see?")) == ["dentist", "paid"]


def appointment() -> list[Draft]:
    """Return an appointment that is noted days before, and two payments."""
    return [
        say("Dentist on Elm Street, 9 January 2026 at 15:00.", "entry", platform="calendar"),
        say("Paid 40 at the counter.", "paid", platform="push", at=START + 4 * DAY),
        say("Paid 12 at the counter.", "other", platform="push", at=START + 2 * DAY),
    ]


def test_an_appointment_belongs_to_the_day_that_it_names(words_only: Memory) -> None:
    tell(words_only, appointment())
    assert cited(ask(words_only, "Which dentist did I see?")) == ["entry", "paid"]
    # And the other way round: the payment leads to the appointment.
    assert cited(ask(words_only, "What cost 40?"))[:2] == ["paid", "entry"]


def test_days_that_texts_name_follow_new_and_erased_turns(words_only: Memory) -> None:
    choir = "The choir sings on 20 January 2026."
    tell(words_only, [say(choir, "choir", platform="note", at=START + 12 * DAY)])
    tell(words_only, appointment()[1:])
    assert cited(ask(words_only, "Which dentist did I see?")) == []
    tell(words_only, appointment()[:1])
    assert cited(ask(words_only, "Which dentist did I see?")) == ["entry", "paid"]
    words_only.forget("choir")
    assert cited(ask(words_only, "Which dentist did I see?")) == ["entry", "paid"]
    words_only.forget("entry")
    assert "entry" not in cited(ask(words_only, "What cost 40?"))


def test_a_date_of_several_days_supports_nothing(words_only: Memory) -> None:
    _, *payments = appointment()
    tell(words_only, [say("Dentist congress from 8 to 10 January 2026.", "entry"), *payments])
    assert cited(ask(words_only, "Which dentist did I see?")) == ["entry"]
