import pytest

from pipeline.awake.extract_content import has_content


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("A canoe!", "I bought a canoe."),
        ("Good to know.", "I row on Mondays."),
        ("My memory is at your service.", "Please keep it secret."),
        ("Noted: Ivo, 12 May.", "Ivo was born on 12 May."),
        ("I'll keep it in your file: call Ines.", "I must make that call."),
        ("You are doing great, keep going!", "I rowed five times."),
        ("记住了，豆豆五岁。", "我的猫豆豆五岁。"),
        ("那太好了，继续加油。", "我学会划船了。"),
        ("我会多留意的。", "别忘了缆绳。"),
    ],
)
def test_an_echo_praise_or_promise_has_no_content(text: str, before: str) -> None:
    assert not has_content(text, before=before, is_answer=False)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("That makes 240 euros.", "A rope costs 80, I need some."),
        ("The next ferry goes to Brest.", "I missed the ferry."),
        ("Wooden hulls swell after winter storage, so caulking waits.", "The hull leaks."),
        ("You should varnish oars twice.", "My oars are new."),
        ("一共是240元。", "缆绳每根80元。"),
        ("木船冬天容易开裂，春天先上桐油。", "我买了船。"),
        ("建议先检查缆绳。", "我要出海。"),
    ],
)
def test_a_new_name_number_or_several_new_words_are_content(text: str, before: str) -> None:
    assert has_content(text, before=before, is_answer=False)


def test_an_answer_may_repeat_the_words_of_its_question() -> None:
    assert has_content("The red canoe.", before="The red canoe or the kayak?", is_answer=True)
    assert has_content("红色皮艇更轻。", before="红色皮艇和木船哪个轻？", is_answer=True)
    assert not has_content("Sure!", before="Which canoe?", is_answer=True)
