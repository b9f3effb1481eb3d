"""Stop words, shared by every search over words and over word vectors."""

from __future__ import annotations

# English function words: every text has them, so they distinguish nothing. Negations and question
# words for time and place are included, since the arms do not parse grammar.
_FUNCTION_WORDS = """
    a about above after again against all also am an and any are aren't as at be because been
    before being below between both but by can can't could couldn't did didn't do does doesn't
    doing don't down during each few for from further had hadn't has hasn't have haven't having he
    her here hers herself him himself his how i i'd i'll i'm i've if in into is isn't it it's its
    itself just let's me more most my myself no nor not of off on once only or other our ours
    ourselves out over own same she should shouldn't so some such than that that's the their
    theirs them themselves then there these they this those through to too under until up us very
    was wasn't we were weren't what when where which while who whom whose why will with won't
    would wouldn't you your yours yourself yourselves d ll m o re s t ve y
"""
#: In lower case, with straight apostrophes; contractions are listed whole and in parts.
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
