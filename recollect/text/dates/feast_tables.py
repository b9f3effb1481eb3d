"""The days of feasts that go by moon and sun (written by `python -m training.feast_days`)."""

from __future__ import annotations

#: The first year of the rows below.
FIRST_YEAR = 1900
MORE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#: By feast the fewest days from 1 January to it in any year, and for each year how many more there
#: are, as a letter of `MORE`.
FEAST_DAYS: dict[str, tuple[int, str]] = {
    "ugadi": (
        74,
        "pfyodujCsgzpewlatiBqgyncvjCrhzpexlatiBqgymbukCshAodwlatjCqfynbukDrhzodwlbtiBqexm"
        "cukDsgzodvlbuiAqfxmcvkCrgyodwlatiApfymcvkCrgzodwmDsiBpfynbujCqgzpdwlEshAqfyncujC"
        "rgzoevkDthAqfxmbujCrhzodwkDtiAqfxmbukCrgz",
    ),
    "cheti chand": (
        74,
        "qfyodvkDsgApfxmbuiBrgyncvjCsiApexlatjBrgzncvkCsiApewmatjCqfyncukDshApdwlbtjCrfxn"
        "cukDsgzoewlbuiBqfxncwkDshzoexlbujAqfyncvkCrgzoexmEtiBpfyocvkCrgzpewlEsiBqfyncujC"
        "sgzpewlEtiBqgyncvjCshzodwkDtjBqfymbukCshA",
    ),
    "rama navami": (
        81,
        "qfyoewlEthzpfxncviBqgyodwkDshzpfymbujBqgzodwkCshApfxmatjCqgzocvkDsiBqexlbtjCsgyn"
        "cukDthApewlbujCrgyncvkDtiAoewlbukBqfymcvlDshAodxmFujCpfyocvlDrgzpexmFtiBqfyodvkD"
        "sgzpfxmFthAqgyodvjCrhzpexlEtiBqgzncukCshA",
    ),
    "mahavir jayanti": (
        86,
        "pexncukDsgzoewlbuiBqfxncvkCrgyoexlatiApfyncvkCrgzoexmasiBpfyncujCrgzpdwlasiBqfyn"
        "cujCsgzpevkatiBqfxmbujCshzodwkatjBqfxmbukCrhzndwlDtiBpexmbukDrgzocwlEtiApexncujC"
        "rfyoewlEthApfxncvjBrgyodwkDshzpfymbujBqgz",
    ),
    "hanuman jayanti": (
        88,
        "pexmcukDsgzodvlbuiBqfxmcvkCshyodwlbtiApfymcvkCrgzodwmatiBpfyncujCqgzpdwlashAqfyn"
        "cujCrgzpewlathAqfxmbujCrhzodwkatiAqfymbukCrhzndvlDtiBpexmbukDrgzocvlEtiApexmcujC"
        "rfyodvlEthApfxmcvjCrgyodwlDshzpfymbujBqgz",
    ),
    "akshaya tritiya": (
        106,
        "oexncujCrfyoewlEthApfxncuiBrgyodwkDshApfymbujBrgzodvlCsiBpfxmatjCrgzocvkDsiBqexm"
        "btjCrgyndukDthApewlbujCrgyncvkDtizpexlbukBqfyncwlDshAoexnbujCqfyocvlDrhzpexmFtiB"
        "qfyodvkDsgzpfxmEtiBqgyodvjCshzpexlEtjBqgz",
    ),
    "buddha purnima": (
        118,
        "pexmbtjCsgzodvkDtiApewmbujCrgyndwkDtiApexmbukBrgzndwlDshAoexnbujCqfyodwlEshApexn"
        "ctiBrfyodvkDshApfxmbuiBrgyodvkCsiApfxlbtjBrgzncvkCsiBpexmatjCrgyncvkDshApdwmFtjC"
        "rfyndvkDthzpewmFujBqfxndwkDshzoexmFujBqfy",
    ),
    "vesak": (
        118,
        "pexmbtjCrgyndvkDthApewlbujCrgyncvkDtiApexlbukBqfyncvlDshAoexmbujCqfyocvlDrhzpexm"
        "ctiBqfyodvkDsgzpfxmbuiBqgyodvjCshzpexlatjBqgzncvkCshApewmatjCqgynbukDshApdwlEtjC"
        "rfyncukDshzoewlEuiBqfxncvkDshzoexlEujAqfy",
    ),
    "ratha yatra": (
        168,
        "latiBqgynbukDrhApdwlbtiBrfyncukDshzoevlbuiBqfxmcvkDshzodwlbujApfymcvkCrgzodwmati"
        "BpfyncvkCrgzpdwmEsiAqfyncujCrgzpewlEthAqgyncujCrhzoewkDtiAqfymbukCrhAodwlDtiBqfx"
        "mbukDrgzocvlEtiBqexmcukDsgyodvlEthApfxmcv",
    ),
    "guru purnima": (
        181,
        "latiBpfyncvkDrgzpdwmbsiAqfyndujCrgzpewlathAqgyncvjCrhzpewkatiAqfymbukCrhAodwlati"
        "BqfxnbukDrgzocvlEtiBqexmcukDsgyodvlEtiApfxmcvjCrgyodwlEtiApfymcvkBrgzodwlDshApfy"
        "nbujCqgzpdwlDshAqfxnctjCrgzodvkDthAqfxmbu",
    ),
    "nag panchami": (
        203,
        "iBqfyndwlDshAoexnbujBqfyodvkDrhAqexmbtiBrgzodvkCshAqfxlbtiBrhyncvjCsiApexlatjBrg"
        "zncvkCsiAodwmatjCqfyncvlEshApdwmcujBqfxndvkDsgzoewmbuiBqfxndwkDrhzoexmbtiAqfyndv"
        "kCrhAoexmEtiBqfyocujCrhApewlEsiBrfyncujCs",
    ),
    "hariyali teej": (
        202,
        "hApfymcvkCrgzodwmasiApfyncujCqgzpdwlashAqfyncujCrgzpevkathAqfxmbujCrhzodwkatiAqf"
        "xmbukCrhzncvlatiBpexmbukDrgyocvlbsiApewmcujCrfyndvlathApewmcvjBqgyodwlashzpfymbu"
        "jBqgzodwlCshApfxnbtjBqgzocvkDrhAqexmbtiBr",
    ),
    "raksha bandhan": (
        213,
        "iBrgyncvlDshAodwmbujCqfyncvlDshzpdwmctjBqfyndvkDsgzoewmbuiBqfyndwkCrhzpexlbtiAqg"
        "zncvkCrhAoexmatiBqfyocukCrhApdwlbsiBrfyncujCshApevlatiBqfxmcvjCshzodwlatjBqfymcv"
        "kCshzodwmEtiBpexncvkDrgzodwmEtiAqexndujCr",
    ),
    "janmashtami": (
        220,
        "iBrgzocvkCsiBpexmatjCrgzocukDsiBqdwlbtjCrfyncukDthApewlbujCrfxndwkDshzoexmbujBqf"
        "yndwlDshzoexnbuiBpfyodvkDrgzpexmbtiBqfyodvjCsgApfwlatiBrgyncvjCsiApexlatjBrgzmbu"
        "kCsiAodwlDtjCqfynbukDshAodwlFtjBqexncvkDs",
    ),
    "hartalika teej": (
        231,
        "iAqfyncvlCrgzoexmatiBpfyocvkDrgzpexmEsiBqfyndujCsgzpewlEthBqgyncvjCshzpewkDtjBqf"
        "ymbukCshAodwlDtjCqfxnbukDrgzodvlEtiBqexmcukDsgzodvlEuiApfxncvjCrgyoexlEtiApfyncv"
        "kBrgzoewlDshApfynbujCqgzpdwlDshAqfynFtjCr",
    ),
    "ganesh chaturthi": (
        232,
        "iApfymcvkCrgzodwmatiBpfyncvkCqgzpdwmEshAqfyncujCrgzpewlDthAqgyncujCrhzodwkDsiAqf"
        "ymbujCrhAodvlDtiBpexmbukDrgzocvlEtiBqexmcukCsgyodvlEthApewmcvjCrgyndwlEtizpeymcu"
        "jBqgzodwlDshApfynbujCqgzpdwkDrhAqexmFtiBr",
    ),
    "anant chaturdashi": (
        242,
        "iBqfymbukCshAodwlatjCqfxnbukDrgzodwlEtiBqexncukDsgzoewlEthAqfxncvjCrgyoexlEtiApf"
        "yncvkBrgzoewlDsiBpfynbujCrgzpdwlEsiBqfxmctjCsgzodvkDtiBqfxmbujCshzodwkDtjApexmbu"
        "kCrgzndwlDtiBpexnbukCqgyodwlEshApexnGujCr",
    ),
    "mahalaya": (
        257,
        "iBqfyndwlCrhAoexmatiBqfyocvkDrhApexmFtiBrfyodujCshApewlEtiBrgyncvjCsiApewlEtjBqf"
        "ymcvkCshAodwmEtjCqfyncvkDshzodwmFtiBqexndvkDsgzoewmEuiAqfxncvjCrhzoexlEtiAqfyncv"
        "kCrhAoewmDsiBqfynbujCrhApdwlEsiBrfynFujCs",
    ),
    "navaratri": (
        260,
        "gzoexlbujBqfyncvlDshzoexmbtiBpfyocvkDrgzpexmbtiBqfyodukCsgzpewlathAqgyncvjCrhzpe"
        "xlDtiBqgymcukCrhAodwlDtiCqfynbukDrhzodwlEtiBqexmcukDsgzodvlEuiBqfxmcvkCrgyodwlEt"
        "iApfymcvkCrgzodwmDsiBpfyncujCqgzpdwlEshAq",
    ),
    "durga saptami": (
        266,
        "hApdwlatjBqfymbvkDshAodwmaujCqfxncvlDrgzodwmbtiBqexndvkDsgzoewmbuhApfxndvjCrgzoe"
        "xlEtiAqfzncvjBrhAoewlDsiBqfynbujCrhApdwlEsiBrfxmctjCshzodvkDtiBqfxmbvjCshzndwlEt"
        "jApexmcvkCrgzndwmEtiBpexncvkCqfyodwmEshAp",
    ),
    "durga ashtami": (
        267,
        "hApdwkatjBrfymbvkDshAodwmaujCqfxncvlDsgzodwmbtiBqexndvkDsgzoewmbuhApfxndvjCrgyoe"
        "xlEtiApfyncvkBrhAoexlDsiBqfynbujCrhApdwlEsiBrfymctjCshzodvkDtiBqfxmbujCshzndwkEt"
        "jBpexmcvkCrgzndwmEtiBpexncvkDqfyodwmEshAp",
    ),
    "durga navami": (
        268,
        "hApewkatjBrfymbukCshAodwlatjCqfxnbvkDshzodwmbtiBqexndvkDsgzoewmbuiApfxndwjCrgyoe"
        "xlEtiApfyncvkBrgAoexlDsiBqfynbujCrhApdwlEsiBrfynctjCshzodvkDtiBqfxmbujCshzodwkEt"
        "jBpexmbvkCrgzndwmEtiBpexncvkDqfyodwmEshAp",
    ),
    "dussehra": (
        269,
        "gzpewkatjBqfymbukCshAodwlatjCqfxnbukDsgzocwlbtiBqexncukDsgyoewlbuiApfxncvjCrgyoe"
        "xlEtiApfyncvkBqgzoewlDshApfynbujCqgzpdwlDsiBqfynbtjCsgzodvkDtiBqfxmbujCshzodvkDt"
        "jApexlbukCrgzncvlDtiBpexmbukDqfyocwlEshAp",
    ),
    "sharad purnima": (
        273,
        "gzpexlatjBqgzncvkCshApewmatjCqfynbukDshApdwlbtjCrfxncukDshzoewlbuiBqfxncvkDshzoe"
        "xlEujApfyncvkCrgzoexmEtiBpfyocvkCrgzpewlEsiBqfyncujCsgzpewlEtiBqgyncujCshzodwkDt"
        "jBqfymbukCshAodwlDtiBpexnbukDrgzodwlEtiBq",
    ),
    "valmiki jayanti": (
        274,
        "gzpexlatiAqgzncukCrhAodwlatiBqfynbukDrhApdwlbtiBqexmcukDsgzodvlbuiBqfxmcvkDshyod"
        "wlEtiApfymcvkCrgzodwmEtiBpfyncujCqgzpdwlEshAqfyncujCrgzpewlDthAqfxmbujCrhzodwkDt"
        "iAqfymbukCrhzndvlDtiBpexmbukDrgzocvlEtiBq",
    ),
    "karva chauth": (
        277,
        "gzpfxmbtiAqgzncvkCrhApexmatiBqgzocukDrhAqewlbtiCrfyncukDthApewlbuiBrgxmcvkDshzod"
        "wlEujBqfymcvlDshzodwmEtiBpfyncvkDrgzpdwmFtiBqfyndvkCrgzpewlEthAqgyncvjCrhzpexlDt"
        "iAqgymbukCrhAodwlDtiBqfynbukDrhApdvlEtiBq",
    ),
    "dhanteras": (
        286,
        "gzoexmbujBqfyndwlDrhzoexmbtiBpfyocvkDrgzpexmbtiBqfyodujCsgApewlatiBrgyncvjCshApe"
        "wlDtjBqgymbukCshAodwlDtjCqfynbukDshzodwlFtiBqexncukDsgzoewlEuiApfxncvkCrgyoexlEt"
        "iApfyncvkBrgzoexmDsiBpfynbujCrgzpdwlEsiBq",
    ),
    "kali chaudas": (
        287,
        "gzoexlbujBqfyncvlCrgzoexmatiBpfyocvkDrgzpexmbsiBqfyndujCrgzpewlathBqgyncvjCshzpe"
        "wkDtjBqfymbukCshAodwlDtjBqfxnbukDrhzocvlEtiBqexmcukDsgzodvlEuiApfxmcvjCrgyodxlEt"
        "iApfymcvkBrgzodwlDshApfynbujCqgzpdwlEshAq",
    ),
    "naraka chaturdashi": (
        288,
        "gzodwlbujApfymcvkCrgzodwmatiBpfyncvkCqgzpdwmbshAqfyncujCrgzpewlathAqgyncujCrhzod"
        "wkDtiAqfymbujCrhAodvlDtiBpexmbukDrgzocvlEtiBqexmcujCsgyodvlEthApexmcvjCrgyndwlEt"
        "izpexmcujBqgzndwlDshApeynbujCqgzodwlDshAq",
    ),
    "diwali": (
        288,
        "gzoexlbujBqfyncvlDshAoexmbujBpfyocvkDrgzpexmbtiBqfyodvkCsgzpewlatiBqgyncvjCshzpe"
        "xlEtiBqgzncukCshAodwlDtjCqfynbukDshApdwlEtiBqexncukDsgzodvlEuiBqfxmcvkCshyodxlEt"
        "iApfymcvkCrgzodwmEtiBpfyncujCrgzpdwlEshAq",
    ),
    "govardhan puja": (
        290,
        "gzodwkatjBqfxmbvkCrgzndwmatiBpexnbvkDrgzodwlbshAqexncujCrfyoewlEthApfxncvjBrgzoe"
        "wkDsiApfymbujBrgzodwlDsiBpfxmbtjCrgzocvkDsiBqexmbtjCsgzodvkDthApewmbujCrgyndwkDt"
        "iApexmbukBqgyndwlDshAoexnbujCqfyodwlDrhAp",
    ),
    "bhai dooj": (
        291,
        "gzodwkatiApexmbukCrgzncwlatiBpexmbukDrgyocwlbshApexncujCrfyoewlEthApfxmcuiBqgyod"
        "wkDshzpfymbujBqgzodwlCshBpfxmatjCrgzocvkDshBqexmbtjCrgyndukDthApewlbujCrgyncvkDt"
        "iApexlbukBqfyncvlDshAoexmbujCqfyocvlDrhzp",
    ),
    "chhath": (
        295,
        "gzodwkatjBqfymbukCshAncvlatjBpexmbukDrgzocvlbtiBpexmcukCrfyodwlEthApfxncvjCrgyoe"
        "xlEshzpfyncujBqgzodwlDshApfynbtjCqgzpdvkDshBqexmbtjCsgzodvkDtiBqfwlbujCrhyncvkDt"
        "iApexlbukCrgyncvlDtiAodxmbujCqfyocwlEshAp",
    ),
    "guru nanak jayanti": (
        303,
        "gzpfymbtjBqgzncvkCshBpexmatjCqgzocvkDshApdwmbtjCrfyncukDthApewlEujCrgxncvkDshzoe"
        "xlEujBqfyncvlDshAoexmEtiBpfyocvkDrgzpexmFtiBqfyodvkCsgzpewlEtiBqgyncvjCshzpexlEt"
        "jBqgymcukCshAodwlDtjCqfynbukDshApdwlEtiBq",
    ),
    "guru gobind singh jayanti": (
        -11,
        "rhAqfxlbuiBrhyncvjDsiApexlaujCrgzncvlDtiBodwmbujCqfyncvlEshApdwmcujCqfxndvlDsgzo"
        "ewmFuiBqfyndwkDrhzpeymFtiAqgzndvkCrhApexmEtiBqgzocujCrhAqewlEsiBrfyncujCshApevlE"
        "uiBrgxmcvkDsizodwlEujBqfymcvlDshzndwmEujB",
    ),
    "vasant panchami": (
        17,
        "rgApewlatiBrgyncvjCsiApewkatjBqfymbukCshAodwlatjCqfxnbukDsgzodwlbtiBqexncvkDsgzo"
        "ewmbuiApfxncvjCrgyoexlEtiApfyncvkBrgzoexlDsiBpfynbujCrgApdwlEsiBqfynbtjCsgzodvkD"
        "tiBqfxmbujCshzodwkDtjBpexmbukCrgzncwlDtiB",
    ),
    "guru ravidas jayanti": (
        27,
        "rgzoewmbuiBqfyndvjCrhzoexlatiAqfzncvkCrhAoexmatiBqfynbukDrhApdwlasiBrfyncujCshzo"
        "dvlatiBqfxmcvjCshzodwlEtjBqfymcvkCrgzndwmEtiBpexncvkDrgzodwmEshAqexncujCrgzoewlE"
        "thAqfxncvjCrhzoewkDsiAqfymbujBrhAodwlDsiB",
    ),
    "maha shivaratri": (
        40,
        "rhApewlbuiBrgxncvkDsizodwlbujBqfymcvlDshAodwmbujBpfyncvkDrgzpdwmbtiBqfyndvkCsgzp"
        "ewmathAqgyncvjCrhzpexlEtiAqgzncukCrhAodwlDtiBqfynbukDrhApdwlEtiBqexmcukDsgzodvlE"
        "uiBqfxmcvkCshyodwlEtiApeymcvkCrgzodwmEtiA",
    ),
    "holika dahan": (
        56,
        "rgzpewmFuiBqfyndwkDshzoexmEtiAqfzncvkCrhApexmatiBqfyocvkDrhApewlbsiBrfyncujCshAp"
        "ewlEtiBrgxmcvjCshzodwlEtjBqfymcvkCshAodwmEtjBpfxncvkDrgzodwmFtiBqexndvkCrgzoewlE"
        "thAqfxncvjCrhzoexlDtiAqfyncujBrhAodwlDsiB",
    ),
    "makar sankranti": (
        12,
        "aabbbabbbabbbabbbabbbabbbabbbabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbcbbbcbbb"
        "cbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbccbbccbbccbbccbbccbbccbbccbbccbbccbcccbcccbcccbcc"
        "cbcccbcccbcccbcccbcccbcccbccccccccccccccc",
    ),
    "vaisakhi": (
        102,
        "aaaabaaabaaabaaabaaabaaabaabbaabbaabbaabbaabbaabbaabbaabbaabbaabbabbbabbbabbbabb"
        "babbbabbbabbbabbbabbbabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbcbbbcbbbcbbb"
        "cbbbcbbbcbbbcbbbcbbbcbbbcbbccbbccbbccbbcc",
    ),
    "puthandu": (
        102,
        "aaabbaabbaabbaabbaabbaabbaabbaabbabbbabbbabbbabbbabbbabbbabbbabbbabbbabbbbbbbbbb"
        "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbccbbccbbc"
        "cbbccbbccbbccbbccbbccbbccbbccbcccbcccbccc",
    ),
    "vishu": (
        102,
        "abbbbbbbbbbbbbbbbbbbbbbbbbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbccbbccbbccbbc"
        "cbbccbbccbbccbbccbbccbbccbcccbcccbcccbcccbcccbcccbcccbcccbcccbcccccccccccccccccc"
        "ccccccccccccccccccccccccccccdcccdcccdcccd",
    ),
    "onam": (
        219,
        "EuLBrHyoGvNDtJzpHxnEuKArIyoGwMCsKypHxnEuLArIzoFvMCsKzpHxODtLBrIzpFvMCsKAqGwmEtLB"
        "sIyoFuMCtKAqHwNEuLarIxnFvMCtKzpGwNEuMBrIynFvNCsJzoGwOEuLBqHyoFvNDsJzpGwOEtKArHyo"
        "GvMCsJzpHwOEtKArIyoFvLBsJzpHxNDtLzrIynFvM",
    ),
    "chinese new year": (
        20,
        "kDsiAoexmbujCqfyncvlEshApdxmcujBqfyodvkDsgzpexmbuiBqgyndwkCshzpexmatjBqgzncvkCrh"
        "ApexmEtiBqgzocukDrhApdwlbtiCrfyncukDshApewlbuiBqfxncvkDshzodwlbujBqfymcvlDshzodw"
        "matiBpfyncvkDrgzpdwmbtiBqfyndujCrgzpewlat",
    ),
    "lantern festival": (
        34,
        "kDsiAoexmbujCqfyncvlEshApdxmcujBqfyodvkDsgzpexmbuiBqgyndwkCshzpexmatjBqgzncvkCrh"
        "ApexmEtiBqgzocukDrhApdwlbtiCrfyncukDshApewlbuiBqfxncvkDshzodwlbujBqfymcvlDshzodw"
        "matiBpfyncvkDrgzpdwmbtiBqfyndujCrgzpewlat",
    ),
    "dragon boat festival": (
        146,
        "fyoexlEtiApfyncvkBrgzoewlDsiBpfynbujCrgzpdwlEsiBqfxnctjCsgzodvkDtiBqfxmbujCshzod"
        "wkDtjApexmbukCrgzndwlDtiBpexnbukCqgyodwlEshApexncujCrfyoewlathApfxmcuiBrgyodwkDs"
        "iApfymbujBrgzodvlCsiBpfxmatjCrgzocvkDsiBq",
    ),
    "qixi": (
        211,
        "bukDshApewlEuiBrgyncvkDsizoewlEujBqfymcvlDshAodwmbujBqfyncvkDrgzpdwmbtiBqfyndvkD"
        "sgzpewmEtiAqgyncvjCrhzpexlatiAqgyncukCrhAoewlDtiBqfynbukDrhApdwlbtiBrfxmcukDsgzo"
        "dvlbuiBqfxmcvkCshyodwlatjApfymcvkCrgzndwm",
    ),
    "ghost festival": (
        219,
        "bukDshApewlEuiBrgyncvkDsizoewlEujBqfymcvlDshAodwmbujBqfyncvkDrgzpdwmbtiBqfyndvkD"
        "sgzpewmEtiAqgyncvjCrhzpexlatiAqgyncukCrhAoewlDtiBqfynbukDrhApdwlbtiBrfxmcukDsgzo"
        "dvlbuiBqfxmcvkCshyodwlatjApfymcvkCrgzndwm",
    ),
    "mid autumn festival": (
        250,
        "atiBrfyodukCshApfwlEtiBrgyncvjCsiApexlEtjBqgymcvkCshAodwmatjCqfyncvkDshzpdwmbtjB"
        "qexndvkDsgzoewmbuiBqfxndvkCrhzoexlatiAqfyncvkCrhAoexmatiBqfyncujCrhApdwlasiBrfyn"
        "cujCshzpevlatiBqfxmcvjCshzodwkatjBqfxmbvk",
    ),
    "double ninth festival": (
        273,
        "EtjBrgzodvkDshAqfxmFuiBrhzodvkDsiApfxlEujBrgzncvlDsiBpexmEujCrgyocvlEshApdwmFujC"
        "rfyndvlEthzpewmFujBqgyndwkDshzpexmbujBqgzndwlCrhApexmatiBqgzocvkDrhAqexmEtiBrfyn"
        "cukDshApewlEuiBrgyncvkDsiApewlEujBqfymcvl",
    ),
    "qingming": (
        93,
        "bbcccbcccbcccbbccbbccbbccbbccbbccbbccbbccbbccbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbbbbbb"
        "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbabbbabbbabbbabbbabbbabbbabbbabbbaabbaabbaabbaabbaab"
        "baabbaabbaabbaaabaaabaaabaaabaaabaaabaaab",
    ),
    "dongzhi": (
        -11,
        "bbbccbbccbbccbbccbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbbcbbbbbbbbbbbbbbbbbbbbbbbbbbb"
        "bbbbbbbbbabbbabbbabbbabbbabbbabbbabbbabbbaabbaabbaabbaabbaabbaabbaabbaabbaabbaaa"
        "baaabaaabaaabaaabaaabaaabaaabaaaaaaaaaaaa",
    ),
    "nowruz": (
        78,
        "bbcccbcccbcccbcccbcccbcccbcccbbccbbccbbccbbccbbccbbccbbccbbccbbbcbbbcbbbcbbbcbbb"
        "cbbbcbbbcbbbcbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbabbbabbbabbbabbbabbbabbbabbbabb"
        "baabbaabbaabbaabbaabbaabbaabbaabbaaabaaab",
    ),
}
#: The first year of the calendar of Umm al-Qura here, the ordinal of its first day, and by how many
#: days each month is longer than 28.
UMM_AL_QURA: tuple[int, int, str] = (
    1343,
    702574,
    (
        "21221222022211212121212121213120221211221221122111221221221121212122113021212122"
        "20321212112122122121211122122121212121212122121221121212122121212121212122121121"
        "21221121212121212122221211211221222121121121212121212122212121212121212121212121"
        "21212121212221212120222121212121212221212121212121212121212121212121212221212122"
        "12212121212121212121121212221212121121221212121212122121212211222121212112211211"
        "22212121211212122122212121212121121212121212212121212121212212112121212212211212"
        "12122121212121212121212121221121222122112121212211212121212212212121212121212121"
        "21222121212212112121212121221121212121222121112121222121212112212122121121212122"
        "21211212121221212121212121221212121212121221221211212122121212112121222121211212"
        "12221212112112212221211211221221212121212121221212121212121221212121121221221212"
        "11212122212121121212212212112112212221211211221221221121121222121212112122122121"
        "21211212212122121211212122212121121212212212121121222212112111222212211211122212"
        "21212112121221221211212121221212212112121221221211212122122121121122212212112112"
        "21221221121212121221212121121222121212112122122121211212122122112121212122121212"
        "12121212212211212112212221121121212221212112121222121211212122122121121212122121"
        "21212121212212122112121212221211211212221221121121222121212112122122121211212122"
        "12212121121212212212112121212221211212121222112121211222121212121122121221212112"
        "12122212121121122122212112112212221211211221221212121122121221212121212121212212"
        "12112122122121211212122212121121122221212112121221221211212121221212121211221221"
        "22112112212122211211212212212121211212212122121121212212212112121212221211211212"
        "22122112112122122211211212212212121121212212122112121212122122121121212212212112"
        "11221222121121122122122112112212122211212121212212121211212212212121121212221212"
        "11212122122121121212122121221121212122122112121122122211211212122212121121212221"
        "21211212122122112121212122121212121212121221221121121222"
    ),
)
