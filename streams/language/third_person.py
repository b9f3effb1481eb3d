"""What somebody says of themselves, in the third person, where nothing about it is doubtful."""

from __future__ import annotations

import re
from collections.abc import Mapping

from projections.text.lexicon import FUNCTION_WORDS, HONORIFICS, RELATIONS, word_set
from projections.text.tokenizer import Tokens, tokenise
from streams.language.verbs import (
    BASES,
    NOUNS_TOO,
    UNCERTAIN,
    is_participle,
    is_past,
    third_person,
)

#: Only a name can stand in a sentence: not "15145550136", not "Dan 🚲".
_NAME = re.compile(
    r"[^\W\d_][\w.'’\-]*(?: (?:(?:de|da|di|du|van|von|der|den|bin|al|el|la|le|y) )?"
    r"[^\W\d_a-z][\w.'’\-]*){0,3}"
)
_QUOTED = re.compile(r"[\"“”„«»?*_`|<>\[\]{}]|(?<!\w)['\u2018](?=\w)|\n\s*\n")
#: Whoever is spoken to is not known here, and these point at what is not in the sentence.
_DOUBTFUL = word_set(
    """you your you're you've you'll you'd yours u ur yourself yourselves mine ours myself ourselves
    let's lets ya y'all youre ive id here there's"""
)
_DANGLING_FIRST = word_set(
    """he she it they him them this that these those there he's she's it's they're that's this's his
    its their which who what such so how one here same both other others another"""
)
_PERSON = word_set("he she him her his hers he's she's he'd she'd he'll she'll")
_THING = word_set("it it's they they're them their its these those theirs")
_MODALS = word_set(
    """can can't cannot could couldn't will won't would wouldn't should shouldn't may might must had
    hadn't did didn't was wasn't used ought"""
)
_ADVERBS = word_set(
    """also just never always still now only often even both soon sometimes ever almost hardly
    rarely seldom once then no longer not quite rather so"""
)
_NOT_ADVERBS = word_set("family fly rely apply supply reply bully only ally")
_ENDINGS = {"i'm": "is", "im": "is", "i've": "has", "i'll": "will"}
_WE = {"we're": "are", "we've": "have", "we'll": "will", "we": ""}
_WOULD = word_set("like love rather prefer be hate go have say never want")
_BEFORE_OBJECT = FUNCTION_WORDS | {"my", "our", "a", "an", "the"}
_FOREIGN = word_set("ich mein wir je mon nous yo mi eu io mio ik jag jeg saya aku gue kami kita")
_ADDRESS = re.compile(r"my (?:guy|brother|friend|god|dear|goodness|love|man|word)\b", re.IGNORECASE)
#: Of "Maman Solange" and "Dr. Brandt" the first word is no name.
_TITLES = RELATIONS | HONORIFICS | word_set("maman papa pak bu mas mbak mme mlle m tante onkel")
_ELIDED_ING = word_set(
    """planning moving thinking saving selling buying expecting hosting picking researching working
    volunteering practicing practising learning trying living staying training studying looking
    reading writing running starting building waiting getting going"""
)
_TAIL = re.compile(
    r"[\s!.…,;:–—-]*(?:[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f\u200d]+[\s!.…]*)*\Z"
)


class _Doubt(Exception):
    """The sentence cannot be rewritten without guessing."""


def in_third_person(
    sentence: str, speaker: str, tags: Mapping[str, str] | None = None
) -> str | None:
    """Return a sentence of `speaker` in the third person; None where it would be a guess.

    `tags` are parts of speech that were read, by word in lower case, as Penn tags.
    """
    name = speaker.split("@")[0]
    if _NAME.fullmatch(name) is None or _QUOTED.search(sentence) or _ADDRESS.match(sentence):
        return None
    tokens = tokenise(sentence)
    try:
        changes = _Rewriting(tokens, name, tags or {}).changes()
    except _Doubt:
        return None
    if not changes:
        return None
    parts: list[str] = []
    at = 0
    for start, end, words in changes:
        parts += [sentence[at:start], words]
        at = end
    text = "".join((*parts, sentence[at:]))
    text = _TAIL.sub("", text)
    if text.count("(") > text.count(")"):
        text += ")"
    return text[:1].upper() + text[1:] + "."


