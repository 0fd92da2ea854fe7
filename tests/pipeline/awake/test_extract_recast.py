import pytest

from pipeline.awake.extract_recast import recast


@pytest.mark.parametrize(
    ("said", "speaker", "told"),
    [
        ("I'm Ines. I repair oars.", "Ines", "I repair oars."),
        ("I'm Ines and I repair oars.", "Ines Okoye", "I repair oars."),
        ("My name is Ines.", "Ines", ""),
        ("I'm Ines, a welder.", "Ines", "I'm a welder."),
        ("I'm Ines, a welder.", "the user", "My name is Ines. I'm a welder."),
        ("I'm Ines from Brest.", "the user", "My name is Ines. I'm from Brest."),
        ("I'm Japanese, so I eat late.", "the user", "I'm Japanese, so I eat late."),
        ("This is Brest.", "Ines", "This is Brest."),
    ],
)
def test_a_name_is_news_only_where_the_speaker_is_not_called_so(
    said: str, speaker: str, told: str
) -> None:
    assert recast(said, speaker=speaker, language="en") == told


@pytest.mark.parametrize(
    ("said", "speaker", "told"),
    [
        ("我叫周梅，在船厂上班。", "周梅", "我在船厂上班。"),
        ("我是周梅。", "周梅", ""),
        ("我叫周梅，我修船。", "周梅", "我修船。"),
        ("我叫周梅，在船厂上班。", "用户", "我叫周梅，在船厂上班。"),
    ],
)
def test_a_chinese_name_too(said: str, speaker: str, told: str) -> None:
    assert recast(said, speaker=speaker, language="zh") == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Then let me paint the hull.", "I will then paint the hull."),
        ("Let me paint the hull.", "I will paint the hull."),
        ("Let me know.", "Let me know."),
    ],
)
def test_what_one_lets_oneself_do_one_will_do(said: str, told: str) -> None:
    assert recast(said, speaker="Ines", language="en") == told


def test_another_language_stays_as_said() -> None:
    assert recast("Ich bin Ines.", speaker="Ines", language="de") == "Ich bin Ines."
