"""Feasts of the Jewish, the Islamic, the Chinese and the Indian calendars, and their names.

A Jewish feast begins in the evening: one of a day is on the day of that evening, one of more goes
on to its last day. Days of the Islamic calendar are those of Umm al-Qura, which an observation of
the moon may move by one. What is in square brackets in a name may be left out; see `holiday_names`.
"""

from __future__ import annotations

from recollect.text.dates.calendar_days import Days
from recollect.text.dates.holiday_rules import (
    Rule,
    by_table,
    islamic,
    islamic_days,
    jewish,
    parsi_new_year,
    weekday_of,
)
from recollect.text.dates.moon_calendars import islamic_day

_NISAN, _IYAR, _SIVAN, _AV, _TISHRI, _KISLEV, _SHEVAT, _ADAR = 1, 2, 3, 5, 7, 9, 11, 12
_MON, _FRI, _SAT, _SUN = 0, 4, 5, 6


def _shift(**days: int) -> dict[int, int]:
    names = {"mon": _MON, "fri": _FRI, "sat": _SAT, "sun": _SUN}
    return {names[name]: count for name, count in days.items()}


# By the weekday on which they would be.
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
    "tet [nguyen dan]": by_table("chinese new year"),
    "(chinese|lunar|chinese lunar) new year[s] eve": by_table("chinese new year", -1),
    "lantern festival|yuanxiao [festival]": by_table("lantern festival"),
    "(qing|ching)[ ]ming [festival]|tomb sweeping (day|festival)": by_table("qingming"),
    "dragon boat festival|duan[ ]wu [festival]|double fifth [festival]": (
        by_table("dragon boat festival")
    ),
    "qi[ ]xi [festival]|double seventh [festival]|chinese valentines day": by_table("qixi"),
    "[hungry] ghost festival|zhongyuan [festival]|ul[l]ambana": by_table("ghost festival"),
    "mid autumn (festival|day)|moon festival|moon[ ]cake festival|chuseok|"
    "zhong[ ]qiu (festival|jie)": by_table("mid autumn festival"),
    "(double ninth|chong[ ]yang) [festival]": by_table("double ninth festival"),
    "dong[ ]zhi [festival]|winter solstice festival": by_table("dongzhi"),
}

