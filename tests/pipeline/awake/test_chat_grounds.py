"""Statements whose words come from what was said, and such as were made up."""

import pytest

from pipeline.awake.chat_grounds import content_words, is_grounded

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
    (
        "Lost my job as a banker yesterday, so I'm gonna start my own business.",
        "Mara lost her job as a banker and is starting her own business.",
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


@pytest.mark.parametrize(("spoken", "told"), ENGLISH + CHINESE)
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
