"""First names that are mostly male or mostly female, used only to resolve "he" and "she".

They are not used for anything permanent: many names are unisex, and any name here may be.
"""

from __future__ import annotations

from typing import Literal

from recollect.text.lexicon import word_set

Gender = Literal["m", "f"]

_MEN = word_set(
    """aaron abdul abdullah adam adrian ahmed alan albert alejandro alexander alfred ali allan
    alvin amir anders andre andreas andrew andy angelo anthony anton antonio arjun arnold arthur
    arturo ashok axel barry bart ben benjamin benoit bernard bert bill billy bob bobby boris
    brad bradley brandon brendan brent brett brian bruce bruno bryan budi byron caleb calvin
    carl carlo carlos cedric chad chandler charles charlie chester chris christian christoph
    christopher clark claude clayton clive colin connor craig curtis cyril dale damien damon dan
    daniel danny darius darren dave david dean dennis derek derrick diego dieter dirk dmitri
    dominic don donald doug douglas duncan dustin dylan earl eddie edgar edmund eduardo edward
    edwin eli elias elijah emil emilio emmanuel enrique eric erik ernest ernesto ernie ethan
    eugene evan fabian felipe felix ferdinand fernando finn florian floyd francesco francis
    francisco francois frank franklin franz fred freddie frederick fritz gabriel gareth gary
    gavin geoff geoffrey george gerald gerard gerhard giles giovanni giuseppe glen glenn gordon
    graham grant greg gregory guillaume guillermo gunther gustav hank hans harold harry hassan
    hector heinrich helmut henri henrik henry herbert herman hiroshi howard hugh hugo ian
    ibrahim igor isaac ismail ivan jack jacob jacques jakob jake jakub james jan jared jason
    javier jean jeff jeffrey jeremy jerome jerry jesus jim jimmy joaquin joe joel joey johan
    johann john johnny jon jonah jonas jonathan jorge jose josef joseph josh joshua juan juergen
    julian julien julio jun justin karim karl keith kelvin ken kenneth kenny kenta kevin khalid
    klaus kofi konrad kurt kyle lance lars larry laurent lawrence lee leo leon leonard leonardo
    leroy levi liam lionel logan lorenzo lou louis luca lucas luigi luis lukas luke malcolm
    malik manuel marc marcel marco marcos marcus mario mark markus marshall martin marty marvin
    mathieu matt matteo matthew matthias maurice max maxim michael michel miguel mike mikhail
    miles milton mitchell mohamed mohammed muhammad murray mustafa nathan nathaniel neil nelson
    nicholas nick nicolas nigel nikolai nils noah norman oliver olivier omar oscar oskar otto
    owen pablo pascal patrick paul pavel pedro pete peter phil philip philippe pierre pietro
    piotr rafael raj rajesh ralph ramon randall randy raoul raul ravi ray raymond reginald rene
    reuben rex ricardo richard rick ricky rob robert roberto robin rodney rodrigo roger roland
    rolf roman ron ronald ross roy ruben rudolf rupert russell ryan salim salvatore sam samuel
    sandro sanjay santiago saul scott sean sebastian serge sergei sergio seth shane shaun simon
    spencer stan stanley stefan stephan stephen steve steven stewart stuart sven tadeusz takashi
    ted terence terry theo theodore thierry thomas tigran tim timothy tobias todd tom tommy tony
    travis trevor tristan tyler umberto vernon viktor victor vijay vince vincent vinod vladimir
    wade walt walter warren wayne werner wilfred wilhelm will william willie winston wolfgang
    xavier yann yusuf zachary zoltan"""
)
_WOMEN = word_set(
    """abigail ada adela adele adriana agatha agnes aisha alana alba alessandra alexandra alexis
    alice alicia alina alison allison alma alyssa amanda amber amelia amelie amina amy ana
    anastasia andrea angela angelica angelina anita anja ann anna annabelle anne annette annie
    antonia ariana arlene ashley astrid audrey aurora ava barbara beatrice beatriz becky belinda
    bella bernadette bertha beth bethany betsy betty beverly bianca birgit bonnie brenda bridget
    brigitte britney brittany camila camilla candace cara carla carmen carol carole carolina
    caroline carolyn carrie cassandra cassie catherine cathy cecilia celeste celia celine
    charlene charlotte chelsea cheryl chiara chloe christa christina christine cindy claire
    clara clarissa claudia colette colleen connie constance consuelo corinne courtney cristina
    crystal cynthia dagmar daisy dana danielle daphne dawn deborah debbie debra deirdre delia
    denise diana diane dolores donna dora doris dorothea dorothy edith eileen elaine eleanor
    elena elisa elisabeth elise eliza elizabeth ella ellen elsa elsie emilia emily emma erica
    erika erin esmeralda esther ethel eugenia eva eve evelyn fatima fay felicia fiona flora
    florence frances francesca francine frieda gabriela gabrielle gail gemma genevieve georgia
    geraldine gertrude gina ginny giulia gladys gloria grace greta gretchen gwen hailey hana
    hanna hannah harriet hazel heather heidi helen helena helene helga henrietta hilary hilda
    holly ida ilse imogen ines inga ingrid irene iris irina irma isabel isabella isabelle ivy
    jacqueline jade jana jane janet janice janine jasmine jean jeanette jeanne jenna jennifer
    jenny jessica jill joan joanna joanne jocelyn jodie johanna josephine joy joyce juanita
    judith judy julia juliana julie juliet justine karen karin karina karla kate katharina
    katherine kathleen kathryn kathy katie katrina kayla kelly kerry kim kimberly kirsten
    kristen kristin kristina laetitia lara latoya laura lauren laurie lea leah leila lena leonie
    leticia lily linda lindsay lisa liz lizzie lois lola lorena loretta lori lorraine louisa
    louise lucia lucille lucy luisa lydia lynn mabel madeleine madison magdalena maggie maja
    mandy manuela marcia margaret margarita margot maria mariah mariana marianne marie marilyn
    marina marion marisa marjorie marlene marta martha martina mary matilda maureen maxine megan
    melanie melinda melissa meredith mia michaela michelle mildred millie mindy minnie miranda
    miriam moira molly mona monica monika muriel myra myrtle nadia nadine nancy naomi natalia
    natalie natasha nell nicole nina noelle nora norma octavia olga olive olivia ophelia paige
    pam pamela parveen patricia patsy patty paula paulina pauline pearl peggy penelope penny
    petra phoebe phyllis polly priscilla priya rachel ramona rebecca regina renata rita roberta
    rosa rosalie rose rosemary roxanne ruby ruth sabine sabrina sadie sally samantha sandra sara
    sarah selena selma serena shannon sharon sheila shelley sherry shirley sibyl silvia simone
    sofia solange sonia sonja sophia sophie stacey stacy stella stephanie sue susan susanna
    susanne susie suzanne svetlana sybil sylvia tamara tammy tania tanya tara tatiana teresa
    tess thelma theresa therese tiffany tina tracy trudy uma ursula ute valentina valerie
    vanessa vera veronica vicky victoria viola violet virginia vivian wanda wendy whitney
    wilhelmina wilma winifred yasmin yolanda yvette yvonne zara zelda zoe"""
)
_BOTH = _MEN & _WOMEN
_RELATIONS: dict[str, Gender] = {
    **dict.fromkeys(
        word_set(
            """brother father dad daddy son husband boyfriend uncle nephew grandpa grandfather
            granddad stepfather stepson stepbrother brother-in-law father-in-law son-in-law man guy
            boy groom widower gentleman king mr sir papa landlord fiancé grandson dude bloke lad"""
        ),
        "m",
    ),
    **dict.fromkeys(
        word_set(
            """sister mother mum mom mommy mummy daughter wife girlfriend aunt auntie niece grandma
            grandmother granny stepmother stepdaughter stepsister sister-in-law mother-in-law
            daughter-in-law woman girl bride widow lady queen mrs ms miss maman landlady fiancée
            granddaughter chick nana madam madame mme"""
        ),
        "f",
    ),
}


def gender_of_name(first_name: str) -> Gender | None:
    """Return the usual gender of a first name; None if it is unisex or unknown."""
    lower = first_name.lower()
    if lower in _BOTH:
        return None
    return "m" if lower in _MEN else "f" if lower in _WOMEN else None


def gender_of_relation(word: str) -> Gender | None:
    """Return the gender that a word states, such as "brother" or "Mrs"; None if it states none."""
    return _RELATIONS.get(word.lower())
