"""Names that need no context: places, persons, organisations, technologies, peoples, events."""

from __future__ import annotations

from recollect.text.lexicon import word_set


def _list(names: str) -> frozenset[str]:
    return frozenset(" ".join(name.split()) for name in names.split(","))


#: Countries, states, regions and large cities, in lower case.
PLACES = _list(
    """afghanistan, albania, algeria, andorra, angola, argentina, armenia, australia, austria,
    azerbaijan, bahamas, bahrain, bangladesh, barbados, belarus, belgium, belize, benin, bhutan,
    bolivia, bosnia, bosnia and herzegovina, botswana, brazil, brunei, bulgaria, burkina faso,
    burundi, cambodia, cameroon, canada, cape verde, central african republic, chad, chile, china,
    colombia, comoros, congo, costa rica, croatia, cuba, cyprus, czech republic, czechia, denmark,
    djibouti, dominica, dominican republic, east timor, ecuador, egypt, el salvador, eritrea,
    estonia, eswatini, ethiopia, fiji, finland, france, gabon, gambia, georgia, germany, ghana,
    greece, grenada, guatemala, guinea, guyana, haiti, honduras, hungary, iceland, india, indonesia,
    iran, iraq, ireland, israel, italy, ivory coast, jamaica, japan, jordan, kazakhstan, kenya,
    kiribati, kosovo, kuwait, kyrgyzstan, laos, latvia, lebanon, lesotho, liberia, libya,
    liechtenstein, lithuania, luxembourg, madagascar, malawi, malaysia, maldives, mali, malta,
    mauritania, mauritius, mexico, micronesia, moldova, monaco, mongolia, montenegro, morocco,
    mozambique, myanmar, burma, namibia, nauru, nepal, netherlands, holland, new zealand, nicaragua,
    niger, nigeria, north korea, north macedonia, macedonia, norway, oman, pakistan, palau,
    palestine, panama, papua new guinea, paraguay, peru, philippines, poland, portugal, qatar,
    romania, russia, rwanda, samoa, san marino, saudi arabia, senegal, serbia, seychelles,
    sierra leone, singapore, slovakia, slovenia, solomon islands, somalia, south africa,
    south korea, korea, south sudan, spain, sri lanka, sudan, suriname, sweden, switzerland, syria,
    taiwan, tajikistan, tanzania, thailand, togo, tonga, trinidad and tobago, trinidad, tunisia,
    turkey, türkiye, turkmenistan, tuvalu, uganda, ukraine, united arab emirates, uae,
    united kingdom, uk, great britain, britain, england, scotland, wales, northern ireland,
    united states, united states of america, usa, us, america, uruguay, uzbekistan, vanuatu,
    vatican, vatican city, venezuela, vietnam, yemen, zambia, zimbabwe, puerto rico, greenland,
    bermuda, gibraltar, guam, tibet, crimea, catalonia, bavaria, tuscany, sicily, sardinia, corsica,
    crete, ibiza, mallorca, tenerife, bali, java, sumatra, okinawa, hokkaido, tasmania, siberia,
    patagonia, provence, normandy, brittany, andalusia, saxony, hesse, brandenburg, tyrol, flanders,
    africa, asia, europe, north america, south america, latin america, central america, antarctica,
    oceania, middle east, southeast asia, scandinavia, balkans, caribbean, alps, himalayas, andes,
    alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida,
    hawaii, idaho, illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland,
    massachusetts, michigan, minnesota, mississippi, missouri, montana, nebraska, nevada,
    new hampshire, new jersey, new mexico, new york, north carolina, north dakota, ohio, oklahoma,
    oregon, pennsylvania, rhode island, south carolina, south dakota, tennessee, texas, utah,
    vermont, virginia, west virginia, wisconsin, wyoming, new england, ontario, quebec, alberta,
    manitoba, nova scotia, new brunswick, british columbia, saskatchewan, newfoundland, yukon,
    queensland, new south wales, western australia, south australia,
    new york city, nyc, los angeles, la, chicago, houston, phoenix, philadelphia, san antonio,
    san diego, dallas, san jose, austin, jacksonville, fort worth, columbus, charlotte,
    san francisco, sf, indianapolis, seattle, denver, washington dc, washington, boston, nashville,
    detroit, portland, las vegas, vegas, memphis, louisville, baltimore, milwaukee, albuquerque,
    tucson, fresno, sacramento, mesa, atlanta, kansas city, omaha, miami, oakland, minneapolis,
    tulsa, tampa, arlington, new orleans, cleveland, honolulu, anaheim, orlando, st louis,
    pittsburgh, cincinnati, anchorage, newark, buffalo, boise, spokane, salt lake city, palo alto,
    berkeley, santa monica, santa barbara, santa cruz, silicon valley, brooklyn, manhattan, queens,
    bronx, hollywood, long island, cape cod, savannah, charleston, richmond, madison, boulder,
    toronto, montreal, vancouver, calgary, ottawa, edmonton, winnipeg, halifax, quebec city,
    victoria, mexico city, guadalajara, monterrey, cancun, tijuana, havana, kingston, san juan,
    panama city, bogota, bogotá, medellin, medellín, cali, cartagena, quito, guayaquil, lima, cusco,
    la paz, santiago, valparaiso, buenos aires, cordoba, mendoza, montevideo, asuncion, sao paulo,
    são paulo, rio de janeiro, rio, brasilia, salvador, recife, caracas,
    london, manchester, birmingham, liverpool, leeds, sheffield, bristol, newcastle, nottingham,
    leicester, oxford, cambridge, brighton, southampton, york, edinburgh, glasgow, aberdeen, dundee,
    cardiff, swansea, belfast, dublin, cork, galway, limerick, paris, marseille, lyon, toulouse,
    bordeaux, lille, nantes, strasbourg, montpellier, cannes, grenoble, brussels, antwerp, ghent,
    bruges, amsterdam, rotterdam, the hague, hague, utrecht, eindhoven, groningen, luxembourg city,
    berlin, hamburg, munich, münchen, cologne, köln, frankfurt, stuttgart, düsseldorf, dusseldorf,
    dortmund, essen, leipzig, dresden, bremen, hanover, hannover, nuremberg, nürnberg, bonn,
    heidelberg, freiburg, potsdam, kiel, mannheim, karlsruhe, augsburg, münster, aachen, mainz,
    vienna, wien, salzburg, graz, linz, innsbruck, zurich, zürich, geneva, basel, bern, lausanne,
    lucerne, lugano, rome, roma, milan, naples, turin, florence, venice, bologna, genoa, palermo,
    verona, pisa, madrid, barcelona, valencia, seville, sevilla, malaga, bilbao, granada, zaragoza,
    lisbon, porto, athens, thessaloniki, stockholm, gothenburg, malmö, malmo, uppsala, oslo, bergen,
    trondheim, copenhagen, aarhus, odense, helsinki, tampere, turku, espoo, reykjavik, tallinn,
    tartu, riga, vilnius, kaunas, warsaw, krakow, kraków, gdansk, gdańsk, wroclaw, wrocław, poznan,
    prague, praha, brno, bratislava, budapest, bucharest, cluj, sofia, plovdiv, belgrade, novi sad,
    zagreb, split, dubrovnik, ljubljana, sarajevo, skopje, tirana, pristina, chisinau, kyiv, kiev,
    lviv, odesa, odessa, kharkiv, minsk, moscow, st petersburg, saint petersburg, kazan,
    novosibirsk, vladivostok, yekaterinburg, tbilisi, yerevan, baku, istanbul, ankara, izmir,
    antalya, nicosia, beirut, damascus, aleppo, amman, jerusalem, tel aviv, haifa, gaza, baghdad,
    basra, tehran, isfahan, shiraz, riyadh, jeddah, mecca, medina, doha, dubai, abu dhabi, muscat,
    manama, kuwait city, sanaa, kabul, karachi, lahore, islamabad, mumbai, bombay, delhi,
    new delhi, bangalore, bengaluru, hyderabad, chennai, kolkata, calcutta, pune, ahmedabad, jaipur,
    goa, kerala, punjab, gujarat, kashmir, dhaka, kathmandu, colombo, thimphu, male, yangon,
    bangkok, chiang mai, phuket, hanoi, ho chi minh city, saigon, da nang, phnom penh, siem reap,
    vientiane, kuala lumpur, penang, jakarta, bandung, surabaya, manila, cebu, beijing, shanghai,
    guangzhou, shenzhen, chengdu, wuhan, xian, hangzhou, nanjing, tianjin, chongqing, hong kong,
    macau, taipei, kaohsiung, seoul, busan, incheon, pyongyang, tokyo, osaka, kyoto, nagoya,
    sapporo, fukuoka, hiroshima, yokohama, kobe, nara, ulaanbaatar, almaty, astana, tashkent,
    samarkand, bishkek, cairo, alexandria, giza, luxor, tripoli, tunis, algiers, casablanca, rabat,
    marrakesh, marrakech, fez, dakar, bamako, accra, kumasi, abidjan, lagos, abuja, kano, douala,
    kinshasa, luanda, lusaka, harare, maputo, nairobi, mombasa, kampala, kigali, addis ababa,
    mogadishu, khartoum, dar es salaam, zanzibar, johannesburg, cape town, durban, pretoria,
    windhoek, gaborone, antananarivo, sydney, melbourne, brisbane, perth, adelaide, canberra,
    hobart, darwin, cairns, gold coast, auckland, wellington, christchurch, queenstown, dunedin,
    suva, yosemite, yellowstone, grand canyon, niagara falls, mount everest, lake tahoe, lake como,
    lake michigan, wall street, times square, central park, black forest"""
)

