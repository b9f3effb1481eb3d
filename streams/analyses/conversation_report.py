"""The outcome of a conversation: participants, decisions, open questions and next steps.

Rules over the form of sentences. Each result quotes the sentence that it rests on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from recollect.streams.analyses.utterances import Quote, Utterance, quotes
from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.relations.agreements import agrees
from recollect.streams.language.relations.content_words import content_words
from recollect.text.lexicon import word_set


class Participant(Struct, frozen=True):
    """Somebody who wrote in a conversation, and how much."""

    name: str
    messages: int
    words: int


class ConversationReport(Struct, frozen=True):
    """The outcome of a conversation; times are unix ms.

    A decision is what somebody says is settled, or proposes and another agrees to. A next step is
    what somebody undertakes, or asks another to do. An open question is one that nobody answered.
    """

    participants: tuple[Participant, ...]
    started_at: int
    ended_at: int
    decisions: tuple[Quote, ...]
    open_questions: tuple[Quote, ...]
    next_steps: tuple[Quote, ...]


_LEAD = (
    r"(?:\W*(?:ok|okay|so|and|but|well|yes|yeah|yep|sure|then|great|good|perfect|alright|all right"
    r"|right|cool|oh|thanks|thank you|sounds good|no problem|of course|deal|anyway|also)\b"
    r"[ ,.!:–—-]+){0,4}"
)
#: What somebody says is settled.
_SETTLED = re.compile(
    r"(?<!when )(?<!since )(?<!after )(?<!before )(?<!if )(?<!what )(?<!that )(?<!as )(?<!where )"
    r"\b(?:we|i|we['’]ve|i['’]ve|they|the team|everyone)(?: have| had| all| both| just| finally"
    r"| already| now)* (?:decided|agreed|opted|settled (?:on|that))"
    r"\b(?! (?:with (?:you|that)|if|whether|not sure))"
    r"|\b(?:has|have) (?:all |just |finally )?(?:decided|agreed) (?:to|on|that)\b"
    r"|\b(?:i|we|i['’]m|we['’]re|i am|we are)(?: ['’]?ll| will| are| am)?(?: definitely| just)?"
    r" (?:go with|going with|gonna go with|going to go with|stick with|sticking with)\b"
    r"|\b(?:it['’]s|that['’]s|it is|that is)(?: all| now)? (?:settled|decided|a deal|a plan|a date"
    r"|agreed|confirmed|final)\b"
    r"|\b(?:final )?decision(?: is\b| was\b|:)|\bmade (?:up my mind|a decision|the decision)\b"
    r"|^\W*(?:decided|agreed|settled|confirmed|booked|approved)(?:[:,]| on\b| to\b)",
    re.IGNORECASE,
)
#: What somebody proposes to do.
_PROPOSES = re.compile(
    rf"{_LEAD}(?:let['’]?s|let us|shall we|should we|why don['’]t we|could we"
    r"|(?:how|what) about (?=we\b|[\w'’-]+ing\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\d"
    r"|noon|tomorrow|tonight|next|this|at|on|lunch|dinner|breakfast|coffee|tea|a )"
    r"|can we|may i|could i|do you want to|do you wanna|want to|wanna|would you like to"
    r"(?! (?:share|tell|discuss|describe|talk|know|start|explain))"
    r"|would [^?]{3,40} work|does [^?]{3,40} work|i(?: would|['’]d)? (?:suggest|propose)"
    r"|we could|are you free|meet (?:you )?(?:at|on))\b"
    r"(?!(?: not| both| all)? (?:see|say|face it|be honest|hope|know|keep|continue|make|create|work"
    r"|do (?:it|this|that)|go for it|get to work|stay|support|spread|rock|chase|never|give it)\b)",
    re.IGNORECASE,
)
_PROPOSES_SELDOM = re.compile(r"\b(?:next time|one day|some ?day|some ?time|ever|always)\b", re.I)
_DISAGREES = re.compile(
    r"\b(?:but|can['’]t|cannot|won['’]t|unfortunately|not sure|no|sorry|instead|rather|unless"
    r"|maybe|perhaps|let me check|have to check)\b",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(
    r"\W*(?:sounds (?:good|great|like a plan|perfect|fun)|works (?:for me|great|well)|count me in"
    r"|i['’]?m in\b|i['’]d love (?:to|that)|see you (?:then|there|at|on)"
    r"|it['’]s a (?:deal|date|plan)|let['’]s do (?:it|that)|great idea|good idea"
    r"|looking forward to it|i['’]ll be there"
    r"|definitely|for sure|agreed|done\b|yes please|love to|i['’]m down)",
    re.IGNORECASE,
)
#: What somebody undertakes to do.
_UNDERTAKES = re.compile(
    r"(?:^|[,;.–—-] ?|\b(?:and|so|but|then|because) )(?:\W*(?:ok|okay|sure|yes|yeah|so|well|then"
    r"|tomorrow|tonight|today|later|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|next (?:week|month|time)|thanks),? ){0,3}"
    r"(?:(?:i|we)(?:['’]ll| will| shall)(?: also| just| then| definitely| probably| try to)*"
    r"|(?:i|we)(?:['’]m| am|['’]re| are)(?: also| just| now)?"
    r" (?:going to|gonna|planning to|about to|hoping to)"
    r"|(?:i|we)(?: also| still| really| just)*"
    r" (?:need to|have to|must|plan to|intend to|gotta|should|promise to|want to remember to)"
    r"|(?:i|we)['’]ve got to|gonna|remind me to|remember to|don['’]t forget to"
    r"|(?:to-?do|action items?|next steps?)(?: is|:| for))"
    r" (?P<does>[a-z][\w'’-]+)",
    re.IGNORECASE,
)
#: Verbs after "I'll" that promise no action.
_NO_DEED = word_set(
    """be bet never always say see have miss admit love agree know understand hope guess forgive
    like think feel remember cherish treasure imagine live die stay not need want appreciate keep
    cheer support stop get become carry welcome trust rock crush conquer shine rest arrive"""
)
_NO_DEED_FORM = re.compile(r"make (?:it|a difference)\b|do (?:it|this|that|great)\b", re.IGNORECASE)
_KEPT = re.compile(
    r"(?:keep|get|have|be|see|stay) (?:you (?:posted|updated)|back to|in touch|there|the|a|an|my"
    r"|our|some|at|him|her|them|him|to|it)\b",
    re.IGNORECASE,
)
#: What somebody asks another to do.
_ASKS = re.compile(
    rf"{_LEAD}(?:please(?! (?:be|feel|note|accept|enjoy|remember to breathe))"
    r"|(?:can|could|would|will) you (?:please )?(?!(?:believe|imagine|tell me|explain|say|see"
    r"|help me understand|give me|suggest|recommend|describe|elaborate|share|provide|show me"
    r"|write|list))"
    r"|(?:make sure|be sure|don['’]t forget|remember) to\b|kindly) ?(?P<does>[a-z][\w'’-]+)",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"\b(?:don['’]t know|not sure|no idea|have to check|i['’]ll (?:check|ask|look|find out|see"
    r"|let you know|get back)|let me (?:check|ask|look|see|think|get back)"
    r"|need to (?:check|ask|think)|haven['’]t decided|still (?:deciding|thinking|figuring)"
    r"|we['’]ll see|undecided|unclear|to be (?:decided|confirmed)|tbd|tbc)\b",
    re.IGNORECASE,
)
#: Courtesies in the form of a question.
_COURTESY = re.compile(
    r"\W*(?:(?:hey|hi|hello|so|and|but|oh|wow|well)\b[^?]{0,20}[ ,!]+)?(?:how (?:are|r|is|was|have)"
    r" (?:you|u|things|everything|it|your (?:day|week|weekend))\b|how['’]s (?:it|everything|life"
    r"|your (?:day|week))|what['’]?s (?:up|new|going on)|you know|right|really|isn['’]t (?:it|that)"
    r"|anything (?:new|else)|how about you|what about you|and you|is (?:there )?anything else"
    r"|would you like (?:me|more|help|to (?:know|learn|explore))|do you (?:want me"
    r"|have any (?:other|more|further))|shall i|can you believe|guess what|who knows|why not"
    r"|does that (?:help|make sense)|sound good)\b",
    re.IGNORECASE,
)
#: The number of following messages by others that may answer a proposal or a question.
_REACH = 2
_FEWEST_WORDS = 3


def report(utterances: Sequence[Utterance]) -> ConversationReport:
    """Return the outcome of a conversation; `utterances`: at least one, in order."""
    decisions: list[Quote] = []
    questions: list[Quote] = []
    steps: list[Quote] = []
    for place, utterance in enumerate(utterances):
        replies = _replies(utterances, place)
        for sentence in quotes(utterance):
            if _is_decision(sentence, replies):
                decisions.append(sentence)
            elif _is_next_step(sentence):
                steps.append(sentence)
            elif _is_open(sentence, replies):
                questions.append(sentence)
    times = [utterance.at for utterance in utterances]
    return ConversationReport(
        _participants(utterances),
        min(times),
        max(times),
        tuple(decisions),
        tuple(questions),
        tuple(steps),
    )


def report_text(found: ConversationReport) -> str:
    """Return a report as text of a few lines."""
    count = sum(participant.messages for participant in found.participants)
    who = ", ".join(
        f"{participant.name} ({participant.messages})" for participant in found.participants
    )
    lines = [
        f"{count} {'message' if count == 1 else 'messages'} in "
        f"{_duration(found.ended_at - found.started_at)}: {who}"
    ]
    for heading, sentences in (
        ("Decided", found.decisions),
        ("Open", found.open_questions),
        ("Next", found.next_steps),
    ):
        lines += [f"{heading}: {it.speaker}: {' '.join(it.text.split())}" for it in sentences]
    return "\n".join(lines)


def _duration(milliseconds: int) -> str:
    minutes = round(milliseconds / 60_000)
    if minutes < 120:
        return f"{minutes} min"
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 48 else f"{round(hours / 24)} days"


def _participants(utterances: Sequence[Utterance]) -> tuple[Participant, ...]:
    """Return who wrote, those who wrote most first."""
    counts: dict[str, tuple[int, int]] = {}
    for utterance in utterances:
        messages, words = counts.get(utterance.speaker, (0, 0))
        counts[utterance.speaker] = messages + 1, words + len(utterance.text.split())
    ordered = sorted(counts.items(), key=lambda item: -item[1][0])
    return tuple(Participant(name, *count) for name, count in ordered)


def _replies(utterances: Sequence[Utterance], place: int) -> list[Utterance]:
    """Return the next messages of others."""
    speaker = utterances[place].speaker
    replies: list[Utterance] = []
    for utterance in utterances[place + 1 : place + 1 + 2 * _REACH]:
        if utterance.speaker != speaker and len(replies) < _REACH:
            replies.append(utterance)
    return replies


def _first_sentence(utterance: Utterance) -> str:
    return next((sentence.text for sentence in quotes(utterance)), utterance.text)


def _is_decision(sentence: Quote, replies: Sequence[Utterance]) -> bool:
    text = sentence.text
    if _SETTLED.search(text) and not is_question(text):
        return bool(content_words(text))
    if _PROPOSES.match(text) is None or _PROPOSES_SELDOM.search(text) or not replies:
        return False
    if not content_words(text):
        return False
    answer = _first_sentence(replies[0])
    accepts = agrees(replies[0].text) or _ACCEPTS.match(replies[0].text) is not None
    return accepts and not _DISAGREES.search(answer) and not is_question(answer)


def _is_next_step(sentence: Quote) -> bool:
    text = sentence.text
    if asked := _ASKS.match(text):
        return len(text[asked.start("does") :].split()) > 1
    undertaken = _UNDERTAKES.search(text)
    if undertaken is None or is_question(text):
        return False
    deed = text[undertaken.start("does") :]
    if undertaken["does"].lower() in _NO_DEED and not _KEPT.match(deed):
        return False
    if _NO_DEED_FORM.match(deed):
        return False
    return len(deed.split()) >= _FEWEST_WORDS - 1


def _is_open(sentence: Quote, replies: Sequence[Utterance]) -> bool:
    """Whether a sentence asks something, and nobody answers it."""
    text = sentence.text
    if not is_question(text) or _COURTESY.match(text) or len(text.split()) < _FEWEST_WORDS:
        return False
    if not content_words(text):
        return False
    return not any(_answers(reply) for reply in replies)


def _answers(reply: Utterance) -> bool:
    """Whether a message states something and does not begin by saying that nobody knows."""
    told = [sentence.text for sentence in quotes(reply) if not is_question(sentence.text)]
    return bool(told) and not any(_UNKNOWN.search(text) for text in told[:2])
