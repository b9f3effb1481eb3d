"""A message becomes facts that stand on their own, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from recollect.schemas.attributes import SINGLE_VALUED
from recollect.streams.language.grammar.analysis import Analysis, Claim
from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.statements import clause_salience
from tests.language.stating import stated

# A Friday.
AT = int(datetime(2026, 5, 8, 13, 56, tzinfo=UTC).timestamp() * 1000)


def read(text: str, speaker: str | None = "Ada") -> Analysis:
    return stated(text, speaker=speaker, at_ms=AT)


def facts(text: str, speaker: str | None = "Ada") -> list[str]:
    return [statement.text for statement in read(text, speaker).statements]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I moved to Berlin yesterday.", "Ada moved to Berlin yesterday (2026-05-07)."),
        ("Last week we hiked.", "Last week (2026-04-27 to 2026-05-03) Ada and others hiked."),
        ("In June we hike.", "In June (June 2026) Ada and others hike."),
        (
            "I'll hike from July to August.",
            "Ada will hike from July to August (July to August 2026).",
        ),
        ("Last year I hiked.", "Last year (2025) Ada hiked."),
        ("Next week I hike.", "Next week (11-17 May 2026) Ada hikes."),
        ("Yesterday's lecture was dull.", "Ada: Yesterday's (2026-05-07) lecture was dull."),
        ("I fly on May 20 at 2pm.", "Ada flies on May 20 (2026-05-20) at 2pm."),
        ("I was born on 3 May 1990.", "Ada was born on 3 May 1990."),
        ("I  love\n tea", "Ada loves tea."),
        ("Ada likes tea.", "Ada likes tea."),
        ("I'm vegan", "Ada is vegan."),
        ("I have two dogs", "Ada has two dogs."),
        ("I lost my job", "Ada lost Ada's job."),
        ("Oh, I've been to Paris!", "Ada has been to Paris."),
        ("我昨天搬到了柏林。", "Ada: 我昨天搬到了柏林。"),
    ],
)
def test_a_fact_names_its_speaker_and_its_days(text: str, fact: str) -> None:
    assert facts(text.replace("\n tea", " tea"))[0] == fact


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Tom is fine, he lives in Bonn.", [None, ("Tom", "home", "Bonn")]),
        (
            "We had a lot of fun, and I work at Bosch.",
            [None, ("Ada", "employer", "Bosch")],
        ),
    ],
)
def test_a_clause_that_fills_a_slot_is_a_statement(
    text: str, claims: list[tuple[str, str, str] | None]
) -> None:
    found = [each.claim for each in read(text).statements]
    assert [each and (each.subject, each.attribute, each.value) for each in found] == claims


def test_a_statement_keeps_the_names_of_one_that_it_repeats() -> None:
    (found,) = read("I met Tom Weber at the fair in Ghent. It was very loud.").statements
    assert [each.text for each in found.mentions] == ["Tom Weber", "Ghent"]
    assert found.sentence == "I met Tom Weber at the fair in Ghent. It was very loud."


def test_the_addressee_of_a_vocative_is_not_the_assistant() -> None:
    said = "Maria, I'll bring you the keys."
    (found,) = stated(said, speaker="Ada", addressee="the assistant", at_ms=AT).statements
    assert "assistant" not in found.text


def test_the_addressee_is_no_part_of_what_the_sender_does() -> None:
    assert facts("Maria I bring the keys on Monday.", "Ada")[0].startswith("Ada brings the keys")
    assert "Maria" in facts("Maria my cousin brings the keys on Monday.", "Ada")[0]


@pytest.mark.parametrize("speaker", ["Al", "Will"])
def test_a_name_within_a_word_or_a_verb_names_nobody(speaker: str) -> None:
    said = "Already moved to Rome with Bob." if speaker == "Al" else "Will do that with Bob."
    assert facts(said, speaker) == [f"{speaker}: {said}"]


def test_without_a_speaker_the_fact_is_the_sentence() -> None:
    assert facts("I love tea and cake.", None) == ["I love tea and cake."]


@pytest.mark.parametrize(
    "text",
    [
        "Hey Tom! How are you?",
        "Good morning my treasures.",
        "Dear parents of 3B,",
        "Is Pascal driving you or not",
        "👍",
        "Did you move to Berlin?",
        "where do you live",
        "You moved to Berlin, right?",
        "> I moved to Berlin.",
        "```\nmoved = home(Berlin)\n```",
        "String bucket = client.open(bucket);",
        "+----+----+----+",
        "",
    ],
)
def test_questions_quotations_and_code_state_nothing(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I moved to Berlin yesterday.", Claim("Ada", "home", "Berlin")),
        ("We live in Portland, Oregon.", Claim("Ada", "home", "Portland")),
        ("I've moved to Munich with Anna.", Claim("Ada", "home", "Munich")),
        ("Actually, I live in Bonn now.", Claim("Ada", "home", "Bonn")),
        ("Tigran moved to Yerevan in 2019.", Claim("Tigran", "home", "Yerevan")),
        ("I live in the United States.", Claim("Ada", "home", "United States")),
        ("I work for the Bank of America.", Claim("Ada", "employer", "Bank of America")),
        ("I just started a new job at Siemens.", Claim("Ada", "employer", "Siemens")),
        ("I joined Google in January.", Claim("Ada", "employer", "Google")),
        ("I'm a senior software engineer.", Claim("Ada", "role", "senior software engineer")),
        ("Tom works as a nurse in Graz.", Claim("Tom", "role", "nurse")),
        ("My wife is called Sarah.", Claim("Ada", "partner", "Sarah")),
        ("My birthday is May 3.", Claim("Ada", "birthday", "--05-03")),
        ("Tom's birthday is June 12, 1990.", Claim("Tom", "birthday", "1990-06-12")),
        ("I was born on 3 May 1990 in Graz.", Claim("Ada", "birthday", "1990-05-03")),
        ("My email is A@x.org.", Claim("Ada", "email", "a@x.org")),
        ("Tom's number is 555 123 4567.", Claim("Tom", "phone", "5551234567")),
    ],
)
def test_a_plain_sentence_makes_a_claim(text: str, claim: Claim) -> None:
    assert read(text).statements[0].claim == claim
    assert claim.attribute in SINGLE_VALUED


@pytest.mark.parametrize(
    "text",
    [
        "I don't live in Berlin anymore.",
        "I used to live in Hamburg.",
        "I lived in Hamburg for years.",
        "If I moved to Berlin, I would be glad.",
        "Tom says I live in Berlin.",
        "I live in Tom's house.",
        "The office moved to Berlin.",
        "Google moved to Berlin.",
        "I moved to Room 203.",
        "I moved to Google.",
        "I live in Berlin and Hamburg.",
        "I joined Facebook in 2009.",
        "I was a teacher in Graz.",
        "Mom's birthday is May 3.",
        "My birthday is next week.",
        "I work at home every day.",
        "Maybe I live in Berlin tomorrow.",
    ],
)
def test_a_sentence_that_is_not_plain_makes_none(text: str) -> None:
    assert [statement.claim for statement in read(text).statements if statement.claim] == []


def test_without_a_speaker_the_first_person_claims_nothing() -> None:
    assert read("I moved to Berlin yesterday.", None).statements[0].claim is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Actually, I live in Bonn.", True),
        ("Correction: the number is 42", True),
        ("Sorry, I meant Tuesday", True),
        ("*Berlin, the meeting is there", True),
        ("I actually live in Bonn.", False),
    ],
)
def test_a_correction_says_so_at_its_start(text: str, expected: bool) -> None:
    assert [item.corrects for item in read(text).statements] == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How are you?", True),
        ("Really?!", True),
        ("You moved?? 😀", True),
        ("where do you live", True),
        ("can you send it", True),
        ("你好吗\uff1f", True),
        ("When I was young, I sang.", False),
        ("What a day!", False),
        ("Can I just say that this is great.", False),
        ("I asked where you live", False),
    ],
)
def test_a_question_asks(text: str, expected: bool) -> None:
    assert is_question(text) is expected


def test_the_speakers_own_name_is_a_persons() -> None:
    (statement,) = read("We all know that Zorblax likes tea.", "Zorblax").statements
    assert [(item.text, item.type) for item in statement.mentions] == [("Zorblax", "PERSON")]


def test_the_speakers_own_name_may_be_that_of_a_country() -> None:
    (statement,) = read("I am Iran, the new baker.", "Iran Lindgren").statements
    assert [(item.text, item.type) for item in statement.mentions] == [("Iran", "PERSON")]
    (statement,) = read("I flew from Iran yesterday.", "Iran Lindgren").statements
    assert ("Iran", "LOCATION") in [(item.text, item.type) for item in statement.mentions]


@pytest.mark.parametrize(
    "text",
    [
        'He said "Hi there. I live in Berlin. My email is a@x.org."',
        "She wrote: my email is a@x.org",
        "She wrote me this:\nI live in Berlin.",
    ],
)
def test_the_words_of_others_claim_nothing_for_the_speaker(text: str) -> None:
    analysis = read(text)
    assert [item.claim for item in analysis.statements if item.claim] == []
    assert analysis.contacts == ()


def test_an_address_in_quotes_is_the_speakers() -> None:
    assert [item.value for item in read('My email is "a@x.org"').contacts] == ["a@x.org"]


@pytest.mark.parametrize(
    "text",
    [
        "Since we have two Annas in the choir (hi, Anna's sister!), I go by Nan from now on.",
        "Because we have two Annas in the choir (hi, Anna is here too), I go by Nan from now on.",
        "I sold my boat (it was old, therefore nobody wanted to sail it) to my neighbour Paul.",
    ],
)
def test_a_sentence_is_not_cut_within_brackets(text: str) -> None:
    found = stated(text, speaker="Ada", at_ms=0)
    assert found.statements
    for statement in found.statements:
        assert statement.sentence.count("(") == statement.sentence.count(")")


@pytest.mark.parametrize("speaker", ["CORP\\jsmith", "a\\1b", "\\g<0>"])
def test_a_name_with_backslashes_is_told_as_it_is(speaker: str) -> None:
    analysis = stated(
        "I have a new number. It's 555-123-4567.", speaker=speaker, at_ms=1_780_000_000_000
    )
    assert f"{speaker}'s phone number is 555-123-4567." in [one.text for one in analysis.statements]


@pytest.mark.parametrize(
    "text",
    [
        "Let me correct this: I moved to Ghent in May.",
        "Please answer this question: am I late? I moved to Ghent in May.",
        "To answer your question: I moved to Ghent in May.",
    ],
)
def test_who_corrects_or_answers_speaks_of_oneself(text: str) -> None:
    assert any("moved to Ghent" in fact for fact in facts(text))


@pytest.mark.parametrize(
    "text",
    [
        "Tom wrote: We moved our office in May. My flat has a balcony.",
        "Tom wrote: We moved our office in May, and my flat has a balcony.",
        'Tom said "We moved our office in May. My flat has a balcony." and hung up.',
        '"We moved our office in May. My flat has a balcony," said Tom.',
    ],
)
def test_what_somebody_else_goes_on_to_say_is_not_told_of_the_speaker(text: str) -> None:
    assert not any("Ada's flat" in fact or "Ada: My flat" in fact for fact in facts(text))


def test_a_message_in_quotation_marks_is_its_writers() -> None:
    assert any("flat has a balcony" in fact for fact in facts('"I moved. My flat has a balcony."'))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "Volunteering at the shelter made me feel useful in May 2025.",
            "Volunteering at the shelter made Ada feel useful in May 2025.",
        ),
        (
            "Planning a trip to Oslo that was cancelled twice.",
            "Ada is planning a trip to Oslo that was cancelled twice.",
        ),
    ],
)
def test_what_somebody_does_may_be_what_is_told_of(text: str, fact: str) -> None:
    assert facts(text) == [fact]


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("I'm sure if I keep at it, I'll open my own shop in Turin.", "Ada will open"),
        (
            "A relief, I suppose, knowing that the Turin flat is still free.",
            "Ada supposes,",
        ),
        (
            "I know what to pack for the commute to Turin and my lunch breaks.",
            "Ada's lunch breaks.",
        ),
    ],
)
def test_a_part_that_says_something_else_alone_is_not_told_alone(text: str, never: str) -> None:
    assert not any(fact.startswith(never) for fact in facts(text))


def test_what_is_called_by_a_day_is_none() -> None:
    (fact,) = facts("I run the 'Focus Friday' meeting at Halden.")
    assert "2026" not in fact
    assert any("(2026-05-15)" in each for each in facts("I start at Halden on 'Friday'."))


def test_who_somebody_is_is_no_clause_of_its_own() -> None:
    told = facts(
        "Then Dan takes Junie to the pool on Friday, my brother Dan, not Whit, and I cook."
    )
    assert any("takes Junie to the pool" in fact and "brother Dan" in fact for fact in told)
    assert not any(fact.startswith("Ada: my brother Dan, not Whit, and I") for fact in told)


def test_a_sentence_is_not_cut_where_a_half_begins_that_hangs_on_the_next() -> None:
    told = facts('The name on the certificate is "Kudi Limited" but for the app, we chose "Kudi".')
    assert not any(fact.rstrip(".").endswith("for the app") for fact in told)
    assert any("for the app" in fact and "chose" in fact for fact in told)


def test_a_date_over_two_lines_is_one_day() -> None:
    (statement,) = read("The review is on 14\nJune.").statements
    assert [(each.first, each.last) for each in statement.dates] == [("2026-06-14", "2026-06-14")]


def test_a_fragment_is_no_antecedent_of_the_next_sentence() -> None:
    assert facts("June. She is scared of dogs.")[-1] == "Ada: She is scared of dogs."


def test_a_sentence_before_that_names_nobody_does_not_explain_a_pronoun() -> None:
    found = facts("Ada has no new pills for the week. He got the date right at the clinic.", "Ada")
    assert not any("new pills" in each and "date right" in each for each in found)
    found = facts("My doctor saw the new pills today. He got the date right at the clinic.", "Ada")
    assert any("doctor" in each and "date right" in each for each in found)


def test_what_is_said_twice_is_at_its_first_place() -> None:
    (found,) = read("I rent a boat in Ghent.\nI rent a boat in Ghent.").statements
    assert (found.start, [each.start for each in found.mentions]) == (0, [17])


def test_a_part_that_was_said_long_before_does_not_stretch_a_statement() -> None:
    text = "I rent a boat. Tom sold his van in Ghent. I rent a boat with a red sail."
    starts = [(each.start, each.end) for each in read(text).statements]
    assert starts == sorted(starts)
    assert all(end <= start for (_, end), (start, _) in pairwise(starts))


def test_what_is_kept_whole_is_not_judged_by_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(clause_salience, "salience_of")
    assert facts("I sold the yacht.") == ["Ada sold the yacht."]


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("Tom quit his job and moved to Graz.", [("Ada: Tom moved to Graz.", "home", "Graz")]),
        ("I sold my boat and live in Graz.", [("Ada lives in Graz.", "home", "Graz")]),
        (
            "Eva Lang, my aunt, lives in Graz and works as a nurse.",
            [
                ("Eva Lang, Ada's aunt, lives in Graz.", "home", "Graz"),
                ("Ada: Eva Lang works as a nurse.", "role", "nurse"),
            ],
        ),
        ("I think that Tom left and moved to Graz.", []),
        ("The man who left us and moved to Graz is my uncle.", []),
    ],
)
def test_a_part_that_makes_a_claim_is_a_fact_of_its_own(
    text: str, slots: list[tuple[str, str, str]]
) -> None:
    found = [(each.text, each.claim) for each in read(text).statements]
    filled = [
        (told, claim.attribute, claim.value)
        for told, claim in found
        if claim is not None and claim.attribute in SINGLE_VALUED
    ]
    assert filled == slots
    assert len(found) > len(slots)