#: Places that are also ordinary words or given names: without context, they count as places only
#: after a preposition.
UNSURE_PLACES = word_set(
    """us la chad jordan georgia turkey java mali niger split male essen cork mesa reading
    bath nice york phoenix austin charlotte jacksonville madison victoria florence sofia
    paris dallas savannah virginia salvador santiago rio guinea cali york queens goa linz
    pisa orlando houston carolina lima perth darwin adelaide sydney kingston wellington
    alexandria medina trinidad dominica togo richmond arlington washington buffalo portland
    columbus bergen nara fez cairns mobile kano sf halifax hesse brunei"""
)

#: Given names that are not also common English words, in lower case.
GIVEN_NAMES = word_set(
    """aaron abby abdul abdullah abigail adam adele aditya adrian adriana agnes ahmad ahmed
    aidan aiden aisha akira alan alana albert alberto alejandra alejandro alessandro alex
    alexa alexander alexandra alexei alexis alfred ali alice alicia alina alison allan allen
    allison alyssa amanda amara amber amelia amelie amina amir amit amy ana anastasia andre
    andrea andreas andrei andrew andy angela angelina angus anika anil anita anja ann anna
    anne annette annie anton antonia antonio anya arjun arnold arthur arturo asha ashley
    astrid audrey aurora ava avery ayesha barbara barry beatrice becky bella ben benjamin
    bernard bernd bernie beth bethany betty beverly bianca björn bjorn bob bobby boris brad
    bradley brandon brenda brendan brian brianna bridget brittany bruce bruno bryan caitlin
    caleb calvin cameron camila camille carina carl carla carlos carmen carol carolina
    caroline carolyn carrie catherine cathy cecilia cedric celia celine charles charlie
    charlotte chelsea chen chloe chris christian christina christine christoph christopher
    cindy claire clara clarissa claudia claus clemens clint clive cody colin connie connor
    conor corey courtney craig cristina curtis cynthia daisuke damian damien dan dana daniel
    daniela danielle danny daphne darren dave david dawid dean debbie deborah denise dennis
    derek desmond diana diane diego dieter dimitri dirk dmitri dmitry dominic dominik don
    donald donna dora doris dorothy doug douglas duncan dustin dylan earl ed eddie edgar
    edith eduardo edward edwin eileen elaine elena eleanor eli elias elijah elisa elise
    elizabeth ella ellen elliot emil emilia emilio emily emma emmanuel enrique eric erica
    erik erika erin ernest esra esteban esther ethan eugene eva evan evelyn ezra fabian
    fabio farah fatima fatma federico felipe felix fernanda fernando fiona flora florian
    francesca francesco francis francisco franz fred freddie frederick frieda fritz gabriel
    gabriela gail gareth garry gary gavin gemma geoff geoffrey george georgia georgina
    gerald gerard gerd gianni gideon gina giovanni gisela giulia gloria gordon greg gregor
    gregory greta guido guillermo gustav gustavo guy hans hamza hannah harald haruki harold
    harriet harry hassan heather heidi heike heinz helen helena helga helmut henrik henry
    herbert hiroshi holger hugh hugo hussein ian ibrahim ida ignacio igor ilya imran inga
    ingrid irene irina isaac isabel isabella isabelle isaiah ivan ivana jack jackie jackson
    jacob jacqueline jacques jaime jake jakob jamal james jamie jan jana jane janet janice
    janine jared jasmin jasmine jason javier jeff jeffrey jen jenna jennifer jenny jeremy
    jerome jerry jesse jessica jessie jill jim jimmy joachim joan joanna joanne joe joel
    joey johan johann johanna john johnny jon jonas jonathan jordi jorge jose josé joseph
    joseph josephine josh joshua joyce juan juanita judith judy julia julian juliana julie
    juliet julio julius jun jürgen jurgen justin justine kai kamal kamil karen karim karin
    karl karla karsten kasper kate katarina kate katerina katharina katherine kathleen
    kathryn kathy katie katja katrin kayla keith kelly ken kendra kenji kenneth kevin
    khadija khaled kim kirsten klaus konrad kristen kristin kristina kristof kumar kurt kyle
    lakshmi larry lars laura lauren laurence leah lena leo leon leonard leonardo leonie
    leroy leslie leticia levi lewis liam lidia lila lilian liliana lina linda lindsay lionel
    lisa liz lloyd logan lois lola lorena lorenzo lottie louis louisa louise lucas lucia
    lucian lucy luigi luis luisa lukas luke luna lydia lynn mabel maddie madeleine madeline
    magda magdalena maggie mahmoud maja malcolm malik manfred manuel manuela marc marcel
    marcela marcia marco marcos marcus margaret margarita maria mariah mariam mariana marie
    marina mario marion marissa marius marjorie markus marlene marta martha martin martina
    mary maryam mateo mathias mathilda matt matteo matthew matthias maureen maurice max
    maxim maxine maya megan mehmet mei melanie melinda melissa mercedes meredith mia michael
    michaela michal michel michele michelle miguel mike mikhail mila milan milena miles milo
    mina minh miriam mitchell mohamed mohammad mohammed moira mona monica monika monique
    morgan moritz moses muhammad mustafa nadia nadine nancy naomi natalia natalie natasha
    nathan nathaniel neha neil nelson nia niall nicholas nick nicola nicolas nicole niels
    nigel nikhil nikita nikolai nina noah noel noelle nora norbert norman olaf oleg olga
    oliver olivia omar oscar osman otto owen pablo paige pamela paola paolo patricia patrick
    paul paula paulina pavel pedro peggy penelope percy perry petra peter phil philip
    philipp philippe phillip phoebe pia pierre piotr polly pradeep pranav priya quentin
    quinn rachel rafael rahul rainer raj rajesh ralf ralph ramon randy raphael rashid raul
    ravi raymond rebecca reggie reinhard renata renate rené ricardo riccardo rick ricky rita
    rob robbie robert roberta roberto robin rodney rodrigo roger rohan roland rolf romeo ron
    ronald rosa rosalie rosemary rosie ross roxanne roy ruben rudolf rupert russell ruth
    ryan sabine sabrina sadie sakura salma sally salman sam samantha samir samuel sandra
    sandy sandeep sanjay santiago sara sarah sasha scott sean sebastian selena serena sergei
    sergey sergio seth shane shannon sharon shaun sheila shelby shirley sidney silvia simon
    simone sofia sofie soledad sonia sonja sophia sophie stacey stan stanley stefan stefanie
    stefano stella stephan stephanie stephen steve steven stewart stuart sue suresh susan
    susanna susanne suzanne sven svenja svetlana sylvia takashi tamara tanja tanya tara
    tariq tatiana ted teresa terry tessa thea thelma theo theodore theresa thomas thorsten
    tiffany tigran tim timo timothy tina tobias todd tom tomas tommy toni tony torsten tracy
    trevor tristan tyler ulrich ulrike umar ursula uwe valentina valeria valerie vanessa
    vera verena veronica vicky vicente victor viktor vijay vikram vincent violeta virginia
    vivian vladimir walter wanda wayne wendy werner wilhelm wilfred willa william winston
    wolfgang xavier yan yasmin yasmine yolanda yosef yuki yuri yusuf yvette yvonne zach
    zachary zainab zara zoe zoë melanie mel"""
)

