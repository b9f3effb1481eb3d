"""Rewriting a sentence about its speaker in the third person, if that is unambiguous."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from recollect.streams.language.grammar.clauses import is_finite
from recollect.streams.language.grammar.reported import reported
from recollect.streams.language.grammar.verbs import (
    BASES,
    NOUNS_TOO,
    THIRDS,
    THIRDS_ALONE,
    UNCERTAIN,
    is_participle,
    is_past,
    third_person,
)
from recollect.streams.language.names.display_names import PARTICLES, in_capitals, names_in
from recollect.streams.language.names.first_names import Gender, gender_of_name
from recollect.streams.language.references.named_referents import HE
from recollect.text.lexicon import (
    AUXILIARIES,
    FUNCTION_WORDS,
    HONORIFICS,
    RELATIONS,
    word_set,
)
from recollect.text.tokenizer import Tokens, tokenise

#: Names that fit into a sentence: not "15145550136", not "Dan 🚲". All or only some words in the
#: middle may be written small.
_NAME = re.compile(
    r"[^\W\d_][\w.'’\-]*(?: (?:[^\W\d_]+ ){0,2}[^\W\d_a-z][\w.'’\-]*){0,3}"
    r"|[^\W\d_A-Z]+(?: [^\W\d_A-Z]+){0,2}"
)
#: What follows a name: "Dan | Accounts".
_AFTER_NAME = re.compile(r"\s+[|/–—·-]\s.*|@.*", re.DOTALL)
#: Emoji and other symbols around a name, as in "Dan 🚲".
_DECORATED = re.compile(r"\A[^\w]+|[^\w.]+\Z")
_MARKED = re.compile(r"[?*_`|<>\[\]{}]|\n\s*\n")
#: Placeholders of programs for unknown names.
_NO_NAMES = word_set("user me myself you human customer guest owner admin sender anonymous unknown")
#: Between two of these marks are titles and other people's words, which stay unchanged.
_QUOTED = re.compile(
    r"\"[^\"]*\"|“[^“”]*”|«[^«»]*»|(?<!\w)['\u2018](?=\w)[^'\u2018\u2019]*['\u2019](?!\w)"
)
_QUOTED_END = tuple(end + mark for end in ".!" for mark in "\"”»'\u2019")
_QUOTE_MARK = re.compile(
    r"[\"“”„«»]|(?<!\w)['\u2018](?=\w)(?!(?:cause|em|til|bout|cos|\d\ds?)\b)", re.IGNORECASE
)
_ADDRESSING = word_set(
    "you your you're you've you'll you'd yours u ur yourself yourselves ya y'all youre"
)
#: Tags of finite verbs.
_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
_VERBS = _FINITE | {"VB"}
#: Tags of words that are surely no verbs.
_NO_VERBS = frozenset({"NN", "NNS", "NNP", "NNPS", "JJ", "DT", "PRP", "PRP$", "CD", "IN"})
#: How far a verb may be from its subject, in tokens.
_FARTHEST_VERB = 5
#: After these, "you" begins a clause: "as you said".
_OPENING_YOU = word_set("as like what how that which and but")
_SEVERAL_OF_YOU = word_set("all both two guys folks lot")
_BEFORE_MINE = word_set("of is was are were it's that's")
_THEY = word_set("they them their theirs they're they've they'd they'll")
_DOUBTFUL = word_set("ours ourselves let's lets ive id")
_DANGLING_FIRST = word_set(
    """he she him his he's she's he'd he'll she'd she'll which who please pls kindly let don't dont
    never can't cant cannot couldn't won't wont"""
)
_PERSON = word_set("he she him her his hers he's she's he'd she'd he'll she'll")
_MODALS = word_set(
    """can can't cannot could couldn't will won't would wouldn't should shouldn't may might must had
    hadn't did didn't was wasn't used ought"""
)
#: Many write them without the apostrophe.
_MODALS |= {word.replace("'", "") for word in _MODALS}
_ADVERBS = word_set(
    """also just never always still now only often even both soon sometimes ever almost hardly
    rarely seldom once then no longer not quite rather so"""
)
_NOT_ADVERBS = word_set("family fly rely apply supply reply bully only ally")
_ENDINGS = {"i'm": "is", "im": "is", "i've": "has", "i'll": "will"}
_INFINITIVE = word_set("to gonna wanna gotta can could will would should might may must let help")
#: "Since we talked" addresses somebody, who is unknown here.
_TOGETHER = re.compile(
    r"\bwe(?:['’]ve)? (?:last )?(?:talk|chat|speak|spoke|met|meet|agreed|discussed|saw each)|"
    r"\bwe(?:['’]re|['’]ve| are| have)? both\b|\b(?:both|two|one|some|most) of us\b",
    re.IGNORECASE,
)
_SPEAKING = word_set("i i'm i've i'd i'll we we're we've we'd we'll my our me")
#: "Our minds" is general, "our chat" includes the addressee.
_EVERYBODYS = word_set(
    """mind minds body bodies life lives self selves story stories experience experiences heart
    hearts dream dreams true differences feelings emotions voice voices hands rights chat chats talk
    talks conversation conversations discussion discussions meeting call agreement last next earlier
    previous first usual military troops soldiers education country nation world planet earth
    society government taxes future generation generations community communities clients users
    favorite favourite heads eyes time times way journey journeys infrastructure"""
)
_WE = {"we're": "are", "we've": "have", "we'll": "will", "we": ""}
#: Of verbs such as "rewrote", whose past is that of the verb without it.
_PREFIX = re.compile(r"\A(?:re|over|under|mis|out|un)(?=\w{3})")
_PLAIN_VERB = re.compile(r"[^\W\d_A-Z]+(?:-[^\W\d_A-Z]+)*")
#: Spoken contractions, in the third person.
_SPOKEN = {"wanna": "wants to", "gotta": "has to"}
_WOULD = word_set("like love rather prefer be hate go have say never want")
_BEFORE_OBJECT = FUNCTION_WORDS | {"my", "our", "a", "an", "the"}
_ORDERED = _BEFORE_OBJECT - AUXILIARIES - word_set("and or really")
#: Before its subject, such a verb belongs to another sentence's: "so do I".
_INVERTED = word_set("do did have am can would should")
_NEW_SUBJECT = word_set("i i'm i've i'll i'd we we're we've he she they you")
_MAYBE_SUBJECT = word_set("my our it it's the a this that his her their")
_JOINING = word_set("and but so because when if while although though since as")
_RELATIVE = word_set("who which that where whose people those")
_FOREIGN = word_set("ich mein wir je mon nous yo mi eu io mio ik jag jeg saya aku gue kami kita")
_ADDRESS = re.compile(
    r"(?:\A|, ?)my (?:guy|brother|friend|god|dear|goodness|love|man|word)"
    r"(?=\W*\Z|[,!.:]| (?:i|we|you|this)\b)",
    re.IGNORECASE,
)
#: In "Maman Solange" and "Dr. Brandt", the first word is not part of the name.
_TITLES = RELATIONS | HONORIFICS | word_set("maman papa pak bu mas mbak mme mlle m tante onkel")
_ELIDED_ING = word_set(
    """planning moving thinking saving selling buying expecting hosting picking researching working
    volunteering practicing practising learning trying living staying training studying looking
    reading writing running starting building waiting getting going"""
)
#: After a verb phrase, these describe the action.
_SAYS_OF = word_set(
    """is was isn't wasn't made makes helps helped feels felt gives gave brings brought keeps kept
    means meant seems seemed takes took gets got reminds reminded teaches taught shows showed has
    can will would"""
)
#: "Let's say they refuse" and "Let's see" are not proposals.
_SUPPOSED = word_set("say see suppose assume imagine pretend hope face think wait hear")
_TAIL = re.compile(
    r"[\s!.…,;:–—-]*(?:[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f\u200d]+[\s!.…]*)*\Z"
)


