import pytest

from pipeline.awake.extract_attributes import attributes
from pipeline.awake.extract_entities import entities


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("Mara lives in Brest with two cats.", "lives in", "Brest"),
        ("Mara has moved to Lyon because rents fell.", "lives in", "Lyon"),
        ("Mara works as a welder.", "works as", "a welder"),
        ("Mara works at Dock Nine.", "works at", "Dock Nine"),
        ("Mara's birthday is on 3 May.", "birthday", "3 May"),
        ("Mara's phone number is +33 555 0102.", "phone", "+33 555 0102"),
        ("Mara's favourite colour is green.", "favourite colour", "green"),
        ("Mara likes rye bread.", "likes", "rye bread"),
        ("Mara is allergic to walnuts.", "is allergic to", "walnuts"),
    ],
)
def test_plain_english_attributes_are_read(text: str, key: str, value: str) -> None:
    found = attributes(text, "Mara", language="en")

    assert found is not None
    assert (found.subject, found.key, found.value) == ("Mara", key, value)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("周梅现在住在宁波。", "住在", "宁波"),
        ("周梅在船厂上班。", "工作于", "船厂"),
        ("周梅是一名焊工。", "职业", "焊工"),
        ("周梅的生日是5月3日。", "生日", "5月3日"),
        ("周梅喜欢乌龙茶。", "喜欢", "乌龙茶"),
        ("周梅不喜欢香菜。", "不喜欢", "香菜"),
        ("周梅对核桃过敏。", "过敏", "核桃"),
    ],
)
def test_plain_chinese_attributes_are_read(text: str, key: str, value: str) -> None:
    found = attributes(text, "周梅", language="zh")

    assert found is not None
    assert (found.key, found.value) == (key, value)


@pytest.mark.parametrize(
    ("text", "language"),
    [("Mara's sister lives in Brest.", "en"), ("周梅的姐姐住在宁波。", "zh"), ("Tea.", "de")],
)
def test_what_is_said_of_others_is_not_the_speakers(text: str, language: str) -> None:
    subject = "Mara" if language == "en" else "周梅"

    assert attributes(text, subject, language=language) is None


def test_names_inside_a_sentence_are_entities() -> None:
    text = "When Mara met Ines Okoye in Brest, rain fell. Rain fell again."

    assert entities(text, known=frozenset({"Mara"})) == ("Mara", "Ines Okoye", "Brest")


def test_chinese_places_and_latin_names_are_entities() -> None:
    assert entities("周梅去北京见Alex。", known=frozenset({"Alex"})) == ("Alex", "北京")
