"""The words and phrases by which the gate tells what lasts from what is over with the talk."""

from __future__ import annotations

import re

from recollect.text.lexicon import PAST, word_set
from recollect.text.word_patterns import any_of

#: The first person of other languages; of these the rules know no more.
FOREIGN = word_set(
    """ich mein meine meinen wir unser unsere je j mon mes moi nous notre yo mi mis nosotros eu meu
    minha io mio mia ik mijn wij jag jeg saya aku gue kami kita"""
)
SPEAKER = FOREIGN | word_set(
    "i i'm im i've ive i'd i'll we we're we've we'll we'd my our mine ours me us myself"
)
LISTENER = word_set("you your you're you've you'll you'd yours u ur yourself y'all youre")
PERSON = word_set("he she he's she's he'd she'd he'll she'll his her they're they they've hers")
# What only people do.
PERSONAL = word_set("likes dislikes loves hates adores prefers enjoys lives")
EVERYBODY = word_set("everyone everybody nobody anyone anybody somebody someone")
THING = word_set(
    "it it's its that that's this these those there there's what what's who which how its nothing "
    "everything something such"
)
NOTHING_BUT = word_set("much too new special else planned but")
PERIODS = word_set(
    """week month year morning afternoon evening weekend summer winter spring autumn term semester
    monday tuesday wednesday thursday friday saturday sunday"""
)
#: Within a sentence these are no subject: "The client wants everything in PDF".
NO_SUBJECT = word_set("that everything nothing something such")
#: Said of somebody's own people without a "my".
KIN = word_set(
    """mum mom dad mama papa maman mommy daddy grandma grandpa granny gran nana grandfather
    grandmother grandad husband wife kids twins girls boys baby son daughter brother sister nanny
    landlord landlady boss vet doctor physio neighbours neighbour"""
)
#: Ends of an elided first person: "Sold the house", "Planning a trip".
ELIDED = (PAST - word_set("was were had gone done seen taken given broken used ago last since")) | (
    word_set(
        """gonna can't won't don't turned moved joined started finished booked signed picked decided
        quit love hate prefer wanted adopted retired graduated passed tried planned studied"""
    )
)
ELIDED_ING = word_set(
    """planning moving getting going thinking saving selling buying expecting hosting picking
    researching volunteering gonna practicing practising"""
)
#: These need an adverb: "Still working on it"; "Working memory" is a thing.
ELIDED_AFTER = word_set(
    """working learning trying living staying training studying looking taking reading writing
    running starting leaving making building waiting wanted"""
)
ADVERBS = word_set("still just recently finally currently also already now only actually so and")
NO_ELISION = word_set("is are was were isn't wasn't can will would of by")

