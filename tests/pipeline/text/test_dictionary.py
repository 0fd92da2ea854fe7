import pytest

from pipeline.text.dictionary import chinese_words, known_words


@pytest.mark.parametrize(
    "run",
    [
        "",
        "年",
        "她的相机在厨房里",
        "北京大学生前来应聘",
        "南京市长江大桥欢迎您",
        "我们明天去上海虹桥火车站接王小明",
        "龘靐齉",
        "㐀北京々",
        "中国𠀀大学",
    ],
)
def test_a_run_is_cut_as_jieba_cuts_it_without_guessing(run: str) -> None:
    assert known_words(run) == list(chinese_words().cut(run, HMM=False))


def test_words_of_the_dictionary_are_found() -> None:
    assert known_words("南京市长江大桥") == ["南京市", "长江大桥"]
