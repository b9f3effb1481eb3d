"""What a text says that no fact from it does, found by the words of both."""

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
# "don't" and "dog's" stand in the index in parts that no third person has.
_CONTRACTED = re.compile(r"n['’]t\b|['’](?:s|d|ll|m|re|ve)\b", re.IGNORECASE)
# Courtesies whose words say something elsewhere; a name may follow.
_FORMULAE = (
    r"(?:it['’]?s |it is )?(?:very )?(?:nice|good|great|pleased) (?:to meet|to see|meeting) you",
    r"how (?:are|r) (?:you|u)(?: all)?(?: doing)?(?: today)?",
    r"how(?:['’]s| is) it going(?: today)?",
    r"(?:see|talk to|speak to|catch) (?:you|ya|u)(?: all)?(?: again)?(?: soon| later)?",
    r"sleep (?:well|tight)|sweet dreams|safe travels|happy (?:birthday|new year)|merry christmas",
    r"many thanks|much obliged|merci(?: beaucoup| bien)?|danke(?: schön| sehr)?|vielen dank",
    r"(?:muchas )?gracias|grazie(?: mille)?|(?:muito )?obrigad[oa]|tack(?: så mycket)?",
    r"bonjour|bonsoir|salut|hallo|guten (?:tag|morgen|abend)|hola|buenos d[ií]as|buongiorno|ol[áa]",
)
_FORMULA = re.compile(rf"(?:{'|'.join(_FORMULAE)})(?: \w+)?\W*", re.IGNORECASE)
_PARTS = re.compile(r"[,;–—]+")
_SUBJECTS = frozenset(("i", "we"))
_FEW = 7

_reading = threading.Lock()


def uncovered(text: str, facts: Iterable[str]) -> str:
    """Return the sentences of a text that have a word which no fact from it has.

    Function words do not count, nor do greetings, thanks and the like. Without facts it is the
    whole text, unless that is nothing else.

    >>> from recollect import uncovered
    >>> uncovered("My dog is called Rex. He's a golden retriever.", ["Ada's dog is called Rex."])
    "He's a golden retriever."
    >>> uncovered("Thank you!", [])
    ''
    """
    known = {term for fact in facts for term in _terms(fact)}
    if not known:
        return "" if _is_small_talk(text) else text.strip()
    left = [sentence for sentence in _SENTENCE.findall(text) if _leaves_out(sentence, known)]
    return "\n".join(sentence.strip() for sentence in left)


def _leaves_out(sentence: str, known: set[str]) -> bool:
    """Return whether a sentence has a word that counts and is not known."""
    if _is_small_talk(sentence):
        return False
    words = _words(sentence)
    new = [word for word in words if known.isdisjoint(_forms(word))]
    # "Wow, I got a dog!": beside what is known, an exclamation says nothing more.
    return bool(new) and (len(new) == len(words) or not PHATIC.issuperset(new))


def _is_small_talk(text: str) -> bool:
    """Return whether a text only greets, thanks, agrees or takes leave, or has no words."""
    return all(_is_phatic(sentence) for sentence in _SENTENCE.findall(text))


def _is_phatic(sentence: str) -> bool:
    return _is_courteous(sentence) or all(map(_is_courteous, _PARTS.split(sentence)))


def _is_courteous(clause: str) -> bool:
    clause = clause.strip()
    if _FORMULA.fullmatch(clause):
        return True
    # The rules of the language look at the end of a sentence.
    closed = tokenise(f"{clause.rstrip('.!?…')}.")
    end, count = len(closed.text), len(closed.words)
    if not count or is_salutation(closed, 0, end, 0, count) or is_courtesy(closed, (0, end)):
        return True
    said = set(tokenise(_CONTRACTED.sub(" ", clause)).lowers)
    return count <= _FEW and said <= PHATIC | FUNCTION_WORDS and said.isdisjoint(_SUBJECTS)


def _terms(text: str) -> set[str]:
    return {form for word in _words(text) for form in _forms(word)}


def _words(text: str) -> list[str]:
    """Return the words of a text that find it, in small letters."""
    with _reading:
        words = _tokeniser().words(_CONTRACTED.sub(" ", text))
    return [word for word in words if word not in STOP_WORDS]


@cache
def _forms(word: str) -> frozenset[str]:
    """Return the stem of a word, and that of its third person: "go" and "goes" have two."""
    with _reading:
        return frozenset(_tokeniser().all_terms(f"{word} {word}es"))


@cache
def _tokeniser() -> Tokeniser:
    return Tokeniser(apsw.Connection(":memory:"))
