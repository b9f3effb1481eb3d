"""The evaluation counts what a reader would count."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.schemas.wire import DateRange, Extraction, Fact, StatementCount
from training.evaluate import Figure, Tally, check
from training.labelled_corpus import LabelledFact, LabelledMessage, LabelledSentence

TEXT = "The boiler man comes on Friday. Lovely weather. We pay 90 euros."


def fact(text: str, *, day: str | None = None, value: str | None = None) -> Fact:
    return Fact(
        id="f",
        text=text,
        as_of="2026-01-05T10:00:00Z",
        when=DateRange(first=day, last=day) if day else None,
        subject="x" if value else None,
        attribute="price" if value else None,
        value=value,
        current=True,
        stability=None,
        entities=[],
        source_event_ids=["m"],
        said=StatementCount(count=1, first="2026-01-05T10:00:00Z", last="2026-01-05T10:00:00Z"),
    )


def figures(facts: Sequence[Fact], labelled: Sequence[LabelledFact]) -> dict[str, float]:
    message = LabelledMessage(
        id="m",
        thread="t",
        at="2026-01-05T10:00:00+00:00",
        sender="Ada",
        text=TEXT,
        sentences=(LabelledSentence(0, 31, 3, "own"), LabelledSentence(32, 47, 0, "quoted")),
        facts=tuple(labelled),
    )
    counted = Tally()
    extraction = Extraction(id="m", facts=list(facts), mentions=[], causes=[])
    counted.count(message, extraction, lambda _: None)
    return {name: figure.value for name, figure in counted.figures().items()}


VISIT = LabelledFact(
    0, "event", "boiler man", "+", (4, 30), "The boiler man comes on Friday.",
    first="2026-01-09", last="2026-01-09",
)  # fmt: skip
PRICE = LabelledFact(0, "price", "we", "+", (48, 63), "They pay 90 euros.", value=(55, 63))


def test_a_fact_with_its_day_and_value_is_found() -> None:
    found = figures(
        [
            fact("The boiler man comes on Friday.", day="2026-01-09"),
            fact("We pay 90 euros", value="90 euros"),
        ],
        [VISIT, PRICE],
    )
    for name in ("kept", "found", "wanted", "days", "slots"):
        assert found[name] == 1
    assert found["leaks"] == found["false"] == 0


def test_a_wrong_day_and_no_value_count_as_missing() -> None:
    found = figures(
        [fact("The boiler man comes on Friday.", day="2026-01-16"), fact("We pay 90 euros")],
        [VISIT, PRICE],
    )
    assert found["found"] == 1
    assert found["days"] == found["slots"] == 0


def test_facts_from_nothing_and_from_quotations_count_as_false() -> None:
    found = figures([fact("Lovely weather today")], [])
    assert found["false"] == 1
    assert found["wanted"] == 0
    assert figures([fact("Ada: Lovely weather in spring.")], [VISIT])["found"] == 0


def test_a_change_within_the_noise_passes() -> None:
    recorded = {"kept": Figure(0.8, 100), "false": Figure(0.2, 100)}
    assert check({"kept": Figure(0.77, 100), "false": Figure(0.23, 100)}, recorded) == []
    worse = check({"kept": Figure(0.7, 100), "false": Figure(0.3, 100)}, recorded)
    assert [line.split(":")[0] for line in worse] == ["kept", "false"]
