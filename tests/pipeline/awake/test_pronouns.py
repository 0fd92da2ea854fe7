import pytest

from pipeline.awake.pronouns import Voices, retold

MARA = Voices(speaker="Mara", addressee="Ivo")
USER = Voices(speaker="the user", addressee="the assistant")
MEI = Voices(speaker="周梅", addressee="林涛")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'm moving to my aunt's place.", "Mara is moving to Mara's aunt's place."),
        ("I like rye bread and hate olives.", "Mara likes rye bread and hates olives."),
        ("I want to live and work there.", "Mara wants to live and work there."),
        ("I've heard of it but haven't tried.", "Mara has heard of it but hasn't tried."),
        ("I don't carry cash.", "Mara doesn't carry cash."),
        ("I also try to rest.", "Mara also tries to rest."),
        ("I went home and I need sleep.", "Mara went home and Mara needs sleep."),
        ("I'd better go; I'd love to stay.", "Mara had better go; Mara would love to stay."),
        ("Should I go? Do I have to?", "Should Mara go? Does Mara have to?"),
        ("My brother and I row.", "Mara's brother and Mara row."),
        ("I taught myself chess.", "Mara taught themself chess."),
        ("I live by myself.", "Mara lives alone."),
        ("We sold our boat, so we walk.", "Mara and others sold their boat, so they walk."),
        ("Since we spoke I quit.", "Since Mara and Ivo spoke Mara quit."),
        ("I want my own boat.", "Mara wants their own boat."),
        ("I sail on my own.", "Mara sails alone."),
        ("I sail on my own boat.", "Mara sails on their own boat."),
        ("Those around me gave me hope.", "Those around Mara gave Mara hope."),
        ("I bought me a hat.", "Mara bought themself a hat."),
        ("Ropes help me keep my boat dry.", "Ropes help Mara keep their boat dry."),
        ("This is my own boat.", "This is Mara's own boat."),
        ("I think I can.", "Mara thinks Mara can."),
        ("He gave me mine.", "He gave Mara Mara's."),
        ("They painted Henry I in red.", "They painted Henry I in red."),
    ],
)
def test_the_speaker_is_named_and_verbs_agree(said: str, told: str) -> None:
    assert retold(said, MARA, language="en") == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("You're right.", "Ivo is right."),
        ("I think you like it.", "Mara thinks Ivo likes it."),
        ("Do you want your keys?", "Does Ivo want Ivo's keys?"),
        ("I'll let you know.", "Mara will let Ivo know."),
    ],
)
def test_the_addressee_of_two_is_named(said: str, told: str) -> None:
    assert retold(said, MARA, language="en") == told


def test_a_you_that_means_anybody_stays() -> None:
    assert retold("Rowing makes you strong.", MARA, language="en") == "Rowing makes you strong."


def test_a_you_among_many_stays() -> None:
    many = Voices(speaker="Mara")

    assert retold("I know you.", many, language="en") == "Mara knows you."


def test_a_role_is_called_the_user() -> None:
    told = retold("I need you to fix my script.", USER, language="en")

    assert told == "The user needs the assistant to fix the user's script."


def test_quotations_and_code_keep_their_words() -> None:
    said = 'I wrote "I am late" and `my_list = I`.'

    assert retold(said, MARA, language="en") == 'Mara wrote "I am late" and `my_list = I`.'


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("我下周搬到我姐姐家。", "周梅下周搬到周梅姐姐家。"),
        ("我们公司在宁波。", "周梅所在的公司在宁波。"),
        ("我们去划船了，我们很累。", "周梅等人去划船了，他们很累。"),
        ("你觉得我该去吗？", "林涛觉得周梅该去吗？"),
        ("谢谢你，我的自我介绍写好了。", "谢谢你，周梅的自我介绍写好了。"),
        ("我觉得我胖了。", "周梅觉得自己胖了。"),
        ("我刚刚修了我的船。", "周梅刚刚修了自己的船。"),
        ("我会和我三个同学去。", "周梅会和自己三个同学去。"),
        ("我妈喜欢我的船。", "周梅妈喜欢周梅的船。"),
        ("我觉得老师喜欢我的船。", "周梅觉得老师喜欢周梅的船。"),
        ("我想请你修我的船。", "周梅想请林涛修周梅的船。"),
        ("他说“我不去”。", "他说“我不去”。"),
    ],
)
def test_chinese_pronouns_become_names(said: str, told: str) -> None:
    assert retold(said, MEI, language="zh") == told


def test_another_language_stays_as_said() -> None:
    assert retold("Ich mag Tee.", MARA, language="de") == "Ich mag Tee."