#: Words that are as good as none: praise, hope, and what everybody says of everything.
VAGUE = word_set(
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

STANDING = re.compile(
    r"\b(?:(?:never(?: ever)?|don['’]t(?: ever)?|do not(?: ever)?|dont) (?:use|send|mention|"
    r"recommend|suggest|call|book|say|ask|tell|give(?! up)|write|"
    r"add|put|share|start|end|make|wake|schedule|remind|talk|speak|answer|reply|show|include|"
    r"translate|assume|store)|"
    r"always (?:use|answer|reply|round|sign|show|give|put|double[- ]check|check|write|call|speak|"
    r"include|start|end|keep|ask|tell|remember|remind|make|explain|respond|address|cite|send)|"
    r"(?:from|as of) (?:now|today|this day|tomorrow) on\b|from now on|going forward|in (?:the )?"
    r"future\b|for (?:all )?(?:my|our) (?:documents|mails|e-?mails|letters|files|reports|answers)|"
    r"(?:whenever|when|if|every time|each time) (?:i|we|you|[a-z]\w+) (?:\w+ ){1,6}?[\w'’]+,|"
    r"whenever\b|by default|default to|when in doubt|in every \w+|for next time|every "
    r"(?:first|morning|evening|night|day|week|month|monday|tuesday|wednesday|thursday|friday|"
    r"saturday|"
    r"sunday)|(?:on|at) weekends|stop (?:\w+ing)\b.*\ball the time|all the time|every time|ever\b|"
    r"at all times|keep in mind|bear in mind|remember (?:that|my|our|:)|remember:|for the record|"
    r"make a note|note (?:for me|that|down)|please note|just so you know|call me|no spoilers|"
    r"treat everything|use (?:metric|imperial|they/them|24-hour|\w+ units)|unless i (?:say|ask)|"
    r"(?:be|am|i'd like you to be) (?:blunt|direct|honest|brief|concise) with me|until i say|"
    r"without asking me|keep your (?:answers|replies)|put her through|put him through)",
)
#: "Never touch the migrations folder": what is never to be done to something that is named, and not
#: "Never give up", which everybody says.
NEVER = re.compile(
    r"(?:please[, ]+)?never (?:ever )?(?!(?:mind|again|give|quit|stop|forget|lose|say|worry|fear|"
    r"underestimate|let|doubt|look|miss|fail|trust|go|seen|been|gone|done|had|is|was|too)\b)"
    r"([a-z]+) (?:\w+ )?(?:the|my|our|any|to|into|on|in|from|a|an)\b"
)
YET = re.compile(r"\b(?:yet|for now|just now|right now)\b")
#: "Canadian spelling in whatever you write for me"
FOR_ME = re.compile(
    r"\b(?:whatever|everything|anything) (?:that )?you (?:write|draft|send|make|do|give|show|tell|"
    r"suggest|say)(?: (?:for|to))? (?:me|us)\b"
)
#: "Don't call me sir", "No spoilers": what is refused is refused for good.
REFUSED = re.compile(
    r"(?:please[, ]+)?(?:do not|don['’]t|dont|never|no more|skip|leave out|avoid|stop|sort|address|"
    r"explain things|use|speak|talk|write comments|put new|quiz|assume|treat|default|remind)\b",
)
RULE_OPENING = re.compile(
    r"(?:i want you to|i['’]d like you to|if|when|whenever|for all|in every|on|at|every|from|as of|"
    r"going forward|in (?:the )?future|just so you know|for the record|no)\b",
)
FOR_GOOD = re.compile(r"(?:please[, ]+)?(?:do not|don['’]t|dont|never|no)\b")
ONE_OF_MINE = re.compile(r"\b(?:me|my|mine|our|i|i'm|i['’]m|us)\b")

COMMAND = re.compile(
    r"""[^\w'"\u201c\u2018]*(?:(?:please|pls|now|ok|okay|so|then|and|also|hey|hi|hello|thanks|
    great|next|first|just|finally|again|well|but|yes|no|\d+[.)])\W+)*
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
    re.VERBOSE,
)
#: What is wanted of an assistant now, not of life.
REQUEST = re.compile(
    r"\b(?:(?:i|we)(?:['’]d| would| do| just| also| really| only| now| still)* "
    r"(?:want|need|like|love|prefer|wanna)(?: it| this| that)? "
    r"(?:you\b|u\b|to (?:know|understand|see|ask|get (?:a|an|some)|create|generate|make (?:a|an|it|"
    r"this|the|sure)|write|build|talk about|find (?:a|an|out|some|the)|discuss|use|add|change|hear|"
    r"develop|implement|design|analy[sz]e|continue|explore|focus)\b|"
    r"(?:a|an|the|some|more|another|only|\d+|two|three|five|ten|one|it|this|that|these)\b"
    r"(?! (?:baby|child|kid|kids|dog|cat|house|job|divorce|raise|bigger|huge|smaller|quiet|short "
    r"plan)))"
    r"|i(?:['’]m| am) (?:looking for|trying to (?:find|understand|install|get|make|write|create|"
    r"figure|do|use|run)|asking|not sure|confused|referring|talking about|writing (?:a|an) "
    r"(?:essay|email|article|report|paper|blog)|going to (?:ask|give|send|paste|provide|tell|"
    r"share))"
    r"|(?:\A|(?<=[,;] )|(?<=please )|(?<=and )|(?<=just ))(?:give|show|tell|write|send|provide|"
    r"help|get|make|teach|recommend|suggest|bring|let) me\b"
    r"|(?:can|could|would|will) (?:you|u)\b|i (?:have|had|['’]ve got) (?:a|an|one|another|some|"
    r"the following|more) (?:\w+ )?(?:question|request|task|problem|favou?r|query)s?\b"
    r"|i may have more\b|in this (?:paper|article|essay|story|section|chapter)\b|as an ai\b"
    r"|you are (?:a|an|the)\b|i will (?:provide|give|send|paste|share|ask|type)\b)",
)
_I = r"\b(?:i|we)(?:['’](?:m|re|ve|d|ll)| am| are| was| were| have| had| will| would)?"
_TONE = (
    r"(?: (?:so|really|very|truly|always|just|do|also|too|totally|can|could|still|all|both|both|"
    r"super|kinda|pretty|quite|only|sure|definitely|certainly|completely|absolutely|'d|be|been|"
    r"feel|"
    r"felt|being|honestly|already|not|never|even|actually|already|bet|much))*"
)
#: What is said to be kind, or to say how one feels about what the other said.
KIND_WORDS = re.compile(
    r"\Acan['’]t wait|\btime is (?:money|gold|precious)|"
    r"since (?:we|i) (?:last )?(?:talked|spoke|chatted|met)\b(?!.*,)|"
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
)
#: Over in an hour.
_NOW = (
    r"(?:i['’]?m|we['’]?re|i am|we are|i was|still|just|it['’]?s|he['’]?s|she['’]?s|they['’]?re|is)"
)
PASSING_CUE = re.compile(
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
)
LASTING_CUE = re.compile(
    r"\b(?:always|usually|never|every|since|for (?:\w+ )?(?:years?|months?|weeks)|anymore|any more|"
    r"any longer|no longer|changed my mind|turns out|live|lives|living|born|grew up|moved|moving|"
    r"work|works|working|job|married|"
    r"divorced|engaged|pregnant|allergic|allergy|diagnosed|favou?rite|prefer|hate|hates|love|loves|"
    r"own|"
    r"owns|speak|speaks|studied|study|studying|bought|sold|adopted|quit|retired|joined|started|"
    r"learning|saving|expecting|planning|plan to|going to|birthday|years old|surgery|therapy|"
    r"doctor|dentist|seasick|homesick|easily|rarely|often|badly)\b",
)
#: What became of something that was worked on or waited for: "The contract is signed!"
OUTCOME = re.compile(
    r"(?:(?:finally|guys|folks|team|ok|so|and|yes|good news|breaking)[,:!]? )*(?:(?:the|our|my) )?"
    r"[\w'’.\-]+(?: [\w'’.\-]+){0,3}?(?: is| are|['’]s| has been| have been| has| have)"
    r"(?: (?:now|finally|officially|all|been|at last))* (?:live|released|launched|shipped|deployed|"
    r"published|approved|accepted|submitted|signed|sold|cancel?led|called off)"
    r"(?: (?:now|at last|today|since \w+))?\W*"
)
PROGRESSIVE = re.compile(
    r"\b(?:i['’]?m|i am|we['’]?re|we are)(?: \w+)? (?:waiting|watching|heading|standing|sitting|"
    r"eating|driving|leaving|coming|typing|looking (?:at|for)|listening|walking|whispering|kidding|"
    r"joking|cooking|on it)\b|\b(?:i['’]?m|i am|we['’]?re|we are) (?:back|here|outside|inside|home|"
    r"at home|"
    r"done|in|off|out|up)\b\W*\Z",
)

#: Marks of a letter, a form, a story, an advertisement or a program that is not the speaker's own:
#: what it begins with, what stands in brackets, and words.
DRAFT_OPENS = re.compile(
    r"\[.*\]\W*\Z|"
    r"\W*(?:subject|title|chapter|scene|verse|act|step|part|section|abstract|thesis|thesis "
    r"statement|"
    r"tagline|tagline ideas|slogan|headline|hypothesis|premise|persona|character sheet|keywords|"
    r"meta description|user story|job description|learning objectives|note to|fig|figure|table|"
    r"q|a|name|date|error|example|input|output|option|question|answer|introduction|conclusion|"
    r"summary|"
    r"topic|prompt|task|context|instructions|hint|next|role|goal|objective|module|lesson|week|"
    r"day)\b"
    r"\.?(?: [\divx]+(?:\.\d+)?)?\.? ?(?::|\.\s|\Z)|"
    r"\s*(?:import|from) \w+(?:\.\w+)* (?:as|import)\b|git \w+"
)
DRAFT_MARKS = re.compile(
    r"\[(?:your|my|name|company|x|date|insert|title|bride|groom|signature|e-?mail|address|\w+ name|"
    r"link|number|recipient|email address)[^\]]{0,40}\]|\{\w+\}|_{4,}|<\w+[^>]*>"
)
DRAFT_WORDS = re.compile(
    r"\b(?:(?:dear (?:hiring manager|sir|madam|valued|customer|diary|recruiter|team lead)|"
    r"to whom it may|"
    r"please find attached|i am writing to|i hereby|hereby (?:confirm|authori[sz]e)|the "
    r"undersigned|"
    r"i beg to state|proven track record|years of experience|highly motivated|i wish to "
    r"(?:complain|apply|express)|thank you for considering|follow us on|first order|once upon a "
    r"time|"
    r"introducing \w+|we are thrilled to|our mission is|cutting-edge|ladies and gentlemen|in "
    r"conclusion|this (?:paper|essay|article|study|cover letter|template|report) (?:is|examines|"
    r"explores|presents|discusses|aims)|order yours|shop now|sign up today|click here|"
    r"look(?:ing)? for the perfect|sent from my \w+\Z|has shipped|we are seeking|"
    r"automatically renew|renew "
    r"automatically|further questions)\b|"
    r"int\. |ext\. |(?:function|const|import|def|select|return)\b.*[(={*]|"
    r"\d+ (?:cups?|tbsp|tsp|tablespoons?|teaspoons?|oz|ml|kg|g) (?:of )?\w+, \d)"
)

#: "Not 45 guests, 54", "It's Dr. Holm, not Dr. Helm".
CONTRAST = re.compile(
    r"\A(?:no,? |actually,? |sorry,? )?(?:(?:it['’]?s|it is|the \w+ is|room|apartment|apt|on|at)\b"
    r"[^;!?]{1,40}?, ?not (?:at |on |the |in )?(?:dr\.? |mrs?\.? )?(?-i:[A-Z]|\d)|"
    r"not (?:at |on |the |in )?(?-i:[A-Z]|\d)[^;!?]{0,40}?, (?:but )?(?:at |on |the |in |it['’]?s "
    r")?"
    r"(?-i:[A-Z]|\d))[^;!?]{0,40}\W*\Z",
    re.IGNORECASE,
)
#: What somebody settles on: "Let's go with the Kurama Onsen".
CHOICE = re.compile(
    any_of(
        r"let['’]?s (?:just )?(?:stick|go|start|move forward|proceed|begin|settle|do|try|use|"
        r"focus|pick|choose|book|take|continue|keep) (?:with|on|for|to|the)|"
        r"i(?:['’]ll| will) (?:go with|take the|stick with|choose|pick)|"
        r"(?:is|are|sounds?|looks?|seems?|works?|feels?) (?:more |quite |"
        r"pretty |so |really |much |very |"
        r"like )*(?:the best|best|better|perfect|what i|exactly what i|good for me|fine for me|"
        r"for me|"
        r"too "
        r"(?:much|complicated|expensive|early|late|far|hard)|good|fine|manageable|appealing|"
        r"interesting|"
        r"complicated|acceptable|comfortable|natural)|(?:works|suits|is fine|is perfect|is "
        r"better) for (?:me|us)"
    )
    + r"\b",
)
#: What assistants are asked to do with words.
MAKES = word_set(
    """write generate create rewrite re-write summarize summarise translate explain describe list
    act provide compose draft improve paraphrase analyze analyse expand suggest design
    develop calculate identify compare discuss rephrase answer edit fix correct convert outline
    simulate imagine produce prepare"""
)
#: What is to be done together.
LETS = word_set("let's lets")
ORDERING = word_set("please now to you then and")
ENDS = frozenset(".!?:;\n")
#: "It was great", "that's what matters": a comment on what was just said.
COMMENT = re.compile(
    r"(?:(?:and|but|so|oh|yeah)[ ,]+)*(?:it|that|this|what|there|they|you)(?:['’](?:s|re|ve|ll|"
    r"d))?\b",
)

#: Affairs of somebody's own, named with "the": meetings, bills, rooms. Common knowledge has others.
AFFAIRS = word_set(
    """meeting sync standup release launch sprint deadline invoice budget client clients customer
    lease rent supplier supplier's staging prod badge
    office venue address password passcode locker buzzer appointment landlord movers flight
    kickoff review retro rehearsal concert recital exam wedding party dinner reunion housewarming
    interview visa factory board fiscal
    dog cat puppy kitten parcel keys wifi cottage flat apartment room desk bus
    surgery operation check-up checkup syrup garbage recycling compost rehearsals choir
    budget kids twins tickets shift roster payroll cake
    physio venue trip holiday honeymoon code key meter alarm combination boiler cellar attic garage
    parking fuse project projects agency contractor tender audit"""
)
CHANGED = word_set("anymore longer instead switched renamed postponed cancelled rescheduled")

#: Where one word tells enough: "I'm vegan", "I have two dogs".
STATE = frozenset({"i'm", "im", "we're"})
STATE_VERBS = word_set(
    """am are was were have had got don't can't never hate love like prefer quit speak wear need see
    eat only do take drive own run play drink live work teach"""
)

#: "Don't make me wait, just show it": said in the heat of a talk, and no rule for later.
BRUSQUE = re.compile(
    r"(?:(?:and|but|so|just|please|look|now)[, ]+)*(?:do not|don['’]?t) (?:just |even |ever )?"
    r"(?:ask|tell|give|make|throw|wait|keep|start|send|bring|say|talk|come|let|be|worry|stop|"
    r"forget|"
    r"show|put|leave|waste|play|try|act|hesitate|repeat|speak|point)\b(?![^.!?]*\b(?:ever|always|"
    r"before|"
    r"after "
    r"(?:\w+ing|\d)|unless|when(?:ever)?|anybody|anyone|at work|yet|in future|on (?:mon|tues|"
    r"wednes|"
    r"thurs|fri|satur|sun)days?|at night|about my|with me)\b)",
)

#: A question that asks for a thing, a place, a day or a number.
ASKS_FOR = re.compile(
    r"(?:\A|[,;:–—] |- )(?:(?:and|so|but|well|wow|oh|cool|nice)[, ]+)*"
    r"(?:(?:what|where|which|who|whose|when|how (?:many|much|long|old|often|far))\b"
    r"(?!['’ ](?:about|of it|up\b|if\b))|"
    r"how (?:did|does|do|has|have|will) (?!(?:it|that|this|things|everything|you|u|your)\b))",
    re.IGNORECASE,
)
ASKS_LITTLE = re.compile(
    r"\b(?:what(?:['’]s| is| has|['’]s been)? (?:up|new|been|going|happening)|what do you think|"
    r"how (?:are|is|was|were)\b|how (?:did|have|has|do|does) (?:it|that|this|things|everything|you|"
    r"u|your)\b|how['’](?:s|re|d)|you think|you know|anything|"
    r"what (?:effect|about)|next|ready|right|shall we|should we|would you like|do you want|"
    r"can (?:i|we|you)|could you|vision|look like)\b",
    re.IGNORECASE,
)

#: "Should I draft it?": who takes it or not tells nothing by that.
OFFERS = re.compile(
    r"\b(?:should|shall|can|may|could) i\b|\bwould you like\b|\bwant me to\b", re.IGNORECASE
)
YES_OR_NO = re.compile(
    r"(?:(?:god|oh|hell|heck|um|well|ok),? )?(?:no|nope|nah|yes|yep|yeah|sure|please)"
    r"(?:,? (?:please|thanks|thank you))?\W*"
)
#: "Thanks, Tom", "Nice one, Maria": what is said to be kind answers nothing.
THANKS = re.compile(
    r"(?:thanks|thank you|thx|nice (?:one|job|work)|great (?:job|work|idea)|"
    r"good (?:job|for you|one)|well done|way to go|wow|congrats|congratulations|awesome|cool|"
    r"amazing|love (?:it|that|the)|(?:i |we )?(?:really )?appreciate)\b",
)
#: "Hey Tom, thanks."
THANKED = re.compile(r"\b(?:thanks|thank you|thx)(?: (?:so much|a lot|again))?\W*\Z")

#: "Here's a pic from last week"
SHOWS = re.compile(
    r"\bhere(?:['’]s| is| are)\b[^.!?]{0,80}?"
    r"\b(?:pics?|pictures?|photos?|shots?|snaps?|images?|one|peek|(?:self-)?portrait|painting|"
    r"drawing|sketch|(?:i|we)(?: just)? (?:made|painted|drew|took|built|finished|baked|cooked))\b",
    re.IGNORECASE,
)
