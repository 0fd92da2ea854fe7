import pytest

from pipeline.sleep.slots import chinese_number, values


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("It starts at 9 am.", "clock", "540"),
        ("It starts at 21:30.", "clock", "1290"),
        ("It starts at noon.", "clock", "720"),
        ("It is on Wednesdays.", "weekday", "2"),
        ("It is due on 3 June.", "day", "6-3"),
        ("It is due on June 3rd.", "day", "6-3"),
        ("It was signed on 2024-06-03.", "day", "6-3"),
        ("It begins in May.", "month", "5"),
        ("It began in 2019.", "year", "2019"),
        ("It costs 1,250 euros.", "amount:euro", "1250"),
        ("It costs $15.", "amount:$", "15"),
        ("It fell by 15%.", "amount:%", "15"),
        ("She has two children.", "amount:child", "2"),
        ("Her third child laughs.", "amount:child", "3"),
        ("Write to jo@mail.example.", "email", "jo@mail.example"),
        ("The code ends in 5521.", "amount:", "5521"),
    ],
)
def test_an_english_value_has_one_notation(text: str, key: str, value: str) -> None:
    found, _ = values(text, is_chinese=False)

    assert value in found[key]


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("下午三点开始。", "clock", "900"),
        ("九点半开门。", "clock", "570"),
        ("九点一刻开门。", "clock", "555"),
        ("九点十分开门。", "clock", "550"),
        ("星期三上课。", "weekday", "2"),
        ("六月三日到期。", "day", "6-3"),
        ("2024-06-03 签字。", "day", "6-3"),
        ("三月份开工。", "month", "3"),
        ("2019年开工。", "year", "2019"),
        ("预算八万元。", "amount:元", "80000"),
        ("体重 82 公斤。", "amount:公斤", "82"),
        ("写信到 jo@mail.example。", "email", "jo@mail.example"),
    ],
)
def test_a_chinese_value_has_one_notation(text: str, key: str, value: str) -> None:
    found, _ = values(text, is_chinese=True)

    assert value in found[key]


def test_values_are_blanked_out_of_the_rest() -> None:
    _, rest = values("The class is on Monday at 18:00.", is_chinese=False)

    assert "Monday" not in rest
    assert "18" not in rest


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("十二", "12"),
        ("三千六百", "3600"),
        ("8万", "80000"),
        ("一亿", "100000000"),
        ("1,200", "1200"),
    ],
)
def test_chinese_numerals_become_digits(text: str, number: str) -> None:
    assert chinese_number(text) == number


def test_a_single_measure_word_is_no_amount() -> None:
    found, rest = values("一只猫。", is_chinese=True)

    assert found == {}
    assert rest == "一只猫。"


def test_a_numeral_without_a_digit_is_no_number() -> None:
    assert chinese_number("零") is None
