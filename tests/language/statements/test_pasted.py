"""A text that is pasted into a message is not told of who pasted it, and nobody's own words are."""

from __future__ import annotations

from itertools import pairwise

import pytest

from recollect.streams.language.grammar.pasted import pasted
from tests.language.stating import stated

AT_MS = 1_767_607_200_000

LETTER = (
    "Dear Ms Kohl,\n\nI moved to Ghent in May and I work at the harbour. My contract ends in June."
    "\n\nI would like to rent the flat above your bakery.\n\nBest regards,\nTom Reyes"
)
MAIL = (
    "Hi Ada,\n\nWe moved our office to Ghent in May. I am on holiday until Monday.\n\nCheers,\nTom"
)
ESSAY = (
    "My name is Tom Reyes and I was born in Lima. I have worked as a nurse for nine years. In 2019 "
    "I moved to Ghent with my wife. I speak Spanish and Dutch, and I have two children."
)
REPORT = (
    "The harbour of Ghent was built in 1827. It employs nine thousand people. In May the city sold "
    "the northern quay to Acme. My workers moved to Bruges, where the wages are lower."
)
OWN = (
    "I moved to Ghent in May and I work at the harbour now. My contract ends in June. I live above "
    "a bakery with my sister Ana."
)
SHORT = "I moved to Ghent in May. My contract ends in June."
_ABOUT = ("Ghent", "nurse", "Lima", "Acme", "contract", "office", "children", "holiday")


def told(text: str) -> list[str]:
    """Return what is told of the sender, Ada, that stands in the texts above."""
    found = [each.text for each in stated(text, speaker="Ada", at_ms=AT_MS).statements]
    return [each for each in found if any(word in each for word in _ABOUT)]


PASTED = {
    "a letter under a request": f"Can you check this letter?\n\n{LETTER}",
    "a letter under a remark": f"This came today.\n\n{LETTER}",
    "a letter above a question": f"{LETTER}\n\nIs this correct?",
    "a letter above another": f"{LETTER}\n\nWhat do you think of this letter?",
    "a letter to answer": f"{LETTER}\n\nHow should I reply?",
    "a mail under a request": f"Write a reply to this mail\n\n{MAIL}",
    "a mail above a request": f"{MAIL}\n\nPlease reply to this mail for me.",
    "a mail with other line ends": f"{MAIL}\n\nReply to it".replace("\n", "\r\n"),
    "a letter signed in its last line": f"See below.\n\nDear all,\n\n{SHORT}\n\nBest, Tom Reyes",
    "a cover letter": f"Rate it\n\nDear Hiring Manager,\n\n{SHORT}\n\nSincerely,\nTom Reyes",
    "a text above a question": f"{ESSAY}\n\nWhat do you think of this text?",
    "a report above a question": f"{REPORT}\n\nWhat do you think of this text?",
    "a report above a word": f"{REPORT}\n\nSummarise.",
    "an essay above a request": f"{ESSAY}\n\nSummarize this in two sentences",
    "an essay above its grammar": f"{ESSAY}\nIs this grammatically correct?",
    "an essay under a word": f"Summarise\n\n{ESSAY}",
    "an article under a request": f"Please summarise this article\n\n{REPORT}",
    "an essay to translate": f"Translate to French please\n\n{ESSAY}",
    "an essay to proofread": f"can you proofread my essay\n\n{ESSAY}",
    "an essay behind whether it is right": f"Is this text correct? : {ESSAY}",
    "a text to expand": f"Can you expand on the following content\n{REPORT}",
    "a proposal": f"Please give me 5 points to revise this proposal for my class:\nScope:\n{ESSAY}",
    "a mail that came": f"Here is the mail that I got from Tom:\n\n{SHORT}",
    "a message that came": f"I got this message from my landlord:\n{ESSAY}",
    "what somebody sent": f"My landlord sent me this\n{ESSAY}",
    "what a customer sent": f"a customer send me the following \nDear ENG. Roe,\n{SHORT}",
    "between quotation marks": f'What is this about?\n"""\n{ESSAY}\n"""',
    "between rules": f"Shorten it please\n\n---\n{ESSAY}\n---",
    "between tags": f"Improve <text>\n{ESSAY}\n</text>",
    "between fences": f"What does it say?\n```\n{ESSAY}\n```",
    "quoted line by line": "Is he right?\n> I moved to Ghent in May.\n> My contract ends in June.",
    "below headers": f"Can you answer?\n\nFrom: Tom\nSubject: Move\n\n{SHORT}",
}
OWN_WORDS = {
    "a long message": f"{OWN} In July we fly to Lima to see my parents. My brother Tom is a nurse.",
    "and what one thinks": f"{OWN}\n\nWhat do you think?",
    "and what one thinks of a plan": f"{OWN}\n\nWhat do you think of my plan?",
    "and whether it is right": f"{OWN}\n\nIs this right?",
    "a letter of one's own": f"Dear Tom,\n\n{SHORT}\n\nBest regards,\nAda",
    "one that asks whether": f"Dear Tom,\n\n{SHORT}\n\nBest regards,\nAda\n\nIs this right?",
    "one that asks for a reply": f"Hi Tom,\n\n{SHORT}\n\nPlease reply to this mail.\n\nBest,\nAda",
    "one without a name": f"Hi Tom,\n\n{SHORT}",
    "one to another of the name": f"Hi Ada,\n\n{SHORT}\n\nBest,\nA.",
    "one with a postscript": f"{SHORT}\n\nBest,\nAda\n\nPS: Is this correct for you?",
    "one of a shared mailbox": f"Dear parents,\n\n{SHORT}\n\nBest regards,\nCorinne Roy",
    "under a request": f"Can you help me with my budget?\n\n{OWN}",
    "under a request for a plan": f"Please plan my week.\n\n{OWN}",
    "under a request for a text": f"Write a cover letter for me.\n\n{OWN}",
    "about a file": f"Can you review my CV?\n\n{OWN}",
    "above one about a file": f"{OWN}\n\nCan you review my CV?",
    "above one about a report": f"{OWN} I wrote a report on it.\n\nCan you proofread it?",
    "about what to answer": f"Can you help me reply to this mail?\n\n{SHORT} So tell Tom of it.",
    "why it is to be written anew": f"Please rewrite this.\n{SHORT}",
    "options": f"Summarize my options\n\n{OWN}",
    "a situation": f"Please help me with this situation:\n{SHORT}",
    "a situation above": f"{OWN}\n\nCan you summarise this situation?",
    "points on a plan": f"Please give me 5 points on this plan:\n{OWN}",
    "a summary of one's own": "To summarise: I moved to Ghent in May, and work at the port.",
    "news": "I have news: I moved to Ghent in May.",
    "one's story": f"Here is my story: {SHORT}",
    "a message for somebody": "Here is a message for Tom: I moved to Ghent in May.",
    "what a letter says": "I got a letter from the city: my contract in Ghent is prolonged.",
    "what else was sent": "My landlord sent me this cake\nI moved to Ghent in May.",
    "for whom it is translated": "Can you translate this for my mother? She moved to Ghent in May.",
    "between rules": "I moved to Ghent in May.\n\n---\n\nMy contract ends in June.",
    "regards inside": "Tom sends his best regards. I moved to Ghent in May.",
    "dear inside": f"My dear Tom moved out. {SHORT}",
    "after thanks for a text": "Thanks for the text. I moved to Ghent in May, by the way.",
    "paragraphs": f"{SHORT}\n\nMy sister Ana is a nurse in Lima.\n\nThanks,\nAda",
}


