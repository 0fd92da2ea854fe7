"""Images of messages on their way in: captioned once, or refused with the place of the image."""

import asyncio

import pytest

from actors.fake_chat import FakeChat
from pipeline.awake.normalise import RawImage, RawMessage
from pipeline.chat import ChatReply, ChatRequest
from pipeline.errors import InputError
from pipeline.messages import TenantId
from serve.captions import Captions

TENANT = TenantId("t")
CAT = RawImage(url="https://example.org/cat.png")
GIVEN = RawImage(url="https://example.org/dog.png", caption="a [big] dog")


def message(*images: RawImage, content: str = "Look!") -> RawMessage:
    return RawMessage(index=0, role="user", content=content, images=images)


class Eye:
    """A chat model that counts what it looked at, and never says the same twice."""

    name = "eye"

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def reply(self, request: ChatRequest) -> ChatReply:
        self.seen += request.images
        text = f"picture {len(self.seen)}"
        return ChatReply(text=text, model=self.name, tokens_in=9, tokens_out=2)


def test_a_given_caption_is_taken_as_it_is_and_an_image_without_one_is_looked_at() -> None:
    eye = Eye()

    (written,) = asyncio.run(Captions(eye).written(TENANT, [message(GIVEN, CAT)]))

    assert written.content == "Look! [image: a [big] dog] [image: picture 1]"
    assert eye.seen == [CAT.url]


def test_a_request_sent_again_says_the_same() -> None:
    captions = Captions(Eye())

    first, again = (
        asyncio.run(captions.written(TENANT, [message(CAT)]))[0].content for _ in range(2)
    )

    assert first == again


def test_without_a_model_that_sees_only_captions_are_taken() -> None:
    blind = Captions()

    (written,) = asyncio.run(blind.written(TENANT, [message(GIVEN, content="")]))
    with pytest.raises(InputError) as refused:
        asyncio.run(blind.written(TENANT, [message(CAT)]))

    assert written.content == "[image: a [big] dog]"
    assert refused.value.field == "messages[0].images"


def test_a_message_without_images_is_left_alone() -> None:
    plain = message(content="你好")

    assert asyncio.run(Captions(FakeChat()).written(TENANT, [plain])) == [plain]