_ORDERS = BASES - word_set("last like left felt read hurt set put cost let")
_THIRDS = THIRDS_ALONE - {"is"}
_NO_SUBJECTS = _ORDERS | _THIRDS

_LETS = frozenset({"let's", "lets"})


def is_impersonal(sentence: str) -> bool:
    """Whether a sentence has no first or second person and is not an order."""
    lowers = tokenise(sentence).lowers
    return (
        bool(lowers)
        and _SPEAKING.isdisjoint(lowers)
        and _DOUBTFUL.isdisjoint(lowers)
        and _ADDRESSING.isdisjoint(lowers)
        and "us" not in lowers
        and lowers[0] not in _NO_SUBJECTS
        and _MARKED.search(sentence) is None
    )


class _Doubt(Exception):
    """The sentence cannot be rewritten without guessing."""


def in_third_person(
    sentence: str,
    speaker: str,
    *,
    addressee: str | None = None,
    explained: bool = False,
    tags: Sequence[str] = (),
) -> str | None:
    """Return a sentence of `speaker` in the third person; None if that would be a guess.

    `addressee`: whom "you" means; None if unknown. `explained`: the previous sentence provides the
    antecedents of "he" and "she". `tags`: the Penn Treebank tag of each token, "" if unknown;
    without them, verbs are recognised by their forms.
    """
    name = _name_of(speaker)
    if name is None or _ADDRESS.search(sentence):
        return None
    if _MARKED.search(sentence) or _QUOTE_MARK.search(_QUOTED.sub("", sentence)):
        return None
    if _TOGETHER.search(sentence):
        return None
    tokens = tokenise(sentence)
    try:
        changes = _Rewriting(tokens, name, addressee, explained, tags).changes()
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
    ended = text.endswith(_QUOTED_END)
    return text[:1].upper() + text[1:] + ("" if ended else ".")