INDIAN: dict[str, Rule] = {
    "[y]ugadi|yugadhi|samvatsaradi|gudi padwa|gudhi padva|chaitra suk[h]ladi|"
    "chaitra shukladi|(telugu|kannada|hindu) new year": by_table("ugadi"),
    "cheti chand|jhulelal jayanti": by_table("cheti chand"),
    "chaitra nav[a]rat[h]ri": by_table("ugadi", 0, 8),
    "[sri ]ram[a] nav[a]mi": by_table("rama navami"),
    "mahav(ir|eer|eera|ira) (jayanti|jayanthi|janma kalyanak)": by_table("mahavir jayanti"),
    "hanuman (jayanti|jayanthi|janmotsav)": by_table("hanuman jayanti"),
    "akshaya tritiya|akshay tritiya|akha teej": by_table("akshaya tritiya"),
    "buddha (purnima|poornima|jayanti)": by_table("buddha purnima"),
    "v(e|ai)sak[ha] [day|poya]|visakha (bucha|puja)|buddhas birthday|buddha day": (
        by_table("vesak")
    ),
    "rat[a][ ]yatra": by_table("ratha yatra"),
    "guru p(u|oo)rnima|asal[h]a (puja|bucha)": by_table("guru purnima"),
    "na[a]g[a] panchami": by_table("nag panchami"),
    "hariyali teej": by_table("hariyali teej"),
    "raksha bandhan|raksha bandan|rakhi [purnima]": by_table("raksha bandhan"),
    "(krishna|sri krishna|shri krishna|sree krishna) (janm[a][ ]ashtami|jayanti|jayanthi)|"
    "janm[a][ ]ashtami|gokul[a][ ]ashtami": by_table("janmashtami"),
    "hartalika teej": by_table("hartalika teej"),
    "(ganesh[a]|vinayak[a]) (chat[h]urt[h]i|chavit[h]i)|vinayagar chaturthi|ganesh[a] utsav": (
        by_table("ganesh chaturthi")
    ),
    "ana(nta|nt) chaturdashi": by_table("anant chaturdashi"),
    "mahalaya [amavasya]|sarva pitru amavasya": by_table("mahalaya"),
    "(sharad[iya]|maha|shardiya) nav[a]rat[h]ri|nav[a]rat[h]ri|navarathri": (
        by_table("navaratri", 0, 8)
    ),
    "durga (puja|pooja)|durgotsav[a]|sharadotsav": by_table("durga saptami", -1, 3),
    "(maha|durga) saptami": by_table("durga saptami"),
    "(maha|durga|durga puja) (ashtami|astami)": by_table("durga ashtami"),
    "(maha|durga) nav[a]mi|ayudha puja": by_table("durga navami"),
    "dus[s]e[h]ra|das[a][h]ara|dasra|dash[a]hara|dashera|vijay[a][ ]dash[a]mi": by_table(
        "dussehra"
    ),
    "sharad (purnima|poornima)|kojagari (purnima|puja)": by_table("sharad purnima"),
    "(maharishi|maharshi) valmiki jayanti|valmiki jayanti|pargat di(was|vas)": (
        by_table("valmiki jayanti")
    ),
    "kar(v|w)a cha(u|w)th|kar[a]ka chaturthi": by_table("karva chauth"),
    "dhan[ ]teras|dhan[a][ ]trayodashi|dhanatrayodashi|dhan[a]vantari trayodashi": (
        by_table("dhanteras")
    ),
    "kali chaudas|chhoti (diwali|deepavali)|choti (diwali|deepavali)|small diwali": (
        by_table("kali chaudas")
    ),
    "nara(k|ka) chat[h]urdas[h]i|roop chaudas": by_table("naraka chaturdashi"),
    "di(w|v)ali|dee(w|v)ali|deep[a]v[a]li|dip[a]v[a]li|(hindu|indian) festival of lights|"
    "(lakshmi|laxmi) (puja|pooja)|kali puja|bandi chhor (divas|diwas)": by_table("diwali"),
    "govardhan (puja|pooja)|annakut": by_table("govardhan puja"),
    "bhai (dooj|duj|dhooj|beej|phonta|tika)|bha(u|i) beej|bhaiya dooj|yama dwitiya": (
        by_table("bhai dooj")
    ),
    "chhat[h] (puja|pooja)|chhat[h]|chat[h] puja|dala (puja|chhath)|surya shasti": (
        by_table("chhath")
    ),
    "guru nanak [dev] (jayanti|jayanthi|birthday|gurpurab)|gur[u]pur[a]b|[guru] nanak[s] birthday|"
    "kart(i|ti)k purnima|dev d(iw|eep)ali": by_table("guru nanak jayanti"),
    "guru go(b|v)ind singh (jayanti|jayanthi|birthday|gurpurab)": (
        by_table("guru gobind singh jayanti")
    ),
    "(vasant[a]|basant[a]) panchami|sar[a]swat[h]i (puja|pooja|jayanti)|shri panchami": (
        by_table("vasant panchami")
    ),
    "guru ra(v|b)idas[s] (jayanti|jayanthi|birthday)|ra(v|b)idas[s] jayanti": (
        by_table("guru ravidas jayanti")
    ),
    "[maha] shiv[a][ ]ratri": by_table("maha shivaratri"),
    "holika (dahan|deepak|dahanam)|(chhoti|choti|small) holi|kama dahanam|kamudu pyre": (
        by_table("holika dahan")
    ),
    "holi|rangwali holi|dhulandi|dhuleti|dhulivandan|phag[u]wa[h]|dol (jatra|purnima|yatra)": (
        by_table("holika dahan", 1)
    ),
    "lohri|bhogi (pandigai|pongal)|bogi (pandigai|pongal)|bhogi": by_table("makar sankranti", -1),
    "makar[a] san(k|c)rant[h]i|(thai|surya) pongal|pongal|maghi|uttarayan[a]|sankranti": (
        by_table("makar sankranti")
    ),
    "ma[a]ttu pongal": by_table("makar sankranti", 1),
    "ka[a]num pongal|kanni pongal|kanu[m] pongal": by_table("makar sankranti", 2),
    "(v|b)aisak[h]i|vasak[h]i|basak[h]i": by_table("vaisakhi"),
    "puth[a]ndu|tamil new year|varusha pirappu": by_table("puthandu"),
    "vishu": by_table("vishu"),
    "rabindra[nath] (jayanti|jayanthi|birthday)|[rabindranath] tagores birthday": (
        by_table("vaisakhi", 25)
    ),
    "onam|thiru[ ][v]onam": by_table("onam"),
}

PERSIAN: dict[str, Rule] = {
    "(now|no|na|nau|naw)[ ](ruz|roz)|(persian|iranian) new year": by_table("nowruz"),
    "parsi new year|jamshedi nav(ro|ru)z|pateti": parsi_new_year,
}
