"""Which texts are clear: complete, and understood without the words around them."""

from __future__ import annotations

import re
from itertools import pairwise

from recollect.streams.consolidation.days import names_days
from recollect.streams.consolidation.nouns import is_noun
from recollect.streams.consolidation.repeated_names import name_expression
from recollect.streams.consolidation.units import without_link
from recollect.streams.consolidation.word_classes import word_class
from recollect.streams.language.grammar.verbs import BASES, THIRDS, THIRDS_ALONE, is_past
from recollect.streams.language.names.first_names import gender_of_name
from recollect.streams.language.references.named_referents import DETERMINERS, SOMEBODY
from recollect.streams.language.references.standing_alone import left_open
from recollect.text.lexicon import (
    AUXILIARIES,
    FILLERS,
    FUNCTION_WORDS,
    MONTHS,
    NOT_PAST,
    PREPOSITIONS,
    WEEKDAYS,
    word_set,
)
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import bare, tokenise

FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|we|us|our|ours)\b|\bI['’]", re.IGNORECASE)
SECOND_PERSON = re.compile(r"\byou(?:r|rs)?\b", re.IGNORECASE)
_FIRST_PERSON_SUBJECT = re.compile(r"\b(?:I|[Ww]e)\b|\A(?:My|Our|my|our) ")
#: Opens with a pronoun whose antecedent stands elsewhere.
DANGLING = re.compile(
    r"(?:and |but |so |then |also )?(?:it|its|that|this|they|them|their|those|these|he|she|his|her)"
    r"\b(?!\s+(?:is|was)\s+\w+ing\b)",
    re.IGNORECASE,
)
#: After these, a change is not what a sentence says of its subject.
SUBORDINATE = re.compile(
    r"\b(?:since|because|if|when|while|who|which|where|how|that|although|though|whether|unless|until|"
    r"as|before|after)\b",
    re.IGNORECASE,
)
#: Refers to something in the text before: "this approach".
_ANAPHORIC = re.compile(
    r"\b(?:this|these|those) (?!(?:morning|afternoon|evening|night|day|weekend|week|month|year|"
    r"spring|summer|autumn|fall|winter|\w+day|one|past|coming|is|was|are|were|who|of|with|to)s?\b)[a-z]",
    re.IGNORECASE,
)
#: Leaves out what is counted: "plans a few".
_COUNTED = re.compile(
    r"\b(?:a few|several|a couple|another|both|one)\W*\Z|\bone (?:later|soon|too)\b|"
    r"\bthe other (?:one|two|three|ones)\b",
    re.IGNORECASE,
)
#: Asks for something, stops before its end, or has two days where one was meant.
_NOT_A_STATEMENT = re.compile(
    r"\bplease\b|\b(?:is|are|was|were) (?:yesterday|to(?:day|night|morrow)|(?:last|next|this) \w+)"
    r"(?: \w+)? \(\d{4}[^)]*\)\W*\Z|\b(?:is|are|was|were|be|the|an?|of|and|or|my|our)\W*\Z|\)\s*\(",
    re.IGNORECASE,
)
#: The opening of a clause that belongs to the words before it.
_RELATIVE_CLAUSE = re.compile(r"(?:and |but )?(?:which|who|whom|whose)\b", re.IGNORECASE)
#: Speaks of the conversation with an assistant.
_ASSISTANT = re.compile(r"\bthe assistant\b", re.IGNORECASE)
#: A thing that only the words before name: "a friend made it".
_OBJECT = re.compile(
    r"\b(?P<verb>[^\W\d_]+) it\b(?! (?:to|that|up|off|through|out|home|down|when|if|a day|easy|"
    r"easier|hard|harder|difficult|official|happen|possible|impossible|is|was)\b)",
    re.IGNORECASE,
)
#: An entry of a calendar, a log or a numbered list.
_ENTRY = re.compile(r"\A(?:\d{4}-\d\d|\d{1,2}[.):])|(?:[;,]\s*|:\s+)\d{1,2}[.)]?\Z")
_TIMES_OF_DAY = re.compile(r"\(\d{4}-\d\d-\d\d \d\d:\d\d")
#: A clause that says when, why or of what, up to its comma.
_SUBORDINATE_CLAUSE = re.compile(
    r"\b(?:which|who|whom|whose|that|where|when|while|if|because|since|as|although|though|until|"
    r"unless|before|after)\b[^,;]*,?",
    re.IGNORECASE,
)
#: Opens like a part of a sentence, or points at something.
FRAGMENT = re.compile(
    r"(?:check out|look at|what a|how|not|regarding|"
    r"(?:things|stuff|something|anything) (?:like|that))\b|"
    r".*\b(?:here(?:'s|’s| is| are) |(?:take|have) a look\b)",
    re.IGNORECASE,
)
#: A passing intention, which says little later.
INTENTION = re.compile(
    r"\A(?:[\w'’-]+ ){1,3}?(?:(?:just|now|also|really|still) )?"
    r"(?:(?:is|are) (?:(?:just|now|also|really|still) )?(?:ready|about|going|keen) to|wants? to|"
    r"needs? to|would like to|will)\b"
)
#: A name by which somebody is called, if the word is one.
_CALLED = re.compile(r"(?:\A(?=(\w+), )|, (?=(\w+)[.!?]*\Z))")
_VERBS = BASES | THIRDS
_FINITE = AUXILIARIES - word_set("be been being doing done having let lets get gets got")
_SHORT_VERB = re.compile(r"n't\Z|\A(?:it|that|he|she|there|what|who|here)'s\Z|'(?:m|re|ve|ll|d)\Z")
_BEFORE_NOUNS = PREPOSITIONS | word_set(
    "a an the my our your his her its their no other some any all this these those every each "
    "several many more new"
)
#: What follows is an entry of a list, or a text that somebody pasted.
#: Days of the week may be listed after a clause: "Ada runs twice a week: Mondays and Fridays".
_NO_WEEKDAY = r"(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b)"
_PASTED = re.compile(rf":\s+{_NO_WEEKDAY}[*\"“'A-Z]|\*\*|\A[^.!?:]{{1,40}}:\s+(?=\S){_NO_WEEKDAY}")
_PAIRS = (("(", ")"), ("“", "”"), ("[", "]"))
#: Before a participle: "the fee will be paid".
_AUXILIARY = word_set("be been being is are was were has have had get gets got")
#: A capitalised word that opens a text before a comma, and is no part of a name.
_OPENINGS = FUNCTION_WORDS | STOP_WORDS | FILLERS | frozenset([*WEEKDAYS, *MONTHS])
#: The pronouns of a gender: as a subject, and the others.
_PRONOUNS = {"m": ("he", "his|him|himself|themselves"), "f": ("she", "hers?|herself|themselves")}

_OF_GENDER = {"m": word_set("he his him himself"), "f": word_set("she her hers herself")}


def has_first_or_second_person(text: str) -> bool:
    """Return whether a text speaks of its speaker, or of whom it is said to."""
    return FIRST_PERSON.search(text) is not None or SECOND_PERSON.search(text) is not None


def is_clear(text: str, name: str, speaker: str) -> bool:
    """Return whether a text is complete, and says what its pronouns refer to.

    `name`: of the entity in the heading; `speaker`: who said the text in these words, or "".
    """
    text = without_link(text)
    if not is_balanced(text):
        return False
    if _PASTED.search(text) or _ENTRY.search(text) or not (names_days(text) or has_verb(text)):
        return False
    if text.count('"') % 2 or DANGLING.match(text) or FRAGMENT.match(text):
        return False
    if _RELATIVE_CLAUSE.match(text) or _ASSISTANT.search(text):
        return False
    if _ANAPHORIC.search(text) or _COUNTED.search(text) or _NOT_A_STATEMENT.search(text):
        return False
    if speaker and (re.search(name_expression(speaker), text) or not _is_statement(text)):
        return False
    if name and not speaker:
        if _is_addressed(text, name) or _is_entry(text) or _is_joined_wrongly(text, name):
            return False
        text = _with_own_pronouns(text, name)
    if any(not _names_thing(text[: found.end("verb")]) for found in _OBJECT.finditer(text)):
        return False
    tokens = tokenise(text)
    return left_open(tokens, 0, len(tokens.words), (), 0) not in ("thing", "part")


def is_balanced(text: str) -> bool:
    """Return whether a text closes as many brackets and quotation marks as it opens."""
    return all(text.count(opening) == text.count(closing) for opening, closing in _PAIRS)


def _is_statement(text: str) -> bool:
    """Return whether quoted words state something of the speaker, or tell what happened.

    Entries of a calendar, a log or a to-do list do not, nor does what is said to somebody.
    """
    if any(gender_of_name((at[1] or at[2]).lower()) for at in _CALLED.finditer(text)):
        return False
    if _TIMES_OF_DAY.search(text) or is_order(text) or not has_verb(text):
        return False
    if _FIRST_PERSON_SUBJECT.search(text):
        return True
    words = tokenise(text).lowers
    happened = (
        is_past(word) and word not in NOT_PAST and before not in _AUXILIARY
        for before, word in pairwise(words)
    )
    is_sentence = words[0] in DETERMINERS
    return is_sentence and (FIRST_PERSON.search(text) is not None or any(happened))


def _is_joined_wrongly(text: str, name: str) -> bool:
    """Return whether a name stands twice as the subject, or only as the object of an unnamed one.

    "Ada is starting now, Ada will row" and "Had lunch with Ada": it was somebody else who had.
    """
    own = name_expression(name)
    if re.match(rf"{own} (?:is|are) (?:{own}|\w+ing\b[^,]*, {own})", text):
        return True
    first = next(iter(tokenise(text).lowers), "")
    is_subject = re.match(own, text) is not None
    if is_subject or not is_past(first) or first in NOT_PAST:
        return False
    return re.search(rf"{own}['’]s?\b", text) is None


def _is_entry(text: str) -> bool:
    """Return whether a text begins with a verb in its base form that is no noun: "Buy hay"."""
    first = next(iter(tokenise(text).lowers), "")
    return word_class(first) == "verb" and first in BASES and not _TIMES_OF_DAY.search(text)


def _is_addressed(text: str, name: str) -> bool:
    """Return whether a text begins or ends with the name of another, to whom it was said."""
    called = re.search(r"(\w+), ([^\W\d_]\w+)[.!?]*\Z", text)
    if called and called[1].lower() not in SOMEBODY and gender_of_name(called[2].lower()):
        return called[2][0].isupper()
    opening = re.match(rf"([^,.;:()]{{1,40}}), (?={name_expression(name)})", text)
    if opening is None:
        return False
    words = tokenise(opening[1])
    if not words.words or not words.words[0][0].isupper():
        return False
    if any(word[0].islower() for word in words.words) or not _OPENINGS.isdisjoint(words.lowers):
        return False
    if len(words.words) == 1:
        return (
            words.words[0].isupper()
            or words.lowers[0] in SOMEBODY
            or gender_of_name(words.lowers[0]) is not None
        )
    return len(words.words) < 4


def _with_own_pronouns(text: str, name: str) -> str:
    """Return a text in the first person of the entity with this name."""
    text = re.sub(rf"{name_expression(name)}(['’]s\b)?", lambda at: "my" if at[1] else "I", text)
    gender = gender_of_name(name.split()[0].lower()) or _only_gender(text)
    subject, others = _PRONOUNS.get(gender or "", ("", "themselves"))
    text = re.sub(rf"\b(?:{subject})\b", "I", text) if subject else text
    return re.sub(rf"\b(?:{others})\b", "my", text)


def _only_gender(text: str) -> str | None:
    """Return the gender of all pronouns in a text, its entity being "I"; None if it names others.

    "I broke his wrist" was "Pim broke his wrist".
    """
    tokens = tokenise(text)
    for place, (word, lower) in enumerate(zip(tokens.words, tokens.lowers, strict=True)):
        is_person = bare(lower) in SOMEBODY or gender_of_name(bare(lower)) is not None
        if is_person or (place and word[0].isupper() and lower not in ("i", *WEEKDAYS, *MONTHS)):
            return None
    used = {gender for gender, words in _OF_GENDER.items() if not words.isdisjoint(tokens.lowers)}
    return used.pop() if len(used) == 1 else None


def _names_thing(text: str) -> bool:
    """Return whether a text names something besides persons."""
    return any(
        is_noun(lower)
        and bare(lower) not in SOMEBODY
        and gender_of_name(lower) is None
        and lower not in FUNCTION_WORDS
        and lower not in STOP_WORDS
        and lower not in FILLERS
        for lower in tokenise(text).lowers[:-1]
    )


def has_verb(text: str) -> bool:
    """Return whether a text has a main verb after its first word, judged by its form."""
    tokens = tokenise(_SUBORDINATE_CLAUSE.sub("…,", text) if SUBORDINATE.search(text) else text)
    for place, lower in enumerate(tokens.lowers[1:], start=1):
        before = tokens.lowers[place - 1]
        if lower in _FINITE or is_past(lower) or lower in THIRDS_ALONE or _SHORT_VERB.search(lower):
            return True
        if lower in _VERBS and before not in _BEFORE_NOUNS:
            return True
        # "Ada brushes the horse"
        if tokens.words[place - 1][0].isupper() and lower[-1] == "s" and place == 1:
            return True
    return False


def is_order(text: str) -> bool:
    """Return whether a text begins with the base form of a verb, as an entry of a to-do list."""
    first = next(iter(tokenise(text).lowers), "")
    return first in BASES or word_class(first) == "verb"
