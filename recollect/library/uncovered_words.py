"""Sentences of a text whose content words are not covered by the facts extracted from it."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from functools import cache

import apsw

from recollect.projections.recall.index.index_terms import Tokeniser
from recollect.streams.language.grammar.vocatives import is_courtesy, is_salutation
from recollect.text.lexicon import FUNCTION_WORDS, PHATIC
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

_SENTENCE = re.compile(r"\S.*?(?:[.!?…\u3002\uff01\uff1f]+[\"')\]»”’]*(?=\s)|(?=\n)|\Z)", re.DOTALL)
# The tokeniser splits "don't" and "dog's" at the apostrophe, leaving meaningless terms.
_CONTRACTED = re.compile(r"n['’]t\b|['’](?:s|d|ll|m|re|ve)\b", re.IGNORECASE)
# Courtesies made of words that are content words elsewhere; a name may follow.
_COURTESIES = (
    r"(?:it['’]?s |it is )?(?:very )?(?:nice|good|great|pleased) (?:to meet|to see|meeting) you",
    r"how (?:are|r) (?:you|u)(?: all)?(?: doing)?(?: today)?",
    r"how(?:['’]s| is) it going(?: today)?",
    r"(?:see|talk to|speak to|catch) (?:you|ya|u)(?: all)?(?: again)?(?: soon| later)?",
    r"sleep (?:well|tight)|sweet dreams|safe travels|happy (?:birthday|new year)|merry christmas",
    r"many thanks|much obliged|merci(?: beaucoup| bien)?|danke(?: schön| sehr)?|vielen dank",
    r"(?:muchas )?gracias|grazie(?: mille)?|(?:muito )?obrigad[oa]|tack(?: så mycket)?",
    r"bonjour|bonsoir|salut|hallo|guten (?:tag|morgen|abend)|hola|buenos d[ií]as|buongiorno|ol[áa]",
)
_COURTESY = re.compile(rf"(?:{'|'.join(_COURTESIES)})(?: \w+)?\W*", re.IGNORECASE)
_CLAUSE_BREAK = re.compile(r"[,;–—]+")
_SUBJECTS = frozenset(("i", "we"))
_MAX_COURTESY_WORDS = 7

_tokeniser_lock = threading.Lock()


def uncovered(text: str, facts: Iterable[str]) -> str:
    """Return the sentences of a text with a content word that occurs in none of its facts.

    Function words, greetings, thanks and the like do not count. Without facts, return the whole
    text, or an empty text if it is only small talk.

    >>> from recollect import uncovered
    >>> uncovered("My dog is called Rex. He swims well.", ["Ada's dog is called Rex."])
    'He swims well.'
    >>> uncovered("Thank you!", [])
    ''
    """
    covered = {term for fact in facts for term in _terms(fact)}
    if not covered:
        return "" if _is_small_talk(text) else text.strip()
    uncovered_sentences = [
        sentence for sentence in _SENTENCE.findall(text) if _has_uncovered_word(sentence, covered)
    ]
    return "\n".join(sentence.strip() for sentence in uncovered_sentences)


def _has_uncovered_word(sentence: str, covered: set[str]) -> bool:
    """Return whether a sentence has a content word that the facts do not have."""
    if _is_small_talk(sentence):
        return False
    words = _words(sentence)
    new = [word for word in words if covered.isdisjoint(_forms(word))]
    # In "Wow, I got a dog!", "wow" does not count if the facts have the other words.
    return bool(new) and (len(new) == len(words) or not PHATIC.issuperset(new))


def _is_small_talk(text: str) -> bool:
    """Return whether a text only greets, thanks, agrees or says goodbye, or has no words."""
    return all(_is_phatic(sentence) for sentence in _SENTENCE.findall(text))


def _is_phatic(sentence: str) -> bool:
    return _is_courteous(sentence) or all(map(_is_courteous, _CLAUSE_BREAK.split(sentence)))


def _is_courteous(clause: str) -> bool:
    clause = clause.strip()
    if _COURTESY.fullmatch(clause):
        return True
    # The language rules expect a complete sentence, with its full stop.
    closed = tokenise(f"{clause.rstrip('.!?…')}.")
    end, count = len(closed.text), len(closed.words)
    if not count or is_salutation(closed, 0, end, 0, count) or is_courtesy(closed, (0, end)):
        return True
    words = set(tokenise(_CONTRACTED.sub(" ", clause)).lowers)
    return (
        count <= _MAX_COURTESY_WORDS
        and words <= PHATIC | FUNCTION_WORDS
        and words.isdisjoint(_SUBJECTS)
    )


def _terms(text: str) -> set[str]:
    return {form for word in _words(text) for form in _forms(word)}


def _words(text: str) -> list[str]:
    """Return the indexed words of a text, in lower case, without stop words."""
    with _tokeniser_lock:
        words = _tokeniser().words(_CONTRACTED.sub(" ", text))
    return [word for word in words if word not in STOP_WORDS]


@cache
def _forms(word: str) -> frozenset[str]:
    """Return the stems of a word and of its form in -s; "go" and "goes" have different stems."""
    with _tokeniser_lock:
        return frozenset(_tokeniser().all_terms(f"{word} {word}es"))


@cache
def _tokeniser() -> Tokeniser:
    return Tokeniser(apsw.Connection(":memory:"))
