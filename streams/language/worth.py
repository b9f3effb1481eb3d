"""Whether a sentence says something that is still worth knowing when the conversation is over.

What somebody says of themselves, their people and their affairs lasts; courtesy, requests, drafts,
common knowledge, praise and the moods of an hour do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Literal, NamedTuple

from projections.text.dates import Found
from projections.text.lexicon import (
    CONTRACTIONS,
    FUNCTION_WORDS,
    HONORIFICS,
    PAST,
    PHATIC,
    word_set,
)
from projections.text.prompts import first_person
from projections.text.tokenizer import Tokens, bare
from streams.language.analysis import Mention
from streams.language.clauses import is_finite
from streams.language.text_reading import ReadSentence
from streams.language.verbs import BASES

#: Whom a sentence is about: who says it, somebody else, who is spoken to, a thing, or nobody.
About = Literal["speaker", "person", "listener", "thing", "nobody"]


class Said(NamedTuple):
    """A clause of a message: its tokens from `left` to `right`, and what it mentions.

    `own` are the words of the speaker's name, in lower case.
    """

    tokens: Tokens
    left: int
    right: int
    text: str
    mentions: Sequence[Mention]
    dates: Sequence[Found]
    own: Set[str]
    read: ReadSentence | None


#: The first person of other languages; of these the rules know no more.
_FOREIGN = word_set(
    """ich mein meine meinen wir unser unsere je j mon mes moi nous notre yo mi mis nosotros eu meu
    minha io mio mia ik mijn wij jag jeg saya aku gue kami kita"""
)
_SPEAKER = _FOREIGN | word_set(
    "i i'm im i've ive i'd i'll we we're we've we'll we'd my our mine ours me us myself"
)
_LISTENER = word_set("you your you're you've you'll you'd yours u ur yourself y'all youre")
_PERSON = word_set("he she he's she's he'd she'd he'll she'll his her they're they they've hers")
# What only people do.
_PERSONAL = word_set("likes dislikes loves hates adores prefers enjoys lives")
_EVERYBODY = word_set("everyone everybody nobody anyone anybody somebody someone")
_THING = word_set(
    "it it's its that that's this these those there there's what what's who which how its nothing "
    "everything something such"
)
#: Said of somebody's own people without a "my".
_KIN = word_set(
    """mum mom dad mama papa maman mommy daddy grandma grandpa granny gran nana grandfather
    grandmother grandad husband wife kids twins girls boys baby son daughter brother sister nanny
    landlord landlady boss vet doctor physio neighbours neighbour"""
)
#: Ends of an elided first person: "Sold the house", "Planning a trip".
_ELIDED = (
    PAST - word_set("was were had gone done seen taken given broken used ago last since")
) | (
    word_set(
        """gonna can't won't don't turned moved joined started finished booked signed picked decided
        quit love hate prefer wanted adopted retired graduated passed tried planned studied"""
    )
)
_ELIDED_ING = word_set(
    """planning moving getting going thinking saving selling buying expecting hosting picking
    researching volunteering gonna practicing practising"""
)
#: These need an adverb: "Still working on it"; "Working memory" is a thing.
_ELIDED_AFTER = word_set(
    """working learning trying living staying training studying looking taking reading writing
    running starting leaving making building waiting wanted"""
)
_ADVERBS = word_set("still just recently finally currently also already now only actually so and")
_NO_ELISION = word_set("is are was were isn't wasn't can will would of by")

#: Words that are as good as none: praise, hope, and what everybody says of everything.
_VAGUE = word_set(
    """difference support supports supported supporting journey dream dreams inspiring inspired
    inspiration inspire inspires passion passionate positive positivity positively power powerful
    strength moment moments joy happiness life world community power memories memory special
    important meaningful rewarding fulfilling impact growth grow growing heart hope hopes
    encouragement encouraging encouraged encourage motivated motivating motivation motivate
    determination dedication progress success successful challenges challenge tough struggle
    struggles energy vibes beauty reminder reminds remind kindness caring care friendship teamwork
    team proud matter matters change changes chance way ways reason path step steps push pushing
    effort efforts best goal goals potential future results result words word sense feeling
    feelings emotions emotional experience experiences incredible wonderful awesome incredibly
    creative creativity perspective peace calm calming relaxing fun cool sweet cute adorable
    stunning gorgeous lovely delicious cozy exciting excitement magical brave courage courageous
    spirit soul souls optimistic forward through together bring brings bringing need needs find
    finding give giving create creating spread spreading making doing trying become becoming
    learn lesson lessons remember everyone others someone people one's own true real really self
    example question questions answer topic plan idea help helps helped helping understand
    explain clear part parts option direction information details everything anything
    honest honestly absolutely definitely surely bit little big huge whole entire right
    continue continuing sounds seems looks feels kind sort type least next first"""
)

_STANDING = re.compile(
    r"\b(?:(?:never(?: ever)?|don['’]t(?: ever)?|do not(?: ever)?|dont) (?:use|send|mention|"
    r"recommend|suggest|call|book|say|ask|tell|give|write|"
    r"add|put|share|start|end|make|wake|schedule|remind|talk|speak|answer|reply|show|include|"
    r"translate|assume|store)|"
    r"always (?:use|answer|reply|round|sign|show|give|put|double[- ]check|check|write|call|speak|"
    r"include|start|end|keep|ask|tell|remember|remind|make|explain|respond|address|cite|send)|"
    r"(?:from|as of) (?:now|today|this day|tomorrow) on\b|from now on|going forward|in (?:the )?"
    r"future\b|for (?:all )?(?:my|our) (?:documents|mails|e-?mails|letters|files|reports|answers)|"
    r"(?:whenever|when|if|every time|each time) (?:i|we|you|[A-Z]\w+) (?:\w+ ){1,6}?[\w'’]+,|"
    r"whenever\b|by default|default to|when in doubt|in every \w+|for next time|every "
    r"(?:first|morning|evening|night|day|week|month|monday|tuesday|wednesday|thursday|friday|"
    r"saturday|"
    r"sunday)|(?:on|at) weekends|stop (?:\w+ing)\b.*\ball the time|all the time|every time|ever\b|"
    r"at all times|keep in mind|bear in mind|remember (?:that|my|our|:)|remember:|for the record|"
    r"make a note|note (?:for me|that|down)|please note|just so you know|call me|no spoilers|"
    r"treat everything|use (?:metric|imperial|they/them|24-hour|\w+ units)|unless i (?:say|ask)|"
    r"(?:be|am|i'd like you to be) (?:blunt|direct|honest|brief|concise) with me|until i say|"
    r"without asking me|keep your (?:answers|replies)|put her through|put him through)",
    re.IGNORECASE,
)
#: "Don't call me sir", "No spoilers": what is refused is refused for good.
_REFUSED = re.compile(
    r"(?:please[, ]+)?(?:do not|don['’]t|dont|never|no more|skip|leave out|avoid|stop|sort|address|"
    r"explain things|use|speak|talk|write comments|put new|quiz|assume|treat|default|remind)\b",
    re.IGNORECASE,
)
_RULE_OPENING = re.compile(
    r"(?:i want you to|i['’]d like you to|if|when|whenever|for all|in every|on|at|every|from|as of|"
    r"going forward|in (?:the )?future|just so you know|for the record|no)\b",
    re.IGNORECASE,
)
_FOR_GOOD = re.compile(r"(?:please[, ]+)?(?:do not|don['’]t|dont|never|no)\b", re.IGNORECASE)
_ONE_OF_MINE = re.compile(r"\b(?:me|my|mine|our|i|i'm|i['’]m|us)\b", re.IGNORECASE)

_COMMAND = re.compile(
    r"""\W*(?:(?:please|pls|now|ok|okay|so|then|and|also|hey|hi|hello|thanks|great|next|first|just|
    finally|again|well|but|yes|no|\d+[.)])\W+)*
    (?:(?:can|could|will|would)\ (?:you|u|somebody|someone|anybody)\b
    |(?:you\ (?:will|should|must|need\ to|have\ to|can|are\ (?:a|an|the|going\ to|to))\b)
    |(?:act|add|analy[sz]e|answer|apply|arrange|ask|assume|attempt|brainstorm|break|bring|build
    |calculate|call|change|check|choose|classify|click|code|combine|come|compare|complete|compose
    |consider|continue|convert|correct|craft|create|cut|debug|define|delete|describe|design
    |determine|develop|discuss|do|draft|draw|edit|elaborate|evaluate|examine|expand|explain|explore
    |extract|fill|find|finish|fix|focus|follow|forget|format|generate|get|give|go|guess|have\ a|help
    |highlight|hold|identify|imagine|implement|improve|include|incorporate|insert|introduce|join
    |keep|let|let's|lets|let['’]s|limit|list|look|make|mention|modify|move|name|note|open|optimi[sz]e
    |organi[sz]e|outline|paraphrase|pass|pick|play|post|prepare|pretend|print|proceed|produce
    |proofread|propose|provide|put|read|recommend|refer|remember|remind|remove|rename|repeat
    |rephrase|replace|reply|report|research|respond|restate|return|review|revise|rewrite|run|save
    |say|search|see|select|send|set|share|shorten|show|simplify|solve|specify|speak|start|state|stay
    |step|stop|suggest|summari[sz]e|take|talk|teach|tell|think|translate|try|turn|type|update|use
    |visit|wait|walk|watch|wrap|write|welcome|imagine|enjoy|follow|feel\ free|don['’]t|dont|do\ not
    |never|always|using|based\ on|knowing|according\ to|rank|sprinkle|concentrate|reduce|increase
    |decrease|demonstrate|establish|estimate|derive|prove|illustrate|justify|relate|assess|apply
    |sell|buy|avoid|ensure|hit|grab|believe|trust|drop|keep|go|hang|breathe|rest|relax|capture
    |picture|savor|never\ mind|no\ need)\b(?!['’]s\b|\ (?:is|are|was|were|has|had|will)\b))""",
    re.IGNORECASE | re.VERBOSE,
)
#: What is wanted of an assistant now, not of life.
_REQUEST = re.compile(
    r"\b(?:i|we)(?:['’]d| would| do| just| also| really| only| now| still)* "
    r"(?:want|need|like|love|prefer|wanna)(?: it| this| that)? "
    r"(?:you\b|u\b|to (?:know|understand|see|ask|get (?:a|an|some)|create|generate|make (?:a|an|it|"
    r"this|the|sure)|write|build|talk about|find (?:a|an|out|some|the)|discuss|use|add|change|hear|"
    r"develop|implement|design|analy[sz]e|continue|explore|focus)\b|"
    r"(?:a|an|the|some|more|another|only|\d+|two|three|five|ten|one|it|this|that|these)\b"
    r"(?! (?:baby|child|kid|kids|dog|cat|house|job|divorce|raise|bigger|huge|smaller|quiet|short "
    r"plan)))"
    r"|\bi(?:['’]m| am) (?:looking for|trying to (?:find|understand|install|get|make|write|create|"
    r"figure|do|use|run)|asking|not sure|confused|referring|talking about|writing (?:a|an) "
    r"(?:essay|email|article|report|paper|blog)|going to (?:ask|give|send|paste|provide|tell|"
    r"share))"
    r"|(?:\A|[,;] |please |and |just )(?:give|show|tell|write|send|provide|help|get|make|teach|"
    r"recommend|"
    r"suggest|bring|let) me\b"
    r"|\b(?:can|could|would|will) (?:you|u)\b|\bi (?:have|had|['’]ve got) (?:a|an|one|another|some|"
    r"the following|more) (?:\w+ )?(?:question|request|task|problem|favou?r|query)s?\b"
    r"|\bi may have more\b|\bin this (?:paper|article|essay|story|section|chapter)\b|\bas an ai\b"
    r"|\byou are (?:a|an|the)\b|\bi will (?:provide|give|send|paste|share|ask|type)\b",
    re.IGNORECASE,
)
_I = r"\b(?:i|we)(?:['’](?:m|re|ve|d|ll)| am| are| was| were| have| had| will| would)?"
_TONE = (
    r"(?: (?:so|really|very|truly|always|just|do|also|too|totally|can|could|still|all|both|both|"
    r"super|kinda|pretty|quite|only|sure|definitely|certainly|completely|absolutely|'d|be|been|"
    r"feel|"
    r"felt|being|honestly|already|not|never|even|actually|already|bet|much))*"
)
#: What is said to be kind, or to say how one feels about what the other said.
_KIND_WORDS = re.compile(
    r"\Acan['’]t wait|since (?:we|i) (?:last )?(?:talked|spoke|chatted|met)\b(?!.*,)|"
    rf"{_I}{_TONE} (?:glad|happy|sorry|proud|excited|thrilled|grateful|thankful|pleased|stoked|"
    r"impressed|rooting|delighted|honou?red|lucky|blessed|fortunate|ready(?! to \w+)|sure|certain|"
    r"curious|"
    r"appreciate|appreciated|hope(?! to)|hoping(?! to)|wish|wishing|believe|agree|bet|guess|hear|"
    r"thank|admire|owe|"
    r"in awe|touched|amazed|inspired|motivated|determined|committed|here for|got this|with you|"
    r"cheering|looking forward|look forward|can['’]t wait|can['’]t thank|cannot wait|can['’]t "
    r"imagine|"
    r"can imagine|know (?:right|what you|how you|that feeling|you|it)|see (?:what|why|how|you|your|"
    r"that|it)|get (?:what|why|that|it|you)|hear you|understand|wonder|wondering|think so|"
    r"love (?:that|it|this|how|your|you|seeing|hearing)|like (?:that|it|this|how|your|the (?:idea|"
    r"sound|look))|mean it|catch|keep (?:pushing|going|trying|doing|it|up|at|you|an eye)|do my "
    r"best|"
    r"doing my best|give it|try|stay|make it|do it|get (?:through|there)|figure it|let you know|"
    r"check it|check that|think about (?:it|that)|look at it|look into it|see how|be (?:there|here|"
    r"okay|ok|fine|back|right back|great|good|worth|in touch|honest)|take (?:it|that|your)|"
    r"support you|help you|remember that|forget that|say so|think (?:that|there|this|it)|feel "
    r"(?:like|we|that|there)|noticed|imagine|meant(?![^.]*, not)|mean|count on|rely on|lean on|"
    r"there for|"
    r"learn(?:ed|t)? (?:a lot|so much)|means? a lot|need to (?:show|keep|make|spread|support))\b",
    re.IGNORECASE,
)
#: Over in an hour.
_NOW = (
    r"(?:i['’]?m|we['’]?re|i am|we are|i was|still|just|it['’]?s|he['’]?s|she['’]?s|they['’]?re|is)"
)
_PASSING_CUE = re.compile(
    r"\b(?:right now|at the moment|brb|be right back|one sec(?:ond)?|as we speak|just (?:now|woke|"
    r"ate|"
    r"landed|arrived|stepped|got (?:up|here|off|back|out)|sent|about|sitting|chilling|froze|fell)|"
    r"on (?:my|the|our) way|in (?:a|one|two|three|five|ten|\d+) (?:sec|second|minute|min)s?\b|out "
    r"of "
    r"breath|hands are full|on mute|battery is|running late|is (?:boiling|late again)|late again|"
    r"about "
    r"to (?:go|die|leave|eat|write)|talk later|back soon|have to (?:go|run)(?: now)?\b\W*\Z|got to "
    r"go|gotta (?:go|run)|didn['’]t sleep|slept badly|have a headache|getting cold|went cold|lost "
    r"for "
    r"words|can (?:see|hear) you|got distracted|didn['’]t catch|can['’]t find my|lazy to|were out "
    r"of|it "
    r"works|still (?:typing|here|waiting)|feel(?:ing)? (?:a bit|sick|off|better|tired|weird|down|"
    r"bad|"
    r"awful|cold)|"
    rf"{_NOW}(?: (?:so|a bit|really|very|too|all|just|getting|still|in|not|quite|pretty))* (?:a "
    r"(?:meeting|rush|hurry|queue|call|bit)|the (?:shower|queue|lift)|on (?:the|a) "
    r"(?:bus|train|phone|tram|couch|sofa)|at the (?:door|checkout|supermarket|station|traffic "
    r"light)|"
    r"stuck|hungry|starving|bored|sleepy|exhausted|tired|confused|dizzy|nervous|cold|hot|sweating|"
    r"freezing|excited|full|busy))\b",
    re.IGNORECASE,
)
_LASTING_CUE = re.compile(
    r"\b(?:always|usually|never|every|since|for (?:\w+ )?(?:years?|months?|weeks)|anymore|any more|"
    r"any longer|no longer|changed my mind|turns out|live|lives|living|born|grew up|moved|moving|"
    r"work|works|working|job|married|"
    r"divorced|engaged|pregnant|allergic|allergy|diagnosed|favou?rite|prefer|hate|hates|love|loves|"
    r"own|"
    r"owns|speak|speaks|studied|study|studying|bought|sold|adopted|quit|retired|joined|started|"
    r"learning|saving|expecting|planning|plan to|going to|birthday|years old|surgery|therapy|"
    r"doctor|dentist|seasick|homesick|easily|rarely|often|badly)\b",
    re.IGNORECASE,
)
_PROGRESSIVE = re.compile(
    r"\b(?:i['’]?m|i am|we['’]?re|we are)(?: \w+)? (?:waiting|watching|heading|standing|sitting|"
    r"eating|driving|leaving|coming|typing|looking (?:at|for)|listening|walking|whispering|kidding|"
    r"joking|cooking|on it)\b|\b(?:i['’]?m|i am|we['’]?re|we are) (?:back|here|outside|inside|home|"
    r"at home|"
    r"done|in|off|out|up)\b\W*\Z",
    re.IGNORECASE,
)

#: Marks of a letter, a form, a story, an advertisement or a program that is not the speaker's own.
_DRAFT = re.compile(
    r"\[(?:your|my|name|company|x|date|insert|title|bride|groom|signature|e-?mail|address|\w+ name|"
    r"link|number|recipient|email address)[^\]]{0,40}\]|\{\w+\}|_{4,}|<\w+[^>]*>|\A\[.*\]\W*\Z|"
    r"\A\W*(?:subject|title|chapter|scene|verse|act|step|part|section|abstract|thesis|thesis "
    r"statement|"
    r"tagline|tagline ideas|slogan|headline|hypothesis|premise|persona|character sheet|keywords|"
    r"meta description|user story|job description|learning objectives|note to|fig|figure|table|"
    r"q|a|name|date|error|example|input|output|option|question|answer|introduction|conclusion|"
    r"summary|"
    r"topic|prompt|task|context|instructions|hint|next|role|goal|objective|module|lesson|week|"
    r"day)\b"
    r"\.?(?: [\dIVX]+(?:\.\d+)?)?\.? ?(?::|\.\s|\Z)|"
    r"\b(?:dear (?:hiring manager|sir|madam|valued|customer|diary|recruiter|team lead)|to whom it "
    r"may|"
    r"please find attached|i am writing to|i hereby|hereby (?:confirm|authori[sz]e)|the "
    r"undersigned|"
    r"i beg to state|proven track record|years of experience|highly motivated|i wish to "
    r"(?:complain|apply|express)|thank you for considering|follow us on|first order|once upon a "
    r"time|"
    r"introducing \w+|we are thrilled to|our mission is|cutting-edge|ladies and gentlemen|in "
    r"conclusion|this (?:paper|essay|article|study|cover letter|template|report) (?:is|examines|"
    r"explores|presents|discusses|aims)|order yours|shop now|sign up today|click here|"
    r"look(?:ing)? for the perfect|has shipped|we are seeking|automatically renew|renew "
    r"automatically|further questions)\b|"
    r"\bINT\. |\bEXT\. |(?:\bfunction\b|\bconst\b|\bimport\b|\bdef\b|\bSELECT\b|"
    r"\breturn\b).*[(={*]|"
    r"\A\s*(?:import|from) \w+(?:\.\w+)* (?:as|import)\b|\Agit \w+|"
    r"\b\d+ (?:cups?|tbsp|tsp|tablespoons?|teaspoons?|oz|ml|kg|g) (?:of )?\w+, \d",
    re.IGNORECASE,
)

#: "Not 45 guests, 54", "It's Dr. Holm, not Dr. Helm".
_CONTRAST = re.compile(
    r"\A(?:no,? |actually,? |sorry,? )?(?:(?:it['’]?s|it is|the \w+ is|room|apartment|apt|on|at)\b"
    r"[^;!?]{1,40}?, ?not (?:at |on |the |in )?(?:dr\.? |mrs?\.? )?(?-i:[A-Z]|\d)|"
    r"not (?:at |on |the |in )?(?-i:[A-Z]|\d)[^;!?]{0,40}?, (?:but )?(?:at |on |the |in |it['’]?s "
    r")?"
    r"(?-i:[A-Z]|\d))[^;!?]{0,40}\W*\Z",
    re.IGNORECASE,
)
#: What somebody settles on: "Let's go with the Kurama Onsen".
_CHOICE = re.compile(
    r"\blet['’]?s (?:just )?(?:stick|go|start|move forward|proceed|begin|settle|do|try|use|focus|"
    r"pick|"
    r"choose|book|take|continue|keep) (?:with|on|for|to|the)\b|\bi(?:['’]ll| will) (?:go with|take "
    r"the|"
    r"stick with|choose|pick)\b|\b(?:is|are|sounds?|looks?|seems?|works?|feels?) (?:more |quite |"
    r"pretty |so |really |much |very |"
    r"like )*(?:the best|best|better|perfect|what i|exactly what i|good for me|fine for me|for me|"
    r"too "
    r"(?:much|complicated|expensive|early|late|far|hard)|good|fine|manageable|appealing|"
    r"interesting|"
    r"complicated|acceptable|comfortable|natural)\b|\b(?:works|suits|is fine|is perfect|is "
    r"better) for (?:me|us)\b",
    re.IGNORECASE,
)
#: What assistants are asked to do with words.
_MAKES = word_set(
    """write generate create rewrite re-write summarize summarise translate explain describe list
    act provide compose draft improve paraphrase analyze analyse continue expand suggest design
    develop calculate identify compare discuss rephrase answer edit fix correct convert outline
    simulate imagine produce prepare"""
)
_ORDERING = word_set("please now to you then and")
_ENDS = frozenset(".!?:;\n")
#: "It was great", "that's what matters": a comment on what was just said.
_COMMENT = re.compile(
    r"(?:(?:and|but|so|oh|yeah)[ ,]+)*(?:it|that|this|what|there|they|you)(?:['’](?:s|re|ve|ll|"
    r"d))?\b",
    re.IGNORECASE,
)

#: Affairs of somebody's own, named with "the": meetings, bills, rooms. Common knowledge has others.
_AFFAIRS = word_set(
    """meeting sync standup release launch sprint deadline invoice budget client clients customer
    lease rent supplier supplier's staging prod badge
    office venue address password passcode locker buzzer appointment landlord movers flight
    kickoff review retro rehearsal concert recital exam wedding party dinner reunion housewarming
    interview visa factory board fiscal
    dog cat puppy kitten parcel keys wifi cottage flat apartment room desk bus
    surgery operation check-up checkup syrup garbage recycling compost rehearsals choir
    budget kids twins tickets shift roster payroll cake
    physio venue trip holiday honeymoon"""
)
_CHANGED = word_set("anymore longer instead switched renamed postponed cancelled rescheduled")

_CONTRACTED = ("'s", "'m", "'re", "'ve", "'ll", "'d", "n't")
_STATE = frozenset({"i'm", "im", "we're"})
_BE = word_set(
    """am are was were have had got don't can't never hate love like prefer quit speak wear need see
    eat only do take drive own run play drink live work teach"""
)
#: So many words that tell make a thing worth knowing.
_TELLING = 2
#: An answer of more words says by itself what it means.
_SHORT = 10
#: A message of more words in which nobody says "I" is no talk.
_LONG = 30
#: A day or a few; a year or an age is no appointment.
_APPOINTED_DAYS = 40


class Message(NamedTuple):
    """What the gate knows of the message around a sentence.

    `requests`: it asks to have something written, listed or explained, so what it says of others is
    material. `material`: it is long and nobody speaks in it of themselves.
    """

    requests: bool
    material: bool

    @classmethod
    def of(cls, tokens: Tokens) -> Message:
        """Judge the words of a message."""
        lowers = tokens.lowers
        return cls(
            requests=not _MAKES.isdisjoint(lowers)
            and any(
                lower in _MAKES and (index == 0 or _ordered(tokens, index))
                for index, lower in enumerate(lowers)
            ),
            material=len(lowers) > _LONG and _SPEAKER.isdisjoint(lowers),
        )


def _ordered(tokens: Tokens, index: int) -> bool:
    return tokens.lowers[index - 1] in _ORDERING or not _ENDS.isdisjoint(tokens.gap(index - 1))


class _Count(NamedTuple):
    """How many words say something, and how many of these tell it apart from what all say."""

    said: int
    telling: int


def about(said: Said) -> About:
    """Return whom the sentence is about, by the first word that stands for anybody."""
    tokens, lowers = said.tokens, said.tokens.lowers
    persons = {mention.start for mention in said.mentions if mention.type == "PERSON"}
    for index in range(said.left, said.right):
        lower = lowers[index]
        if lower in _SPEAKER or lower in said.own:
            return "speaker"
        if lower in _LISTENER:
            if lowers[index + 1 : index + 2] == ["know"]:
                continue  # "you know" is no more than a pause
            return "listener"
        if lower in _PERSON or tokens.starts[index] in persons:
            return "person"
        if index == said.left and _is_called(said):
            return "person"
        if lower in _THING and not (lower == "that" and index > said.left):
            return "thing"
        if lower in _KIN and (index == said.left or lowers[index - 1] in ("the", "and", "poor")):
            return "person"
        if index == said.left and elides(said):
            return "speaker"
    return "speaker" if _is_unspaced(said) else "nobody"


def _is_called(said: Said) -> bool:
    """Whether it begins with a name of one word and what only people do: "Cleo likes tea"."""
    left = said.left
    lower = said.tokens.lowers[left]
    return (
        said.tokens.words[left][0].isupper()
        and lower not in FUNCTION_WORDS | _EVERYBODY
        and not _PERSONAL.isdisjoint(said.tokens.lowers[left + 1 : left + 2])
    )


def elides(said: Said) -> bool:
    """Whether an "I" is left out: "Sold the house in Leeds", "Still working on it"."""
    lowers = said.tokens.lowers
    left = said.left
    while left < said.right - 1 and lowers[left] in _ADVERBS:
        left += 1
    first = lowers[left]
    following = lowers[left + 1] if left + 1 < said.right else ""
    if following in _NO_ELISION or said.right - left < 3:
        return False
    return first in _ELIDED or first in _ELIDED_ING or (left > said.left and first in _ELIDED_AFTER)


def points_back(said: Said) -> bool:
    """Whether it begins with a word that stands for what was named before it."""
    return said.tokens.lowers[said.left] in _PERSON or _COMMENT.match(said.text) is not None


def is_comment(said: Said) -> bool:
    """Whether it only says how something was, or what one thinks of it."""
    if _COMMENT.match(said.text) is None:
        return _KIND_WORDS.search(said.text) is not None and not said.dates
    return not said.dates and not said.mentions


def is_worth(said: Said, subject: About, message: Message, linked: bool) -> bool:
    """Return whether the sentence says something that lasts about somebody or their affairs.

    `linked` says that it is the stated cause or effect of the sentence beside it.
    """
    text = said.text
    if _DRAFT.search(text) is not None:
        return False
    count = _count(said)
    if not count.said and not said.mentions:
        return False
    if _is_standing(said, count):
        return _kept_by_head(said, 5)
    if _CONTRAST.search(text) and len(said.mentions) + count.telling >= 2:
        return _kept_by_head(said, 5)
    if _CHOICE.search(text):
        return count.telling + len(said.mentions) >= 2 and _kept_by_head(said, 5)
    if _COMMAND.match(text):
        return False
    if subject == "speaker":
        kept = _of_the_speaker(said, count)
    elif message.material:
        kept = False
    elif subject == "person":
        kept = _of_a_person(said, count, message)
    else:
        told = linked and count.telling + len(said.mentions) >= _TELLING and _says(said)
        kept = not message.requests and (told or _of_affairs(said, count, subject))
    return kept and _kept_by_head(said, 12)


def is_answer(said: Said) -> bool:
    """Whether a few words without a verb answer a question: "In Berlin", "Tuesday, actually"."""
    return (
        said.right - said.left <= _SHORT
        and not is_finite(
            said.tokens, said.tokens.starts[said.left], said.tokens.ends[said.right - 1]
        )
        and bool(said.mentions or _count(said).telling)
        and _COMMAND.match(said.text) is None
        and _DRAFT.search(said.text) is None
    )


def _is_standing(said: Said, count: _Count) -> bool:
    """Whether it tells how things are to be done from now on."""
    text = said.text
    ordered = _COMMAND.match(text) or _REFUSED.match(text) or _RULE_OPENING.match(text)
    if not ordered or not (count.said or said.mentions):
        return False
    if _STANDING.search(text):
        return True
    return (
        _FOR_GOOD.match(text) is not None
        and _ONE_OF_MINE.search(text) is not None
        and _KIND_WORDS.search(text) is None
        and _REQUEST.search(text) is None
    )


def _kept_by_head(said: Said, least: int) -> bool:
    """The head demotes: what it is sure of being nothing, rules do not keep."""
    return said.read is None or said.read.durable >= least


def _of_the_speaker(said: Said, count: _Count) -> bool:
    text = said.text
    lowers = said.tokens.lowers[said.left : said.right]
    if not (_says(said) or elides(said) or _is_unspaced(said) or not _FOREIGN.isdisjoint(lowers)):
        return False
    named = [item for item in said.mentions if item.type != "NUMBER" or len(item.text) > 1]
    weight = count.telling + len(named) + len(said.dates)
    lasting = _LASTING_CUE.search(text) is not None
    if _REQUEST.search(text) and not (lasting and weight >= 2):
        return False
    if _PASSING_CUE.search(text) and not lasting and not said.dates and weight < 4:
        return False
    if _PROGRESSIVE.search(text) and not lasting and not named:
        return False
    if _KIND_WORDS.search(text):
        return weight >= (5 if _LISTENER.isdisjoint(lowers) else 6)
    if not _LISTENER.isdisjoint(lowers):
        return weight >= 4 or (lasting and weight >= 2)
    if weight >= 2:
        return True
    # "I'm vegan", "I have two dogs", "I lost my job": one word tells enough of a state.
    return weight >= 1 and (lasting or not _BE.isdisjoint(lowers) or not _STATE.isdisjoint(lowers))


def _of_a_person(said: Said, count: _Count, message: Message) -> bool:
    lowers = said.tokens.lowers[said.left : said.right]
    weight = count.telling + len(said.mentions)
    if (message.requests and _SPEAKER.isdisjoint(lowers)) or not _says(said):
        return False
    if _PASSING_CUE.search(said.text) or not _LISTENER.isdisjoint(lowers):
        return weight >= 5
    return weight >= 2


def _of_affairs(said: Said, count: _Count, subject: About) -> bool:
    """What is about no person: an appointment, a room, a bill; not what all the world knows."""
    lowers = said.tokens.lowers[said.left : said.right]
    if not _says(said):
        return subject == "nobody" and bool(said.dates) and len(said.mentions) >= 3
    dated = any(item.last - item.first < _APPOINTED_DAYS for item in said.dates)
    timed = any(item.type == "TIME" for item in said.mentions)
    affair = not _AFFAIRS.isdisjoint(map(bare, lowers))
    mine = not _SPEAKER.isdisjoint(lowers)
    weight = count.telling + len(said.mentions)
    if subject == "nobody" and _is_somebodys(said):
        return weight >= _TELLING
    if subject == "listener":
        return dated and timed and weight >= 3
    if subject == "thing":
        return weight >= 3 and (dated or timed or (affair and mine))
    if dated and (count.said or timed):
        return True
    if mine:
        return weight >= 2 and not _REQUEST.search(said.text)
    return weight >= 2 and (
        affair or timed or (not _CHANGED.isdisjoint(lowers) and bool(said.mentions))
    )


def _is_somebodys(said: Said) -> bool:
    """Whether it is about what belongs to a name that is no place's: "Kelp's clinic is ..."."""
    word = said.tokens.words[said.left]
    places = {item.start for item in said.mentions if item.type == "LOCATION"}
    start = said.tokens.starts[said.left]
    return word[0].isupper() and word.endswith(("'s", "’s")) and start not in places


def _is_unspaced(said: Said) -> bool:
    """Whether it is said in the first person in a script without spaces."""
    return not said.text.isascii() and first_person(said.text)


def _says(said: Said) -> bool:
    """Whether it has a verb; after "my parents" a word that could be a noun too is one."""
    tokens = said.tokens
    return is_finite(tokens, tokens.starts[said.left], tokens.ends[said.right - 1]) or (
        tokens.lowers[said.left] in ("my", "our")
        and not BASES.isdisjoint(tokens.lowers[said.left + 2 : said.right])
    )


def _count(said: Said) -> _Count:
    tokens = said.tokens
    mentions = said.mentions
    content = telling = 0
    inside = 0  # index of the first mention that is not over yet
    for index in range(said.left, said.right):
        lower = tokens.lowers[index]
        place = tokens.starts[index]
        while inside < len(mentions) and mentions[inside].end <= place:
            inside += 1
        if inside < len(mentions) and mentions[inside].start <= place:
            continue
        if lower in FUNCTION_WORDS or lower in CONTRACTIONS or lower in HONORIFICS:
            continue
        if lower.endswith(_CONTRACTED) and bare(lower) in FUNCTION_WORDS | PHATIC:
            continue
        content += 1
        if lower not in PHATIC and lower not in _VAGUE:
            # Scripts without spaces write many words in one.
            telling += len(lower) // 2 if lower[0] >= "\u3040" else 1
    return _Count(content, telling)
