"""A readable key that near-duplicate sentences share.

It ignores case, punctuation, contractions, articles, the present tense of "to be" and "to have", a
few prepositions, fillers and a plural or third-person -s. It keeps word order, numbers, names,
negation, modal verbs, past forms, "from" and "to", and whether it is a question; a date counts as
the days it means.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

from recollect.schemas.names import normalise_name
from recollect.streams.language.names.gazetteer import GIVEN_NAMES
from recollect.text.dates.found_dates import Found, as_reference
from recollect.text.lexicon import CONTRACTIONS, word_set
from recollect.text.tokenizer import Tokens, tokenise

#: Longer keys keep their beginning, and the rest is replaced by a digest.
LONGEST = 240

_DROPPED = word_set(
    """a an the am is are be been being do does doing have has having of in on at and but
    that just really very quite too also so well then there oh ah hey hi wow yeah yes ok
    okay please actually basically literally honestly anyway btw lol haha"""
)
_ENDINGS = {"'m": "", "'re": "", "'ve": "", "'s": "", "'ll": "will", "'d": "would"}
_SIGNS = "$€£¥"
#: The lower-case form of İ.
_DOTTED = "i\u0307"
# C++ and C# differ only in their symbols.
_LANGUAGE_MARKS = ("+", "#")
_MARKS = re.compile(r"(?:\+{1,2}|#)(?!\w)")


def signature(sentence: str, *, speaker: str | None = None) -> str:
    """Return the key of `sentence` on its own, with dates as written."""
    tokens = tokenise(sentence)
    words = tokens_for_signature(tokens, 0, len(tokens.words), ())
    return assemble(words, speaker, question=sentence.rstrip().endswith("?"))


def assemble(words: list[str], speaker: str | None, question: bool) -> str:
    """Join the tokens of a key; the rest of a long key is replaced by a digest."""
    if question:
        words = [*words, "?"]
    prefix = f"{normalise_name(speaker)}: " if speaker else ""
    key = prefix + " ".join(words)
    if len(key) <= LONGEST:
        return key
    digest = hashlib.blake2b(key[LONGEST - 33 :].encode("utf-8", "surrogatepass"), digest_size=16)
    return f"{key[: LONGEST - 33]} {digest.hexdigest()}"


def tokens_for_signature(
    tokens: Tokens, left: int, right: int, dates: Iterable[Found]
) -> list[str]:
    """Return the tokens of a signature for the words from `left` to `right`."""
    kept: list[str] = []
    position = left
    for item in dates:
        _plain(tokens, position, item.left, kept)
        reference = as_reference(tokens, item)
        kept.append(
            reference.first
            if reference.first == reference.last
            else f"{reference.first}/{reference.last}"
        )
        position = item.right
    _plain(tokens, position, right, kept)
    return kept


def _plain(tokens: Tokens, left: int, right: int, kept: list[str]) -> None:
    text = tokens.text
    for index in range(left, right):
        word = tokens.lowers[index].replace(_DOTTED, "i")
        if word in _DROPPED:
            continue
        if "0" <= word[0] <= "9":
            kept.append(_number(text, tokens.starts[index], tokens.ends[index], word))
            continue
        end = tokens.ends[index]
        if text[end : end + 1] in _LANGUAGE_MARKS and (marks := _MARKS.match(text, end)):
            kept.append(word + marks.group())
        elif word.isascii():
            _word(word, kept)
        else:
            single_spaced = unicodedata.normalize("NFKC", word).casefold()
            for part in tokenise(unicodedata.normalize("NFKC", single_spaced)).lowers:
                _word(part, kept)


def _word(word: str, kept: list[str]) -> None:
    if word in CONTRACTIONS:
        kept.extend(part for part in CONTRACTIONS[word] if part not in _DROPPED)
    elif "'" in word:
        _contraction(word, kept)
    elif word not in _DROPPED:
        kept.append(_singular(word))


def _contraction(word: str, kept: list[str]) -> None:
    stem, mark, ending = word.rpartition("'")
    if word.endswith("n't"):
        stem = word[:-3]
        parts = [stem, "not"]
    else:
        parts = [stem, _ENDINGS[mark + ending]] if mark + ending in _ENDINGS else [word]
    kept.extend(part for part in parts if part and part not in _DROPPED)


def _number(text: str, start: int, end: int, word: str) -> str:
    """A number with the symbols that affect its value; without thousands separators."""
    if "," in word and all(len(group) == 3 for group in word.split(",")[1:]):
        word = word.replace(",", "")
    before = text[start - 1 : start] if start else ""
    if before and before in _SIGNS:
        word = before + word
    elif before in ("-", "−") and (start == 1 or text[start - 2].isspace()):
        word = "-" + word
    return word + ("%" if text[end : end + 1] == "%" else "")


def _singular(word: str) -> str:
    """A word without a plural or third-person -s; "Adams" stays different from "Adam"."""
    if len(word) < 4 or word[-1] != "s" or word[-2] in "sui" or not word[-2].isalnum():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    stem = word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zes")) else word[:-1]
    return word if stem in GIVEN_NAMES or stem in _DROPPED or stem in CONTRACTIONS else stem