ORGANISATIONS = _list(
    """google, microsoft, amazon, apple, facebook, meta, netflix, openai, anthropic, ibm, intel,
    nvidia, amd, oracle, sap, siemens, bosch, bmw, volkswagen, mercedes, audi, porsche, tesla, ford,
    toyota, honda, nissan, sony, samsung, lg, panasonic, nintendo, nokia, ericsson, philips, airbus,
    boeing, spacex, nasa, esa, cern, unesco, unicef, nato, european union, united nations, interpol,
    fbi, cia, nsa, bbc, cnn, nbc, abc news, new york times, washington post, the guardian, reuters,
    bloomberg, goldman sachs, jpmorgan, morgan stanley, deutsche bank, citibank, hsbc, barclays,
    visa, mastercard, paypal, stripe, uber, lyft, airbnb, spotify, twitter, linkedin, reddit,
    dropbox, salesforce, adobe, cisco, dell, hp, lenovo, walmart, ikea, starbucks, mcdonald,
    mcdonalds, nike, adidas, puma, gucci, zara, lego, disney, pixar, warner bros, universal,
    harvard, stanford, mit, yale, princeton, oxford university, cambridge university, eth zurich,
    red cross, greenpeace, amnesty international, world bank, imf, mozilla, canonical, red hat,
    github, gitlab, atlassian, shopify, twilio, cloudflare, tencent, alibaba, huawei, xiaomi,
    bytedance, deloitte, accenture, mckinsey, pwc, kpmg, ernst & young"""
)

