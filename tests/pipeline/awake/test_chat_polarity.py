"""Statements that turn what was said into its opposite, and such as only say it otherwise."""

import pytest
from told_otherwise import CHINESE, ENGLISH

from pipeline.awake.chat_polarity import turned

ENGLISH_TURNED = (
    ("I do not eat meat.", "Mara eats meat."),
    ("I don't smoke.", "Mara smokes."),
    ("I can't swim.", "Mara can swim."),
    ("I stopped eating meat.", "Mara eats meat."),
    ("I no longer work at the bank.", "Mara works at the bank."),
    ("I have never been fishing.", "Mara has been fishing."),
    ("I like tea.", "Mara does not like tea."),
    ("I moved to Oslo in spring.", "Mara did not move to Oslo."),
    ("I work at the bank.", "Mara no longer works at the bank."),
    ("I sold my boat.", "Mara bought a boat."),
    ("I love my dog.", "Mara hates her dog."),
    ("My brother won the race.", "Mara's brother lost the race."),
    ("We are not married.", "Mara is married."),
    ("I take my coffee without sugar.", "Mara takes her coffee with sugar."),
)
CHINESE_TURNED = (
    ("我喜欢喝茶。", "Mara不喜欢喝茶。"),
    ("我不喜欢喝茶。", "Mara喜欢喝茶。"),
    ("我从来不吃肉。", "Mara吃肉。"),
    ("我上个月戒烟了。", "Mara抽烟。"),
    ("我没有猫。", "Mara养了猫。"),
    ("我没有猫。", "Mara有猫。"),
    ("他没去上海，去了北京。", "他去了上海。"),
    ("我再也不跑步了。", "Mara跑步。"),
    ("我每周都来这家店。", "Mara不来这家店。"),
    ("我爱上了爬山。", "Mara没有爱上爬山。"),
    ("我会做饭。", "Mara不会做饭。"),
    ("我住杭州。", "Mara不住在杭州。"),
    ("我讨厌香菜。", "Mara喜欢香菜。"),
    ("我在医院当护士。", "Mara不在医院当护士。"),
    ("我妹妹下个月结婚。", "Mara的妹妹下个月离婚。"),
    ("我每天早上跑步。", "Mara从不跑步。"),
    ("我打算学西班牙语。", "Mara不打算学西班牙语。"),
    ("我不会游泳。", "Mara会游泳。"),
    ("昨天我没吃早饭。", "Mara昨天吃了早饭。"),
    ("我把车卖了。", "Mara买了车。"),
    ("我妈妈不让我养狗。", "Mara的妈妈让她养狗。"),
    ("我爱吃鱼，不爱吃虾。", "Mara不爱吃鱼。"),
    ("我爱吃鱼，不爱吃虾。", "Mara爱吃虾。"),
    ("咖啡我不加糖。", "Mara的咖啡加糖。"),
    ("我停止订阅那本杂志。", "Mara订阅那本杂志。"),
    ("公司不在上海，在苏州。", "Mara的公司不在苏州。"),
    ("我没见到王芳。", "Mara见到了王芳。"),
    ("我戒酒三年了。", "Mara喝酒。"),
    ("我拒绝加班。", "Mara愿意加班。"),
    ("我结婚了。", "Mara还没结婚。"),
)


def is_turned(spoken: str, told: str, *before: str) -> bool:
    return turned(told, [spoken], before=before, names=("Mara",))


@pytest.mark.parametrize(("spoken", "told"), ENGLISH + CHINESE)
def test_what_says_the_same_is_not_turned(spoken: str, told: str) -> None:
    assert not is_turned(spoken, told)


@pytest.mark.parametrize(("spoken", "told"), ENGLISH_TURNED + CHINESE_TURNED)
def test_a_negation_that_is_lost_or_made_and_an_opposite_turn_a_statement(
    spoken: str, told: str
) -> None:
    assert is_turned(spoken, told)


def test_a_short_answer_denies_what_the_question_before_it_asked() -> None:
    assert not is_turned("No, sadly.", "Mara does not eat meat.", "Do you eat meat?")
    assert not is_turned("没有。", "Mara没有养猫。", "你养猫吗？")


def test_the_opposite_of_what_was_denied_is_not_turned() -> None:
    assert not is_turned("I did not sell my boat.", "Mara bought a boat.")


def test_what_is_affirmed_elsewhere_is_not_lost() -> None:
    spoken = "I didn't like tea at first. Now I like tea a lot."

    assert not is_turned(spoken, "Mara likes tea.")
