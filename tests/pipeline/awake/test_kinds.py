import pytest

from pipeline.awake.kinds import is_unsure, kind_of
from pipeline.entries import Kind


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("From now on answer in French.", Kind.INSTRUCTION),
        ("以后请用表格回答。", Kind.INSTRUCTION),
        ("I need to renew my passport.", Kind.TASK),
        ("提醒我周五交房租。", Kind.TASK),
        ("I really love rye bread.", Kind.PREFERENCE),
        ("我最喜欢乌龙茶。", Kind.PREFERENCE),
        ("I think the harbour is too loud.", Kind.OPINION),
        ("我觉得这家店太吵了。", Kind.OPINION),
        ("My sister is called Ines.", Kind.RELATION),
        ("我女儿叫小禾。", Kind.RELATION),
        ("I sold the boat yesterday.", Kind.EVENT),
        ("昨天我去了宁波。", Kind.EVENT),
        ("The kettle holds two litres.", Kind.FACT),
        ("水壶能装两升水。", Kind.FACT),
    ],
)
def test_the_kind_follows_the_words(said: str, kind: Kind) -> None:
    assert kind_of(said) is kind


@pytest.mark.parametrize("said", ["Maybe I'll move.", "I think it is in May.", "他可能会来。"])
def test_an_unsure_speaker_is_recognised(said: str) -> None:
    assert is_unsure(said)


@pytest.mark.parametrize("said", ["I moved in May.", "他来了。"])
def test_a_sure_speaker_is_not_doubted(said: str) -> None:
    assert not is_unsure(said)
