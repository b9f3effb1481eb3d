"""Split a text into its questions, and resolve references between them.

English only. "Where did Ann move, and what does she do now?" is split before a coordinated question
word, and a text of several sentences after each question mark. Any other text is one question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from recollect.schemas.wire import Budget
from recollect.text.lexicon import PHATIC, word_set
from recollect.text.sentences import sentences
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

#: The maximum number of questions in one text. Each costs as much as a query. The last one includes
#: the rest of the text.
MAX_SUB_QUESTIONS: dict[Budget, int] = {"low": 2, "mid": 3, "high": 4}

# A longer text was probably pasted, and is not split.
_MAX_WORDS = 64

_QUESTION_WORD = r"(?:what|where|who|whom|whose|when|why|how|which)"
_VERB = (
    r"(?:do|does|did|am|is|are|was|were|has|have|had|can|could|will|would|shall|should|might|must)"
    r"(?:n['’]t)?"
)
_SUBJECT = r"(?:i|you|he|she|it|we|they|the|a|an|my|your|his|her|our|their)"
_JOIN = r"(?:[,;]\s*|\s)(?:and|but|or|plus)\s+(?:(?:also|then)\s+)?"

_PERSONS = word_set("he she him her his hers himself herself they them their theirs")
_THINGS = word_set("it its that this those these there then one ones")
_SPEAKERS = word_set("i me my mine we us our you your")

# A quick test: a text without a match has nothing to split.
_JOINED_QUESTION = re.compile(rf"{_JOIN}{_QUESTION_WORD}\b", re.IGNORECASE)
_POSSIBLE_BOUNDARY = re.compile(
    rf"(?P<join>{_JOIN}|,\s*)(?={_QUESTION_WORD}\b(?!\s+to\b))", re.IGNORECASE
)
_ANY_QUESTION_WORD = re.compile(rf"\b{_QUESTION_WORD}\b", re.IGNORECASE)
# The verb before its subject: "what does she", "how many cats has Ann", "who's".
_VERB_AHEAD = (
    rf"{_QUESTION_WORD}(?:['’](?:s|re|d|ll|ve)\b|"
    rf"(?:\s+(?!{_SUBJECT}\b)[\w'’-]+){{0,3}}?\s+{_VERB}\b)"
)
_INVERTED = re.compile(_VERB_AHEAD, re.IGNORECASE)
_BEGINS_AS_QUESTION = re.compile(rf"(?:who|{_VERB})\b|{_VERB_AHEAD}", re.IGNORECASE)
_LEAD_IN = re.compile(
    r"(?:(?:and|but|or|plus|so|also|ok|okay|oh|hey|hi|well)\b[\s,]*)+", re.IGNORECASE
)
_VERB_FIRST = re.compile(rf"{_VERB}\b", re.IGNORECASE)
# "Do you remember?" and "Can you help me?" ask for nothing that the memory could have.
_ADDRESSES_LISTENER = re.compile(rf"{_VERB}\s+you\b", re.IGNORECASE)


def sub_questions(text: str, budget: Budget) -> list[str]:
    """Return the questions in a text, in order, or the text itself if it is one question.

    If the budget allows fewer, the last one includes the rest.
    """
    found = split(text)
    last = MAX_SUB_QUESTIONS[budget] - 1
    found[last:] = [" ".join(found[last:])] if found[last:] else []
    return found


def split(text: str) -> list[str]:
    """Return all questions in a text, in order, or the text itself if it is one question."""
    if text.count("?") < 2 and _JOINED_QUESTION.search(text) is None:
        return [text]
    if len(text.split()) > _MAX_WORDS:
        return [text]
    questions: list[str] = []
    pending = ""
    for sentence in _sentences(text):
        pending = f"{pending} {sentence}".strip()
        *before, last = _split_sentence(sentence)
        if before:
            # Text before the first question belongs to that question.
            prefix = pending[: len(pending) - len(sentence)]
            questions += [f"{prefix}{before[0]}".strip(), *before[1:], last]
            pending = ""
        elif _is_answerable_question(sentence):
            questions.append(pending)
            pending = ""
    if not questions:
        return [text]
    if pending:
        questions[-1] = f"{questions[-1]} {pending}"
    return questions if len(questions) > 1 else [text]


def content_words(text: str) -> list[str]:
    """Return the words of a question as written, without stop words and phatic words."""
    tokens = tokenise(text)
    return [
        word
        for word, lower in zip(tokens.words, tokens.lowers, strict=True)
        if lower not in STOP_WORDS and lower not in PHATIC
    ]


def resolve_references(
    questions: Sequence[str], names: Callable[[str], Sequence[str]]
) -> list[str]:
    """Return the questions, each prefixed with the words of earlier ones that it refers to.

    A question with a pronoun, such as "What does she do?", gets the names in the previous question.
    A question with "it" or "there", or with few words of its own, also gets the previous question's
    other content words. `names` returns the names in a text.
    """
    resolved: list[str] = []
    last_names: list[str] = []
    for question in questions:
        own_names, content = list(names(question)), content_words(question)
        lowers = set(tokenise(question).lowers)
        other_words = [word for word in content if word not in own_names]
        is_complete = bool(own_names or other_words[1:] or lowers & _SPEAKERS)
        added: list[str] = []
        if lowers & (_PERSONS | _THINGS) or not is_complete:
            added += last_names
        if (
            lowers & _THINGS
            or not (is_complete and other_words)
            or (lowers & _PERSONS and not last_names)
        ):
            before = content_words(resolved[-1]) if resolved else []
            added += [word for word in before if word not in last_names]
        added = [word for word in dict.fromkeys(added) if word not in content]
        resolved.append(" ".join((*added, question)))
        last_names = own_names or last_names
    return resolved


def _sentences(text: str) -> list[str]:
    starts = [start for start, _ in sentences(text)][1:]
    ends = [*starts, len(text)]
    return [text[start:end].strip() for start, end in zip([0, *starts], ends, strict=True)]


def _split_sentence(sentence: str) -> list[str]:
    """Return the questions of one sentence that are joined by "and" or the like."""
    if _ANY_QUESTION_WORD.search(sentence) is None:
        return [sentence]
    boundaries = list(_POSSIBLE_BOUNDARY.finditer(sentence))
    while boundaries and boundaries[-1]["join"].strip() == ",":
        boundaries.pop()
    parts: list[str] = []
    start = 0
    for boundary in boundaries:
        left, right = sentence[start : boundary.start()], sentence[boundary.end() :]
        if _is_question_boundary(left, right, after_comma=boundary["join"].strip() == ","):
            parts.append(left.strip())
            start = boundary.end()
    return [*parts, sentence[start:].strip()]


def _is_question_boundary(left: str, right: str, *, after_comma: bool) -> bool:
    """Return whether one question ends and another begins between left and right.

    There is no boundary in "when and where did he", in "whom did she meet and when", or in relative
    clauses ("the girl who sings and who dances"). `after_comma`: only a comma separates the two.
    Then there is no boundary after a clause such as "when she moved".
    """
    first_word = _ANY_QUESTION_WORD.match(right)
    assert first_word is not None
    left = _without_lead_in(left)
    question_words = list(_ANY_QUESTION_WORD.finditer(left))
    if not content_words(left) or len(tokenise(right).words) < 2:
        return False
    inverted = _INVERTED.match(right) is not None
    if after_comma:
        return inverted and _BEGINS_AS_QUESTION.match(left) is not None
    if inverted:
        return bool(question_words) or _VERB_FIRST.match(left) is not None
    if len(question_words) != 1:
        return False
    return question_words[0].start() == 0 or question_words[0][0].lower() != first_word[0].lower()


def _without_lead_in(text: str) -> str:
    """Return a text without a leading "and", "so", "oh" or the like."""
    lead_in = _LEAD_IN.match(text)
    return text[lead_in.end() :] if lead_in else text


def _is_answerable_question(sentence: str) -> bool:
    """Return whether a sentence is a question that a memory could answer."""
    if not sentence.endswith("?"):
        return False
    plain = _without_lead_in(sentence)
    if _ANY_QUESTION_WORD.search(plain) is None and _VERB_FIRST.match(plain) is None:
        return False
    content = content_words(plain)
    return len(content) > (1 if _ADDRESSES_LISTENER.match(plain) else 0)
