"""The days of feasts of other calendars (written by `python -m training.calendars.feast_days`)."""

from __future__ import annotations

from typing import NamedTuple

#: The digits of the encoded numbers, from 0 on.
MORE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


class Table(NamedTuple):
    """The days of a feast in the years 1900 to 2100.

    `names`: see `holiday_names`. `eve`: offset of its eve, in days. `first`: the ordinal of its
    first day in the first year. `steps`: the days from each occurrence to the next, minus `least`,
    each encoded as a letter of `MORE`. `more`: the number of further days, one for each occurrence,
    or one for all.
    """

    names: str
    eve: int
    first: int
    least: int
    steps: str
    more: str


FEASTS: tuple[Table, ...] = (
    Table(
        "rosh ha[ ]shana|jewish new year|feast of trumpets",
        0,
        693861,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "c",
    ),
    Table(
        "yom kip[p]ur|day of atonement",
        0,
        693870,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "a",
    ),
    Table(
        "suk[k]ot|suk[k]os|feast of tabernacles|feast of booths|feast of [the] ingathering",
        0,
        693875,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "i",
    ),
    Table(
        "hoshana rab[b]a",
        0,
        693881,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "a",
    ),
    Table(
        "shemini atzeret|shmini atzeret|shemini atzeres",
        0,
        693882,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "a",
    ),
    Table(
        "simchat torah|simhat torah|simchas torah",
        0,
        693883,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "a",
    ),
    Table(
        "hanuk[k]a|chanuk[k]a|jewish festival of lights|feast of dedication",
        0,
        693945,
        353,
        "bFbcGbbFbEccFbbFcbEcGbaGcbEcFacGbbFbcFbFcbEcbEcGbaGcbEccFbFbbFbcFbFcbEcbFbcFaGcb"
        "EccFbFbbFbcFbbGbEccFacGbEcbEccFbbFcFacGbaGbFbcGbbFbbFcFbbFcbEcFbbGbaGcbEcGbbFbbF"
        "cFbbFcbEcbFbGbaGcbEcGbbFbbFbcFbFcbEccFaG",
        "h",
    ),
    Table(
        "tu bi[ ]shvat|tu b[i] sh[e]vat",
        0,
        693609,
        353,
        "GaGbcGbaGaFccFacFcaFcGabGcaFcEbcGbaGbcEcFcaFcaFcGabGcaFccFaGbaGbcEcFcaFcaGbcEbGc"
        "aFccFaGbaGbcEcbGaFccEbcGaFcaFccFacFcEbcGabGaGbcGbaGbaGcFacFcaFcEcbGabGcaFcGbaGba"
        "GcFacFcaFcaGbGabGcaFcGbaGbaGbcEcFcaFccEb",
        "a",
    ),
    Table(
        "purim",
        0,
        693668,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "a",
    ),
    Table(
        "shushan purim",
        0,
        693669,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "a",
    ),
    Table(
        "passover|pesach|pesah|pesakh|feast of unleavened bread",
        0,
        693698,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "i",
    ),
    Table(
        "yom ha[ ]shoah|holocaust [remembrance] day",
        0,
        693710,
        352,
        "dGbdHebFeDdeHbcHbdGbHdaHdeDdHadHebFebHcHbdGbdGbHdaHdeDdeHbFebFebHcHbdGbdGbdHaHde"
        "DdeHbFebFebHcbHdGbdHadHeDdeDdeHbcHbHcbHdaHdGbdHebFebFeHbcHbdGbHcbHdaHdeDdHebFebF"
        "eHbcHbdGbdGbHdaHdeDdHebFebFebHcHbdGbdHaH",
        "a",
    ),
    Table(
        "yom ha[ ]zikaron",
        0,
        693716,
        351,
        "fHbfIfbHfDffIbeIbfHbIfaIffDfIafIfbHfbIeIbfHbfHbIfaIffDffIbHfbHfbIeIbfHbfHbfIaIff"
        "DffIbHfbHfbIebIfHbfIafIfDffDffIbeIbIebIfaIfHbfIfbHfbHfIbeIbfHbIebIfaIffDfIfbHfbH"
        "fIbeIbfHbfHbIfaIffDfIfbHfbHfbIeIbfHbfIaI",
        "a",
    ),
    Table(
        "yom ha[ ]atzmaut|israel[i] independence day",
        0,
        693717,
        351,
        "fHbfIfbHfDffIbeIbfHbIfaIffDfIafIfbHfbIeIbfHbfHbIfaIffDffIbHfbHfbIeIbfHbfHbfIaIff"
        "DffIbHfbHfbIebIfHbfIafIfDffDffIbeIbIebIfaIfHbfIfbHfbHfIbeIbfHbIebIfaIffDfIfbHfbH"
        "fIbeIbfHbfHbIfaIffDfIfbHfbHfbIeIbfHbfIaI",
        "a",
    ),
    Table(
        "lag b[a][ ]omer|lag la[ ]omer",
        0,
        693731,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "a",
    ),
    Table(
        "yom yerushala[y]im|jerusalem day",
        0,
        693741,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "a",
    ),
    Table(
        "shavuot|shavuos|feast of weeks",
        0,
        693748,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "c",
    ),
    Table(
        "tisha b[e][ ]av|tish bav",
        0,
        693811,
        352,
        "cFdcHddEdFcdHdaHdcFdHcbHcdFcHbcHddEddHaHdcFdcFdHcbHcdFcdHdEddEddHaHdcFdcFdcHbHcd"
        "FcdHdEddEddHadHcFdcHbcHdFcdFcdHdaHdHadHcbHcFdcHddEddEdHdaHdcFdHadHcbHcdFcHddEddE"
        "dHdaHdcFdcFdHcbHcdFcHddEddEddHaHdcFdcHbH",
        "a",
    ),
    Table(
        "tu bav",
        0,
        693816,
        353,
        "cEcbGcbEcEbcGbaGbcEbGcaFccEbGabGcbEcbGaGbcEbcEbGcaFccEbcGbEcbEcbGaGbcEbcEcbGaFcc"
        "EbcGbEcbEcbGacFcEbcGabGcEbcEbcGbaGbGabGcaFcEcbGcbEcbEcGbaGbcEbGacFcaFccEbGcbEcbE"
        "cGbaGbcEbcEcFcaFccEbGcbEcbEcbGaGbcEbcGaF",
        "a",
    ),
    Table(
        "(islamic|muslim|hijri|arabic) new year|amun jadid|ras as sana[h]|al hijra[h]",
        -1,
        693716,
        353,
        "bcbbcbbcbcbbcbbcbbcbcbbcadacbbbdbbbcbcacbbcbbcbcbbccbcbbcbbcbbbbcbbccbbcbcbbbbcb"
        "cbcacbcbcbbbcbccbbbbcccbbbbccbcbbbbcbcbbbcbcbcbbbccbbbcbcbcbbbcbcbcbbbcbcbbbcbcb"
        "cbbbcbccbbbbccbbbbcbcbcbcbbcbcbbcbbcbbcbcbbcbb",
        "a",
    ),
    Table(
        "[day of] ashura|yom ashura",
        -1,
        693725,
        353,
        "bcbbcbbcbcbbcbbcbbcbcbbcadacbbbdbbbcbcacbbcbbcbcbbccbcbbcbbcbbbbcbbccbbcbcbbbbcb"
        "cbcacbcbcbbbcbccbbbbcccbbbbccbcbbbbcbcbbbcbcbcbbbccbbbcbcbcbbbcbcbcbbbcbcbbbcbcb"
        "cbbbcbccbbbbccbbbbcbcbcbcbbcbcbbcbbcbbcbcbbcbb",
        "a",
    ),
    Table(
        "mawlid (al nabi|al nabawi|an nabi|un nabi|al nabawi al sharif)|mawlid|maulid [al"
        " nabi]|milad un nabi|(eid|id|idd|aid) e milad [un nabi]|(eid|id|idd|aid) milad u"
        "n nabi|prophets birthday|[prophet] muhammads birthday",
        -1,
        693786,
        353,
        "bcbbcbbcbcbbcbbcbbcbcbbcacbbbcbdbbbcbbbdbacbbcbcbbccbcbbcbbcbbbbcbbdacbcbbcbbbcb"
        "ccbbbbbccbbbcbcbcbbbccbcbbbcbccbbbbcbcbbbcbcbcbbbcbccbbbbccbcbbbcbcbbbbccbbcbbbc"
        "cbbbbccbcbbbcbccbbbbccbbcbbcbcbbcbbcbbcbcbbcbb",
        "a",
    ),
    Table(
        "isra and miraj|[al] isra wal miraj|isra miraj|lailat al miraj|shab e (miraj|mera"
        "j)|[prophets] night journey|prophets ascension|ascension to heaven",
        -1,
        693919,
        353,
        "bcbbcbbcbcbbcbbcbbcbcbbcbbcbbbbccbcbbbbccacbbcbcbbccbcbbcbbcbbcbbbbcbcbcbbbccbbb"
        "cbcbcbbbcbcbbbcbbccbbbbcccbbbbccbcbbbcbcbcbbbccbbbbcbcbcbbbcbcbbbcbccbbbbccbcbbb"
        "bccbbbcbcbcbbbcbcbcbbbcbcbbcbcbbcbbcbbcbcbbcbb",
        "a",
    ),
    Table(
        "shab e barat|laylat al barat|lailat al barat|mid shaban",
        -1,
        693937,
        353,
        "bcbbcbbcbcbbcbbcbbcbcbbcbbcbbbbcbcbcbbbcbbcbbcbcbbccacbccbadacbcbbbcbcbcbbbcbcbb"
        "bcbcbcbbbcbcbbbbccbcbbbbccbcbbbccbcbbbcbcbbbcbccbbbbcbcbbbbccbcbbbcbcbcbbbccbbbc"
        "bbccbbbcbcbcbbbbccbbbbdbcbbcbcbbcbbcbbcbcbbcbb",
        "a",
    ),
    Table(
        "ram[a]dan|ram[a]zan|ram[a]than",
        -1,
        693598,
        353,
        "bbcbbcbbcbcbbcbbcbbcbcbbccabcbcbbbccbbcaccacbbbccbbdbbbccbbbcbbbcbbbcbcbdabbcbcb"
        "cbbbccbbbcbcbcbbbbccbbcbbcbcbcbbcbcbbbcbcbcbbbcbcbcbbbcbcbbbbccbbcbbcbcbbcbbccbb"
        "bbccbcbbbbccbbbbcbcbcbbcbcbbcbcbbcbbcbbcbcbbcbb",
        "DDDDDDDDDDDDDDDDDDDDDDDDDDBDDCDCDDDDDDDCDCCDDDDDDDDDCDCDCCCDDDCDDCDDDDDDDCDDDCDC"
        "DCCDDCCDDDCCCDCDDDDCCDDDDDCDDDCDDCDCDDDCDCDCDDDCDCDCCCDCDCDDDDCCDDCCCCDCDDCCDCCD"
        "DDDCCDCCCDDCCDDDDCDCDCCCDDDDDDDDDDDDDDDDDDDDDDDD",
    ),
    Table(
        "muharram",
        -1,
        693716,
        353,
        "bcbbcbbcbcbbcbbcbbcbcbbcadacbbbdbbbcbcacbbcbbcbcbbccbcbbcbbcbbbbcbbccbbcbcbbbbcb"
        "cbcacbcbcbbbcbccbbbbcccbbbbccbcbbbbcbcbbbcbcbcbbbccbbbcbcbcbbbcbcbcbbbcbcbbbcbcb"
        "cbbbcbccbbbbccbbbbcbcbcbcbbcbcbbcbbcbbcbcbbcbb",
        "DDDDDDDDDDDDDDDDDDDDDDDDDDCDCCDDCDDDCDCDDDDDDDDDDDDDDDCCDDCDDCDDDCDDDCCDDDCDDDDC"
        "DCDCDCCCDCDDDCDCCCDDDCCCDDDDCCDCCCCDCDCDDDCDCDCCCDCCDDDCCCDCDDDCDCDCDDDCDCDDDCCC"
        "DCCCDCDCCCCCDCCDDDDCDCDDDDDDDDDDDDDDDDDDDDDDDDD",
    ),
    Table(
        "(laylat|lailat|lailatul|laylatul) (al|ul|el|il|l) (qadr|kadr)|(laylatul|lailatul"
        ") (qadr|kadr)|shab e qadr|night of (power|decree|measures|destiny)",
        -1,
        693624,
        353,
        "bbcbbcbbcbcbbcbbcbbcbcbbccabcbcbbbccbbcaccacbbbccbbdbbbccbbbcbbbcbbbcbcbdabbcbcb"
        "cbbbccbbbcbcbcbbbbccbbcbbcbcbcbbcbcbbbcbcbcbbbcbcbcbbbcbcbbbbccbbcbbcbcbbcbbccbb"
        "bbccbcbbbbccbbbbcbcbcbbcbcbbcbcbbcbbcbbcbcbbcbb",
        "a",
    ),
    Table(
        "jumat[ ](al|ul|el|il|l) (wida|vida)|jumua[t][ ](al|ul|el|il|l) (wida|vida)|jamat"
        "[ ](al|ul|el|il|l) (wida|vida)",
        -1,
        693621,
        350,
        "hhahahhahhahahhahhahahhahahhahhahahhahhahahhahahhahhahhahahhahhahahhahhahahhahah"
        "hahhahhahahhahhahahhahhahahhahhahahhahahhahhahahhahhahahhahhahahhahahhahhahhahha"
        "hahhahahhahhahahhahhahahhahhahhahahhahahhahhaha",
        "a",
    ),
    Table(
        "(eid|id|idd|aid) (al|ul|el|il|l) fitr|(eid|id|idd|aid) fitr|(lesser|sweet|small)"
        " eid|sugar feast|feast of breaking (the|of the) fast|festival of breaking the fa"
        "st|hari raya (aidilfitri|puasa)|idul fitri|lebaran",
        -1,
        693628,
        353,
        "bbcbbcbbcbcbbcbbcbbcbcbbcacbbcbcbbccbbbbbcbcbbbccbbccacbcbcbcacbbcbbcbcbcbbbbcbc"
        "bbcbbccbbbbccbcbbbbccbcbbbccbbcbbcbcbbbcbcbcbbbcbcbbbcbcbcbbbbccbbbbccbcbbbcbccb"
        "bbbccbbbcbbccbbbbcbcbbbdbcbbcbcbbcbbcbbcbcbbcbb",
        "a",
    ),
    Table(
        "day of arafa[t]|arafa[t] day|yaum al arafa",
        -1,
        693695,
        353,
        "bbcbbcbbcbcbbcbbcbbcbcbbcbbbcbcbbbcbcbbbcbbcbbcbcbbdbbbbccbbcacbbcbcbbcbcbbbcbbc"
        "bcbbbcbcbbbcbccbbbbccbcbbbccbcbbbbccbbbbcbccbbbbccbcbbbcbcbbbcbcbcbbbcbccbbbbcbc"
        "bbbcbccbbbbcbcbbbcbcbcbcbcbbcbcbbcbbcbbcbcbbcb",
        "a",
    ),
    Table(
        "(eid|id|idd|aid) (al|ul|el|il|l) (adha|azha|zuha)|(eid|id|idd|aid) (adha|azha)|b"
        "akr[a] (eid|id|idd|aid)|(greater|salty|big) eid|bakrid|eid qurban|kurban bayram["
        "i]|hari raya haji|idul adha|tabaski|(feast|festival) of [the] sacrifice|sacrific"
        "e feast|eid e qurban",
        -1,
        693696,
        353,
        "bbcbbcbbcbcbbcbbcbbcbcbbcbbbcbcbbbcbcbbbcbbcbbcbcbbdbbbbccbbcacbbcbcbbcbcbbbcbbc"
        "bcbbbcbcbbbcbccbbbbccbcbbbccbcbbbbccbbbbcbccbbbbccbcbbbcbcbbbcbcbcbbbcbccbbbbcbc"
        "bbbcbccbbbbcbcbbbcbcbcbcbcbbcbcbbcbbcbbcbcbbcb",
        "a",
    ),
    Table(
        "(chinese|lunar|chinese lunar|vietnamese|korean) new year[s] [day]|cny|spring fes"
        "tival|seollal|tet [nguyen dan]",
        -1,
        693626,
        353,
        "FbcEbcFbcFbFbbFbcFcFbbFbbGbcFbEbcFcbFbFbbFcbGbbFbFbcFbcFbEcbFcbFcaFcFbcFbbFbFbcF"
        "cbFbFbbFccFbbEcFbcFbbFbcFbGbbFbbFcFbcFbbFbcFbFbbFcbFcFbbFbbFccFbFbbFbcFcFbbEcbFc"
        "bFbFbcFbcFbFbbFcbFcbFbFbcFbcEbFbcFcbFbbF",
        "a",
    ),
    Table(
        "(chinese|lunar|chinese lunar) new year[s] eve",
        -1,
        693625,
        353,
        "FbcEbcFbcFbFbbFbcFcFbbFbbGbcFbEbcFcbFbFbbFcbGbbFbFbcFbcFbEcbFcbFcaFcFbcFbbFbFbcF"
        "cbFbFbbFccFbbEcFbcFbbFbcFbGbbFbbFcFbcFbbFbcFbFbbFcbFcFbbFbbFccFbFbbFbcFcFbbEcbFc"
        "bFbFbcFbcFbFbbFcbFcbFbFbcFbcEbFbcFcbFbbF",
        "a",
    ),
    Table(
        "lantern festival|yuanxiao [festival]",
        -1,
        693640,
        353,
        "FbcEbcFbcFbFbbFbcFcFbbFbbGbcFbEbcFcbFbFbbFcbGbbFbFbcFbcFbEcbFcbFcaFcFbcFbbFbFbcF"
        "cbFbFbbFccFbbEcFbcFbbFbcFbGbbFbbFcFbcFbbFbcFbFbbFcbFcFbbFbbFccFbFbbFbcFcFbbEcbFc"
        "bFbFbcFbcFbFbbFcbFcbFbFbcFbcEbFbcFcbFbbF",
        "a",
    ),
    Table(
        "(qing|ching)[ ]ming [festival]|tomb sweeping (day|festival)",
        -1,
        693690,
        365,
        "abaaabaaabaaaabaaabaaabaaabaaabaaabaaabaaabaaaabaaabaaabaaabaaabaaabaaabaaaabaaa"
        "baaabaaabaaabaaabaaabaaabaaaabaaabaaabaaabaaabaaabaaabaaabaaaabaaabaaabaaabaaaba"
        "aabaaabaaabaaaabaaabaaabaaabaaabaaabaaab",
        "a",
    ),
    Table(
        "dragon boat festival|duan[ ]wu [festival]|double fifth [festival]",
        -1,
        693747,
        354,
        "EbbEaEaaEabEbaEaDbaEbbDaEabEabEaaEaEbaEbaEaEabEabDbaDbEbaEaaEaEbbEaaEaaEbEbaEaaE"
        "aEbbDaaEbaEbEaaEabEaEbaEaaEbaEbDabDbbEaEaaEabEbaEaEaaEbbEaaEaEabEabDaEbaEbaEaEab"
        "EabEaaEaEbaEbaDbDbbEabDaaEbEbaEaaEaEbbEa",
        "a",
    ),
    Table(
        "qi[ ]xi [festival]|double seventh [festival]|chinese valentines day",
        -1,
        693808,
        354,
        "EbEabEaaEaEbaEbaEaaEbEabDabDbEbaEaaEabEbEaaEaaEbbEaDbaEabEaEaaEbaEbaEaEabEabEaEa"
        "aEbaEbDabDbbEaaEaEabEbaEaaEaEbbDbaDbEabEabDaEbaEbaEaaEbEabEaaEabEaEbaDabEbEaaEaa"
        "EbbEaEaaEabEbDbaDbaEbaEbDabEabEaEaaEabEb",
        "a",
    ),
    Table(
        "[hungry] ghost festival|zhongyuan [festival]|ul[l]ambana",
        -1,
        693816,
        354,
        "EbEabEaaEaEbaEbaEaaEbEabDabDbEbaEaaEabEbEaaEaaEbbEaDbaEabEaEaaEbaEbaEaEabEabEaEa"
        "aEbaEbDabDbbEaaEaEabEbaEaaEaEbbDbaDbEabEabDaEbaEbaEaaEbEabEaaEabEaEbaDabEbEaaEaa"
        "EbbEaEaaEabEbDbaDbaEbaEbDabEabEaEaaEabEb",
        "a",
    ),
    Table(
        "mid autumn (festival|day)|moon festival|moon[ ]cake festival|chuseok|zhong[ ]qiu"
        " (festival|jie)",
        -1,
        693846,
        354,
        "EaEbaEbaDbDbbEabDaEabEbaEaaEaEbbEaaEaEabEabDabEaEbaEaaEbaEbEaaEabEaEbaDbaEbaEbDa"
        "aEbbEaEaaEabEbaEaEaaEbbDbDabEabEaaEaEbaEbaEaEabEabEaaEaEbaEabDaEbbEaaEaaEbEbaEaa"
        "EaEbbDbaDbaEbEaaEabEaEbaEaaEabEbEaaDbaFa",
        "a",
    ),
    Table(
        "(double ninth|chong[ ]yang) [festival]",
        -1,
        693899,
        354,
        "abDbbEaaEaEabEbaEaEaaEbbEaaDbEabEabDaEbaEbaEaaEbEabEaaEaEbaEbaDbaEbEaaEaaEbEbaEa"
        "aEabEbEaaDbaEbEabDabEabEaEaaEbaEbaEaEabEabEaDabEbaEaaEaEbbEaaEaEabEbaEaDbaEbaEaa"
        "EbEabEaaEaEbaEbaEaaEbEabEaaDbEbaEaaEabEb",
        "a",
    ),
    Table(
        "dong[ ]zhi [festival]|winter solstice festival",
        -1,
        693951,
        365,
        "abaaabaaabaaabaaaabaaabaaabaaabaaabaaabaaabaaabaaabaaaabaaabaaabaaabaaabaaabaaab"
        "aaabaaaabaaabaaabaaabaaabaaabaaabaaabaaaabaaabaaabaaabaaabaaabaaabaaabaaabaaaaba"
        "aabaaabaaabaaabaaabaaabaaabaaaabaaabaaab",
        "a",
    ),
    Table(
        "[y]ugadi|yugadhi|samvatsaradi|gudi padwa|gudhi padva|chaitra suk[h]ladi|chaitra "
        "shukladi|(telugu|kannada|hindu) new year",
        -1,
        693685,
        354,
        "bEbaDaEbaEbaEaaEbEabEaaEaEabEbaEaaEaFabDaaEbEbaEaaEabEbEaaEaaEbEabDabEabEaEaaEab"
        "EbEaaEaaEbbEaDbaEabEbDaaEbaEbaEaEabEabEaEaaEbaEbDabEabEaaEaEabEbaEaEaaEbbEaaEaEa"
        "bEabDaEbaEbaEaaEbEabEaaEaEbaEbaDbaEbEaaE",
        "a",
    ),
    Table(
        "cheti chand|jhulelal jayanti",
        -1,
        693686,
        354,
        "aEbaEaEaaFabEaaEaEbaEaaEaEbbEaaEaaEbEbaEaaEaEbbDbaDbaEbEaaEabDbEbaEaaEabEbEaaDba"
        "EbEaaEabEabEaEaaEbaFaEaaEabEabEaDbaEbaEaEaaEbbEaEaaEabEbaEaDbaEbbDaEabEabEaaEaEb"
        "aEbaEaEabEabEaaEaEbaEaaEaEbbEaaEaaEbEbaE",
        "a",
    ),
    Table(
        "chaitra nav[a]rat[h]ri",
        -1,
        693685,
        354,
        "bEbaDaEbaEbaEaaEbEabEaaEaEabEbaEaaEaFabDaaEbEbaEaaEabEbEaaEaaEbEabDabEabEaEaaEab"
        "EbEaaEaaEbbEaDbaEabEbDaaEbaEbaEaEabEabEaEaaEbaEbDabEabEaaEaEabEbaEaEaaEbbEaaEaEa"
        "bEabDaEbaEbaEaaEbEabEaaEaEbaEbaDbaEbEaaE",
        "i",
    ),
    Table(
        "[sri ]ram[a] nav[a]mi",
        -1,
        693693,
        353,
        "bFccFbFbbEccFcbFaFbcFcbFbFbbFccFbbFbFbcFcbFaFcbFccEbbFcFbcFbbFbFccFbbFacFcFcbEbb"
        "FcFcbFbbFbcFcFbbFbbFcFcbFacEccFcEbbFbcFcFbbFbbGbGbbFacFcbFcEbbFccFbFbbFbcFcbFbFb"
        "bFccFbFabFccFcbEbFbcFcbFbFbbGbcFbbEcFcbF",
        "a",
    ),
    Table(
        "mahav(ir|eer|eera|ira) (jayanti|jayanthi|janma kalyanak)",
        -1,
        693697,
        354,
        "aEbaEbEaaEabEabEaEaaEbaEbDaaEbbEaaEaEabEbaEaEaaEbbEaaDbEabEabDaEbaEbaEaaEbEabEaa"
        "EaEbaEbaDabEbEaaEaaEbEbaEaaEabEbEaaDbaEbEabDabEaEbaEaaEabEbEaaEaaFaEbaDabEbaEaEa"
        "aEbbEaEaaEabEbaEaDbaEbaEaEaaEbbEaaEaEabE",
        "a",
    ),
    Table(
        "hanuman (jayanti|jayanthi|janmotsav)",
        -1,
        693699,
        354,
        "aEabEbEaaEaaEbbEaEaaEabEbDbaDbaEbbDaEabEabEaEaaEbaEbaEaEabEabDaEabEbaEaaEaEbbEaa"
        "EaEabEbaEaaEaEbaEaaEbEabEaaEabEaEbaEaaEbEabDabDbEbaEaaEabEbEaaEaaEbEbaDabEabEaEa"
        "aEbaEbEaaEabEabEaEaaEbaEbDaaEbbEaaEaEabE",
        "a",
    ),
    Table(
        "akshaya tritiya|akshay tritiya|akha teej",
        -1,
        693716,
        354,
        "bEbaEaEaaEbbEaEaaEabEbaDaEbaEbaEaEaaFabEaaEaEbaEbaDbDbbEabDaaEbEbaEaaEaEbbEaaEaa"
        "EbEabDabDbEbaEaaEabEbEaaEaaEbEbaDbaEabEbDaaEbaFaEaaEabEbaEaEaaEbaEbDabDbbEaEaaEa"
        "bEbaEaEaaEbbEaDabEabEbaDaEbaEbaEaEabEabE",
        "a",
    ),
    Table(
        "buddha (purnima|poornima|jayanti)",
        -1,
        693729,
        354,
        "aEaaEbEbaEaaEaEbbDaaEbaEbEaaEabEaEbaEaaEbaEbDbaEabEaEaaEabEbaEaEaaEbbEaEaaEabEba"
        "DaEbaEbaEaEabEabEaaEaEbaEbaDbDbbEabDabDbEbaEaaEaEbbEaaEaaEbEbaDabEaEbaEaaEbEabEa"
        "aEabEaEbaDbaEbEabDaaEbbEaEaaEabEbEaaEaaE",
        "a",
    ),
    Table(
        "v(e|ai)sak[ha] [day|poya]|visakha (bucha|puja)|buddhas birthday|buddha day",
        -1,
        693729,
        354,
        "aEaaEbEabDabEaEbaEaaEabEbEaaEaaEbEbaEaaEabEbDaaEbaEbEaaEabEabEaEaaEbaEbDabDbbEab"
        "DaEabEbaEaEaaEbbEaaEaEabEbaDaEbaEbaEaaEbEabEaaEaEbaEbaDbaEbEabDaaEbEbaEaaEaEbbEa"
        "aEaaEbEabDabEaEbaEaaEbaEbEaaEabEaEbaDbaE",
        "a",
    ),
    Table(
        "rat[a][ ]yatra",
        -1,
        693775,
        354,
        "aEaEbbDaaEbEabEaaEabEaEbaEaaEbEabDabDbbEaEaaEabEbEaaEaaEbbEaDabEabEaEaaEbaEbaEaE"
        "abEabEaDbaEbaEbDabDbbEaaEaEabEbaEaEaaEbbEaaDbEabEabDaEbaEbaEaaEbEabEaaEaEbaEbaDa"
        "bEbEaaEaaEbEbaEaaEabEbEaaDbaEbEaaEabEabE",
        "a",
    ),
    Table(
        "guru p(u|oo)rnima|asal[h]a (puja|bucha)",
        -1,
        693788,
        354,
        "aEaEabEabEaEaaEbaEbaDbDbbEabDaEabEbaEaaEaEbbEaaEaEabEbaDabEaEbaEaaEbEabEaaEabEaE"
        "baDbaEbEaaEaaEbEbaEaaEabEbEaaDbaEbEabDabEabEaEaaEbaEbEaaEabEabEaDbaEbaEaEaaEbbEa"
        "aEaEabEbaEaDbaEbbDbaDbEabEaaEaEbaEbaEaaE",
        "a",
    ),
    Table(
        "na[a]g[a] panchami",
        -1,
        693807,
        353,
        "FbbFccFbFbbFbcFcbFbEcbFccEbFbcFcbFbbFbFccFbbFbEccFcbFacEcFccEbbFbFccFbbFbbFcFcbF"
        "bbFbFccEbbFcbFcFbbFbcFcFbbFbbFccFbEbcEccFbFbbFbcFcbFbFbbFccFbFacFbcFcbEbFcbFccEb"
        "FbcFbcFbFbbFcbFcbEbFccFbcEbFbcFcbFbbFbFc",
        "a",
    ),
    Table(
        "hariyali teej",
        -1,
        693805,
        354,
        "EabEabEaEaaEbaEbaDbDbbEabDaEabEbaEaaEaEbbEaaEaEabEbaDabEaEbaEaaEbEabEaaEabEaEbaD"
        "baEbEabDaaEbbEaEaaEabEbEaaDbaEbbDbDabDbbEaEaaEabEbaEaEaaEbbEaDabEbaEbaDaEbbEaaEa"
        "EabEbaEaDbaEbbDbaDbDbbEaaEaEabEbaEaaEaEb",
        "a",
    ),
    Table(
        "raksha bandhan|raksha bandan|rakhi [purnima]",
        -1,
        693817,
        354,
        "EbaDbaEbEaaEaaEbbEaEaaEabEbDbaDbaEbbDbDabEabEaEaaEabEbaEaEaaFabEaDabEbaEabDaEbbE"
        "aaEaEabEabEaaEaEbaEbaDbDbbEaaEabDbEbaEaaEaEbbEaaDbaEbEaaEabEaEbaEaaEbaEbEaaEabEa"
        "EbaDbaEbEaaEaaEbbEaEaaEabEbDbaDbaEbbDaEa",
        "a",
    ),
    Table(
        "(krishna|sri krishna|shri krishna|sree krishna) (janm[a][ ]ashtami|jayanti|jayan"
        "thi)|janm[a][ ]ashtami|gokul[a][ ]ashtami",
        -1,
        693824,
        353,
        "FcbFcaFbFccFbbFbbFcFcbFbbEcFccFbaFbcFcFbbFbbFcFcbFbbFbcFcFbaFccFbFbbFbcFcbFbFbbF"
        "ccFbFbbEccFcbFaFbcFccEbFbbFccFbbFbFbcFcbFaFcbGbcEbbFcFcbFbbFbFccFbbFbbFcFcbFabFc"
        "FccEbbFbFccFbbFbbFcFcbFacFbGbcEbbFcbGbFb",
        "a",
    ),
    Table(
        "hartalika teej",
        -1,
        693835,
        354,
        "DbaEbaEbDaaEbbEaaEaEabEbaEaEaaEbbEaDabEabEabDaEbaEbaEaEaaFabEaaEaEbaEbaDaEbbEaaE"
        "aaEbEbaEaaEaEbbEaaDbaEbEaaEabDbEbaEaaEabEbEaaEaaEbEbaDabEbaEaEaaEbbEaEaaEabEbaEa"
        "DbaEbbDaEaaEbbEaaEaEabEbaEaDbaEbbEaDabEa",
        "a",
    ),
    Table(
        "(ganesh[a]|vinayak[a]) (chat[h]urt[h]i|chavit[h]i)|vinayagar chaturthi|ganesh[a] utsav",
        -1,
        693836,
        353,
        "EbcFbcFbFbbFcbFcbFbFbcFbcFbEbcFcbFcEbbFccFbbFbFbcFcbFbEcbFccFbbEcFbcFbbFbFbcFcbF"
        "bbFbGbcFbbEcFcbFbbFbcFcFbbFbbFcFcbFbbFbcFcEcbEcbFcFbbFbbFccFbFbbFbcFcFbbEcbGbcEb"
        "FbcFcbFbFbbFccFbbFbFbcFcbFaFbcFcbFbFbbFc",
        "a",
    ),
    Table(
        "ana(nta|nt) chaturdashi",
        -1,
        693846,
        354,
        "EaaEaaEbEbaEaaEabEbEaaDbaEbEaaEabEaEbaEaaEbaEbEaaEabEaEaaEbaEbaEaEaaEbbEaEaaEabE"
        "baEaDbaEbbDaEabEabEaaEaEbaEbaEaEabEabDabDbEbaEaaEaEbbEaaEaaEbEbaEaaEaEbbDaaEbaEb"
        "EaaEabEaEbaEaaEbaEbDabDbbEaEaaEabEbEaaEa",
        "a",
    ),
    Table(
        "mahalaya [amavasya]|sarva pitru amavasya",
        -1,
        693861,
        354,
        "EaaEbbEaDabEabEaaEaEbaEbaEaEabEabEaEaaEbaEbaDaEbbEaaEaEabEbaEaaEaEbbEaaDbEabEaaE"
        "abEaEbaEaaEbEabEaaEabEaEbaDabEbEaaEaaEbbEaEaaEabEbDbaDbaEbaEaEabEabEaEaaEbaEbaEa"
        "EabEabDbDabEbaEaaEaEbbEaaEaEabEbaEaDbaEb",
        "a",
    ),
    Table(
        "(sharad[iya]|maha|shardiya) nav[a]rat[h]ri|nav[a]rat[h]ri|navarathri",
        -1,
        693862,
        354,
        "EabEabEaEaaEbaEbEaaDbbEabDaEabEbaEaEaaEbbEaaEaEabEbaDbDbaEbaEaaEaEbbEaaEaEabEbaE"
        "aDbaFabDabDbEabEaaEaEbaFaaEaaEbEabDabEaEbaEaaEabEbEaaEaaEbEbaEaaEabEbDaaEbaEbEaa"
        "EabEabEaEaaEbaEbDabEabEabDaEabEbaEaEaaEb",
        "i",
    ),
    Table(
        "durga (puja|pooja)|durgotsav[a]|sharadotsav",
        -1,
        693868,
        353,
        "FbaFcbFcFbbFbbGbGbbFbbFcbGbFbbEccFcEbbFbcFcbFbFbbFccFbFbbFbcFcbFaFbcFccEbFbbGbcF"
        "bFbbFcbGbbFaFccFbcEbFbcFcbFbbFbFccFbbFbFbcFcbEbcEcFccEbbFbFccFbbFbbGbFcbFacFcFbc"
        "EbbFccFbFbbFbcFcFbbFbbFccFbEbbFccFcEbbFb",
        "e",
    ),
    Table(
        "(maha|durga) saptami",
        -1,
        693869,
        353,
        "FbaFcbFcFbbFbbGbGbbFbbFcbGbFbbEccFcEbbFbcFcbFbFbbFccFbFbbFbcFcbFaFbcFccEbFbbGbcF"
        "bFbbFcbGbbFaFccFbcEbFbcFcbFbbFbFccFbbFbFbcFcbEbcEcFccEbbFbFccFbbFbbGbFcbFacFcFbc"
        "EbbFccFbFbbFbcFcFbbFbbFccFbEbbFccFcEbbFb",
        "a",
    ),
    Table(
        "(maha|durga|durga puja) (ashtami|astami)",
        -1,
        693870,
        353,
        "FbaFbcFcFcaFbbGbGbbFbbFcbGbFbbEccFcEcaFbcFcbFbFbbFccFbFbbFbcFcbFaFbcFccEbFbbFccF"
        "bFbbFbcFcbFbEccFbcFaFbcFcbFbbFbFccFbbFbFbcFcbFacEcFccEbbFbFccFbbFbbFcFcbFacFbGbc"
        "FabFccFbFbbFbcFcFbbFbbFccFbFabFccFcEbbFb",
        "a",
    ),
    Table(
        "(maha|durga) nav[a]mi|ayudha puja",
        -1,
        693871,
        353,
        "FbbEbcFcFcaFbbFcFcbFbbFbcFcFbbEcbGbFcbEbcFcbFbFbbFccFbFbbFbcFcbFbEbcFccFaFbbFccF"
        "bFbbFbcFcbFbEcbGbcFaFbcFcbFbbFbFccFbbFbFbcFcbFbbEcFccEbbFbFccFbbFbbFcFcbFbbFbGbc"
        "FabFcbGbFbbFbcFcFbbFbbFccFbFabFccFcEbbFb",
        "a",
    ),
    Table(
        "dus[s]e[h]ra|das[a][h]ara|dasra|dash[a]hara|dashera|vijay[a][ ]dash[a]mi",
        -1,
        693871,
        353,
        "FcbEbcFcFbbFbbFcFcbFbbFbcFcFbbEcbFcFcaFbbGbcFbFbbFcbFcFbbEccFbcFbEbcFcbFbFbbFccF"
        "bFbbFbcFcbFbEbcFccEbFbbFccFbbFbFbcFcbFbEccFbcFbaFcFcbFbbFbFccFbbFbbFcFcbFbbEcFcc"
        "EbbFbcFcFbbFbbFcFcbFbbFbcFcFabFcbGbFbbFb",
        "a",
    ),
    Table(
        "sharad (purnima|poornima)|kojagari (purnima|puja)",
        -1,
        693875,
        354,
        "EbaEaaEbEabEaaEaEbaEbaDbaEbEaaEaaEbEbaEaaEabEbEaaDbaEbEabDabEabEaEaaEbaEbEaaEabE"
        "aEbaDabEbaEaEaaEbbEaEaaEabEbaEaDbaEbbDaEabEabEaaEaEbaEbaEaEabEabEaaDbEbaEaaEaEbb"
        "EaaEaaEbEbaEaaEaEbaEaaEbaEbEaaEabEaEbaEa",
        "a",
    ),
    Table(
        "(maharishi|maharshi) valmiki jayanti|valmiki jayanti|pargat di(was|vas)",
        -1,
        693876,
        354,
        "EbaEaaEaEbbEaaDbEabEaaEabEaEbaEaaEbEabEaaEabEaEaaEabEbEaaEaaEbbEaEaaEabEbEaaDbaE"
        "bEaaEabEabEaEaaEbaEbEaaEabEabDaEabEbaEaEaaEbbEaaEaEabEbaEaDbaEbaEaaEbEabEaaEaEba"
        "EbaEaaEbEabDabDbEbaEaaEabEbEaaEaaEbEbaEa",
        "a",
    ),
    Table(
        "kar(v|w)a cha(u|w)th|kar[a]ka chaturthi",
        -1,
        693879,
        354,
        "EbbDbaDaEbbEaaEaEabEbaEaaEaEbbEaaDbEabEbaDabEaFaaEaaEbEbaEaaEabEaEbaDabEbEaaEaaE"
        "bEbaEaaEabEbEaaDbaEbEaaEabEabEaEaaEbaEbEaaEabEabEaDabEbaEaEaaEbbEaaEaEabEbaEaDba"
        "EbbDaaEbEabEaaEaEbaEbaEaaEbEabEaaDbEbaEa",
        "a",
    ),
    Table(
        "dhan[ ]teras|dhan[a][ ]trayodashi|dhanatrayodashi|dhan[a]vantari trayodashi",
        -1,
        693888,
        353,
        "FbcFcbFbFbbFccFbFacEccFbcEbFbcFcbFbFbbFccFbbFbFbcFcbEbFcbGbbFbbFcFcbFbbFbFcbGbbE"
        "cEccFbcEbbFcFcbFbbFbFccFbbFbbFcFcbEbcFbGbbFbbFcbFcFbbFbcFbFcbEbcFcbFcEbbFccFbFbb"
        "FbcFcbFbEcbFccFbEbcFbcFbbFbFcbFcbFbFbcFb",
        "a",
    ),
    Table(
        "kali chaudas|chhoti (diwali|deepavali)|choti (diwali|deepavali)|small diwali",
        -1,
        693889,
        354,
        "EabEabEaEaaEbaEbDaaEbbEaaEaEabEbaEaEaaEbbEaaDbEabEabDaEabEbaEaaEaFabEaaEaEbaEbaD"
        "aEbbEaaEaaEbEbaEaaEaEbbDbaDbaEbEabDaaEbEbaEaaEabEbEaaEaaEbEbaDabEabEaEaaEbaFaEaa"
        "EabEabEaDbaEbaEaEaaEbbEaaEaEabEbaEaEaaEb",
        "a",
    ),
    Table(
        "nara(k|ka) chat[h]urdas[h]i|roop chaudas",
        -1,
        693890,
        354,
        "EaaEbbEaDabEabEaEaaEbaEbaEaEabEabEaDabEbaEbaDaEbbEaaEaEabEbaEaaEaEbbEaaDbEabEaaE"
        "aEbaEbaEaaEaFabEaaDbEbaEaaEabEbEaaEaaEbEbaEaaEabEaEbaDbaEbEaaEaaFabEaEaaEabEbEaa"
        "DbaEbbDaEabEabEaEaaEbaFaaEaEabEabEaDbaEb",
        "a",
    ),
    Table(
        "di(w|v)ali|dee(w|v)ali|deep[a]v[a]li|dip[a]v[a]li|(hindu|indian) festival of lig"
        "hts|(lakshmi|laxmi) (puja|pooja)|kali puja|bandi chhor (divas|diwas)",
        -1,
        693890,
        354,
        "EabEabEaEaaEbaEbEaaEabEabEaDabEbaEaEaaEbbEaaEaEabEbaEaDbaEbaEaaEbEabEaaEaEbaEbaE"
        "aEaaFabEaaDbEbaEaaEaEbbEaaEaaEbEbaEaaEaEbaEaaEbaEbEaaEaaEbEbaEaaEabEbDbaDbaFaEaa"
        "EabEabEaEaaEbaEbEaaEabEabDaEbaEbaEaEaaEb",
        "a",
    ),
    Table(
        "govardhan (puja|pooja)|annakut",
        -1,
        693892,
        354,
        "EaaEabEbEaaDbaFaEaaEabEbaEaEaaEbaFaEaaEabEabDaEbaEbaEaEaaEbbEaEaaEabEbaEaDbaFabD"
        "aEabEabEaaEaEbaEbaEaEabEabDabDbEbaEaaEaEbbEaaEaaEbEbaEaaEaEbaEaaEbaEbEaaEabEaEba"
        "EaaEbaEbDabDbbEaEaaEabEbaEaEaaEbbEaDabEa",
        "a",
    ),
    Table(
        "bhai (dooj|duj|dhooj|beej|phonta|tika)|bha(u|i) beej|bhaiya dooj|yama dwitiya",
        -1,
        693893,
        354,
        "EaaEabEaEaaEbaEbEaaEaaFabEaEaaEabEbEaaDbaFabDaEabEbaEaEaaEbbEaEaaEabEabDaEabEbaE"
        "aEaaEbbEaaEaEabEbaEaDbaFabDaaEbEbaEaaEaEbaFaaEaaEbEabDabDbEbaEaaEabEbEaaEaaEbEba"
        "EaaEabEbDaaEbaEbEaaEabEabEaEaaEbaEbDabDb",
        "a",
    ),
    Table(
        "chhat[h] (puja|pooja)|chhat[h]|chat[h] puja|dala (puja|chhath)|surya shasti",
        -1,
        693897,
        353,
        "FbbFbcFcFbbFbbFcFcbFabFccFcEbbFbcFcFbbFbbFccFbFacFbcFcEbbFcbGbFbbFbcFcbFbFbbFccF"
        "bFabFccFcbEbFbcFcbFbFbbFccFbbEcFbcFcbEbFcbGbbFbbFcFcbFbbFbFccFbbEbcFcFbcEbbFcFcb"
        "FbbFbcFcFbbEcbFcFcbEbbGbcFbFbbFcbGbFbbFb",
        "a",
    ),
    Table(
        "guru nanak [dev] (jayanti|jayanthi|birthday|gurpurab)|gur[u]pur[a]b|[guru] nanak"
        "[s] birthday|kart(i|ti)k purnima|dev d(iw|eep)ali",
        -1,
        693905,
        354,
        "EbbEaaDbEabEaaEaEbaFaaEaaEbEabEaaEaEbaEaaEbaEbEaaEaaEbEbaEaaEaEbbEaaDbaEbEaaEabE"
        "aEbaEaaEbaEbEaaEabEaEaaEabEbaEaEaaEbbEaEaaEabEbaEaDbaEbaEaEabEabEaaEaEbaEbaEaEab"
        "EabDabDbEbaEaaEaEbbEaaEaaEbEbaEaaEaEbaEa",
        "a",
    ),
    Table(
        "guru go(b|v)ind singh (jayanti|jayanthi|birthday|gurpurab)",
        -1,
        693602,
        353,
        "cFcbFacFbFccEbbFbGbcFbbFbbGbGbbFbbFcFcbFabFccFbFbbFbcFcFbbFbbFccFbFacEccFcEbbFbc"
        "FcFbbFbbGbcFbFacFcbGbFabFccFbcEbFbcFcbFbFbbFccFbbEbFccFcbEbFbcFcbFbbFbFccFbbEcFc"
        "bFcbEbcFcFbcEbbFcFcbFbbFbcFcFbbEbcFcFcbE",
        "a",
    ),
    Table(
        "(vasant[a]|basant[a]) panchami|sar[a]swat[h]i (puja|pooja|jayanti)|shri panchami",
        -1,
        693630,
        353,
        "bGbbFbbFcFcbFbbFbFccFbbEbcFcFbbFbbFcFcbFbbFbcFcFbbEcbFcFcaFbcFbcFbFbbFcbGbFbbFbc"
        "FcbFbEbcFcbFbFbbFccFbFbbFbcFcbFbEcbFccFaFbcFbcFbbFbFcbGbbFbFbcFbcFbaFcFcbFbbFbFc"
        "cFbbFbbFcFcbFbbFbFccFabFcbFcFbbFbbGbFcbF",
        "a",
    ),
    Table(
        "guru ra(v|b)idas[s] (jayanti|jayanthi|birthday)|ra(v|b)idas[s] jayanti",
        -1,
        693640,
        354,
        "aEabEbaEaEaaFabDaEabEabEaaEaEbaFaaEaEabEabEaaEaEbaEaaEbEabEaaEaaEbEbaEaaEaEbbDaa"
        "EbaEbEaaEabEaEbaEaaEbEabEaaEabEaEaaEabEbEaaEaaEbbEaEaaEabEbDaaEbaEbaEaEabEabEaEa"
        "aEbaEbaEaEabEabDaEabEbaEaaEaEbbEaaEaEabE",
        "a",
    ),
    Table(
        "[maha] shiv[a][ ]ratri",
        -1,
        693653,
        353,
        "cFbbFbcFbFcbEcbFcFbcEbbFccFbFbbFbcFcFbbFbbFccFbEbcFbcFbFbbFcbFcbFbFbcFbcFbEcbFcb"
        "FcaFbFccFbbFbFbcFcbFbFbbFccFbbEcFbcFbbFbFcbFcbFbbFcFbcFbbFbFcbFbbFbcFcFbbFbbFcFc"
        "bFbbFbcFcEcbEcbFcFbbFbbGbcFbFbbFcbFcFbbE",
        "a",
    ),
    Table(
        "holika (dahan|deepak|dahanam)|(chhoti|choti|small) holi|kama dahanam|kamudu pyre",
        -1,
        693669,
        354,
        "aEbaEbEaaEaaFabEaEaaEabEbDaaEbaFaaEaEabEbaEaaEaEbaEbaEaEabEabDabDbEbaEaaEaEbbEaa"
        "EaEabEbaDabEaEbaEaaEbEabEaaEabEaEbaEaaEbEabDabDbbEaEaaEabEbEaaEaaEbbEaDabEabEaEa"
        "aEbaEbaEaEabEabEaDbaEbaEbaDaEbbEaaEaEabE",
        "a",
    ),
    Table(
        "holi|rangwali holi|dhulandi|dhuleti|dhulivandan|phag[u]wa[h]|dol (jatra|purnima|yatra)",
        -1,
        693670,
        354,
        "aEbaEbEaaEaaFabEaEaaEabEbDaaEbaFaaEaEabEbaEaaEaEbaEbaEaEabEabDabDbEbaEaaEaEbbEaa"
        "EaEabEbaDabEaEbaEaaEbEabEaaEabEaEbaEaaEbEabDabDbbEaEaaEabEbEaaEaaEbbEaDabEabEaEa"
        "aEbaEbaEaEabEabEaDbaEbaEbaDaEbbEaaEaEabE",
        "a",
    ),
    Table(
        "lohri|bhogi (pandigai|pongal)|bogi (pandigai|pongal)|bhogi",
        -1,
        693607,
        365,
        "abaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaab"
        "aaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaa"
        "abaaabaaabaaabaaabaaabaaabaabaaabaaabaaa",
        "a",
    ),
    Table(
        "makar[a] san(k|c)rant[h]i|(thai|surya) pongal|pongal|maghi|uttarayan[a]|sankranti",
        -1,
        693608,
        365,
        "abaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaab"
        "aaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaa"
        "abaaabaaabaaabaaabaaabaaabaabaaabaaabaaa",
        "a",
    ),
    Table(
        "ma[a]ttu pongal",
        -1,
        693609,
        365,
        "abaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaab"
        "aaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaa"
        "abaaabaaabaaabaaabaaabaaabaabaaabaaabaaa",
        "a",
    ),
    Table(
        "ka[a]num pongal|kanni pongal|kanu[m] pongal",
        -1,
        693610,
        365,
        "abaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaab"
        "aaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaa"
        "abaaabaaabaaabaaabaaabaaabaabaaabaaabaaa",
        "a",
    ),
    Table(
        "(v|b)aisak[h]i|vasak[h]i|basak[h]i",
        -1,
        693698,
        365,
        "aaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaa"
        "abaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaab"
        "aaabaaabaaabaaabaaabaaabaabaaabaaabaaaba",
        "a",
    ),
    Table(
        "puth[a]ndu|tamil new year|varusha pirappu",
        -1,
        693698,
        365,
        "aabaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaa"
        "baaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaaba"
        "aabaaabaaabaaabaaabaaabaaabaabaaabaaabaa",
        "a",
    ),
    Table(
        "vishu",
        -1,
        693698,
        365,
        "baaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaaba"
        "aabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaa"
        "baaabaaabaaabaaabaaabaaabaabaaabaaabaaab",
        "a",
    ),
    Table(
        "rabindra[nath] (jayanti|jayanthi|birthday)|[rabindranath] tagores birthday",
        -1,
        693723,
        365,
        "aaabaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaabaa"
        "abaaabaaabaaabaaabaaabaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaaabaabaaabaaabaaab"
        "aaabaaabaaabaaabaaabaaabaabaaabaaabaaaba",
        "a",
    ),
    Table(
        "onam|thiru[ ][v]onam",
        -1,
        693845,
        328,
        "B2BB2CB3B3BB2BB3CB2B2BC2CB3B2BB3AC3BC2B2BC2CB2B2CB3AC3B2BB3BC2CB2B2BC3BB2BB3B3BC"
        "2BB2B3BC3BB2B2CB3a22BB3B3BC2BB2B3CB3BB2BB3B3BB2BB3B3CB2BB2CB3B3BB2BB3B3BB2BC2CB3"
        "B2BB3BB3B3BA3BC2CB2B2BC2CB3B2BB3AD2BB3B2",
        "a",
    ),
    Table(
        "(now|no|na|nau|naw)[ ](ruz|roz)|(persian|iranian) new year",
        -1,
        693675,
        365,
        "abaaabaaabaaabaaabaaabaaabaaaabaaabaaabaaabaaabaaabaaabaaabaaaabaaabaaabaaabaaab"
        "aaabaaabaaabaaaabaaabaaabaaabaaabaaabaaabaaabaaaabaaabaaabaaabaaabaaabaaabaaabaa"
        "aabaaabaaabaaabaaabaaabaaabaaabaaaabaaab",
        "a",
    ),
    Table(
        "parsi new year|jamshedi nav(ro|ru)z|pateti",
        -1,
        693853,
        365,
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "a",
    ),
)
