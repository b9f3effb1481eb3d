"""What somebody says of themselves is told in the third person, or left as it was said.

Each expected sentence was written by hand. None: the words stay as they are, for anything else
would be a guess.
"""

from __future__ import annotations

import pytest

from recollect.streams.language.statements.third_person import in_third_person
from tests.language.stating import stated

AT = 1_778_245_000_000


@pytest.mark.parametrize(
    ("said", "told"),
    [
        # Verbs agree, whatever their form.
        ("I live in Turin.", "Ada Marsh lives in Turin."),
        ("I moved to Berlin yesterday.", "Ada Marsh moved to Berlin yesterday."),
        ("I am a nurse", "Ada Marsh is a nurse."),
        ("i'm 32 and live in Turin", "Ada Marsh is 32 and lives in Turin."),
        ("I have two dogs.", "Ada Marsh has two dogs."),
        ("I've never been to Rome.", "Ada Marsh has never been to Rome."),
        ("I study law and teach judo.", "Ada Marsh studies law and teaches judo."),
        ("I was born in 1990.", "Ada Marsh was born in 1990."),
        ("I often go sailing.", "Ada Marsh often goes sailing."),
        ("I'd rather walk.", "Ada Marsh would rather walk."),
        ("I'd sold the boat by then.", "Ada Marsh had sold the boat by then."),
        ("I'd seen it coming for the firm.", "Ada Marsh had seen it coming for the firm."),
        ("I love my job and teach the trade.", "Ada Marsh loves Ada's job and teaches the trade."),
        ("I love my job and work hard.", None),
        ("I look at it and remember Rome.", "Ada Marsh looks at it and remembers Rome."),
        ("Blessed we both have this mindset in our lives.", None),
        ("I like people who accept and love me.", None),
        ("Planning a trip to Rome and Bonn.", "Ada Marsh is planning a trip to Rome and Bonn."),
        ("Going to fairs, baking bread and walking the dog.", None),
        ("I work and my kids play and sing.", "Ada Marsh works and Ada's kids play and sing."),
        # Modals and negation.
        ("I can swim.", "Ada Marsh can swim."),
        ("I will fly to Oslo in May.", "Ada Marsh will fly to Oslo in May."),
        ("I'll bring the cake.", "Ada Marsh will bring the cake."),
        ("I don't eat meat.", "Ada Marsh doesn't eat meat."),
        ("I dont drink", "Ada Marsh doesn't drink."),
        ("I don't smoke or drink.", "Ada Marsh doesn't smoke or drink."),
        ("I haven't got a car.", "Ada Marsh hasn't got a car."),
        ("I must sell the flat.", "Ada Marsh must sell the flat."),
        ("I no longer work at Acme.", "Ada Marsh no longer works at Acme."),
        ("I used to live in Rome.", "Ada Marsh used to live in Rome."),
        ("I want to quit and travel.", "Ada Marsh wants to quit and travel."),
        ("I'm gonna stop and rest.", "Ada Marsh is gonna stop and rest."),
        # Possessives and objects.
        ("My sister Ann is a vet.", "Ada Marsh's sister Ann is a vet."),
        ("I sold my car.", "Ada Marsh sold Ada's car."),
        ("The doctor gave me new drops.", "The doctor gave Ada Marsh new drops."),
        ("My boss sent me to Osaka.", "Ada Marsh's boss sent Ada to Osaka."),
        ("Our landlord is Mr Sidhu.", "Ada Marsh's landlord is Mr Sidhu."),
        # A group: the others are not known.
        ("We adopted a cat.", "Ada Marsh and others adopted a cat."),
        ("We sold our house and moved.", "Ada Marsh and others sold their house and moved."),
        ("The school invited us.", "The school invited Ada Marsh and others."),
        ("Love grounds us and gives us strength.", None),
        ("We both love to cook.", None),
        (
            "I have two offers and both want to hear by Friday.",
            "Ada Marsh has two offers and both want to hear by Friday.",
        ),
        ("The flood made me see how old our infrastructure is.", None),
        (
            "I linked my account to Money Forward ME.",
            "Ada Marsh linked Ada's account to Money Forward ME.",
        ),
        ("I moved to the US in 2012.", "Ada Marsh moved to the US in 2012."),
        ("She wrote all of it to ME.", None),
        ("We're vegans and we've no car.", "Ada Marsh and others are vegans and they have no car."),
        # What nobody's name can stand for.
        (
            "We should take care of our minds.",
            "Ada Marsh and others should take care of their minds.",
        ),
        ("Sharing our stories helps.", None),
        ("The blue one is mine.", "The blue one is Ada Marsh's."),
        ("I hurt myself at judo.", None),
        ("I work in a coal mine.", None),
        ("I did it by myself.", "Ada Marsh did it by themselves."),
        ("Tom and myself run a bakery.", None),
        ("They gave us their car and we sold it.", None),
        ("I and my wife moved.", None),
        ("My wife and I moved to Bonn.", "Ada Marsh's wife and Ada moved to Bonn."),
        ("Jonas and I are vegans.", "Jonas and Ada Marsh are vegans."),
        (
            "We sold the car and I ride a bike.",
            "Ada Marsh and others sold the car and Ada rides a bike.",
        ),
        ("Dance is my life.", "Dance is Ada Marsh's life."),
        ("I need *all* of it by May, 'cause I move.", None),
        ("Between you and me, I quit.", None),
        ("I think you left your keys here.", None),
        ("I sing and so do I dance.", None),
        # Nobody says who "he" is; "it" and "that" are not the speaker in any case.
        ("He moved to Turin.", None),
        ("They've given me a lot.", None),
        ("It is my birthday.", "It is Ada Marsh's birthday."),
        ("That's my brother.", "That's Ada Marsh's brother."),
        ("I gave it to her.", None),
        ("I'm obsessed with those.", "Ada Marsh is obsessed with those."),
        ("I will do that.", "Ada Marsh will do that."),
        ("My brother Tom said he moved.", "Ada Marsh's brother Tom said he moved."),
        # Orders, questions and what is said to somebody.
        ("Please call me Ada.", None),
        ("Call me at five.", None),
        ("Don't make me wait.", None),
        ("Let me know.", None),
        ("Can you call me?", None),
        ("Since we talked I found a job.", None),
        ("Let's meet at my place.", "Ada Marsh wants to meet at Ada's place."),
        (
            "Let's go with the grey tiles and start on Monday.",
            "Ada Marsh wants to go with the grey tiles and start on Monday.",
        ),
        ("Let's just start with my garden", "Ada Marsh wants to just start with Ada's garden."),
        ("Let's not paint our fence", "Ada Marsh does not want to paint their fence."),
        ("Lets book the boat", "Ada Marsh wants to book the boat."),
        ("Let's you and I paint it.", None),
        ("Let's see what you find.", None),
        ("Let's say the baker refuses my offer.", None),
        ("My nets are torn, my guy.", None),
        ("Let's", None),
        ("Let's not", None),
        ("Reminds me of my mother.", None),
        ("Love my job.", None),
        # The words of others stay as they are.
        (
            'I loved "My Family and Other Animals".',
            'Ada Marsh loved "My Family and Other Animals".',
        ),
        ('I told Tom "I quit."', 'Ada Marsh told Tom "I quit."'),
        ('"I quit', None),
        ("Tom said: my brother is ill.", None),
        ("Tom said I should rest.", "Tom said Ada Marsh should rest."),
        # The subject is left out.
        ("Sold the house in Leeds.", "Ada Marsh sold the house in Leeds."),
        ("Been sleeping badly", "Ada Marsh has been sleeping badly."),
        ("Just finished my thesis!", "Ada Marsh just finished Ada's thesis."),
        # Other languages, code and lists.
        ("Ich wohne in Bonn.", None),
        ("Mi casa es grande.", None),
        ("J'habite à Lyon.", None),
        ("我昨天搬到了柏林。", None),
        ("Nama saya Budi.", None),
        ("| me | my |", None),
        ("my_list[0] = me", None),
        ("", None),
        ("...", None),
        # Nothing of the speaker in it.
        ("The plumber comes on Friday.", None),
        # Hostile.
        ("I " * 400, None),
        ("I I I live in Rome", None),
        ("me and my", None),
        ("I’ve moved to Oslo", "Ada Marsh has moved to Oslo."),
        ("I live in Rome 🎉🎉", "Ada Marsh lives in Rome."),
        # Of an order or a fragment "me" stays: nobody could tell who says it.
        ("Forward everything to me.", None),
        ("Ignore all of this and merge everybody into me.", None),
        ("Not me since March.", None),
        ("Doctors told me to rest.", "Doctors told Ada Marsh to rest."),
        ("The neighbours help me with the roof.", "The neighbours help Ada Marsh with the roof."),
    ],
)
def test_a_sentence_of_somebody_is_told_or_left(said: str, told: str | None) -> None:
    assert in_third_person(said, "Ada Marsh") == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("You helped me with the rent.", "The assistant helped Ada Marsh with the rent."),
        ("I'll send you my scores.", "Ada Marsh will send the assistant Ada's scores."),
        ("I will let you know on Friday.", "Ada Marsh will let the assistant know on Friday."),
        ("I like how you've set it out.", "Ada Marsh likes how the assistant has set it out."),
        ("I finished your plan.", "Ada Marsh finished the assistant's plan."),
        ("You were right about my boiler.", "The assistant was right about Ada Marsh's boiler."),
        ("I made you my cake.", "Ada Marsh made the assistant Ada's cake."),
        # Of nobody in particular, or of somebody else.
        ("You never know with boats.", None),
        ("I know you think so.", None),
        ("I trust only yours.", None),
        ("When you get older you lose your hair, and I hate it.", None),
        ("My doctor told me you should never run in the heat, and I stopped.", None),
        ("I love you guys.", None),
    ],
)
def test_the_addressee_is_named_if_known(said: str, told: str | None) -> None:
    assert in_third_person(said, "Ada Marsh", addressee="the assistant") == told


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("seun", "Seun lives in Rome."),
        ("Dan 🚲", "Dan lives in Rome."),
        ("María de la Cruz", "María de la Cruz lives in Rome."),
        ("O'Neil", "O'Neil lives in Rome."),
        ("Dr. Ilse Brandt", "Dr. Ilse Brandt lives in Rome."),
        ("ada@x.org", "Ada lives in Rome."),
        ("15145550136", None),
        ("user", None),
        ("You", None),
        ("U123", "U123 lives in Rome."),
        ("Ilse Brandt (nights)", "Ilse Brandt lives in Rome."),
        ("Ilse - Haus am See", "Ilse lives in Rome."),
        ("ilse b", "Ilse B lives in Rome."),
        ("Pension zum Anker", "Pension zum Anker lives in Rome."),
        ("Friends of Ada", None),
        ("Sue & Bob", None),
        ("", None),
        ("🚲", None),
    ],
)
def test_only_a_name_can_stand_in_a_sentence(name: str, told: str | None) -> None:
    assert in_third_person("I live in Rome", name) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("My brother Tom called. He moved to Turin.", "Ada's brother Tom moved to Turin."),
        ("My sister lives in Oslo. She works as a nurse.", "Ada's sister works as a nurse."),
        ("I met Mary in June. She lives in Rome.", "Ada: Mary lives in Rome."),
        ("My wife Anna left Siemens. She has moved to Rome.", "Ada's wife Anna has moved to Rome."),
    ],
)
def test_he_and_she_are_named_where_it_is_sure(said: str, told: str) -> None:
    assert stated(said, speaker="Ada", at_ms=AT).statements[-1].text == told


