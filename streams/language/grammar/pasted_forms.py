"""Phrases that mark a text as not the sender's own: requests, and statements of origin."""

from __future__ import annotations

import re

_ASKING = (
    r"(?:(?:hi|hello|hey|ok|okay|now|then|and|also|so)[ ,!]+)*(?:(?:please|pls|kindly)[ ,]+)?"
    r"(?:(?:can|could|would|will) (?:you|u)(?: please)? |help me(?: to)? )?"
)
#: Operations on texts only, and operations that may also have other objects.
_WORKING = (
    r"(?:translate|proof-?read|paraphrase|rephrase|reword|re-?write|summari[sz]e|sum up|shorten|"
    r"condense|polish|expand(?: on)?|tl;?dr)"
)
_JUDGING = (
    r"(?:check|correct|review|edit|improve|fix|rate|grade|critique|analy[sz]e|evaluate|simplify|"
    r"explain|read|comment on)"
)
_ANSWERING = r"(?:reply(?: to)?|respond(?: to)?|answer)"
#: Nouns for texts: prose; texts that may also be attached as files; and correspondence, which a
#: message may only mention.
_PROSE = (
    r"(?:text|essay|article|paragraphs?|passage|excerpt|abstract|sentences?|poem|translation)\b"
)
_TEXT = (
    rf"(?:[\w']+ ){{0,2}}?(?:{_PROSE}|(?:draft|letter|resume|résumé|cv|bio|transcript|grammar|"
    r"spelling|content|proposal|description|report|section|chapter|script|speech|caption)\b)"
)
_WRITTEN = rf"(?:{_TEXT}|(?:[\w']+ ){{0,2}}?(?:e-?mail|mail|message|post|comment|note)\b)"
_THIS = r"(?:this|these|the following|the (?:text |one )?below|below)"
#: "This" as the whole object: "summarise this in a line", not "this situation".
_ITSELF = rf"(?: {_WRITTEN}|(?= (?:to|into|in|for|please|pls|and|so|as|with)\b)|(?=[\s.:!?]*\Z))"
_INTO = r"(?:to|into|in)\b"
_THINK = r"what (?:do|did) (?:you|u) (?:think|make|say) (?:of|about|to)"
_RIGHT = r"(?:correct|right|ok|okay|fine|good|clear|well written|natural)"


def _any(*forms: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{form})" for form in forms), re.IGNORECASE)