@pytest.mark.parametrize("text", PASTED.values(), ids=PASTED)
def test_a_pasted_text_tells_nothing_of_who_pasted_it(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize("text", OWN_WORDS.values(), ids=OWN_WORDS)
def test_what_somebody_says_stays_their_own(text: str) -> None:
    assert any("Ghent" in each for each in told(text))


def test_what_stands_beside_a_pasted_text_is_told() -> None:
    text = f"I live in Turin now. This came from the landlord.\n\n{LETTER}\n\nIs it correct?"
    found = [each.text for each in stated(text, speaker="Ada", at_ms=AT_MS).statements]
    assert any("Turin" in each for each in found)
    assert told(text) == []


def test_an_address_in_a_pasted_text_is_nobodys_here() -> None:
    letter = LETTER.replace("My contract", "My e-mail is tom@example.org. My contract")
    assert stated(letter, speaker="Ada", at_ms=AT_MS).contacts
    shown = stated(f"Can you check this letter?\n\n{letter}", speaker="Ada", at_ms=AT_MS)
    assert shown.contacts == ()
    assert shown.introductions == ()


@pytest.mark.parametrize(
    "text",
    [
        "Hi Tom,\n" + "Thanks,\n" * 20_000,
        "Dear Ada,\n" * 10_000 + "Best,\nTom\n" * 10_000,
        "<a>" * 30_000 + "</a>",
        '"""' * 30_001,
        "---\n" * 20_000,
        "please translate this " * 5_000,
        "i got this text " * 5_000 + ":",
        "summarise " * 20_000 + "\n" + "word " * 20_000,
        "From: \n" * 20_000,
        ":\n",
        "\n\n:",
    ],
    ids=range(11),
)
def test_any_text_is_looked_through(text: str) -> None:
    found = pasted(text, "Ada")
    assert all(0 <= start <= end <= len(text) for start, end in found)
    assert all(one[1] < other[0] for one, other in pairwise(found))


def test_a_stage_direction_in_a_line_of_its_own_is_nobodys_words() -> None:
    direction = "(A strained grunt escapes Ada's lips, as it did in Ghent in May.)"
    (fact,) = told(f"{direction}\n\nI moved to Ghent in March.")
    assert fact.startswith("Ada moved to Ghent in March")
    assert told("(I moved to Ghent in March, by the way.)\n\nHow are you?") != []
    assert told("(The harbour of Ghent has my contract now.)\n\nHow are you?") != []


TAX_LETTER = (
    "Dear Ms. Berg, we invited you to hand in your tax return of 2025. It must be here before "
    "1 May 2026. Ask for more time before that day if you need it."
)


@pytest.mark.parametrize("marks", ['"{}"', "“{}”"])
@pytest.mark.parametrize(
    "before",
    [
        "this came in the post, what do they want:\n\n",
        "Can you make this readable, it goes into the newsletter:\n\n",
    ],
)
def test_a_long_text_between_quotation_marks_in_lines_of_its_own_is_anothers(
    before: str, marks: str
) -> None:
    text = f"{before}{marks.format(TAX_LETTER)}"
    ((start, end),) = pasted(text, "Ada")
    assert text[start:end] == marks.format(TAX_LETTER)


def test_a_few_words_in_quotation_marks_are_not() -> None:
    assert pasted('My motto since 2019:\n\n"Never on a Friday."', "Ada") == []


def test_an_article_behind_the_request_to_rewrite_it_is_anothers() -> None:
    article = "In this article we discuss the daily limit of the app. " * 8
    request = "Add a summary and rewrite exactly this article"
    text = f"{request} with subheadings. {article}"
    assert pasted(text, "Ada") == [(len(request), len(text))]
    assert told(text) == []


def test_what_is_told_of_a_text_in_few_words_is_ones_own() -> None:
    assert pasted("Please rewrite this paragraph for me, I moved to Ghent in March.", "Ada") == []
