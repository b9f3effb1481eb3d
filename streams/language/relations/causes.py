"""Causal statements: which part of a sentence, or which previous sentence, led to which.

Precision takes precedence over recall: if a cue may mean something else ("since" of time, "so" of
degree, "led to" of a road), or the statement is doubtful, there is no cause.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from recollect.streams.language.grammar.clauses import Span, is_finite, is_in_brackets, is_purpose
from recollect.streams.language.relations.content_words import content_words
from recollect.text.lexicon import word_set
from recollect.text.tokenizer import Tokens

#: The strength of a link that the speaker states ("because", "that's why").
STATED = 0.8
#: The strength of a link by an ambiguous cue (", so", "since").
IMPLIED = 0.6


class Joined(NamedTuple):
    """Two parts of a sentence, one of which is the cause of the other.

    `concludes`: the right one is presented as a conclusion ("so", "which means").
    """

    left: Span
    right: Span
    cause_first: bool
    strength: float
    concludes: bool = False


Opening = Literal["effect", "cause"]

#: A clause after "means" or the like is about somebody: not "that means a lot", nor "the world".
_CLAUSE = (
    r"(?:i|we|he|she|it|they|there|nobody|everybody|everyone|my|our|his|her|their|"
    r"the (?!world\b|most\b|same\b|whole\b|absolute\b)\w+|(?-i:[A-Z])[\w'’]+ \w+s)\b"
)
#: Cues that a sentence is the effect of the previous one. "So" and "then" are excluded, as they
#: often just continue a story; but an inability or an obligation after them has a cause.
_EFFECT_OPENS = re.compile(
    r"(?:(?:and|but|so|yeah|yes|oh|well),? )*(?:because of (?:that|this|it|which)\b|"
    r"as a (?:direct )?(?:result|consequence)\b(?! of (?!that\b|this\b))|"
    r"consequently\b|accordingly,|therefore\b|thus,|hence,|hence why\b|"
    r"(?:thus|hence|it follows that|(?:that|this|which) (?:also |now )?(?:means|implies)(?: that)?)"
    rf" (?={_CLAUSE})|"
    r"(?P<weak>so,? (?=(?:i|we|he|she|they|(?:my|our) \w+) (?:can['’]?t|cannot|couldn['’]?t|"
    r"could not|had to|have to|has to|must|won['’]?t be able)\b"
    r"(?! (?:say|admit|ask|tell|confess|agree|thank|be honest|wait|help|believe|imagine)\b)))|"
    r"(?:that['’]?s|that is|that was|this is|this was|it['’]s) (?:exactly |partly |mainly |also )?"
    r"(?:why\b|how come\b|(?:the|a) reason (?:why|that|i|we|he|she|they|my|our)\b)|"
    r"which is why\b|for (?:that|this) (?:very )?reason\b|(?:due|owing) to (?:that|this)\b|"
    r"thanks to (?:that|this)(?=[ ,]+(?:i|we|he|she|it|they|my|our|the)\b)|on account of that\b|"
    r"(?:that|this|which) (?:has |also )?(?:led to|resulted in|caused|made (?:me|us|him|her|them)|"
    r"meant (?:that|i|we|he|she|they|my|our)|forced (?:me|us|him|her|them)))",
    re.IGNORECASE,
)
#: Cues that a sentence is the cause of the previous one.
_CAUSE_OPENS = re.compile(
    r"(?:(?:and|well|oh),? )*(?:(?:mainly |mostly |simply |partly )?because (?!of\b)|"
    r"(?:that['’]?s|that is|this is|it['’]s|that was|this was|it was) (?:all |mainly |mostly |"
    r"simply |partly )?because (?!of\b)|the (?:main |real )?reason (?:is|was|being)(?: that)? )",
    re.IGNORECASE,
)
#: "That's why" with nothing after it gives no effect, and a question states none.
_POINTLESS = re.compile(r"[\W_]*\Z")

_DOUBT = re.compile(
    r"\b(?:if|unless|whether|maybe|perhaps|probably|possibly|might|supposedly|allegedly|apparently|"
    r"wonder|wondering|guess|suppose|pretend|pretended|as though|imagine|would(?:n['’]t)? have|"
    r"could(?:n['’]t)? have|not sure|no idea|don['’]t know|doubt|hypothetically|or because)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|n['’]t|never|hardly|neither|nor)(?: (?:just|only|simply|really|even|at all|merely|"
    r"so much|necessarily))?[ ,]*\Z|\b(?:is|was|are|were)(?:n['’]t) ?\Z",
    re.IGNORECASE,
)
#: "Just because I'm tired", "not because ... but".
_WEAKENED = re.compile(r"(?:\A|\b)(?:just|only|even)\s*\Z", re.IGNORECASE)
_CONTRASTS = re.compile(r"\bbut\b|\bdoes(?:n['’]t| not) mean\b", re.IGNORECASE)

#: Cues between an effect and its cause, both of them clauses.
_CAUSE_FOLLOWS = re.compile(
    r"(?<![ ,–—-])[ ,–—-]+"
    r"(?:(?:mainly|mostly|simply|partly|largely|and (?:that['’]s|it['’]s|this is)|and) )?"
    r"(?:because|(?:due|owing|thanks) to the fact that|on account of the fact that|"
    r"for the (?:simple )?reason that|given that|the reason being(?: that)?|"
    r"(?P<weak>since|seeing (?:as|that)))"
    r"(?! of\b) ",
    re.IGNORECASE,
)
#: Cues between a cause and its effect, both of them clauses.
_EFFECT_FOLLOWS = re.compile(
    r"(?:\s*[,;:–—]|\s-|(?=\s(?:and|so)\s))\s*(?:(?:and|so) )?(?:"
    r"(?:therefore|consequently|accordingly|thus|hence|as a (?:result|consequence)(?! of)|"
    r"because of (?:that|this)|for (?:that|this) reason|due to (?:that|this))[ ,]+|"
    r"(?:that['’]?s|that is|this is|it['’]s|which is|which was) (?:why|how come)[ ,]+|hence why |"
    r"(?:which|that|this) meant (?:that )?|which (?:means|implies) (?:that )?|"
    rf"(?:(?:that|this) (?:means|implies)|meaning|it follows) (?:that )?(?={_CLAUSE})|"
    r"(?P<weak>so) (?!(?:that|much|many|far|long|on|i guess|i think|i (?:don['’]t|do not) know|"
    r"yeah|yes|what|how|why|when|who|where|please|let['’]?s|you know|to|as|it seems)\b)"
    r"(?=(?:now |then |naturally |of course )?(?:i|i['’]m|i['’]ve|i['’]d|i['’]ll|we|we['’]\w+|he|"
    r"she|they|he['’]s|she['’]s|they['’]\w+|my|our|his|her|their|the)\b))",
    re.IGNORECASE,
)
#: A sentence without one of these has no such link.
_CAUSE_WORDS = ("because", "the fact", "reason", "given that", "since", "seeing")
_EFFECT_WORDS = (
    "so ", "why", "how come", "mean", "implies", "follows", "therefore", "consequently",
    "accordingly", "thus", "hence", "as a ", "because of", "reason", "due to",
)  # fmt: skip
#: The purpose of an action is not its cause.
_PURPOSE = re.compile(
    r"\b(?:(?:can|could|(?-i:may))(?!['’]t)|will|would|won['’]t|wouldn['’]t)\b", re.IGNORECASE
)
#: Cues at the beginning: a cause up to the comma, then its effect.
_CAUSE_FIRST = re.compile(
    r"(?:(?:and|but|so|well|also),? )*(?:because|(?:due|owing|thanks) to the fact that|given that|"
    r"(?P<weak>since|seeing (?:as|that)))(?! of\b) ",
    re.IGNORECASE,
)
#: Causal "since": a present state, as in "since I'm vegan"; anything else may be a time.
_HOLDS = re.compile(
    r"(?:(?:i|we|he|she|it|they|you|there|my|our|his|her|their|the|this|that)\b"
    r"(?: [\w'’-]+){0,3}?)(?:\s|['’])"
    r"(?:am|is|are|m|s|re|do|does|don['’]t|doesn['’]t|can|can['’]t|cannot|have to|has to|need|"
    r"needs|hate|hates|love|loves|like|likes|prefer|prefers|want|wants|isn['’]t|aren['’]t|work|"
    r"works|live|lives|have no|has no|have a|have an|has a|has an|have two|have three)\b"
    r"(?! been\b| gone\b| had\b| (?:moved|left|started|got|become|become|lived|worked)\b)",
    re.IGNORECASE,
)
_SINCE_TIME = re.compile(
    r"\b(?:have|has|had|i['’]ve|we['’]ve|he['’]s|she['’]s|they['’]ve|it['’]s|ever|it has been)"
    r"(?: \w+){0,2}? (?:been|\w+ed|known|lived|gone|had|done|seen|become|grown)\b|\bever\s*\Z",
    re.IGNORECASE,
)

#: A cause given as a noun phrase.
_BY_NAME = re.compile(
    r"\b(?:because of|as a (?:direct )?(?:result|consequence) of|due to|owing to|thanks to|"
    r"on account of|caused by|brought (?:on|about) by|triggered by|(?:resulted|resulting|stems?|"
    r"stemmed) from) ",
    re.IGNORECASE,
)
_LED_TO = re.compile(
    r" (?:has |have |had |eventually |then |directly |finally |also )*"
    r"(?:led to|leads to|resulted in|brought about|caused|triggered)[ ]",
    re.IGNORECASE,
)
#: A phrase for something mentioned before: "the storm", "my broken leg", "Ada's fall".
_DEFINITE = re.compile(
    r"(?:the|that|this|these|those|my|our|his|her|their|all (?:the|this|that)|"
    r"(?-i:[A-Z])[\w-]*['’]s)\s",
    re.IGNORECASE,
)
_PHRASE_ENDS = re.compile(
    r"[,;:.!?()\n–—]|\s(?:and|but|so|or|which|that|who|when|while|after|before|until|i|we|he|she|it|"
    r"they|on|last|this|yesterday|today|tomorrow|next|for)\s",
    re.IGNORECASE,
)
#: Subjects that lead somewhere in space.
_WAYS = word_set(
    """road path street stair stairs staircase door gate bridge trail corridor hallway way track
    tunnel lane alley passage exit steps line route link river"""
)
_MOST_WORDS = 4


def joined(tokens: Tokens, start: int, end: int) -> Joined | None:
    """Return the two parts of a sentence, one of which is the cause of the other, or None."""
    text = tokens.text
    lower = text[start:end].lower()
    ways = []
    if any(map(lower.__contains__, _CAUSE_WORDS)):
        ways += [_with_cause_first, _with_cause_after]
    if any(map(lower.__contains__, _EFFECT_WORDS)):
        ways += [_with_effect_after]
    for find in ways:
        found = find(text, start, end)
        if found is not None:
            apart = not is_in_brackets(text, start, found.left[1])
            whole = all(is_finite(tokens, *part) for part in (found.left, found.right))
            sure = whole and apart and _DOUBT.search(text, start, end) is None
            return found if sure else None
    return None


def _with_cause_first(text: str, start: int, end: int) -> Joined | None:
    opens = _CAUSE_FIRST.match(text, start, end)
    if opens is None:
        return None
    comma = text.find(", ", opens.end(), end)
    while comma >= 0 and is_in_brackets(text, start, comma):
        comma = text.find(", ", comma + 1, end)
    if comma < 0:
        return None
    if opens["weak"] and not _is_reason(text, opens.end(), comma, comma + 2, end):
        return None
    rest = comma + 2
    if text[rest : rest + 5].lower() in ("that ", "this "):
        return None
    return Joined((opens.end(), comma), (rest, end), True, _strength(opens))


def _with_cause_after(text: str, start: int, end: int) -> Joined | None:
    marker = _CAUSE_FOLLOWS.search(text, start + 1, end)
    if marker is None:
        return None
    left, right = (start, marker.start()), (marker.end(), end)
    before = text[start : marker.start()]
    if _DENIED.search(before) or _WEAKENED.search(before) or _CONTRASTS.search(text, *right):
        return None
    if _CAUSE_FOLLOWS.search(text, *right):
        return None  # no way to tell which is the cause
    if marker["weak"] and not _is_reason(text, *right, *left):
        return None
    return Joined(left, right, False, _strength(marker))


def _with_effect_after(text: str, start: int, end: int) -> Joined | None:
    marker = _EFFECT_FOLLOWS.search(text, start + 1, end)
    if marker is None or _CAUSE_FIRST.match(text, start, end):
        return None  # "Since we have a car, that means …": one half has no content
    left, right = (start, marker.start()), (marker.end(), end)
    if marker["weak"] and (
        is_purpose(text, left, right)
        or _PURPOSE.search(text, marker.end(), min(marker.end() + 40, end))
    ):
        return None
    return Joined(left, right, True, _strength(marker), concludes=True)


def _strength(marker: re.Match[str]) -> float:
    return IMPLIED if marker["weak"] else STATED


def _is_reason(text: str, start: int, end: int, main: int, main_end: int) -> bool:
    """Whether "since" means "because": a present state follows, and no period is meant."""
    return _HOLDS.match(text, start, end) is not None and not _SINCE_TIME.search(
        text, main, main_end
    )


def opening(text: str, start: int, end: int) -> Opening | None:
    """Return whether a sentence is the effect or the cause of the previous one, or None."""
    effect = _EFFECT_OPENS.match(text, start, end)
    opens = effect or _CAUSE_OPENS.match(text, start, end)
    if opens is None or _POINTLESS.match(text, opens.end(), end) or _DOUBT.search(text, start, end):
        return None
    if effect is not None:
        return "effect"
    # "Because I'm tired, I stay" contains its own effect; "because reasons" has none.
    whole = ", " in text[opens.end() : end] or _CONTRASTS.search(text, start, end)
    return None if whole else "cause"


def opening_strength(text: str, start: int, end: int) -> float:
    """Return the strength of the link that the beginning of a sentence states."""
    effect = _EFFECT_OPENS.match(text, start, end)
    return STATED if effect is None else _strength(effect)


def after_opening(text: str) -> int:
    """Return where the content of a sentence begins that is the cause of the previous one."""
    if opening(text, 0, len(text)) != "cause":
        return 0
    opens = _CAUSE_OPENS.match(text)
    return opens.end() if opens else 0


def after_link(text: str) -> int:
    """Return where the content of a sentence begins: after "That's how come", "Because"."""
    opens = _EFFECT_OPENS.match(text) or _CAUSE_OPENS.match(text)
    return opens.end() if opens and opening(text, 0, len(text)) is not None else 0


def named_cause(text: str, start: int, end: int) -> frozenset[str]:
    """Return the content words of a cause given as a noun phrase ("because of the storm").

    They match the earlier mention of the cause. Empty if there is no such phrase.
    """
    nothing: frozenset[str] = frozenset()
    by = _BY_NAME.search(text, start, end)
    found = by or _LED_TO.search(text, start, end)
    if found is None or _DOUBT.search(text, start, end):
        return nothing
    if by is not None:
        denied = _DENIED.search(text[start : by.start()])
        return nothing if denied else _phrase(text, by.end(), end)
    words = _phrase(text, start, found.start())
    return nothing if words & _WAYS else words


def _phrase(text: str, start: int, end: int) -> frozenset[str]:
    """Return the content words of a phrase for something mentioned before."""
    stop = _PHRASE_ENDS.search(text, start + 4, end)
    phrase = text[start : stop.start() if stop else end]
    if _DEFINITE.match(phrase) is None:
        return frozenset()
    words = content_words(phrase)
    return words if 1 <= len(words) <= _MOST_WORDS else frozenset()
