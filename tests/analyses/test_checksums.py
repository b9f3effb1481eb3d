"""Check digits, against published numbers and against other formulations of the same standards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.streams.analyses import checksums

digits = st.text("0123456789", min_size=2, max_size=24)

#: Numbers from the issuers' own documents, and specimens.
PUBLISHED: tuple[tuple[Callable[[str], bool], str], ...] = (
    (checksums.luhn, "4111111111111111"),
    (checksums.luhn, "378282246310005"),
    (checksums.mod_97, "GB29NWBK60161331926819"),
    (checksums.mod_97, "DE89370400440532013000"),
    (checksums.mod_97, "NO9386011117947"),
    (checksums.verhoeff, "234123412346"),
    (checksums.cn_resident_id, "11010519491231002X"),
    (checksums.es_dni, "12345678Z"),
    (checksums.es_dni, "X1234567L"),
    (checksums.it_tax_code, "RSSMRA85T10A562S"),
    (checksums.fr_social_number, "295109912611193"),
    (checksums.nl_citizen_number, "111222333"),
    (checksums.uk_health_number, "9434765919"),
    (checksums.pl_pesel, "44051401359"),
    (checksums.se_personal_number, "8112289874"),
    (checksums.za_identity_number, "8001015009087"),
    (checksums.fi_personal_code, "131052-308T"),
    (checksums.be_national_number, "85073003328"),
    (checksums.br_cpf, "39053344705"),
    (checksums.sg_nric, "S1234567D"),
    (checksums.de_tax_number, "36574261809"),
    (checksums.machine_readable_passport, "L898902C36UTO7408122F1204159ZE184226B<<<<<10"),
)


@pytest.mark.parametrize(("check", "number"), PUBLISHED)
def test_a_published_number_is_right(check: Callable[[str], bool], number: str) -> None:
    assert check(number)


@pytest.mark.parametrize(("check", "number"), PUBLISHED)
def test_one_other_last_character_is_wrong(check: Callable[[str], bool], number: str) -> None:
    last = number[-1]
    is_letter = last.isalpha() and check is not checksums.cn_resident_id
    others = "ABCDEFGHJKLMNPQRSTVWXYZ" if is_letter else "0123456789"
    wrong = [other for other in others if other != last and check(number[:-1] + other)]
    assert wrong == []


@given(digits)
def test_luhn_is_a_sum_of_doubled_digits(number: str) -> None:
    doubled = "0246813579"
    total = sum(
        int(doubled[int(sign)] if (len(number) - place) % 2 == 0 else sign)
        for place, sign in enumerate(number)
    )
    assert checksums.luhn(number) == (total % 10 == 0)


@given(st.from_regex(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", fullmatch=True))
def test_an_iban_is_one_modulo_97(code: str) -> None:
    moved = code[4:] + code[:4]
    number = "".join(str("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(sign)) for sign in moved)
    assert checksums.mod_97(code) == (int(number) % 97 == 1)


def _product(one: int, other: int) -> int:
    """Multiply in the symmetries of a pentagon: 0 to 4 are rotations, 5 to 9 reflections."""
    turn = one % 5 + (other % 5 if one < 5 else -(other % 5))
    return turn % 5 + (5 if (one < 5) != (other < 5) else 0)


@given(st.text("0123456789", min_size=12, max_size=12))
def test_verhoeff_multiplies_symmetries_of_a_pentagon(number: str) -> None:
    permutation = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)
    check = 0
    for place, sign in enumerate(reversed(number)):
        value = int(sign)
        for _ in range(place % 8):
            value = permutation[value]
        check = _product(check, value)
    assert checksums.verhoeff(number) == (check == 0)


@given(st.text("0123456789", min_size=17, max_size=17), st.sampled_from("0123456789X"))
def test_mod_11_2_sums_powers_of_two(number: str, last: str) -> None:
    values = [*map(int, number), 10 if last == "X" else int(last)]
    total = sum(value * 2 ** (17 - place) for place, value in enumerate(values))
    assert checksums.mod_11_2(number + last) == (total % 11 == 1)


@given(st.text("0123456789", min_size=10, max_size=10))
def test_mod_11_10_has_one_check_digit_per_number(number: str) -> None:
    right = [digit for digit in "0123456789" if checksums.mod_11_10(number + digit)]
    assert len(right) == 1


@pytest.mark.parametrize(
    "number", ["000123456", "666123456", "900123456", "123004567", "123450000"]
)
def test_an_impossible_social_security_number_is_wrong(number: str) -> None:
    assert not checksums.us_ssn(number)


@pytest.mark.parametrize("number", ["11010519490231002X", "110105194913310022"])
def test_an_identity_number_needs_a_day_that_exists(number: str) -> None:
    assert not checksums.cn_resident_id(number)
