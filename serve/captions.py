"""Captions of images while their messages are taken in."""

import asyncio
from collections.abc import Sequence

from pipeline.awake.captions import caption_of, caption_request, check_images, with_captions
from pipeline.awake.normalise import RawImage, RawMessage
from pipeline.errors import InputError
from pipeline.messages import TenantId
from pipeline.ports import ChatModel

_KEPT = 1_000


class Captions:
    """Puts captions in the place of images; asks the chat model where none is given.

    The last ones are kept, so that a request that is sent again is the same message.
    """

    def __init__(self, chat: ChatModel | None = None) -> None:
        """
        Args:
            chat: a model that can look at images; None refuses those without a caption.
        """
        self._chat = chat
        self._kept: dict[tuple[TenantId, str], str] = {}

    async def written(self, tenant: TenantId, messages: Sequence[RawMessage]) -> list[RawMessage]:
        """The messages without images, a caption for each of them behind the words.

        Raises:
            InputError: an image without a caption cannot be captioned here.
            ModelError, LimitError: the model did not caption it.
        """
        return list(await asyncio.gather(*(self._written(tenant, each) for each in messages)))

    async def _written(self, tenant: TenantId, message: RawMessage) -> RawMessage:
        if not message.images:
            return message
        check_images(message)
        captions = [await self._caption(tenant, message, image) for image in message.images]
        return with_captions(message, captions)

    async def _caption(self, tenant: TenantId, message: RawMessage, image: RawImage) -> str:
        if image.caption is not None:
            return image.caption
        if self._chat is None:
            raise InputError(
                "expected a caption: no chat model looks at images here (chat.has_vision)",
                field=f"messages[{message.index}].images",
            )
        place = (tenant, image.url)
        if place not in self._kept:
            request = caption_request(message, image.url, tenant=tenant)
            self._kept[place] = caption_of(await self._chat.reply(request))
            while len(self._kept) > _KEPT:
                del self._kept[next(iter(self._kept))]
        return self._kept[place]
