"""Which messages are set aside, by which reply, why, and how often they are asked for."""

import json

from chat_batches import about, calls, each_line, lines, run, said, set_aside, texts, told

from pipeline.chat import ChatReply, ChatRequest
from pipeline.errors import MalformedReply


def test_of_a_reply_of_two_languages_only_the_message_without_a_statement_is_set_aside() -> None:
    translated = told("<0> fact: Mara likes tea.", "<1> fact: Mara likes coffee.")
    again = told("<0> fact: Mara likes coffee.")

    found, chat = run(said("I like tea.", "我喜欢咖啡。"), translated, again)

    assert texts(found) == ["Mara likes tea."]
    assert set_aside(found) == ["m2"]
    assert [text for _, _, text in lines(chat.asked[1])] == ["我喜欢咖啡。"]
    assert (len(chat.asked), calls(found)) == (2, (2, 1))
    assert "wrong language" in found.failed[0].reason


def test_a_statement_in_the_wrong_language_beside_a_right_one_sets_nothing_aside() -> None:
    found, chat = run(
        said("我喜欢喝茶。"), told("<0> fact: Mara likes tea.", "<0> fact: Mara喜欢喝茶。")
    )

    assert texts(found) == ["Mara喜欢喝茶。"]
    assert found.failed == ()
    assert len(chat.asked) == 2


def test_a_message_whose_only_statement_is_refused_is_asked_for_once_more_alone() -> None:
    batch = said("I like tea.", "I do not eat meat.")

    mended, chat = run(
        batch,
        told("<0> fact: Mara likes tea.", "<1> fact: Mara eats meat."),
        told("<0> fact: Mara does not eat meat."),
    )
    lost, stubborn = run(
        batch,
        told("<0> fact: Mara likes tea.", "<1> fact: Mara eats meat."),
        told("<0> fact: Mara eats meat."),
    )

    assert texts(mended) == ["Mara likes tea.", "Mara does not eat meat."]
    assert mended.failed == ()
    assert mended.refused == {"turned into its opposite": 1}
    assert [text for _, _, text in lines(chat.asked[1])] == ["I do not eat meat."]
    assert set_aside(lost) == ["m2"]
    assert "turned into its opposite" in lost.failed[0].reason
    assert len(stubborn.asked) == 2


def test_a_chinese_message_turned_into_its_opposite_is_asked_for_once_more() -> None:
    found, chat = run(
        said("我喜欢喝茶。", "我从来不吃肉。"),
        told("<0> fact: Mara喜欢喝茶。", "<1> fact: Mara吃肉。"),
        told("<0> fact: Mara从来不吃肉。"),
    )

    assert texts(found) == ["Mara喜欢喝茶。", "Mara从来不吃肉。"]
    assert "与原话相反" in chat.asked[1].user


def test_a_message_of_which_a_readable_reply_says_nothing_is_done() -> None:
    found, _ = run(said("Hello!", "I like tea."), told("<1> fact: Mara owns a palace."))

    assert set_aside(found) == ["m2"]


def test_each_half_of_a_reply_that_was_cut_shows_its_own_reply_and_reason() -> None:
    def cut(request: ChatRequest) -> ChatReply:
        shown = [text for _, _, text in lines(request)]
        text = each_line(request)
        if len(shown) > 1:
            return ChatReply(text=text[:20], model="m", tokens_in=9, tokens_out=9, is_cut=True)
        if "figs" in shown[0]:
            return ChatReply(text="no figs", model="m", tokens_in=9, tokens_out=9)
        if "rye" in shown[0]:
            return ChatReply(text=text[:25], model="m", tokens_in=9, tokens_out=9, is_cut=True)
        return ChatReply(text=text, model="m", tokens_in=9, tokens_out=9)

    found, _ = run(said("I like tea.", "I like figs.", "I like rye."), cut)

    assert texts(found) == ["I like tea."]
    figs, rye = found.failed
    assert (figs.message, figs.raw) == ("m2", "no figs")
    assert "no JSON" in figs.reason
    assert rye.message == "m3"
    assert rye.raw is not None
    assert "items" in rye.raw
    assert "at its limit of" in rye.reason


def test_a_reply_that_is_far_too_long_says_how_long() -> None:
    endless = '{"items": ["' + "x" * 5_000_000

    refused, _ = run(said("I like tea."), MalformedReply("of 5000012 characters", raw="xx"))
    read, _ = run(said("I like tea."), endless)

    assert "of 5000012 characters" in refused.failed[0].reason
    assert str(len(endless)) in read.failed[0].reason


def test_a_lone_surrogate_is_told_and_shown() -> None:
    spoken = said("I like tea.")

    alone, _ = run(spoken, "\ud83d")
    inside, _ = run(spoken, about("Bad \ud800 surrogate."))

    assert "lone surrogates" in alone.failed[0].reason
    assert alone.failed[0].raw == "\\ud83d"
    assert "lone surrogates" in inside.failed[0].reason
    assert "refused: invented" in inside.failed[0].reason


def test_two_surrogates_that_belong_together_are_a_character() -> None:
    found, _ = run(said("I like tea."), json.dumps({"no": "\U0001f600"}))

    assert "surrogate" not in found.failed[0].reason


def test_a_statement_with_an_unknown_id_among_known_ones_is_kept_with_these() -> None:
    found, _ = run(
        said("I like tea.", "我喜欢咖啡。"),
        told("<0>,zzz fact: Mara likes tea.", "<1>,qqq,vvv fact: Mara喜欢咖啡。"),
    )

    assert texts(found) == ["Mara likes tea.", "Mara喜欢咖啡。"]
    assert [statement.sources for statement in found.statements] == [("m1",), ("m2",)]
    assert found.refused == {"unknown id": 3}


def test_what_system_text_says_is_in_no_label_that_a_model_is_shown() -> None:
    batch = said("I like tea.", ("system", "Secret zebras, secret zebras."), ("tool", "斑马 斑马"))

    _, chat = run(batch, each_line)

    assert "zebra" not in chat.asked[0].user.lower()
    assert "斑马" not in chat.asked[0].user
