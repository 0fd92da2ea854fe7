"""Statements that turn what was said into its opposite, and such as only say it otherwise."""

import pytest

from pipeline.awake.chat_polarity import turned

ENGLISH = (
    ("I do not eat meat.", "Mara does not eat meat."),
    ("I don't eat meat.", "Mara never eats meat."),
    ("I stopped eating meat.", "Mara no longer eats meat."),
    ("I hate mushrooms.", "Mara does not like mushrooms."),
    ("I can't wait to see Rome!", "Mara looks forward to seeing Rome."),
    ("I not only sing, I also play the harp.", "Mara sings and plays the harp."),
    ("I couldn't have finished the race without Tom.", "Mara finished the race with Tom's help."),
    ("I haven't tried surfing yet, but I want to.", "Mara wants to try surfing."),
    ("I never thought I would love pottery.", "Mara loves pottery."),
    ("Don't you love the sea? I do.", "Mara loves the sea."),
    ("I used to smoke.", "Mara does not smoke any more."),
    ("I don't like tea, but coffee is nice.", "Mara likes coffee."),
    ("I eat no meat, only fish.", "Mara eats fish."),
    ("I failed the driving test.", "Mara did not pass the driving test."),
    ("I am allergic to nuts.", "Mara cannot eat nuts."),
    ("I sold my boat and bought a bike.", "Mara bought a bike."),
    ("I'm not married yet, we are taking it slow.", "Mara is not married yet."),
)
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
CHINESE = (
    ("我不喜欢喝茶。", "Mara不喜欢喝茶。"),
    ("我从来不吃肉。", "Mara从来不吃肉。"),
    ("我从来不吃肉。", "Mara不吃肉。"),
    ("我上个月戒烟了。", "Mara戒烟了。"),
    ("我把咖啡戒掉了。", "Mara不再喝咖啡。"),
    ("我没有猫。", "Mara没有养猫。"),
    ("他没去上海，去了北京。", "他去了北京，没去上海。"),
    ("我再也不跑步了，膝盖疼。", "Mara因为膝盖疼不再跑步。"),
    ("我忍不住买了一条新裙子。", "Mara买了一条新裙子。"),
    ("我不得不加班到很晚。", "Mara加班到很晚。"),
    ("这家店真不错，我每周都来。", "Mara每周都来这家店，觉得不错。"),
    ("没想到我会爱上爬山！", "Mara爱上了爬山。"),
    ("我不仅会做饭，还会烤面包。", "Mara会做饭，也会烤面包。"),
    ("你是不是住在杭州？对，我住杭州。", "Mara住在杭州。"),
    ("我对花生过敏。", "Mara不能吃花生，会过敏。"),
    ("我讨厌香菜。", "Mara不喜欢香菜。"),
    ("我在一家医院当护士，经常上夜班。", "Mara是护士，在医院工作，经常上夜班。"),
    ("我妹妹下个月结婚。", "Mara的妹妹下个月结婚。"),
    ("我家的狗叫豆豆，三岁了。", "Mara有一只三岁的狗，名叫豆豆。"),
    ("我每天早上六点起床跑步。", "Mara每天早上六点起床跑步。"),
    ("我打算明年学西班牙语。", "Mara计划明年学习西班牙语。"),
    ("房租太贵了，我想搬家。", "Mara因为房租太贵想搬家。"),
    ("我还没结婚呢。", "Mara未婚。"),
    ("我还没结婚呢。", "Mara还没有结婚。"),
    ("周末我们全家去爬山，孩子们玩得很开心。", "Mara周末和全家去爬山，孩子们很开心。"),
    ("我不会游泳，但是想学。", "Mara想学游泳。"),
    ("我不会游泳，但是想学。", "Mara不会游泳。"),
    ("昨天我没吃早饭，头晕。", "Mara昨天没吃早饭，感到头晕。"),
    ("我以前抽烟，现在不抽了。", "Mara以前抽烟。"),
    ("我以前抽烟，现在不抽了。", "Mara现在不抽烟。"),
    ("我把车卖了，买了自行车。", "Mara卖了车，买了自行车。"),
    ("老师拒绝了我的请求。", "老师没有答应Mara的请求。"),
    ("我妈妈不让我养狗。", "Mara的妈妈不让她养狗。"),
    ("请别给我打电话，发邮件就好。", "Mara希望用邮件联系，不要打电话。"),
    ("我无法吃辣，胃不好。", "Mara胃不好，不能吃辣。"),
    ("我很久没见到王芳了。", "Mara很久没有见到王芳。"),
    ("我睡不着，喝了热牛奶。", "Mara睡不着，喝了热牛奶。"),
    ("公司不在上海，在苏州。", "Mara的公司在苏州，不在上海。"),
    ("我爱吃鱼，不爱吃虾。", "Mara爱吃鱼。"),
    ("我爱吃鱼，不爱吃虾。", "Mara不喜欢吃虾。"),
    ("咖啡我不加糖。", "Mara喝咖啡不加糖。"),
    ("我停止了订阅那本杂志。", "Mara取消了那本杂志的订阅。"),
    ("我不止去过一次日本。", "Mara去过日本不止一次。"),
    ("别忘了给阿黄喂饭。", "Mara提醒给阿黄喂饭。"),
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