def _name_of(speaker: str) -> str | None:
    """Return the name in a display name; None if it does not fit into a sentence."""
    name = _DECORATED.sub("", _AFTER_NAME.sub("", names_in(speaker)[0]))
    small = {word for word in name.split(" ")[1:] if word.islower()} - PARTICLES
    fits = _NAME.fullmatch(name) is not None and small.isdisjoint(FUNCTION_WORDS)
    return in_capitals(name) if fits and name.lower() not in _NO_NAMES else None


#: After "and", somebody other than the speaker is the subject: "I have two offers and both want to
#: hear".
_SOME_OF_THEM = word_set("both all each neither none some most many few others")


class _Rewriting:
    """A sentence during its conversion to the third person."""

    def __init__(
        self,
        tokens: Tokens,
        name: str,
        addressee: str | None,
        explained: bool,
        tags: Sequence[str],
    ) -> None:
        self._tokens = tokens
        self._tags = list(tags) if len(tags) == len(tokens.words) else [""] * len(tokens.words)
        self._lowers = tokens.lowers
        self._name = name
        self._addressee = addressee
        self._explained = explained
        words = name.split(" ")
        titled = words[0].lower().rstrip(".") in _TITLES or len(words) > 3
        self._first = name if titled else words[0]
        quoted = [found.span() for found in _QUOTED.finditer(tokens.text)]
        quoted += reported(tokens.text)
        self._quoted = {
            index
            for begin, end in quoted
            for index in range(bisect_left(tokens.starts, begin), bisect_left(tokens.starts, end))
        }
        self._gender: Gender | None = gender_of_name(self._first)
        self._named = False
        self._several = False  # whether "we" or "us" occurred
        self._changes: list[tuple[int, int, str]] = []

    def changes(self) -> list[tuple[int, int, str]]:
        """Return the spans to change, in order, with their replacements."""
        lowers = self._lowers
        proposed = self._proposed()
        said = [
            lower for at, lower in enumerate(lowers) if at >= proposed and at not in self._quoted
        ]
        if not said or not (_DOUBTFUL | _FOREIGN).isdisjoint(said):
            raise _Doubt
        if self._addressee is None or _SPEAKING.isdisjoint(said):
            # "You never know" is about nobody in particular.
            self._addressee = None
            if not _ADDRESSING.isdisjoint(said):
                raise _Doubt
        if proposed:
            return self._from(proposed)
        if self._lacks_subject():
            return self._from(self._with_subject())
        dangling = lowers[0] in _DANGLING_FIRST - (_PERSON if self._explained else frozenset())
        if dangling or lowers[0] in _THIRDS:
            raise _Doubt
        if lowers[0] in _ORDERS and (
            lowers[0] not in NOUNS_TOO or not _ORDERED.isdisjoint(lowers[1:2])
        ):
            # An order, or a sentence without its subject: "Call me at five", "Love my dog".
            raise _Doubt
        return self._from(self._elided())

    def _from(self, index: int) -> list[tuple[int, int, str]]:
        """Convert the words from an index on; return all changes."""
        while index < len(self._lowers):
            index = index + 1 if index in self._quoted else self._word(index)
        return sorted(self._changes)

    def _proposed(self) -> int:
        """Convert a proposal to a wish: "Let's go with the first one"; return the next index."""
        lowers = self._lowers
        if not lowers or lowers[0] not in _LETS or 0 in self._quoted:
            return 0
        refused = lowers[1:2] == ["not"]
        verb_at = self._verb_after(1 if refused else 0)
        if verb_at is None or lowers[verb_at] not in BASES - _SUPPOSED:
            return 0
        self._put(0, f"{self._who()} {'does not want' if refused else 'wants'} to")
        if refused:
            start, end = self._tokens.starts[1], self._tokens.starts[2]
            self._changes.append((start, end, ""))
        self._several = True
        return verb_at

    def _elided(self) -> int:
        """Supply the omitted subject: "Sold the house in Leeds"."""
        lowers = self._lowers
        place = 0
        if 0 in self._quoted:
            return 0
        while place + 2 < len(lowers) and self._is_adverb(place):
            place += 1
        word, rest = lowers[place], lowers[place + 1 : place + 2]
        if rest and rest[0] in ("is", "are", "was", "were", "by", "and"):
            return 0
        if word in _ELIDED_ING and self._is_subject(place):
            return 0
        if word == "been" and rest and rest[0].endswith("ing"):
            self._insert(0, "has ")
        elif word in _ELIDED_ING or self._is_progressive(place):
            if ":" in self._tokens.text[:60]:
                raise _Doubt  # a heading: "Getting the money: ..."
            if any(lower.endswith("ing") for lower in self._lowers_after_commas(place)):
                raise _Doubt  # "Going for hikes, having picnics" may be a list of preferences
            self._insert(0, "is ")
        elif self._tags[place] != "VBD" and self._is_modifier(place):
            return 0
        elif is_past(word) and word not in ("was", "were", "had", "based", "used", "left", "found"):
            if word in BASES or not _NEW_SUBJECT.isdisjoint(rest):
                # "Blessed we both have this": by whom?
                raise _Doubt
            self._insert(0, "")
        else:
            return 0
        return place + 1

    def _is_adverb(self, index: int) -> bool:
        """Whether a word may stand between an omitted subject and its verb."""
        lower = self._lowers[index]
        if lower in ("still", "just", "finally", "recently"):
            return True
        return lower.endswith("ly") and self._tags[index] == "RB"

    def _lacks_subject(self) -> bool:
        """Whether a sentence begins with a verb whose subject is "I": "can't do Friday"."""
        if not self._lowers or 0 in self._quoted:
            return False
        word, following = self._lowers[0], self._lowers[1:2]
        if self._tags[0] == "MD":
            # "Will be here at six" may be about a parcel, "May" may be a month.
            return self._tags[1:2] == ["VB"] and following != ["be"] and word != "may"
        return self._tags[0] == "VBP" and word in BASES and following not in (["me"], ["us"])

    def _with_subject(self) -> int:
        """Supply the omitted subject of the first verb; return the next index."""
        word = self._lowers[0]
        told = word if self._tags[0] == "MD" else third_person(word)
        self._put(0, f"{self._who()} {told}")
        return 1

    def _is_progressive(self, index: int) -> bool:
        """Whether a participle lacks its subject and auxiliary: "moving to Hull in June"."""
        return (
            self._tags[index] == "VBG"
            and self._lowers[index] not in _INFINITIVE
            and _FINITE.isdisjoint(self._tags[index:])
            and not self._tokens.gap(index).strip()
        )

    def _is_modifier(self, index: int) -> bool:
        """Whether a participle belongs to the subject of a later verb: "baked beans are fine"."""
        for at in range(index + 1, len(self._lowers)):
            lower = self._lowers[at]
            if self._tokens.gap(at - 1).strip() or lower in _JOINING or lower in _RELATIVE:
                return False
            if lower in _NEW_SUBJECT or lower in _MAYBE_SUBJECT:
                return False
            if self._tags[at] in _FINITE:
                return True
        return False

    def _is_subject(self, index: int) -> bool:
        """Whether a verb phrase is the subject: "Volunteering at the shelter made me glad"."""
        for lower in self._lowers[index + 1 :]:
            if lower in _NEW_SUBJECT or lower in _JOINING or lower in _RELATIVE:
                return False
            if lower in _SAYS_OF:
                return True
        return False

    def _lowers_after_commas(self, index: int) -> list[str]:
        """Return the later words that follow a comma."""
        later = range(index + 1, len(self._lowers))
        return [self._lowers[at] for at in later if "," in self._tokens.gap(at - 1)]

    def _insert(self, index: int, verb: str) -> None:
        start = self._tokens.starts[index]
        word = self._tokens.words[index]
        self._changes.append(
            (start, self._tokens.ends[index], f"{self._who()} {verb}{word.lower()}")
        )

    def _word(self, index: int) -> int:
        """Convert the word at `index` if necessary; return the index after what was read."""
        lower = self._lowers[index]
        if lower == "i" or lower in _ENDINGS or lower == "i'd":
            return self._subject(index, lower)
        if lower == "my":
            self._put(index, f"{self._who()}'s")
        elif lower in ("me", "us") and self._tokens.words[index].isupper():
            before = self._tokens.words[index - 1] if index else ""
            if before not in ("the", "in", "from") and not before.istitle():
                raise _Doubt  # "He wrote to ME", and not "the US", "Money Forward ME"
        elif lower == "me":
            joined = self._lowers[index + 1 : index + 2] == ["and"]
            if (index == 0 and not joined) or not self._has_verb():
                raise _Doubt  # an order or a fragment: "Forward everything to me", "Not me"
            self._put(index, self._who())
        elif self._several and lower in ("us", "our", *_WE) and not _THEY.isdisjoint(self._lowers):
            raise _Doubt  # "they" would be two parties
        elif lower == "our":
            self._put(index, self._ours(index))
        elif lower == "us":
            if _SPEAKING.isdisjoint(self._lowers) and not any(map(is_past, self._lowers)):
                raise _Doubt  # "Love grounds us": people in general
            self._put(index, "them" if self._several else f"{self._who()} and others")
            self._several = True
        elif lower in _WE and self._several:
            self._put(index, f"they {_WE[lower]}".strip())
        elif lower in _WE:
            self._several = True
            verb = f" {_WE[lower]}" if _WE[lower] else ""
            self._put(index, f"{self._who()} and others{verb}")
        elif lower == "we'd":
            raise _Doubt
        elif lower in _ADDRESSING and self._addressee is not None:
            return self._addressed(index, self._addressee)
        elif lower == "mine":
            if not (self._ends_clause(index) and self._lowers[index - 1] in _BEFORE_MINE):
                raise _Doubt  # "a coal mine"
            self._put(index, f"{self._who()}'s")
        elif lower == "myself":
            if index == 0 or self._lowers[index - 1] == "and":
                raise _Doubt
            self._put(index, "themselves")
        elif lower in _PERSON and self._may_be_speaker(index):
            raise _Doubt
        return index + 1

    def _may_be_speaker(self, index: int) -> bool:
        """Whether a "he" or "she" would seem to mean the speaker, named before it."""
        if self._explained or not self._named or self._somebody_before(index):
            return False
        gender: Gender = "m" if self._lowers[index].split("'")[0] in HE else "f"
        return self._gender in (None, gender)

    def _addressed(self, index: int, addressee: str) -> int:
        """Name the addressee in the place of "you"; return the index after what was read.

        As a subject only in the past tense: "you lose your hair" is about nobody in particular.
        """
        lowers = self._lowers
        lower, before = lowers[index], lowers[index - 1] if index else ""
        opens = index == 0 or before in _OPENING_YOU or "," in self._tokens.gap(index - 1)
        verb_at = self._verb_after(index)
        verb = "" if verb_at is None or self._ends_clause(index) else lowers[verb_at]
        if lower == "your":
            self._put(index, f"{addressee}'s")
        elif lower == "you've" and opens:
            self._put(index, f"{addressee} has")
        elif lower != "you" or verb in _SEVERAL_OF_YOU:
            raise _Doubt
        elif before in ("let", "lets"):
            self._put(index, addressee)
            return index + 1 if verb_at is None else verb_at + 1
        elif before in AUXILIARIES:
            raise _Doubt
        elif verb_at is not None and verb == "were" and opens:
            self._put(index, addressee)
            self._put(verb_at, "was")
            return verb_at + 1
        elif is_past(verb) and verb not in UNCERTAIN and verb != "weren't":
            if not opens:
                raise _Doubt
            self._put(index, addressee)
        elif verb in BASES or verb in AUXILIARIES or verb in _MODALS or opens:
            raise _Doubt
        else:
            self._put(index, addressee)
        return index + 1

    def _subject(self, index: int, lower: str) -> int:
        lowers = self._lowers
        before_last = lowers[index - 2] if index > 1 else ""
        if index and lowers[index - 1] in _INVERTED and before_last not in _NEW_SUBJECT:
            # "So do I": the verb is another sentence's.
            raise _Doubt
        if index > 1 and lowers[index - 1] == "and" and not self._is_clause(index - 1):
            if lower != "i" and (self._tags[index - 2] or "NN").startswith("NN"):
                raise _Doubt
            if lower == "i":
                # "My wife and I are": the verb agrees with both.
                self._put(index, self._who())
                return index + 1
        if index and lower == "i" and self._tokens.words[index] == "I":
            before = self._tokens.words[index - 1]
            numeral = index > 1 and before[0].isupper() and self._tokens.gap(index - 1) == " "
            if numeral and not self._is_verb(index + 1):
                raise _Doubt  # "World War I"
        verb_at = self._verb_of(index)
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
            if lowers[index + 1] == "rather" or self._follows_would(verb_at):
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

    def _follows_would(self, verb_at: int) -> bool:
        """Whether "I'd" before a verb is "I would" rather than "I had"."""
        verb, tag = self._lowers[verb_at], self._tags[verb_at]
        if tag:
            return tag == "VB" and (verb in BASES or not is_participle(verb))
        return verb in _WOULD and not is_past(verb)

    def _verb_of(self, index: int) -> int | None:
        """Return the verb of the subject at an index: "I most nights sleep badly"."""
        last = min(index + 1 + _FARTHEST_VERB, len(self._lowers))
        for at in range(index + 1, last):
            if not self._tags[at] or self._tokens.gap(at - 1).strip():
                break
            if self._tags[at] in _VERBS or self._lowers[at] in _MODALS:
                return at
        return self._verb_after(index)

    def _is_verb(self, index: int) -> bool:
        """Whether the word at an index is a finite verb."""
        if index >= len(self._lowers):
            return False
        lower = self._lowers[index]
        if tag := self._tags[index]:
            return tag in _FINITE
        return lower in AUXILIARIES or lower in BASES or lower in _MODALS or is_past(lower)

    def _has_verb(self) -> bool:
        """Whether a verb after the first word has a subject, as far as its form shows."""
        lowers = self._lowers
        return any(
            "'" in lower
            or lower in AUXILIARIES
            or lower in THIRDS
            or is_past(lower)
            or (lower in BASES and lowers[at - 1] not in _JOINING)
            for at, lower in enumerate(lowers)
            if at and at not in self._quoted
        )

    def _is_clause(self, index: int) -> bool:
        """Whether the words before an index are a clause of their own."""
        if not _FINITE.isdisjoint(self._tags[:index]):
            return True
        return is_finite(self._tokens, self._tokens.starts[0], self._tokens.starts[index])

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
        """Return the third-person form; None if the word is the same for every person."""
        verb = self._lowers[at]
        if verb in _SPOKEN:
            return _SPOKEN[verb]
        if verb in ("am", "have", "do", "don't", "haven't", "were", "weren't", "dont", "havent"):
            return third_person(verb)
        if is_past(_PREFIX.sub("", verb)) and verb not in UNCERTAIN:
            return None
        if verb in BASES and verb not in UNCERTAIN:
            return third_person(verb)
        if verb in ("ain't", "aint") or (self._tags[at] == "VBD" and verb in UNCERTAIN):
            return None
        if self._tags[at] in ("VBP", "VB") and _PLAIN_VERB.fullmatch(self._tokens.words[at]):
            return third_person(verb)
        raise _Doubt

    def _joined_verbs(self, begin: int, negated: bool = False) -> None:
        """Convert the verbs joined by "and" to the previous one: "I'm 32 and live in Turin"."""
        lowers = self._lowers
        infinitive = negated
        of_another = False
        for at in range(begin, len(lowers) - 1):
            if lowers[at] in _NEW_SUBJECT or (
                lowers[at] in _MAYBE_SUBJECT
                and (lowers[at - 1] in _JOINING or "," in self._tokens.gap(at - 1))
            ):
                return
            of_another = of_another or lowers[at] in _RELATIVE
            if lowers[at] in _INFINITIVE:
                infinitive = True
            if lowers[at] not in ("and", "but", "or"):
                continue
            if lowers[at + 1] in _SOME_OF_THEM:
                return
            verb_at = self._verb_after(at)
            if verb_at is None:
                return
            verb = lowers[verb_at]
            if infinitive and self._tags[verb_at] == "VB":
                continue
            if of_another and (verb in BASES or verb == "have"):
                # "Those who accept and love me": the verb has another subject.
                raise _Doubt
            if verb in ("am", "have", "don't", "haven't"):
                self._put(verb_at, third_person(verb))
            elif self._tags[verb_at] in _NO_VERBS:
                continue
            elif verb in BASES and not infinitive:
                following = lowers[verb_at + 1] if verb_at + 1 < len(lowers) else ""
                tagged = self._tags[verb_at] == "VBP"
                if tagged or verb not in NOUNS_TOO or following in _BEFORE_OBJECT:
                    self._put(verb_at, third_person(verb))
                elif following:
                    raise _Doubt

    def _who(self) -> str:
        if self._named:
            return self._first
        self._named = True
        return self._name

    def _ours(self, index: int) -> str:
        """Return the replacement of "our": what several people share belongs to each of them."""
        if self._several:
            return "their"
        if _EVERYBODYS.isdisjoint(self._lowers[index + 1 : index + 3]):
            return f"{self._who()}'s"
        raise _Doubt

    def _put(self, index: int, words: str) -> None:
        self._changes.append((self._tokens.starts[index], self._tokens.ends[index], words))

    def _somebody_before(self, index: int) -> bool:
        words = self._tokens.words
        return any(
            self._lowers[at] in RELATIONS
            or (at > 0 and words[at][0].isupper() and words[at] != "I")
            for at in range(index)
        )

    def _ends_clause(self, index: int) -> bool:
        after = self._tokens.text[self._tokens.ends[index] :].lstrip(" ")
        return not after or after[0] in ".,;:!)"