#: Everything after the colon is pasted.
BEFORE_COLON = _any(
    # "Could you translate this into Dutch:"
    rf"(?:\A{_ASKING}|(?:\b(?:can|could|would|will) (?:you|u)\b|\bplease\b|\bhelp me\b)"
    rf"[^\n.!?:]{{0,40}}?)\b(?:{_WORKING}|reply|respond)\b(?: [\w']+){{0,3}}? "
    rf"(?:{_THIS}|it)(?: [\w']+){{0,4}}:(?=\s)",
    # "Reply to this mail from Tom:", "Fix the grammar:"
    rf"\A{_ASKING}(?:{_WORKING}|{_JUDGING}|{_ANSWERING}) (?:{_THIS} {_WRITTEN}|(?:my|the) {_TEXT})"
    r"[^\n.!?:]{0,40}:(?=\s)",
    # "Check this for mistakes:"
    rf"\A{_ASKING}(?:{_WORKING}|{_JUDGING}) {_THIS} for "
    r"(?:\w+ )?(?:mistakes|errors|typos|grammar|spelling)[^\n.!?:]{0,20}:(?=\s)",
    # "Please give me five points to revise this proposal for my class:", before a line break
    rf"\A{_ASKING}(?:give|tell|write|make|find|list|create|generate|suggest|help|revise|continue|"
    rf"turn|convert|{_WORKING}|{_JUDGING})\b[^\n.!?:]{{0,120}}?\b(?:this|these|the following) "
    rf"{_TEXT}[^\n.!?:]{{0,80}}:(?=[ \t\r]*\n)",
    # "What do you think of this text?:", "Is this sentence correct:"
    rf"\A{_ASKING}(?:{_THINK}|is|are|does|do) {_THIS} {_WRITTEN}[^\n.!:]{{0,40}}:(?=\s)",
)
#: A statement of who showed or sent it, before a colon; without one of these, as in "a letter from
#: the city: my permit is granted", the rest may be the sender's own words.
CAME = _any(
    rf"\b(?:here(?:['’]s| is)|this is|(?:see )?below is) (?:the|an?) {_WRITTEN}[^\n.!?:]{{0,30}}?"
    r"\b(?:from|i (?:just )?(?:got|received|found)|(?:he|she|they) (?:sent|wrote))\b[^\n.!?:]{0,60}"
    r":(?=\s)",
    rf"\b(?:here(?:['’]s| is)|this is|(?:see )?below is) the {_TEXT} ?:(?=\s)",
    rf"\bi (?:just )?(?:got|received|found) (?:(?:this|the following) {_WRITTEN}[^\n.!?:]{{0,60}}"
    rf":(?=\s)|an? {_WRITTEN}[^\n.!?:]{{0,60}}:(?=[\r\n]))",
    r"\b(?:sent|sends?|gave|forwarded|texted|e-?mailed) (?:it )?(?:to )?(?:me|us) "
    rf"(?:this|the following)(?: {_WRITTEN})?(?:[^\n.!?:]{{0,40}}:(?=\s)|[ \t\r]*(?=\n))",
)
#: The rest of the line, if it is long, is the text to work on.
THIS_TEXT = re.compile(
    rf"\b{_WORKING} (?:\w+ ){{0,2}}?(?:this|the following|the below) {_PROSE}", re.IGNORECASE
)
#: A line that requests work on the lines below.
LINE_BEFORE = _any(
    rf"{_ASKING}{_WORKING} (?:{_THIS}{_ITSELF}|(?:my|the) {_WRITTEN}|{_INTO})",
    rf"{_ASKING}{_WORKING}(?: please| pls)?[\s.:!]*\Z",
    rf"{_ASKING}(?:{_JUDGING}|{_THINK}) (?:{_THIS} {_TEXT}|my (?:[\w']+ )?{_PROSE})",
)
#: A line that requests work on the text above it: "my essay" may be another one.
LINE_AFTER = _any(
    rf"{_ASKING}{_WORKING} (?:(?:this|the above){_ITSELF}|{_INTO})",
    rf"{_ASKING}{_WORKING}(?: please| pls)?[\s.:!?]*\Z",
    rf"{_ASKING}(?:{_JUDGING}|{_THINK}) (?:this|the above) {_WRITTEN}",
    rf"is (?:this|the above) {_WRITTEN} (?:[\w']+ )*?{_RIGHT}\b",
    rf"is (?:this|it) (?:grammatically|linguistically) {_RIGHT}\b",
)
#: A request about a letter, on a line after it.
OF_A_LETTER = _any(
    rf"(?:so |and )?{_ASKING}(?:{_WORKING}|{_JUDGING}|{_ANSWERING}) "
    r"(?:this|it|the above|them|him|her)\b",
    rf"(?:so |and )?(?:is (?:this|it) |does (?:this|it) (?:sound|read) ){_RIGHT}\b",
    rf"(?:so |and )?(?:what do (?:you|u) think|{_THINK} (?:this|it))\b",
    r"(?:so |and )?(?:how|what) (?:do|should|can|would) (?:i|you) (?:reply|respond|answer|say)\b",
)
#: Words that precede a letter shown to the reader.
SHOWN = _any(
    rf"\b(?:{_WORKING}|{_JUDGING}|{_ANSWERING}|write|draft|help|think)\b",
    r"\?",
    r"\b(?:this|below|here(?:['’]s| is)|look|see|sent|wrote|got|received|came|forward\w*|fyi)\b",
)
