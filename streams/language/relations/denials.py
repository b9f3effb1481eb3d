"""Denials: what a message says no longer holds, or never did, matched by words.

"It's Farida who does payroll, not Nils.", "We cancelled the trip to Crete.", "I no longer eat
meat." The denied statement must have been made before, in the same words and about a lasting state;
past events are not affected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from recollect.streams.language.grammar.reported import is_reported, reported
from recollect.streams.language.grammar.verbs import BASES, base_form, is_past
from recollect.streams.language.relations.corrections import Corrected, Earlier
from recollect.streams.language.relations.given_values import Value
from recollect.streams.language.relations.same_things import qualifiers
from recollect.text.lexicon import FUNCTION_WORDS, MONTHS, PHATIC, WEEKDAYS, word_set
from recollect.text.sentences import sentences

#: The maximum number of words of a denied phrase.
_MOST_DENIED = 4

_DET = (
    r"(?:(?:in|at|on|to|from|with|for|by|as|of|is|it['’]s) )?(?:(?:the|a|an|my|our|your|his|her) )?"
)
_OLD = r"(?P<old>[^\s,.;:!?()\"“”]+(?: [^\s,.;:!?()\"“”]+){0,3}?)"
#: "Lille, not Paris", "not in Paris but in Lille", "Lille instead of Paris".
_CONTRASTS = (
    re.compile(rf"(?:\bnot|n['’]t) {_DET}{_OLD},? but ", re.IGNORECASE),
    re.compile(rf"[,–—-] ?(?:and )?not {_DET}{_OLD}(?= who\b|\s*[.,;!)]|\s*\Z)", re.IGNORECASE),
    re.compile(
        rf"\b(?:instead of|rather than) {_DET}{_OLD}(?=\s*[.,;!)]|\s*\Z| (?:from|on|in|at)\b)",
        re.IGNORECASE,
    ),
    re.compile(rf"\bno longer {_DET}{_OLD}(?= who\b|, (?:it|now|but)\b)", re.IGNORECASE),
)
_SAID = re.compile(
    rf"\b(?:forget|ignore|disregard) (?:what|everything|all) i (?:said|wrote|told you) about "
    rf"{_DET}{_OLD}(?=\s*[.,;!:–—-]|\s*\Z)",
    re.IGNORECASE,
)
_I = r"(?:i|we|i['’]ve|we['’]ve|i have|we have)"
_END = r"(?P<old>[^,.;:!?()]+)"
#: "I no longer eat meat", "I'm not a student anymore", "I sold the Volvo".
_ENDED = (
    re.compile(
        rf"\b(?:i|we|i['’]m|we['’]re|i am|we are|my [\w ]{{2,20}}|is) no longer {_END}", re.I
    ),
    re.compile(
        r"\b(?P<old>(?:(?:i|we|my [\w ]{2,20}) (?:do|does|am|are|is|have|has)|i['’]m|we['’]re)"
        r"(?:n['’]t| not)\b[^,.;:!?()]+?) any ?more\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b{_I} (?:(?:just|finally|already|recently|both|also) )*"
        r"(?:quit|stopped|gave up|given up|sold|cancel?led|called off|broke up with|"
        rf"broken up with|split up with|got rid of|dropped out of) {_END}",
        re.IGNORECASE,
    ),
)
#: "We're not going to Crete after all", "I'm no longer running the marathon".
_NOT_DOING = re.compile(
    r"\b(?:i|we)(?:['’](?:m|re)| am| are) (?P<how>not|no longer) (?P<verb>[a-z]{2,}ing) "
    r"(?P<old>[^,.;:!?()]+?)(?P<after> after all| any ?more)?(?=\W*\Z|[,.;:!?()]|(?<=all)\b)",
    re.IGNORECASE,
)
#: "I won't run the marathon", "We decided not to buy the boat".
_WILL_NOT = re.compile(
    r"\b(?:i|we)(?:['’]ll not| will not| won['’]t|(?:['’]ve| have)? decided not to|"
    r"(?:['’](?:m|re)| am| are) not going to) (?P<verb>[a-z]{2,}) (?P<old>[^,.;:!?()]+?)"
    r"(?: after all| any ?more)?(?=\W*\Z|[,.;:!?()])",
    re.IGNORECASE,
)
#: "The trip to Oslo is cancelled", "Our party was called off"
_IS_OFF = re.compile(
    r"\A(?:\w+[,:!] )?(?P<old>[^,.;:!?()]{3,40}?)(?:['’]s| is| are| was| were| got)"
    r"(?: (?:has|have|been|now|sadly|all|just))* (?:cancel?led|called off)\b"
    r"|\A(?:\w+[,:!] )?(?P<was>[^,.;:!?()]{3,40}?) (?:has|have) been "
    r"(?:cancel?led|called off)\b",
    re.IGNORECASE,
)
_CANCELS = re.compile(r"\b(?:cancel?led|called off)\b", re.IGNORECASE)
#: A booking stands, though it was made in the past.
_BOOKED = re.compile(r"\b(?:booked|reserved|arranged|scheduled|planned|organi[sz]ed)\b", re.I)
_CUE = re.compile(
    r"\b(?:not|instead of|rather than|no longer|any ?more|forget|ignore|disregard|quit|stopped|"
    r"g[ai]ven? up|sold|cancel?led|called off|broken? up|split up|got rid|dropped out)\b|n['’]t\b",
)
#: Hypotheses, questions and matters of degree deny nothing.
_SUPPOSED = re.compile(
    r"\b(?:if|unless|would|could|should|might|(?-i:may)|maybe|perhaps|wish|almost|nearly|thinking|"
    r"considering|want(?:ed|s)?|hope|plan(?:ning)? to|(?<!not )(?<!longer )going to|"
    r"about to|until|not only|not just|not even|not that|not to mention|not really|not sure|"
    r"why not|or not|whether|when i|imagine|pretend|tried to|trying to|dream(?:ed|t)?)\b",
    re.IGNORECASE,
)
#: The rest of an ended phrase, which only says when or why.
_AFTERWARDS = re.compile(
    r"\b(?:because|since|after|when|while|as|so|and|but|last|this|yesterday|today|in|for good|"
    r"on (?:mon|tues|wednes|thurs|fri|satur|sun)day|years?|months?|weeks?|ago|due)\b.*\Z",
    re.IGNORECASE,
)
#: Past events, and what was already denied, do not end.
_ONCE = re.compile(
    r"\b(?:was|were|had|did|went|ate|got|saw|came|took|made|bought|met|yesterday|ago|"
    r"last (?:night|week|month|year|summer|winter|spring|autumn|fall|time)|used to|not|never|"
    r"no longer|quit|stopped|sold|gave up|cancel?led|if|would|might|(?-i:may)|maybe|wish)\b|"
    r"n['’]t\b|\b\w{3,}ed\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:i|we|my|our|i['’]m|we['’]re|i['’]ve|we['’]ve|i['’]ll|we['’]ll)\b", re.I)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_LESS = word_set(
    """actually correction sorry longer anymore more any now really still just again quit stopped
    gave given sold cancelled canceled called broke broken split dropped rid forget ignore disregard
    said meant thing things one ones something anything everything someone way bit lot day time
    week year month today tomorrow yesterday tonight do does don doesn isn aren am have has had"""
)
_WE = re.compile(r"\b(?:we|our)\b", re.IGNORECASE)
#: Verbs of going somewhere, in their base forms: one who does not fly to Oslo does not go there.
_GOING = word_set("go fly travel drive head sail")
_WITH_DESTINATION = re.compile(
    r"\b(?P<verb>[a-z]+)(?: (?:back|over|down|up|off|out))? (?:to|for)\b", re.IGNORECASE
)


Kind = Literal["contrast", "ended", "plan", "cancelled", "off", "said"]

#: The kinds of which a booking is the object.
_CALLED_OFF = frozenset[Kind]({"cancelled", "off"})


class Denial(Struct, frozen=True):
    """The stems of the denied phrase, and those of the surrounding words.

    "contrast": not this but another; "ended": the speaker is no longer involved; "plan": the
    speaker will not do it; "cancelled": the speaker cancelled a booking, with the `sentence`;
    "off": it was cancelled, by whomever; "said": the speaker explicitly takes back a statement.
    `verb`: the base form of what is not done. `joint`: others of the conversation may have stated
    it, as what "we" do.
    """

    start: int
    end: int
    kind: Kind
    old: frozenset[str]
    named: bool
    words: frozenset[str]
    verb: str = ""
    sentence: str = ""
    joint: bool = False


def find_denials(text: str) -> list[Denial]:
    """Return the denials in a message; for most messages, none."""
    if _CUE.search(text.lower()) is None:
        return []
    others = reported(text)
    found: list[Denial] = []
    for start, end in sentences(text):
        sentence = text[start:end]
        if "?" in sentence or _CUE.search(sentence.lower()) is None or is_reported(others, start):
            continue
        if _SUPPOSED.search(sentence) is None and (denial := _denial(sentence, start, end)):
            found.append(denial)
    return found


def _denial(sentence: str, start: int, end: int) -> Denial | None:
    if (match := _SAID.search(sentence)) and (old := stems(match["old"])):
        return Denial(start, end, "said", old, True, frozenset())
    for pattern in _CONTRASTS:
        match = pattern.search(sentence)
        if match is not None and (old := stems(match["old"])):
            rest = stems(sentence[: match.start("old")]) | stems(sentence[match.end("old") :])
            named = any(word[0].isupper() for word in _WORD.findall(match["old"]))
            return Denial(start, end, "contrast", old, named, rest - old)
    if (match := _NOT_DOING.search(sentence)) and (match["after"] or match["how"] != "not"):
        old = stems(_AFTERWARDS.sub("", match["old"]))
        # "I'm not going to eat meat any more" ends what one does.
        is_intent = match["old"].split()[0] == "to" and not BASES.isdisjoint(
            match["old"].split()[1:2]
        )
        if 0 < len(old) <= _MOST_DENIED and not is_intent:
            verb = base_form(match["verb"].lower())
            kind: Kind = "plan" if (match["after"] or "").lower() == " after all" else "ended"
            rest = stems(sentence) - old
            return Denial(start, end, kind, old, False, rest, verb, joint=_is_joint(match[0]))
    if match := _WILL_NOT.search(sentence):
        old = stems(_AFTERWARDS.sub("", match["old"]))
        if 0 < len(old) <= _MOST_DENIED:
            verb, rest = base_form(match["verb"].lower()), stems(sentence) - old
            return Denial(start, end, "plan", old, False, rest, verb, joint=_is_joint(match[0]))
    if match := _IS_OFF.search(sentence):
        old = stems(_AFTERWARDS.sub("", match["old"] or match["was"]))
        if 0 < len(old) <= _MOST_DENIED:
            rest = stems(sentence) - old
            return Denial(start, end, "off", old, False, rest, sentence=sentence, joint=True)
    for pattern in _ENDED:
        match = pattern.search(sentence)
        if match is None:
            continue
        old = stems(_AFTERWARDS.sub("", match["old"]))
        if 0 < len(old) <= _MOST_DENIED:
            rest = stems(sentence) - old
            if _CANCELS.search(sentence, match.start(), match.start("old")):
                return Denial(
                    start,
                    end,
                    "cancelled",
                    old,
                    False,
                    rest,
                    sentence=sentence,
                    joint=_is_joint(match[0]),
                )
            return Denial(start, end, "ended", old, False, rest)
    return None


def denied(denial: Denial, earlier: Sequence[Earlier]) -> Corrected | None:
    """Return what a denial denies in the earlier messages, in the nearest one that states it."""
    for distance, message in enumerate(earlier):
        is_ours = denial.joint and not message.elsewhere
        if denial.kind != "contrast" and not message.same_sender and not is_ours:
            continue
        said = stems(message.text)
        if not _states(denial, said, message.text):
            continue
        others = reported(message.text)
        for start, end in sentences(message.text):
            sentence = message.text[start:end]
            words = stems(sentence)
            if "?" in sentence or is_reported(others, start):
                continue
            if not _states(denial, words, sentence):
                continue
            if not message.same_sender and denial.joint and _WE.search(sentence) is None:
                continue
            shared = len(denial.words & words) + (0.5 if denial.words & said else 0)
            stated = _BOOKED.sub("", sentence) if denial.kind in _CALLED_OFF else sentence
            if _ONCE.search(stated) is None and _is_of(denial, message, shared, sentence):
                values = tuple(
                    Value("words", word, word)
                    for word in dict.fromkeys(_WORD.findall(sentence))
                    if not stems(word).isdisjoint(denial.old)
                )
                return Corrected(distance, values[-1:], start, end)
    return None


def _is_joint(said: str) -> bool:
    return said.lower().startswith("we")


def _states(denial: Denial, words: frozenset[str], text: str) -> bool:
    """Whether a text with these stems names what is denied.

    A trip to Oslo is named by "we are going to Oslo" too.
    """
    if denial.old <= words:
        return True
    where = denial.old - _JOURNEYS
    is_journey = denial.kind in ("cancelled", "off", "plan") and 0 < len(where) < len(denial.old)
    return is_journey and where <= words and _goes_somewhere(text)


def _goes_somewhere(text: str) -> bool:
    """Whether a text has a verb of going with its destination: "we are driving to Oslo"."""
    verbs = (match["verb"].lower() for match in _WITH_DESTINATION.finditer(text))
    return any(base_form(verb) in _GOING and not is_past(verb) for verb in verbs)


def _is_of(denial: Denial, message: Earlier, shared: float, sentence: str) -> bool:
    """Whether an earlier sentence that contains the denied words has the same topic."""
    if denial.kind == "said":
        return True
    if denial.kind in ("ended", "plan"):
        does = not denial.verb or _does(denial, sentence)
        return does and _OWN.search(sentence) is not None
    if denial.kind in _CALLED_OFF:
        # "I cancelled the hotel in Riga" leaves the one in Oslo.
        things = [each.lower() for each in _WORD.findall(sentence) if stems(each) & denial.old]
        own = denial.kind == "off" or _OWN.search(sentence) is not None
        return own and all(
            qualifiers(denial.sentence, each).is_same(qualifiers(sentence, each)) for each in things
        )
    if not denial.words:
        # "Lille, not Paris.": no other word gives a topic.
        return denial.named and message.same_sender
    return shared >= (1 if denial.named and message.same_sender else 2)


def _does(denial: Denial, sentence: str) -> bool:
    """Whether a sentence says that somebody does what is denied; of a plan, that they will."""
    words = _WORD.findall(sentence.lower().replace("’", "'"))
    if denial.kind == "plan" and denial.verb in _GOING and _goes_somewhere(sentence):
        return True
    return any(
        base_form(word) == denial.verb
        and not is_past(word)
        and (
            denial.kind != "plan"
            or word.endswith("ing")
            or before in ("to", "will")
            or before.endswith("'ll")
        )
        for before, word in pairwise(["", *words])
    )


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words."""
    return frozenset(_stems(_WORD.findall(text.lower())))


def _stems(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        bare = word.replace("’", "'").removesuffix("'s")
        if (
            len(bare) > 2
            and "'" not in bare
            and bare not in FUNCTION_WORDS
            and bare not in PHATIC
            and bare not in _LESS
            and bare not in WEEKDAYS
            and bare not in MONTHS
        ):
            stem = re.sub(r"(?:ing|ed|es|s)\Z", "", bare) if len(bare) > 4 else bare
            stem = stem.removesuffix("s") if len(stem) > 3 and not stem.endswith("ss") else stem
            yield stem.removesuffix("e") if len(stem) > 3 else stem


#: The stems of nouns for going somewhere.
_JOURNEYS = stems("trip journey holiday vacation visit tour")
