"""Check digits of cards, bank accounts and identity documents.

Each function takes a number without separators, whose form (length, places of letters) its caller
has checked, and returns whether its check digits are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

_VERHOEFF_PRODUCT = (
    "0123456789",
    "1234067895",
    "2340178956",
    "3401289567",
    "4012395678",
    "5987604321",
    "6598710432",
    "7659821043",
    "8765932104",
    "9876543210",
)
_VERHOEFF_SHIFT = (
    "0123456789",
    "1576283094",
    "5803796142",
    "8916043527",
    "9453126870",
    "4286573901",
    "2793806415",
    "7046913258",
)
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_HETU_LETTERS = "0123456789ABCDEFHJKLMNPRSTUVWXY"
#: Value of each character at an odd place of an Italian tax code, by its value at an even place.
_CODICE_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25)
_CODICE_ODD_LAST = (24, 23)
_NRIC_LETTERS = {"S": "JZIHGFEDCBA", "T": "GFEDCBAJZIH", "F": "XWUTRQPNMLK", "G": "RQPNMLKXWUT"}


def luhn(digits: str) -> bool:
    """ISO/IEC 7812: cards, Canadian, Swedish and South African numbers."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def mod_97(code: str) -> bool:
    """ISO 7064 MOD 97-10 of an IBAN, whose country and check digits come first."""
    remainder = 0
    for sign in code[4:] + code[:4]:
        value = int(sign, 36)
        remainder = (remainder * (100 if value > 9 else 10) + value) % 97
    return remainder == 1


def verhoeff(digits: str) -> bool:
    """Indian Aadhaar numbers."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        check = int(_VERHOEFF_PRODUCT[check][int(_VERHOEFF_SHIFT[place % 8][int(digit)])])
    return check == 0


def mod_11_2(code: str) -> bool:
    """ISO 7064 MOD 11-2, whose last character may be X: Chinese identity numbers."""
    total = 0
    for sign in code[:-1]:
        total = (total + int(sign)) * 2 % 11
    return (total + (10 if code[-1] in "xX" else int(code[-1]))) % 11 == 1


def mod_11_10(digits: str) -> bool:
    """ISO 7064 MOD 11,10: German tax numbers."""
    product = 10
    for digit in digits[:-1]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (product + int(digits[-1])) % 10 == 1


def weighted(digits: str, weights: Sequence[int], modulus: int) -> int:
    """Return the sum of the first digits, each times its weight, modulo `modulus`."""
    return (
        sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False)) % modulus
    )


def is_day(year: int, month: int, day: int) -> bool:
    """Return whether a date exists."""
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _is_day_of_century(six: str) -> bool:
    """YYMMDD, in either century."""
    month, day = int(six[2:4]), int(six[4:6])
    return is_day(2000 + int(six[:2]), month, day) or is_day(1900 + int(six[:2]), month, day)


def us_ssn(digits: str) -> bool:
    """United States social security number: without check digits, but with impossible parts."""
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def cn_resident_id(code: str) -> bool:
    """Chinese identity number: a day of birth and MOD 11-2."""
    born = int(code[6:10]), int(code[10:12]), int(code[12:14])
    return 1850 < born[0] < 2150 and is_day(*born) and mod_11_2(code)


def es_dni(code: str) -> bool:
    """Spanish DNI or NIE: a number and its letter."""
    number = code[:-1].translate(str.maketrans("XYZxyz", "012012"))
    return _DNI_LETTERS[int(number) % 23] == code[-1].upper()


def it_tax_code(code: str) -> bool:
    """Italian codice fiscale."""
    odd = (*_CODICE_ODD, *_CODICE_ODD_LAST)
    values = [int(sign) if sign.isdigit() else ord(sign) - ord("A") for sign in code[:15].upper()]
    total = sum(value if place % 2 else odd[value] for place, value in enumerate(values))
    return chr(ord("A") + total % 26) == code[15].upper()


def fr_social_number(code: str) -> bool:
    """French NIR with its key; the departments of Corsica are 2A and 2B."""
    number = code[:13].upper().replace("2A", "19").replace("2B", "18")
    return 97 - int(number) % 97 == int(code[13:])


def nl_citizen_number(digits: str) -> bool:
    """Dutch BSN."""
    return int(digits) > 0 and weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1), 11) == 0


def uk_health_number(digits: str) -> bool:
    """NHS number."""
    return weighted(digits, (10, 9, 8, 7, 6, 5, 4, 3, 2, 1), 11) == 0


def pl_pesel(digits: str) -> bool:
    """Polish PESEL: a day of birth, whose month names the century, and a check digit."""
    month = int(digits[2:4]) % 20
    return (
        is_day(2000 + int(digits[:2]), month, int(digits[4:6]))
        and weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1), 10) == 0
    )


def se_personal_number(digits: str) -> bool:
    """Swedish personnummer, of ten digits."""
    return _is_day_of_century(digits[:6]) and luhn(digits)


def za_identity_number(digits: str) -> bool:
    """South African identity number: a day of birth, a citizenship and a check digit."""
    return _is_day_of_century(digits[:6]) and digits[10] in "012" and luhn(digits)


def fi_personal_code(code: str) -> bool:
    """Finnish henkilötunnus, with its sign of the century."""
    number = code[:6] + code[7:10]
    return (
        is_day(2000 + int(code[4:6]), int(code[2:4]), int(code[:2]))
        and _HETU_LETTERS[int(number) % 31] == code[10].upper()
    )


def be_national_number(digits: str) -> bool:
    """Belgian national number; for births since 2000, the check digits count a leading 2."""
    number, check = int(digits[:9]), int(digits[9:])
    return check in (97 - number % 97, 97 - (2_000_000_000 + number) % 97)


def br_cpf(digits: str) -> bool:
    """Brazilian CPF, which is never one digit eleven times."""
    if len(set(digits)) == 1:
        return False
    for length in (9, 10):
        rest = weighted(digits, range(length + 1, 1, -1), 11)
        if int(digits[length]) != (0 if rest < 2 else 11 - rest):
            return False
    return True


def kr_resident_number(digits: str) -> bool:
    """South Korean resident number, as issued until 2020."""
    rest = weighted(digits, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5), 11)
    return _is_day_of_century(digits[:6]) and (11 - rest) % 10 == int(digits[12])


def sg_nric(code: str) -> bool:
    """Singaporean NRIC or FIN."""
    first = code[0].upper()
    rest = weighted(code[1:8], (2, 7, 6, 5, 4, 3, 2), 11)
    return _NRIC_LETTERS[first][rest] == code[8].upper()


def de_tax_number(digits: str) -> bool:
    """German tax number: one of the first ten digits comes twice or three times."""
    first = digits[:10]
    repeats = 11 - len(set(first))
    is_form = repeats in (2, 3) and max(map(first.count, first)) == repeats
    return digits[0] != "0" and is_form and mod_11_10(digits)


def machine_readable_passport(line: str) -> bool:
    """Second line of a passport's machine-readable zone (ICAO 9303, TD3), of 44 characters."""
    parts = ((line[:9], line[9]), (line[13:19], line[19]), (line[21:27], line[27]))
    whole = line[:10] + line[13:20] + line[21:43]
    return all(_icao_digit(part) == check for part, check in (*parts, (whole, line[43])))


def _icao_digit(text: str) -> str:
    values = (0 if sign == "<" else int(sign, 36) for sign in text)
    return str(sum(value * (7, 3, 1)[place % 3] for place, value in enumerate(values)) % 10)
