"""Feasts of the Jewish, the Islamic, the Chinese and the Indian calendars, by their names.

`python -m training.calendars.feast_days` writes their days into the tables of recollect.

A Jewish feast begins in the evening. One of a single day is placed on the day of that evening; a
longer one lasts from there to its last day. Days of the Islamic calendar are those of Umm al-Qura,
which an observation of the moon may move by one. What is in square brackets in a name may be left
out; see `holiday_names`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from recollect.text.dates.calendar_days import Days, year_days
from recollect.text.dates.rules.holiday_rules import Rule, weekday_of
from training.calendars.lunisolar_days import days_of_feast
from training.calendars.moon_calendars import hebrew_day, islamic_day


def by_moon(name: str, first: int = 0, last: int | None = None) -> Rule:
    """From one day to another, counted from a feast of `lunisolar_days`."""

    def days(year: int) -> tuple[Days, ...]:
        spans = (
            (day + first, day + (first if last is None else last)) for day in days_of_feast(name)
        )
        return tuple(span for span in spans if date.fromordinal(span[0]).year == year)

    return days


def jewish(month: int, day: int, last: int = 0, shift: Callable[[int], int] | None = None) -> Rule:
    """A feast of the Hebrew calendar: the day on whose evening it begins, and `last` further days.

    Months count from Nisan. `shift` moves a feast that may not fall on some weekday.
    """

    def days(year: int) -> tuple[Days, ...]:
        found = []
        for each in (year + 3759, year + 3760, year + 3761):
            start = hebrew_day(each, month, day)
            start += (shift(weekday_of(start)) if shift is not None else 0) - 1
            if date.fromordinal(start).year == year:
                found.append((start, start + last))
        return tuple(found)

    return days


def islamic(month: int, day: int, last: Callable[[int], int] | None = None) -> Rule:
    """A feast on a day of the Islamic calendar, or up to the day that `last` returns for a year."""
    return islamic_days(
        lambda year: (
            islamic_day(year, month, day),
            islamic_day(year, month, day) if last is None else last(year),
        )
    )


def islamic_days(days_in: Callable[[int], Days]) -> Rule:
    """A feast whose days `days_in` returns for a year of the Islamic calendar."""

    def days(year: int) -> tuple[Days, ...]:
        start, end = year_days(year)
        near = (year - 622) * 33 // 32
        spans = (days_in(each) for each in range(max(near - 1, 1), near + 4))
        return tuple(span for span in spans if start <= span[0] <= end)

    return days


def parsi_new_year(year: int) -> tuple[Days, ...]:
    """The new year of the Shahenshahi calendar, whose years have 365 days."""
    start, end = year_days(year)
    day = start + (date(2022, 8, 16).toordinal() - start) % 365
    return ((day, day),) if 1900 <= year < 2101 and day <= end else ()


_NISAN, _IYAR, _SIVAN, _AV, _TISHRI, _KISLEV, _SHEVAT, _ADAR = 1, 2, 3, 5, 7, 9, 11, 12
_MON, _FRI, _SAT, _SUN = 0, 4, 5, 6


def _shift(**days: int) -> dict[int, int]:
    names = {"mon": _MON, "fri": _FRI, "sat": _SAT, "sun": _SUN}
    return {names[name]: count for name, count in days.items()}


# How many days feasts are moved, by the weekday on which they would otherwise fall.
_SHOAH = _shift(fri=-1, sun=1)
_ATZMAUT = _shift(fri=-1, sat=-2, mon=1)
_TISHA = _shift(sat=1)


def _last_friday_of_ramadan(year: int) -> Days:
    last = islamic_day(year, 10, 1) - 1
    friday = last - (weekday_of(last) - _FRI) % 7
    return friday, friday


JEWISH: dict[str, Rule] = {
    "rosh ha[ ]shana|jewish new year|feast of trumpets": jewish(_TISHRI, 1, 2),
    "yom kip[p]ur|day of atonement": jewish(_TISHRI, 10),
    "suk[k]ot|suk[k]os|feast of tabernacles|feast of booths|feast of [the] ingathering": (
        jewish(_TISHRI, 15, 8)
    ),
    "hoshana rab[b]a": jewish(_TISHRI, 21),
    "shemini atzeret|shmini atzeret|shemini atzeres": jewish(_TISHRI, 22),
    "simchat torah|simhat torah|simchas torah": jewish(_TISHRI, 23),
    "hanuk[k]a|chanuk[k]a|jewish festival of lights|feast of dedication": jewish(_KISLEV, 25, 7),
    "tu bi[ ]shvat|tu b[i] sh[e]vat": jewish(_SHEVAT, 15),
    "purim": jewish(_ADAR, 14),
    "shushan purim": jewish(_ADAR, 15),
    "passover|pesach|pesah|pesakh|feast of unleavened bread": jewish(_NISAN, 15, 8),
    "yom ha[ ]shoah|holocaust [remembrance] day": (
        jewish(_NISAN, 27, shift=lambda weekday: _SHOAH.get(weekday, 0))
    ),
    "yom ha[ ]zikaron": (
        jewish(_IYAR, 4, shift=lambda weekday: _ATZMAUT.get((weekday + 1) % 7, 0))
    ),
    "yom ha[ ]atzmaut|israel[i] independence day": (
        jewish(_IYAR, 5, shift=lambda weekday: _ATZMAUT.get(weekday, 0))
    ),
    "lag b[a][ ]omer|lag la[ ]omer": jewish(_IYAR, 18),
    "yom yerushala[y]im|jerusalem day": jewish(_IYAR, 28),
    "shavuot|shavuos|feast of weeks": jewish(_SIVAN, 6, 2),
    "tisha b[e][ ]av|tish bav": (jewish(_AV, 9, shift=lambda weekday: _TISHA.get(weekday, 0))),
    "tu bav": jewish(_AV, 15),
}

_EID = "(eid|id|idd|aid)"
_AL = "(al|ul|el|il|l)"

ISLAMIC: dict[str, Rule] = {
    "(islamic|muslim|hijri|arabic) new year|amun jadid|ras as sana[h]|al hijra[h]": islamic(1, 1),
    "[day of] ashura|yom ashura": islamic(1, 10),
    "mawlid (al nabi|al nabawi|an nabi|un nabi|al nabawi al sharif)|mawlid|maulid [al nabi]|"
    f"milad un nabi|{_EID} e milad [un nabi]|{_EID} milad un nabi|prophets birthday|"
    "[prophet] muhammads birthday": islamic(3, 12),
    "isra and miraj|[al] isra wal miraj|isra miraj|lailat al miraj|shab e (miraj|meraj)|"
    "[prophets] night journey|prophets ascension|ascension to heaven": islamic(7, 27),
    "shab e barat|laylat al barat|lailat al barat|mid shaban": islamic(8, 15),
    "ram[a]dan|ram[a]zan|ram[a]than": (islamic(9, 1, lambda year: islamic_day(year, 10, 1) - 1)),
    "muharram": islamic(1, 1, lambda year: islamic_day(year, 2, 1) - 1),
    f"(laylat|lailat|lailatul|laylatul) {_AL} (qadr|kadr)|(laylatul|lailatul) (qadr|kadr)|"
    "shab e qadr|night of (power|decree|measures|destiny)": islamic(9, 27),
    f"jumat[ ]{_AL} (wida|vida)|jumua[t][ ]{_AL} (wida|vida)|jamat[ ]{_AL} (wida|vida)": (
        islamic_days(_last_friday_of_ramadan)
    ),
    f"{_EID} {_AL} fitr|{_EID} fitr|(lesser|sweet|small) eid|sugar feast|"
    "feast of breaking (the|of the) fast|festival of breaking the fast|"
    "hari raya (aidilfitri|puasa)|idul fitri|lebaran": islamic(10, 1),
    "day of arafa[t]|arafa[t] day|yaum al arafa": islamic(12, 9),
    f"{_EID} {_AL} (adha|azha|zuha)|{_EID} (adha|azha)|bakr[a] {_EID}|(greater|salty|big) eid|"
    "bakrid|eid qurban|kurban bayram[i]|hari raya haji|idul adha|tabaski|(feast|festival) of "
    "[the] sacrifice|sacrifice feast|eid e qurban": islamic(12, 10),
}

CHINESE: dict[str, Rule] = {
    "(chinese|lunar|chinese lunar|vietnamese|korean) new year[s] [day]|cny|spring festival|seollal|"
    "tet [nguyen dan]": by_moon("chinese new year"),
    "(chinese|lunar|chinese lunar) new year[s] eve": by_moon("chinese new year", -1),
    "lantern festival|yuanxiao [festival]": by_moon("lantern festival"),
    "(qing|ching)[ ]ming [festival]|tomb sweeping (day|festival)": by_moon("qingming"),
    "dragon boat festival|duan[ ]wu [festival]|double fifth [festival]": (
        by_moon("dragon boat festival")
    ),
    "qi[ ]xi [festival]|double seventh [festival]|chinese valentines day": by_moon("qixi"),
    "[hungry] ghost festival|zhongyuan [festival]|ul[l]ambana": by_moon("ghost festival"),
    "mid autumn (festival|day)|moon festival|moon[ ]cake festival|chuseok|"
    "zhong[ ]qiu (festival|jie)": by_moon("mid autumn festival"),
    "(double ninth|chong[ ]yang) [festival]": by_moon("double ninth festival"),
    "dong[ ]zhi [festival]|winter solstice festival": by_moon("dongzhi"),
}

INDIAN: dict[str, Rule] = {
    "[y]ugadi|yugadhi|samvatsaradi|gudi padwa|gudhi padva|chaitra suk[h]ladi|"
    "chaitra shukladi|(telugu|kannada|hindu) new year": by_moon("ugadi"),
    "cheti chand|jhulelal jayanti": by_moon("cheti chand"),
    "chaitra nav[a]rat[h]ri": by_moon("ugadi", 0, 8),
    "[sri ]ram[a] nav[a]mi": by_moon("rama navami"),
    "mahav(ir|eer|eera|ira) (jayanti|jayanthi|janma kalyanak)": by_moon("mahavir jayanti"),
    "hanuman (jayanti|jayanthi|janmotsav)": by_moon("hanuman jayanti"),
    "akshaya tritiya|akshay tritiya|akha teej": by_moon("akshaya tritiya"),
    "buddha (purnima|poornima|jayanti)": by_moon("buddha purnima"),
    "v(e|ai)sak[ha] [day|poya]|visakha (bucha|puja)|buddhas birthday|buddha day": (
        by_moon("vesak")
    ),
    "rat[a][ ]yatra": by_moon("ratha yatra"),
    "guru p(u|oo)rnima|asal[h]a (puja|bucha)": by_moon("guru purnima"),
    "na[a]g[a] panchami": by_moon("nag panchami"),
    "hariyali teej": by_moon("hariyali teej"),
    "raksha bandhan|raksha bandan|rakhi [purnima]": by_moon("raksha bandhan"),
    "(krishna|sri krishna|shri krishna|sree krishna) (janm[a][ ]ashtami|jayanti|jayanthi)|"
    "janm[a][ ]ashtami|gokul[a][ ]ashtami": by_moon("janmashtami"),
    "hartalika teej": by_moon("hartalika teej"),
    "(ganesh[a]|vinayak[a]) (chat[h]urt[h]i|chavit[h]i)|vinayagar chaturthi|ganesh[a] utsav": (
        by_moon("ganesh chaturthi")
    ),
    "ana(nta|nt) chaturdashi": by_moon("anant chaturdashi"),
    "mahalaya [amavasya]|sarva pitru amavasya": by_moon("mahalaya"),
    "(sharad[iya]|maha|shardiya) nav[a]rat[h]ri|nav[a]rat[h]ri|navarathri": (
        by_moon("navaratri", 0, 8)
    ),
    "durga (puja|pooja)|durgotsav[a]|sharadotsav": by_moon("durga saptami", -1, 3),
    "(maha|durga) saptami": by_moon("durga saptami"),
    "(maha|durga|durga puja) (ashtami|astami)": by_moon("durga ashtami"),
    "(maha|durga) nav[a]mi|ayudha puja": by_moon("durga navami"),
    "dus[s]e[h]ra|das[a][h]ara|dasra|dash[a]hara|dashera|vijay[a][ ]dash[a]mi": by_moon("dussehra"),
    "sharad (purnima|poornima)|kojagari (purnima|puja)": by_moon("sharad purnima"),
    "(maharishi|maharshi) valmiki jayanti|valmiki jayanti|pargat di(was|vas)": (
        by_moon("valmiki jayanti")
    ),
    "kar(v|w)a cha(u|w)th|kar[a]ka chaturthi": by_moon("karva chauth"),
    "dhan[ ]teras|dhan[a][ ]trayodashi|dhanatrayodashi|dhan[a]vantari trayodashi": (
        by_moon("dhanteras")
    ),
    "kali chaudas|chhoti (diwali|deepavali)|choti (diwali|deepavali)|small diwali": (
        by_moon("kali chaudas")
    ),
    "nara(k|ka) chat[h]urdas[h]i|roop chaudas": by_moon("naraka chaturdashi"),
    "di(w|v)ali|dee(w|v)ali|deep[a]v[a]li|dip[a]v[a]li|(hindu|indian) festival of lights|"
    "(lakshmi|laxmi) (puja|pooja)|kali puja|bandi chhor (divas|diwas)": by_moon("diwali"),
    "govardhan (puja|pooja)|annakut": by_moon("govardhan puja"),
    "bhai (dooj|duj|dhooj|beej|phonta|tika)|bha(u|i) beej|bhaiya dooj|yama dwitiya": (
        by_moon("bhai dooj")
    ),
    "chhat[h] (puja|pooja)|chhat[h]|chat[h] puja|dala (puja|chhath)|surya shasti": (
        by_moon("chhath")
    ),
    "guru nanak [dev] (jayanti|jayanthi|birthday|gurpurab)|gur[u]pur[a]b|[guru] nanak[s] birthday|"
    "kart(i|ti)k purnima|dev d(iw|eep)ali": by_moon("guru nanak jayanti"),
    "guru go(b|v)ind singh (jayanti|jayanthi|birthday|gurpurab)": (
        by_moon("guru gobind singh jayanti")
    ),
    "(vasant[a]|basant[a]) panchami|sar[a]swat[h]i (puja|pooja|jayanti)|shri panchami": (
        by_moon("vasant panchami")
    ),
    "guru ra(v|b)idas[s] (jayanti|jayanthi|birthday)|ra(v|b)idas[s] jayanti": (
        by_moon("guru ravidas jayanti")
    ),
    "[maha] shiv[a][ ]ratri": by_moon("maha shivaratri"),
    "holika (dahan|deepak|dahanam)|(chhoti|choti|small) holi|kama dahanam|kamudu pyre": (
        by_moon("holika dahan")
    ),
    "holi|rangwali holi|dhulandi|dhuleti|dhulivandan|phag[u]wa[h]|dol (jatra|purnima|yatra)": (
        by_moon("holika dahan", 1)
    ),
    "lohri|bhogi (pandigai|pongal)|bogi (pandigai|pongal)|bhogi": by_moon("makar sankranti", -1),
    "makar[a] san(k|c)rant[h]i|(thai|surya) pongal|pongal|maghi|uttarayan[a]|sankranti": (
        by_moon("makar sankranti")
    ),
    "ma[a]ttu pongal": by_moon("makar sankranti", 1),
    "ka[a]num pongal|kanni pongal|kanu[m] pongal": by_moon("makar sankranti", 2),
    "(v|b)aisak[h]i|vasak[h]i|basak[h]i": by_moon("vaisakhi"),
    "puth[a]ndu|tamil new year|varusha pirappu": by_moon("puthandu"),
    "vishu": by_moon("vishu"),
    "rabindra[nath] (jayanti|jayanthi|birthday)|[rabindranath] tagores birthday": (
        by_moon("vaisakhi", 25)
    ),
    "onam|thiru[ ][v]onam": by_moon("onam"),
}

PERSIAN: dict[str, Rule] = {
    "(now|no|na|nau|naw)[ ](ruz|roz)|(persian|iranian) new year": by_moon("nowruz"),
    "parsi new year|jamshedi nav(ro|ru)z|pateti": parsi_new_year,
}

#: The calendars, and the offset of the eve of their feasts from the first day, in days.
CALENDARS: tuple[tuple[dict[str, Rule], int], ...] = (
    (JEWISH, 0),
    (ISLAMIC, -1),
    (CHINESE, -1),
    (INDIAN, -1),
    (PERSIAN, -1),
)