#: Recognised in any case ("python" as well as "Python").
TECHNOLOGIES = _list(
    """python, javascript, typescript, golang, kotlin, haskell, erlang, clojure, php, perl, sql,
    html, css, bash, linux, ubuntu, debian, fedora, kubernetes, docker, kafka, redis, postgres,
    postgresql, mysql, sqlite, mongodb, elasticsearch, react, angular, django, numpy, pandas,
    pytorch, tensorflow, chatgpt, gpt-4, bluetooth, wifi, wi-fi, usb, vpn, nginx, apache kafka,
    terraform, ansible, jenkins, graphql, webassembly, opengl, cuda, openssl, numba, fastapi"""
)
PRODUCTS = _list(
    """iphone, ipad, macbook, imac, airpods, android, windows, macos, ios, playstation, xbox,
    nintendo switch, kindle, photoshop, excel, powerpoint, gmail, whatsapp, instagram, tiktok,
    youtube, discord, telegram, slack, zoom, skype, firefox, chrome, safari, outlook, notion, figma,
    jira, trello, spotify premium, google maps, google drive, minecraft, fortnite, netflix original,
    thunderbird, evolution"""
)
#: Products and technologies that are ordinary words unless written with a capital.
CAPITAL_ONLY = _list(
    "windows, slack, zoom, chrome, safari, outlook, notion, react, excel, discord, "
    "angular, kindle, bash, pandas, perl, evolution, thunderbird, apple, meta, stripe, visa, puma, "
    "ford, dell, universal, canonical, amazon, oracle, intel"
)

