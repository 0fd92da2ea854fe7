"""Files of conversations in the forms people have them, read into what the API takes."""

from serve.formats.conversation import ConversationIn
from serve.formats.reading import FORMATS, detect, read

__all__ = ["FORMATS", "ConversationIn", "detect", "read"]
