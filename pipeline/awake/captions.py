"""Images enter by their captions: given ones as they are, others asked of a chat model that sees.

Knows nothing of pictures: an address goes out, a sentence comes back. Source: LightMem (arXiv
2510.18866), section 3.1, where captions stand in the place of images.
"""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files

from pipeline.awake.normalise import RawMessage
from pipeline.chat import ChatPurpose, ChatReply, ChatRequest
from pipeline.errors import InputError, MalformedReply
from pipeline.messages import TenantId
from pipeline.text.languages import language

CAPTION_CHARS = 500
"""The longest caption that is kept of a model; a longer one ends in an ellipsis."""

_CAPTION_TOKENS = 200
_LENGTH = "…"
_SCHEMES = ("https://", "data:image/")


def check_images(message: RawMessage) -> None:
    """Raises InputError for an address that no model is to be sent."""
    for number, image in enumerate(message.images):
        if image.caption is None and not image.url.startswith(_SCHEMES):
            raise InputError(
                "expected an address that begins with https:// or data:image/",
                field=f"messages[{message.index}].images[{number}].url",
            )


def caption_request(message: RawMessage, url: str, *, tenant: TenantId) -> ChatRequest:
    """What a model is asked about one image of the message, in the message's language."""
    name = "zh" if language(message.content) == "zh" else "en"
    text = files("pipeline.prompts").joinpath(f"caption.{name}.md").read_text(encoding="utf-8")
    return ChatRequest(
        tenant=tenant,
        purpose=ChatPurpose.CAPTION,
        system=text.partition("\n\n")[2].strip(),
        user=message.content.strip() or "(an image alone)",
        max_tokens=_CAPTION_TOKENS,
        images=(url,),
    )


def caption_of(reply: ChatReply) -> str:
    """The reply on one line, in valid Unicode. Raises MalformedReply where it says nothing."""
    valid = reply.text.encode("utf-8", errors="ignore").decode("utf-8").replace("\0", "")
    caption = " ".join(valid.split()).replace("[", "(").replace("]", ")")
    if not caption:
        raise MalformedReply("expected a caption, got none", raw=reply.text, field="images")
    is_long = len(caption) > CAPTION_CHARS
    return caption[: CAPTION_CHARS - 1] + _LENGTH if is_long else caption


def with_captions(message: RawMessage, captions: Sequence[str]) -> RawMessage:
    """The message with a caption per image behind its words, and no image any more."""
    shown = [f"[image: {caption}]" for caption in captions]
    content = " ".join([message.content, *shown] if message.content.strip() else shown)
    return replace(message, content=content, images=())