#: Languages, peoples and faiths: ideas, not places and not persons.
CONCEPTS = word_set(
    """english german french spanish italian portuguese dutch swedish norwegian danish
    finnish icelandic polish czech slovak hungarian romanian bulgarian greek turkish russian
    ukrainian serbian croatian arabic hebrew persian farsi hindi urdu bengali punjabi tamil
    telugu chinese mandarin cantonese japanese korean vietnamese thai indonesian malay
    swahili latin american canadian mexican brazilian argentinian chilean peruvian colombian
    cuban british english irish scottish welsh european asian african australian indian
    pakistani iranian iraqi israeli lebanese syrian egyptian moroccan nigerian kenyan
    ethiopian swiss austrian belgian catalan basque christian catholic protestant lutheran
    baptist mormon orthodox jewish muslim islamic buddhist hindu sikh atheist christianity
    catholicism judaism islam buddhism hinduism democrat republican democratic conservative
    liberal socialist communist marxist lgbt lgbtq lgbtq+ ai ml adhd ptsd autism covid
    covid-19 hiv dna rna gdp ceo cto cfo coo hr phd mba gps diy pdf faq"""
)
EVENTS = _list(
    """christmas, christmas eve, christmas day, xmas, easter, thanksgiving, halloween, hanukkah,
    diwali, ramadan, eid, passover, new year, new years, new year's, new year's eve, new year's day,
    valentine's day, mother's day, father's day, memorial day, labor day, independence day,
    veterans day, pride month, oktoberfest, black friday, good friday, cyber monday, super bowl,
    world cup, olympics, eurovision, world war i, world war ii, brexit"""
)

