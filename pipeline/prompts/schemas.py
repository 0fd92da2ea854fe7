"""What a reply must look like: as few tokens around a statement as can be, since all are paid for.

The JSON schema is what a server is asked to enforce; what came is read in any case, and what means
the same is taken (an object for a text, one id for a list of one, an unknown kind for a fact).
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipeline.entries import Kind
from pipeline.messages import Json

MOST_SOURCES = 16
_LINE = re.compile(
    r"(?P<s>\w+(?:\s*[,，]\s*\w+)*)(?:\s+(?P<k>[a-z]+)\s*(?P<u>[?？]?))?\s*[:：]\s*(?P<t>.+)",
    re.DOTALL,
)
_EXTRA = re.compile(r"\s+[|｜]\s+(?P<extra>[^|｜]+)$")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_KINDS = tuple(kind.value for kind in Kind if kind is not Kind.SUMMARY)


def _listed(value: Any) -> Any:
    """A list, where one thing or nothing stands for it; numbers as ids are read as they look."""
    if value is None:
        return []
    items = value if isinstance(value, list) else [value]
    return [str(item) if isinstance(item, int) else item for item in items]


def _kind(value: Any) -> Any:
    return value if value in _KINDS else Kind.FACT.value


def _triple(value: Any) -> Any:
    """Subject, key and value; anything else is none."""
    is_whole = isinstance(value, list) and len(value) == 3
    return value if is_whole and all(isinstance(part, str) and part for part in value) else None


def _names(value: Any) -> Any:
    return [each for each in _listed(value) if isinstance(each, str) and each]


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else None


class Item(BaseModel):
    """One statement of a reply: sources, text, kind, and what is said beside them."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    s: Annotated[list[str], BeforeValidator(_listed)]
    t: str
    k: Annotated[Kind, BeforeValidator(_kind)] = Kind.FACT
    u: Annotated[bool, BeforeValidator(bool)] = False
    w: Annotated[str | None, BeforeValidator(_text)] = None
    a: Annotated[list[str] | None, BeforeValidator(_triple)] = None
    e: Annotated[list[str], BeforeValidator(_names)] = Field(default_factory=list)


def item_of(value: object) -> Item | None:
    """The item that a text, or an object with the keys above, is; None where it is none."""
    try:
        return Item.model_validate(_parted(value) if isinstance(value, str) else value)
    except ValidationError:
        return None


def _parted(text: str) -> dict[str, object]:
    """``id,id kind?: statement | 2023-05-07 | subject; key; value | +name, name`` in its parts."""
    found = _LINE.fullmatch(text.strip())
    if found is None:
        return {}
    said, parts = _extras(found["t"])
    sources = [each.strip() for each in re.split("[,，]", found["s"])]
    return {"s": sources, "k": found["k"], "u": found["u"], "t": said, **parts}


def _extras(text: str) -> tuple[str, dict[str, object]]:
    """The statement, and what is said behind it; a bar that parts nothing known is its own."""
    parts: dict[str, object] = {}
    while match := _EXTRA.search(text):
        extra = match["extra"].strip()
        if _DAY.fullmatch(extra):
            parts["w"] = extra
        elif extra.startswith("+"):
            parts["e"] = [name.strip() for name in re.split("[,，、]", extra[1:])]
        elif len(triple := [part.strip() for part in re.split("[;；]", extra)]) == 3:
            parts["a"] = triple
        else:
            break
        text = text[: match.start()]
    return text, parts


@cache
def reply_schema() -> Mapping[str, Json]:
    """The JSON schema of a reply, always the same, so that servers compile it once.

    A statement is one text, since in JSON the names of keys cost more tokens than the statements.
    """
    schema: Json = {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"type": "string"}}},
        "required": ["items"],
        "additionalProperties": False,
    }
    return cast(Mapping[str, Json], schema)
