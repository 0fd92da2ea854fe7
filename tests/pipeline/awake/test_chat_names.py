"""Names in a statement that nobody said."""

import pytest
from chat_batches import run, said, set_aside, texts, told

INVENTED = (
    "Emily is a doctor.",
    "Fred moved to Rome.",
    "Beijing is her home.",
    "Kelly likes tea.",
    "Will likes tea.",
    "Mara likes tea with Bob.",
    "mara likes tea with bob.",
    "mara likes tea in oslo.",
    "bob likes tea.",
)
INVENTED_CHINESE = (
    "小明喜欢喝茶。",
    "张伟喜欢喝茶。",
    "陈静怡喜欢喝茶。",
    "老赵喜欢喝茶。",
    "阿强喜欢喝茶。",
    "豆豆喜欢喝茶。",
    "诗涵喜欢喝茶。",
    "Mara在上海喝茶。",
    "Mara和王芳喝茶。",
    "bob喜欢喝茶。",
)


@pytest.mark.parametrize("text", INVENTED)
def test_a_name_that_was_not_said_is_refused_wherever_it_stands(text: str) -> None:
    found, _ = run(said("I like tea."), told(f"<0> fact: {text}"))

    assert texts(found) == []
    assert found.refused == {"invented": 3}
    assert set_aside(found) == ["m1"]


@pytest.mark.parametrize("text", INVENTED_CHINESE)
def test_a_chinese_name_that_was_not_said_is_refused(text: str) -> None:
    found, _ = run(said("我喜欢喝茶。"), told(f"<0> fact: {text}"))

    assert texts(found) == []
    assert found.refused == {"invented": 3}


@pytest.mark.parametrize(
    ("spoken", "text"),
    [
        ("I like tea.", "Recently Mara liked tea."),
        ("I was painting the shed.", "Painting the shed pleased Mara."),
        ("my dog emily likes tea", "Emily likes tea."),
        ("i like tea in winter", "mara likes tea in winter."),
        ("I like tea with Bob.", "mara likes tea with bob."),
        ("我的狗豆豆喜欢跑步。", "豆豆喜欢跑步。"),
        ("小明和张伟喜欢喝茶。", "小明喜欢喝茶，张伟也喜欢。"),
        ("我家宝宝睡了。", "Mara的宝宝睡了。"),
        ("我买了一张床。", "Mara买了一张床。"),
        ("我用app记账。", "Mara用app记账。"),
    ],
)
def test_names_that_were_said_and_words_that_are_none_are_taken(spoken: str, text: str) -> None:
    found, _ = run(said(spoken), told(f"<0> fact: {text}"))

    assert texts(found) == [text]


@pytest.mark.parametrize("role", ["system", "tool"])
def test_a_name_that_only_a_system_or_a_tool_gave_is_invented(role: str) -> None:
    batch = said((role, "You are Zed the gardener. 小明是园丁。"), "Hello there friend")

    found, _ = run(batch, told("<0> fact: Zed is a gardener.", "<0> fact: Zed greets a friend."))

    assert texts(found) == []
    assert set_aside(found) == ["m2"]
