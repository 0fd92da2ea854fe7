import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.languages import language


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ok", "en"),
        ("I planted basil on the balcony.", "en"),
        ("好", "zh"),
        ("我的猫叫豆豆,喜欢晒太阳", "zh"),
        ("把 config 里的 timeout 改成 30s", "zh"),
        ("Betty 说 OK", "zh"),
        ("Grace 和 Tom 负责 Kubernetes 的部署", "zh"),
        ("My cat is called 豆豆", "en"),
        ("We met 小林 at the station yesterday", "en"),
        ("私の猫", "ja"),
        ("東京に行きたいです", "ja"),
        ("고양이를 키워요", "ko"),
        ("ฉันชอบแมว", "th"),
        ("أحب القهوة", "ar"),
        ("من گربه دارم", "fa"),
        ("Я люблю чай", "ru"),
        ("Я люблю чай і їжу", "uk"),
        ("אני אוהב תה", "he"),
        ("Ich habe eine Katze und einen Hund", "de"),
        ("J'ai un chat et je suis content", "fr"),
        ("Me gusta el té y no el café", "es"),
        ("Tôi thích cà phê sữa đá", "vi"),
        ("`print(1)` 好用", "zh"),
        ("42", "und"),
        ("", "und"),
        ("👍", "und"),
        ("https://example.org/path", "und"),
    ],
)
def test_a_text_gets_its_language(text: str, expected: str) -> None:
    assert language(text) == expected


def test_one_kana_sign_does_not_make_a_chinese_text_japanese() -> None:
    assert language("这家店叫鲜の味道，我们上周去吃过一次，味道很好") == "zh"


@given(st.text())
def test_any_text_gets_a_short_lower_case_code(text: str) -> None:
    code = language(text)

    assert code.islower()
    assert len(code) in (2, 3)


@pytest.mark.parametrize("piece", ["好", "x", "x ", "`", "a@", "http://"])
def test_two_hundred_thousand_characters_take_no_more_than_seconds(piece: str) -> None:
    text = piece * (200_000 // len(piece))

    started = time.process_time()
    language(text)

    assert time.process_time() - started < 5