ORGANISATION_ENDINGS = word_set(
    """inc ltd llc llp corp corporation company co gmbh ag kg plc sa srl oy ab bv university
    college institute bank group holdings foundation association society agency ministry
    department committee council church hospital clinic academy party union club team
    orchestra museum press records studios studio labs laboratory systems technologies
    software solutions partners insurance airlines airways motors pharmaceuticals times post
    bakery cafe café restaurant"""
)
ORGANISATION_OPENINGS = word_set(
    "university bank institute ministry department college museum church association bureau"
)
PLACE_ENDINGS = word_set(
    """street st avenue ave road rd boulevard lane park lake river mountain mountains beach
    island islands airport station square bridge valley canyon bay harbor harbour falls
    forest desert castle palace cathedral temple hills hill creek county city town village
    province district coast ocean sea gulf peninsula platz straße strasse"""
)
#: Words that never end a person's name.
SURE_PLACE_ENDINGS = word_set(
    """avenue ave boulevard road rd mountains island islands airport station canyon harbor
    harbour falls cathedral palace desert county city town province district ocean gulf
    peninsula platz straße strasse"""
)
#: Given names that are also ordinary words: for "Mark Lane" and "Grace Park".
WORD_NAMES = word_set(
    """mark grace rose hope faith joy bill will drew grant frank pat gene dale glen penny daisy
    ruby pearl violet ivy lily iris olive holly hazel heath cliff chase mason hunter sky june
    april may dawn summer autumn"""
)
#: "Rue Drolet", "via Roma".
STREET_WORDS = word_set("rue calle avenida avenue boulevard chemin rua strada corso ulica quai")
#: Last words of persons' names that also end names of churches, banks and days.
SURNAME_ENDINGS = word_set("church post press day fair bank day eve cup war")
PLACE_OPENINGS = word_set("lake mount mt fort port cape saint st isle gulf san santa los las el")
EVENT_ENDINGS = word_set(
    """conference festival marathon olympics summit cup championship championships fair expo
    parade gala convention congress hackathon tournament symposium workshop awards day eve
    war"""
)
#: Parts of a building or site, of which every building has a number 1.
LOCAL_PLACES = word_set("room building floor apartment suite gate terminal platform stage")
#: A number right after one of these belongs to the name.
NUMBERED = {
    **dict.fromkeys(sorted(LOCAL_PLACES | {"route", "highway"}), "LOCATION"),
    **dict.fromkeys(
        ("iphone", "ipad", "galaxy", "pixel", "playstation", "xbox", "windows", "android", "ios"),
        "PRODUCT",
    ),
    **dict.fromkeys(("python", "java", "ubuntu", "debian", "fedora", "postgres"), "TECHNOLOGY"),
    **dict.fromkeys(
        (
            "flight",
            "apollo",
            "falcon",
            "boeing",
            "airbus",
            "formula",
            "chapter",
            "episode",
            "season",
            "ticket",
            "issue",
            "invoice",
            "order",
            "version",
            "bus",
            "tram",
            "line",
        ),
        "OTHER",
    ),
}

#: Places, technologies, products and events that are recognised as a lower-case word.
LOWER_KNOWN: dict[str, str] = {
    **{name: "LOCATION" for name in PLACES - UNSURE_PLACES if " " not in name and len(name) > 3},
    **{name: "TECHNOLOGY" for name in TECHNOLOGIES - CAPITAL_ONLY if " " not in name},
    **{name: "PRODUCT" for name in PRODUCTS - CAPITAL_ONLY if " " not in name},
    **{name: "EVENT" for name in EVENTS if " " not in name},
}
#: Every known full name in lower case. Later lists take precedence.
KNOWN: dict[str, str] = {
    **dict.fromkeys(EVENTS, "EVENT"),
    **dict.fromkeys(CONCEPTS, "CONCEPT"),
    **dict.fromkeys(PRODUCTS, "PRODUCT"),
    **dict.fromkeys(TECHNOLOGIES, "TECHNOLOGY"),
    **dict.fromkeys(ORGANISATIONS, "ORG"),
    **dict.fromkeys(PLACES, "LOCATION"),
}
#: The first words of known names with several words, and the maximum number of words.
FIRST_OF_KNOWN = frozenset(name.split()[0] for name in KNOWN if " " in name)
LONGEST_KNOWN = max(len(name.split()) for name in KNOWN)