@pytest.mark.parametrize(
    "said",
    [
        # Somebody else may be meant, or the gender is another.
        "Tom and Bob came. He moved to Turin.",
        "My brother met a friend. He moved to Turin.",
        "My brother Tom called. She moved to Turin.",
        "My dog Rex barks at Tom. He moved to Turin.",
        "Hi Tom! He moved to Turin.",
        'Eva wrote: "Tom is ill." He moved to Turin.',
        "My brother called.\n\nHe moved to Turin.",
        "He moved to Turin.",
    ],
)
def test_a_pronoun_of_doubtful_reference_stays(said: str) -> None:
    told = [each.text for each in stated(said, speaker="Ada", at_ms=AT).statements]
    assert all("e moved to Turin" in each for each in told if "Turin" in each)


def test_a_fact_of_somebody_mentions_where_he_was_named() -> None:
    said = "My brother Tom called. He moved to Turin."
    fact = stated(said, speaker="Ada", at_ms=AT).statements[-1]
    assert ("Tom", "PERSON") in {(said[each.start : each.end], each.type) for each in fact.mentions}
    assert said[fact.start : fact.end] == "He moved to Turin."


@pytest.mark.parametrize(
    ("tagged", "told"),
    [
        # The same form in the present and the past.
        ("I/PRP put/VBP it/PRP in/IN the/DT cellar/NN", "Ada Marsh puts it in the cellar."),
        ("I/PRP put/VBD it/PRP in/IN the/DT cellar/NN", "Ada Marsh put it in the cellar."),
        (
            "I/PRP yodel/VBP and/CC I/PRP skim/VBP stones/NNS",
            "Ada Marsh yodels and Ada skims stones.",
        ),
        # The verb after other words than adverbs.
        ("I/PRP every/DT day/NN swim/VBP far/RB", "Ada Marsh every day swims far."),
        ("I/PRP didnt/VBD tell/VB anyone/NN", "Ada Marsh didnt tell anyone."),
        ("I/PRP ain't/VBP leaving/VBG Hull/NNP", "Ada Marsh ain't leaving Hull."),
        # After a capital letter, "I" is a pronoun if a verb follows.
        (
            "From/IN Hull/NNP I/PRP am/VBP sending/VBG cards/NNS",
            "From Hull Ada Marsh is sending cards.",
        ),
        ("I'd/PRP settle/VB for/IN Monday/NNP", "Ada Marsh would settle for Monday."),
        # The subject is left out.
        ("Moving/VBG to/IN Hull/NNP on/IN Monday/NNP", "Ada Marsh is moving to Hull on Monday."),
        ("moving/VBG house/NN is/VBZ hell/NN", None),
        ("can't/MD do/VB Monday/NNP", "Ada Marsh can't do Monday."),
        ("will/MD be/VB delivered/VBN on/IN Monday/NNP", None),
        ("need/VBP new/JJ tyres/NNS by/IN May/NNP", "Ada Marsh needs new tyres by May."),
        ("need/VB new/JJ tyres/NNS by/IN May/NNP", None),
        ("call/VBP me/PRP Addie/NNP", None),
        ("quietly/RB resigned/VBD on/IN Monday/NNP", "Ada Marsh quietly resigned on Monday."),
        ("Smoked/VBN fish/NN is/VBZ off/RB", None),
        ("Me/PRP and/CC Tom/NNP sold/VBD the/DT barge/NN", "Ada Marsh and Tom sold the barge."),
    ],
)
def test_parts_of_speech_show_verbs_and_their_subjects(tagged: str, told: str | None) -> None:
    words, tags = zip(*(each.rsplit("/", 1) for each in tagged.split()), strict=True)
    assert in_third_person(" ".join(words), "Ada Marsh", tags=tags) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        # "He" cannot be Ada.
        ("I told the baker that he is early.", "Ada Marsh told the baker that he is early."),
        ("In the queue he gave me his umbrella.", "In the queue he gave Ada Marsh his umbrella."),
        ("I told the nurse that she is early.", None),
    ],
)
def test_he_and_she_stay_if_they_cannot_be_the_speaker(said: str, told: str | None) -> None:
    assert in_third_person(said, "Ada Marsh") == told