class _Rewriting:
    """One sentence while its persons are changed."""

    def __init__(self, tokens: Tokens, name: str, tags: Mapping[str, str]) -> None:
        self._tokens = tokens
        self._lowers = tokens.lowers
        self._name = name
        words = name.split(" ")
        titled = words[0].lower().rstrip(".") in _TITLES or len(words) > 3
        self._first = name if titled else words[0]
        self._tags = tags
        self._named = False
        self._changes: list[tuple[int, int, str]] = []

    def changes(self) -> list[tuple[int, int, str]]:
        """Return the stretches that change, in order, with what they become."""
        lowers = self._lowers
        if not lowers or not _DOUBTFUL.isdisjoint(lowers) or not _FOREIGN.isdisjoint(lowers):
            raise _Doubt
        if lowers[0] in _DANGLING_FIRST:
            raise _Doubt
        index = self._elided()
        while index < len(lowers):
            index = self._word(index)
        return self._changes

    def _elided(self) -> int:
        """Begin with the subject that is left out: "Sold the house in Leeds"."""
        lowers = self._lowers
        place = 0
        while place + 2 < len(lowers) and lowers[place] in ("still", "just", "finally", "recently"):
            place += 1
        word, rest = lowers[place], lowers[place + 1 : place + 2]
        if rest and rest[0] in ("is", "are", "was", "were", "by", "and"):
            return 0
        if word == "been" and rest and rest[0].endswith("ing"):
            self._insert(0, "has ")
        elif word in _ELIDED_ING:
            self._insert(0, "is ")
        elif is_past(word) and word not in ("was", "were", "had", "based", "used", "left", "found"):
            if word in BASES or rest == ["i"]:
                raise _Doubt
            self._insert(0, "")
        else:
            return 0
        return place + 1

    def _insert(self, index: int, verb: str) -> None:
        start = self._tokens.starts[index]
        word = self._tokens.words[index]
        self._changes.append(
            (start, self._tokens.ends[index], f"{self._who()} {verb}{word.lower()}")
        )

    def _word(self, index: int) -> int:
        """Change the word at `index` where it has to; return the index after what was read."""
        lower = self._lowers[index]
        if lower == "i" or lower in _ENDINGS or lower == "i'd":
            return self._subject(index, lower)
        if lower in ("my", "our"):
            self._put(index, f"{self._who()}'s")
        elif lower == "me":
            if self._lowers[index + 1 : index + 2] == ["and"] or index == 0:
                raise _Doubt
            self._put(index, self._who())
        elif lower == "us":
            self._put(index, f"{self._who()} and others")
        elif lower in _WE:
            verb = f" {_WE[lower]}" if _WE[lower] else ""
            self._put(index, f"{self._who()} and others{verb}")
        elif lower == "we'd":
            raise _Doubt
        elif lower in _PERSON:
            if not self._somebody_before(index):
                raise _Doubt
        elif lower in _THING:
            if not self._something_before(index):
                raise _Doubt
        elif lower in ("that", "this") and self._ends_clause(index):
            raise _Doubt
        return index + 1

    def _subject(self, index: int, lower: str) -> int:
        lowers = self._lowers
        if index and lowers[index - 1] in (
            "do",
            "did",
            "have",
            "am",
            "can",
            "would",
            "and",
            "should",
        ):
            # "So do I"; "Jonas and I are": whose verb is it?
            raise _Doubt
        if index and lower == "i" and self._tokens.words[index] == "I":
            before = self._tokens.words[index - 1]
            if before[0].isupper() and index > 1 and self._tokens.gap(index - 1) == " ":
                raise _Doubt
        verb_at = self._verb_after(index)
        if lower in _ENDINGS:
            self._put(index, f"{self._who()} {_ENDINGS[lower]}")
            if lower in ("i'll",):
                return index + 1
            self._joined_verbs(index + 1)
            return index + 1
        if verb_at is None:
            raise _Doubt
        verb = lowers[verb_at]
        if lower == "i'd":
            if verb in _WOULD and not is_past(verb):
                self._put(index, f"{self._who()} would")
            elif is_participle(verb):
                self._put(index, f"{self._who()} had")
            else:
                raise _Doubt
            return index + 1
        self._put(index, self._who())
        if verb in _MODALS:
            return verb_at + 1
        form = self._present(verb_at)
        if form is not None:
            self._put(verb_at, form)
            self._joined_verbs(verb_at + 1, negated=verb in ("don't", "dont", "do"))
        return verb_at + 1

    def _verb_after(self, index: int) -> int | None:
        at = index + 1
        while at < len(self._lowers):
            lower = self._lowers[at]
            adverb = lower in _ADVERBS or (lower.endswith("ly") and lower not in _NOT_ADVERBS)
            if not adverb:
                return at
            at += 1
        return None

    def _present(self, at: int) -> str | None:
        """Return the form for the third person; None where the word goes with every person."""
        verb = self._lowers[at]
        tag = self._tags.get(verb)
        if verb in ("am", "have", "do", "don't", "haven't", "were", "weren't", "dont", "havent"):
            return third_person(verb)
        if tag == "VBD" or (tag is None and is_past(verb) and verb not in UNCERTAIN):
            return None
        if tag in ("VBP", "VB") or (tag is None and verb in BASES and verb not in UNCERTAIN):
            return third_person(verb)
        raise _Doubt

    def _joined_verbs(self, begin: int, negated: bool = False) -> None:
        """Change the verbs that "and" joins to the one before, as in "I'm 32 and live in Turin"."""
        lowers = self._lowers
        infinitive = negated
        for at in range(begin, len(lowers) - 1):
            if lowers[at] in ("i", "i'm", "i've", "we", "my", "he", "she", "they", "it"):
                return
            if lowers[at] == "to":
                infinitive = True
            if lowers[at] not in ("and", "but", "or"):
                continue
            verb_at = self._verb_after(at)
            if verb_at is None:
                return
            verb = lowers[verb_at]
            if verb in ("am", "have", "don't", "haven't"):
                self._put(verb_at, third_person(verb))
            elif verb in BASES and not infinitive:
                following = lowers[verb_at + 1] if verb_at + 1 < len(lowers) else ""
                sure = verb not in NOUNS_TOO or following in _BEFORE_OBJECT
                if self._tags.get(verb) in ("VBP", "VB") or (verb not in self._tags and sure):
                    self._put(verb_at, third_person(verb))
                elif verb not in self._tags and following:
                    raise _Doubt

    def _who(self) -> str:
        if self._named:
            return self._first
        self._named = True
        return self._name

    def _put(self, index: int, words: str) -> None:
        self._changes.append((self._tokens.starts[index], self._tokens.ends[index], words))

    def _somebody_before(self, index: int) -> bool:
        words = self._tokens.words
        return any(
            self._lowers[at] in RELATIONS
            or (at > 0 and words[at][0].isupper() and words[at] != "I")
            for at in range(index)
        )

    def _something_before(self, index: int) -> bool:
        content = [
            lower
            for lower in self._lowers[:index]
            if lower not in FUNCTION_WORDS and lower not in BASES and not is_past(lower)
        ]
        return bool(content)

    def _ends_clause(self, index: int) -> bool:
        after = self._tokens.text[self._tokens.ends[index] :].lstrip(" ")
        return not after or after[0] in ".,;:!)"
