"""Images enter by captions: given ones stay as they are, others are asked for."""

from dataclasses import replace

import pytest

from pipeline.awake.captions import (
    CAPTION_CHARS,
    caption_of,
    caption_request,
    check_images,
    with_captions,
)
from pipeline.awake.normalise import RawImage, RawMessage
from pipeline.chat import ChatPurpose, ChatReply
from pipeline.errors import InputError, MalformedReply
from pipeline.messages import TenantId

MESSAGE = RawMessage(
    index=3,
    role="user",
    content="Look at her!",
    images=(RawImage(url="https://example.org/cat.png"),),
)


def said(text: str) -> ChatReply:
    return ChatReply(text=text, model="m", tokens_in=1, tokens_out=1)


def test_captions_stand_behind_the_words_in_the_order_of_the_images() -> None:
    captioned = with_captions(MESSAGE, ["a grey cat", "一只猫"])

    assert captioned.content == "Look at her! [image: a grey cat] [image: 一只猫]"
    assert captioned.images == ()


def test_an_image_without_words_is_its_caption() -> None:
    assert with_captions(replace(MESSAGE, content=""), ["x"]).content == "[image: x]"


@pytest.mark.parametrize(("content", "word"), [("Look at her!", "sentence"), ("看看她！", "一句")])
def test_a_caption_is_asked_for_in_the_language_of_the_message(content: str, word: str) -> None:
    request = caption_request(
        replace(MESSAGE, content=content), "https://example.org/cat.png", tenant=TenantId("t")
    )

    assert word in request.system
    assert not request.system.startswith("version")
    assert (request.user, request.images) == (content, ("https://example.org/cat.png",))
    assert (request.purpose, request.temperature) == (ChatPurpose.CAPTION, 0.0)


def test_a_caption_is_one_line_of_valid_text_and_closes_no_bracket() -> None:
    assert caption_of(said(" a [grey]\n cat\ud83d\0 ")) == "a (grey) cat"
    assert len(caption_of(said("猫" * 10_000))) == CAPTION_CHARS


@pytest.mark.parametrize("text", ["", " \n", "\ud83d"])
def test_a_reply_that_says_nothing_is_no_caption(text: str) -> None:
    with pytest.raises(MalformedReply):
        caption_of(said(text))


@pytest.mark.parametrize("url", ["http://10.0.0.1/x", "file:///etc/passwd", "data:text/html,x"])
def test_only_addresses_of_images_are_sent_on(url: str) -> None:
    with pytest.raises(InputError) as refused:
        check_images(replace(MESSAGE, images=(RawImage(url=url),)))

    assert refused.value.field == "messages[3].images[0].url"


def test_the_address_of_an_image_with_a_caption_goes_nowhere_and_may_be_any() -> None:
    check_images(replace(MESSAGE, images=(RawImage(url="attachment-7", caption="a cat"),)))
