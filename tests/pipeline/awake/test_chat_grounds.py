"""Statements whose words come from what was said, and such as were made up."""

import pytest
from told_otherwise import CHINESE, ENGLISH

from pipeline.awake.chat_grounds import content_words, is_grounded

CHINESE_INVENTED = (
    ("我喜欢喝茶。", "Mara在银行上班，经常出差。"),
    ("我每天早上跑步。", "Mara的弟弟正在读博士。"),
    ("今天天气很好。", "Mara买了一套新房子。"),
    ("我家的狗三岁了。", "Mara恨邻居的孩子。"),
    ("我想学游泳。", "Mara开了一家餐厅。"),
    ("我住杭州。", "Mara害怕坐飞机。"),
    ("我昨天买了苹果。", "Mara信仰佛教，从小吃素。"),
    ("我感冒了。", "Mara赢得了钢琴比赛。"),
    ("我喜欢喝茶。", "Mara的丈夫是警察。"),
    ("周末我们去爬山。", "Mara欠银行很多钱。"),
    ("我喜欢喝茶，也喜欢咖啡。", "Mara对花生过敏，讨厌医院。"),
    ("我喜欢画画。", "Mara的祖父是著名的医生。"),
    ("我每天坐地铁上班。", "Mara养了两条金鱼。"),
    ("我的手机丢了。", "Mara在郊区种葡萄。"),
    ("周五要交报告。", "Mara打算环游世界。"),
    ("我在学法语。", "Mara讨厌她的邻居。"),
    ("外面下雨了。", "Mara欠朋友很多钱。"),
)
SHORTENED = (
    (
        "Got laid off as a cook last week, so I'm gonna open my own bakery.",
        "Mara was laid off as a cook and is opening her own bakery.",
    ),
    (
        "We took the kids to the lake, they loved feeding the ducks.",
        "Mara's children enjoyed feeding ducks at the lake.",
    ),
)
ENGLISH_INVENTED = (
    ("I sold my boat.", "Mara bought a boat and hates her mother."),
    ("I bought a bike.", "Mara bought a boat and hates her mother."),
    ("I like tea.", "Mara works as a dentist and owes the bank money."),
    ("Hello there my friend.", "Mara lives in oslo with bob."),
    ("I bought a bike.", "Mara bought a bike, and her grandfather collects rare stamps."),
    ("The weather is lovely.", "Mara is a doctor."),
)


def grounded(spoken: str, told: str, *before: str) -> bool:
    return is_grounded(told, [spoken], before=before, speakers=("Mara",))


@pytest.mark.parametrize(("spoken", "told"), ENGLISH + CHINESE + SHORTENED)
def test_what_was_said_in_other_words_is_grounded(spoken: str, told: str) -> None:
    assert grounded(spoken, told)


@pytest.mark.parametrize(("spoken", "told"), ENGLISH_INVENTED + CHINESE_INVENTED)
def test_what_has_too_few_words_of_what_was_said_is_not(spoken: str, told: str) -> None:
    assert not grounded(spoken, told)


def test_the_question_that_was_answered_gives_words_too() -> None:
    question, told = "Do you collect stamps?", "Mara collects stamps."

    assert not grounded("Yes!", told)
    assert grounded("Yes!", told, question)


def test_content_words_are_stems_and_characters_without_speakers_and_small_words() -> None:
    words = content_words("Mara was painting the old sheds 和喝茶", speakers=("Mara",))

    assert words == {"paint", "old", "shed", "喝", "茶"}
