"""Whether a sentence that is worth keeping surely tells something of use later.

Sure is what names a day, a person, a place, a sum or enough of a thing; not sure what is only a
mood, a thought of the moment, or the management of a conversation. Of a message that has something
sure the rest is left to its own words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.streams.language.grammar.clauses import is_finite
from recollect.streams.language.grammar.verbs import BASES, THIRDS, is_past
from recollect.streams.language.worth.worth import Said, elides
from recollect.streams.language.worth.worth_words import (
    BRUSQUE,
    CHOICE,
    FOREIGN,
    LISTENER,
    PERSONAL,
    SPEAKER,
    STATE,
    STATE_VERBS,
)
from recollect.text.lexicon import CONTRACTIONS, FUNCTION_WORDS, RELATIONS, word_set
from recollect.text.tokenizer import bare
from recollect.text.word_patterns import any_of

#: Said to whoever listens about the talk itself: what comes next, who is ready, what to send.
_TALK = re.compile(
    r"\A(?:and |but |so )?here(?:['’]s| is| are)\b|"
    r"\b(?:ready (?:to|for|when)|let['’]?s|lets|let me|just (?:show|tell|give|send|list|confirm)|"
    r"show me|tell me|give me|remind me|ask me|as (?:we|i) (?:discussed|said|agreed|mentioned|"
    r"practi[cs]ed)|like (?:we|i) (?:discussed|said)|"
    r"we (?:just )?(?:discussed|talked about|agreed|practi[cs]ed|rehearsed|worked on|spoke)|"
    r"(?:i|we)(?:['’]ve| have)? (?:already )?(?:told|asked|gave|sent|given|shared) you|"
    r"repeat (?:myself|yourself)|waste (?:any )?(?:more )?(?:my |our )?(?:time|words)|wasting|"
    r"back and forth|no more|no need|excuses|(?:get|got) (?:started|going|moving)|move (?:on|"
    r"forward)|"
    r"next (?:step|one|thing|part|question|section|item|topic)|first (?:step|thing|one|"
    r"instruction)s?|"
    r"continue|proceed|pick up where|carry on|"
    r"your (?:advice|suggestions?|ideas?|list|plan|help|message|summary|answer|response|"
    r"questions?)|"
    r"step by step|draft|outline|the (?:summary|link|links|video|videos|list|file|document|plan|"
    r"template|roadmap|steps|instructions|answer|question|conversation|project) (?:now|is|are|was)|"
    r"so far|one thing at a time|sounds? (?:like|good|fine|great|reasonable|manageable|better)|"
    r"looks? (?:like|good|fine|great|manageable|better|solid)|makes (?:perfect )?sense|"
    r"get back to|keep (?:that|this|these|it|you) |"
    r"check(?:ed|ing)? (?:it|that|this|them|out)|"
    r"back (?:again|now)|back to (?:it|this|work|the)|"
    r"long time no|how (?:it|things) (?:went|go|goes|goes)|going on|what['’]s up|"
    r"want(?:ed)? to (?:tell|ask|say|share|show|talk|follow up|let|thank|discuss|check)|"
    r"wanna (?:tell|share|show)|gotta (?:tell|share|show)|"
    r"have to (?:tell|show|share)|something to (?:share|tell|show)|(?:good|big|great|exciting|"
    r"some|bad) news|catch(?:ing)? up|pic|pics|photo|photos|picture|pictures|video call)\b",
)
_MOOD = re.compile(
    any_of(
        r"over the moon|in the mood|spinning|feel|feels|felt|feeling|feelings|tired|drained|"
        r"draining|exhaust(?:ed|ing)|"
        r"overwhelm(?:ed|"
        r"ing)|stressed|stressful|energy|heavy|burned out|burnt out|weary|relie(?:f|ved)|anxious|"
        r"nervous|"
        r"worried|scared|happy|sad|glad|proud|excited|thrilled|stoked|pumped|grateful|thankful|"
        r"blessed|"
        r"lucky|amazed|amazing|inspired|inspiring|motivated|determined|committed|passionate|"
        r"hopeful|"
        r"frustrated|frustrating|annoyed|annoying|confused|confusing|bored|stuck|keen|curious|"
        r"can['’]t (?:think|wait|believe|focus|handle|imagine)|hope|hoping|hopefully|wish|"
        r"head hurts|"
        r"headache|breathe|breath|rest|pause|relax|escape|silence|quiet|peace|catch a break|"
        r"good at it|awesome|great time|so much fun|a blast|a bummer|tough|hard|rewarding|"
        r"challenging|"
        r"time is (?:money|precious|gold)|totally worth|meaningful|joy|joyful|"
        r"means? (?:a lot|so much|everything|the world)|"
        r"love and support|support system|(?:my|our) (?:rock|rocks|dream|dreams|passion|journey|"
        r"fire|"
        r"heart|mind|head|body|goals?|focus|self|best|all|way)|hustle|grind|wahala|sharp sharp|"
        r"in execution mode|on the same page|"
        r"make a (?:real |big |positive )?difference|making a difference|goosebumps|laugh|laughed|"
        r"cry|"
        r"cried|brave|courage|strength|strong|stronger|keep going|hang in|give up|giving up|"
        r"quit on|"
        r"(?:won['’]t|never|not|don['’]t) quit|keep (?:pushing|plugging|at it|on)|keep on \w+ing|"
        r"stay(?:ing)? (?:positive|focused|resilient|motivated|optimistic|hopeful)|"
        r"push(?:ing)? (?:on|through|forward|ahead)|"
        r"self[- ](?:care|love|acceptance|discovery|expression)|positive|positivity|encourag\w+|"
        r"unconditional|empower\w+|important to|key\b|vital|crucial|essential"
    )
    + r"\b",
)
#: A thought, and not what is: "I think we can", "I see the weights are down".
_THOUGHT = re.compile(
    r"\b(?:i|we)(?:['’](?:m|ve|d|ll)| am| have| had| was| will| would| can| could|"
    r" can['’]t| don['’]t| do| just| really| also| still| always| never| definitely| truly|"
    r" genuinely)*"
    r" (?:think|thought|thinking|guess|suppose|believe|believed|wonder|wondering|reckon|bet|"
    r"imagine|"
    r"see|saw how|seen how|hear|heard you|understand|understood|realize|realise|realized|realised|"
    r"remember(?:ed)? (?:when|how|that)|recall|know|knew|mean|meant|agree|appreciate|trust|"
    r"notice|noticed|doubt|admit|admire|care|mind|accept|"
    r"considering|sure|certain|aware|trying|try|tried to|gonna try|look forward|"
    r"looking forward|count on|rely on|here for|there for)\b",
)
#: An intention without a thing or a day: "I'll check", "I just need to focus".
_INTENT = re.compile(
    r"\b(?:i|we)(?:['’]ll| will|['’]m (?:going to|gonna)| am going to|['’]re (?:going to|gonna)|"
    r" gonna|"
    r" (?:just |really |also |still |only |do |definitely |now )*(?:need|needs|want|have to|got to|"
    r"gotta|"
    r"would like|['’]d like)(?: to)?|['’]d like to| can| could| can['’]t| could['’]ve| might|"
    r" should|"
    r" must)(?: (?:just|also|still|definitely|really|probably|try to|try and|start to|be|go|not|"
    r"always|never|now|actually))* "
    r"(?:get|make|focus|keep|know|see|understand|find|figure|start|do|be|take|think|handle|lock|"
    r"sort|"
    r"package|check|look|add|use|read|give|put|work|help|share|send|tell|show|let|ask|bring|come|"
    r"go|learn|build|create|manage|deal|reach|stick|stay|hear|say|talk|imagine|relate|tell|trust|"
    r"wait|sleep|listen|follow|prepare|review|confirm|need|want|have|grow|push|become|improve|"
    r"something|more|some|it|that|this|results?|time|help|real|clear|proper)\b",
)
#: "I need to move": of use with a day or a name only.
_WANTED = re.compile(
    r"\b(?:i|we)(?: just| really| also| still| only)* (?:(?:need|want|wanted) |(?:have|got) to )|"
    r"\b(?:gotta|wanna|gonna)\b",
)
#: Without one of them nobody tells what he thinks or wants.
_OF_OWN_MIND = word_set("i i'm i've i'd i'll we we're we've we'd we'll gotta wanna gonna")
_OF_NOW = word_set("today tonight now right every each single day time moment this week")
_ASIDE = re.compile(
    r"\b(?:thing|things|stuff|something|somewhere|somehow|everything|anything|whatever|kind of|"
    r"sort of|those|these|such)\b",
)
#: What a life is made of: said of somebody, one more word is enough.
_OF_LIFE = RELATIONS | word_set(
    """allergic allergy vegan vegetarian diabetic asthma pregnant married divorced engaged widowed
    born birthday anniversary wedding funeral graduated graduation degree diploma university college
    school teaches teach job salary promotion promoted hired fired resigned resign retired retire
    intern internship apprentice employer employed unemployed freelance shift shifts moved move
    moving
    rent lease mortgage landlord apartment flat house cottage studio garage garden balcony car bike
    motorbike van scooter boat licence license passport visa insurance dog cat puppy kitten pet pets
    adopted adopt adoption surgery operation diagnosed prescription medication pills therapy
    therapist
    doctor dentist physio hospital injury injured broke broken fever flu migraine migraines glasses
    wheelchair exam test course class lessons lesson piano guitar violin drums choir band painting
    pottery photography novel manuscript blog podcast podcasts business shop store company startup
    office clients customers contract budget loan debt savings account invoice salary bonus deadline
    release launch server password code key keys locker appointment flight train hotel trip vacation
    holiday camping marathon race gym yoga swim swimming running hiking climbing football soccer
    tennis basketball volunteer volunteered volunteering shelter church charity fundraiser donated
    tattoo religion muslim christian jewish hindu buddhist veteran army military police
    fire-fighting
    firefighter politics election mentor mentoring coach tutor studied study studying speak speaks
    spanish french german english fluent bought sold built painted wrote published won lost opened
    closed quit joined signed ordered paid owes owe borrowed lent died passed anymore kids twins
    children parents grandma grandpa grandkids wife husband brother sister cousin nephew niece"""
)
_FOREIGN_LIFE = word_set(
    """anak istri suami ibu ayah bapak kakak adik lahir umur tahun lulus tinggal bekerja kerja
    alergi
    punya rumah gaji kuliah sekolah sakit demam dokter ujian motor"""
)
_OWNED = frozenset({"my", "our"})
#: Without which hardly an English sentence is.
_ENGLISH = (FUNCTION_WORDS | CONTRACTIONS.keys()) - FOREIGN - {"ada", "per", "via", "no", "so"}
_SOME_WORDS, _ONE_IN = 4, 7
_STATES = STATE_VERBS | STATE | PERSONAL
#: What a talk itself is made of.
_OF_TALK = word_set(
    """plan plans draft drafts list lists step steps outline summary link links video videos answer
    answers question questions message point points approach instructions instruction option options
    detail details information info guide example examples version part parts section task tasks
    chat conversation explanation explanations idea ideas suggestion suggestions advice response
    update updates confirmation format structure breakdown schedule simple clear straight long short
    short-term ready exactly exact immediately quickly directly properly actually finally sharp
    solid proper perfect suitable manageable easy easier difficult complicated specific concrete
    focus start begin show tell give bring ask stop wait move time waste needed sighs"""
)
#: "I'm ready to go on", "my head is spinning", "I don't have the energy to": so it is now.
_STATE_OF_NOW = re.compile(
    r"\b(?:i|we)(?:['’](?:m|re)| am| are| was| were)"
    r"(?: (?:just|still|so|too|very|really|completely|also|now|a bit|already|finally|even|barely|"
    r"not|always|definitely|more|all|honestly|entirely|quite|totally|of course))* (?:ready|tired|"
    r"exhausted|drained|stuck|sure|confident|stoked|excited|pumped|up for|back|done|here|listening|"
    r"waiting|lost|confused|overwhelmed|stressed|happy|glad|sorry|grateful|thankful|proud|nervous|"
    r"worried|scared|afraid|relieved|impressed|amazed|inspired|motivated|determined|attaching|"
    r"sending|thinking|talking|wondering|saying|hoping|repeating|off to|heading|about to|over the "
    r"moon|in the mood|in awe|not moving|going to (?:try|read|check|see|look))\b|"
    r"\b(?:i|we)(?: (?:just|really|also|still|always))* (?:feel|felt)\b|"
    r"\b(?:my|our) (?:head|mind|brain|heart|patience|energy|body|soul|spirit)(?:['’]s| is| was| "
    r"(?:just |really |also )*(?:feels?|felt))\b|"
    r"\b(?:don['’]t|do not|didn['’]t|no longer) (?:even |really |just )*have (?:the |any |much )?"
    r"(?:time|energy|patience|strength)\b|"
    r"\A(?:i|we)(?: (?:just|really|now))* (?:need to |have to |must |should |can |will )?"
    r"(?:move|go|proceed|start|begin|continue)(?: (?:now|on|ahead|forward))*\W*\Z"
)
_CONDITION = re.compile(r"(?:if|when|whenever|once|as long as|so that|until|unless|what|how)\b")
#: What names nobody, no day and no sum, and is not of the speaker, may be what everybody says; the
#: head is nearly as sure of that as of what lasts.
_OF_NOBODY = 4
#: So many percent of the head that a sentence lasts weigh as much as one of what rules see, and
#: from so many on it is as likely as not that what it tells is of use.
_PERCENT_OF_ONE, _EVEN_PERCENT = 4, 50
#: Of no use at all.
NONE = -9
#: What speaks less for a clause is of no use.
_LEAST_FOR = 3
#: A mood in so few words tells nothing else.
_MUCH_AGAINST, _FEW = 2, 4
_NAMED = ("PERSON", "ORG", "LOCATION", "EVENT", "PRODUCT", "EMAIL", "URL", "TECHNOLOGY", "OTHER")


def use_later(said: Said) -> int:
    """Return how surely a clause tells something of use later: from 0 on it does."""
    text = said.lower
    lowers = said.tokens.lowers[said.left : said.right]
    count = said.words
    firm = _firm(said)
    life = sum(map(_OF_LIFE.__contains__, map(bare, lowers)))
    weight = count.telling + firm
    if not FOREIGN.isdisjoint(lowers):
        lives = len(_FOREIGN_LIFE & set(lowers))
        return 0 if firm >= 2 or (firm + lives >= 2 and weight >= 4) else -3
    pro = 2 * min(firm, 3) + 2 * min(life, 3) + min(count.telling, 5)
    if not STATE_VERBS.isdisjoint(lowers) or not STATE.isdisjoint(lowers):
        pro += 1
    pro += not _OWNED.isdisjoint(lowers)
    if not weight or pro < _LEAST_FOR:
        return NONE
    against = (
        _of_the_moment(text, lowers, appointed=_is_appointed(said))
        + 2 * bool(_TALK.search(text))
        + (0 if LISTENER.isdisjoint(lowers) else 2)
        + 2 * bool(BRUSQUE.match(text))
    )
    if against >= _MUCH_AGAINST and not firm and not life and len(lowers) <= _FEW:
        return NONE
    return pro - _LEAST_FOR - 2 * against


def tells(said: Said) -> int:
    """Return how much a clause tells that may be of use later: from 1 on it is worth telling where
    a message has nothing sure.
    """
    text = said.lower
    lowers = said.tokens.lowers[said.left : said.right]
    firm = _firm(said)
    telling = said.words.telling - sum(map(_OF_TALK.__contains__, lowers))
    if _is_foreign(lowers):
        lives = len(_FOREIGN_LIFE & set(lowers))
        return 2 * (firm + lives) + said.words.telling // 3 - 5
    life = sum(map(_OF_LIFE.__contains__, map(bare, lowers)))
    pro = 3 * min(firm, 3) + 2 * min(life, 2) + min(telling, 6)
    if SPEAKER.isdisjoint(lowers):
        wisdom = said.read is not None and not firm and not elides(said)
        pro -= _OF_NOBODY if wisdom else 0
    else:
        pro += 1 + (not _OWNED.isdisjoint(lowers)) + any(map(is_past, lowers))
    pro += not _STATES.isdisjoint(lowers)
    of_now = _STATE_OF_NOW.search(text) is not None
    if of_now and not firm and not life:
        return NONE
    end = said.tokens.ends[said.right - 1]
    chooses = CHOICE.search(text) is not None
    against = (
        _of_the_moment(text, lowers, appointed=_is_appointed(said))
        + 2 * bool(_TALK.search(text) and not chooses)
        + (0 if LISTENER.isdisjoint(lowers) else 3)
        + 3 * bool(BRUSQUE.match(text))
        + 4 * of_now
        + 2 * (not is_finite(said.tokens, said.tokens.starts[said.left], end))
        + 3 * (text.count('"') % 2 or text.count("(") != text.count(")"))
        + bool(_CONDITION.match(text))
    )
    by_rules = pro - against - (2 if firm or life else 3)
    return by_rules + _by_head(said)


def is_event_of_life(said: Said) -> bool:
    """Whether its speaker tells what happened in a life: "Passed my citizenship test today"."""
    lowers = said.tokens.lowers[said.left : said.right]
    happened = any(map(is_past, lowers)) and not SPEAKER.isdisjoint(lowers)
    return happened and not _OF_LIFE.isdisjoint(map(bare, lowers))


def is_appointment(said: Said) -> bool:
    """Whether it names a day or an hour and something else: "The launch slipped to Friday"."""
    timed = bool(said.dates) or any(item.type == "TIME" for item in said.mentions)
    return timed and _firm(said) >= 2


def _by_head(said: Said) -> int:
    """Return what the head on the encoder adds to what rules see; 0 without one.

    How much it counts was fitted to the sentences of training/corpora/sentences/read.jsonl, each
    scored by heads that had not seen its persona.
    """
    if said.read is None:
        return 0
    return (said.read.durable - _EVEN_PERCENT) // _PERCENT_OF_ONE


def _is_appointed(said: Said) -> bool:
    """Whether a day and a time of it are named: "We can start on Monday at 8:00"."""
    return bool(said.dates) and any(item.type == "TIME" for item in said.mentions)


def _of_the_moment(text: str, lowers: Sequence[str], *, appointed: bool) -> int:
    """Return how much a clause is a mood, a thought, an intention or about no certain thing."""
    passing = 2 * bool(_MOOD.search(text)) + bool(_ASIDE.search(text))
    if not _OF_OWN_MIND.isdisjoint(lowers):
        passing += 2 * bool(_THOUGHT.search(text))
        if not appointed:
            passing += 2 * bool(_INTENT.search(text)) + bool(_WANTED.search(text))
    return passing


def _firm(said: Said) -> int:
    """Return how many names, days and sums a clause has."""
    own = said.own
    named = {
        item.text.lower()
        for item in said.mentions
        if item.type in _NAMED and not own & set(item.text.lower().split())
    }
    sums = [item for item in said.mentions if item.type == "TIME" or _is_sum(item.text, item.type)]
    days = [item for item in said.dates if not _is_of_now(said, item.left, item.right)]
    return len(named) + len(days) + len(sums)


def _is_foreign(lowers: Sequence[str]) -> bool:
    """Whether somebody speaks of himself in another language, or hardly a word is English."""
    if not FOREIGN.isdisjoint(lowers):
        return True
    lowers = [lower for lower in lowers if not lower.isdigit()]
    if len(lowers) < _SOME_WORDS or _ONE_IN * sum(map(_ENGLISH.__contains__, lowers)) >= len(
        lowers
    ):
        return False
    english = sum(
        lower in _ENGLISH or lower in BASES or lower in THIRDS or is_past(lower) for lower in lowers
    )
    return _ONE_IN * english < len(lowers)


def _is_of_now(said: Said, left: int, right: int) -> bool:
    """Whether a day tells only that it is so now: "today", "every day"."""
    return _OF_NOW.issuperset(said.tokens.lowers[left:right])


def _is_sum(text: str, kind: str) -> bool:
    return kind == "NUMBER" and any(map(str.isdigit, text))
