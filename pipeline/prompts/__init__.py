"""Prompts as files: ``NAME.LANGUAGE.md``, a version in the head, rendered by jinja2.

What a collection writes in the place of a shipped prompt is taken as it is and never rendered.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from jinja2 import Environment, StrictUndefined, Template

PromptLanguage = Literal["en", "zh"]
PromptName = Literal[
    "extract",
    "reply",
    "repair",
    "shorten",
    "decide",
    "decide_repair",
    "answer",
    "eval_answer",
    "eval_rubric",
    "eval_same",
    "eval_right",
]

_HEAD = "version: "
_JINJA = Environment(undefined=StrictUndefined, autoescape=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt in one language; ``version`` changes with its words."""

    name: PromptName
    language: PromptLanguage
    version: str
    template: Template

    def render(self, **values: str) -> str:
        """Its text. Raises jinja2.UndefinedError for a value that is not given."""
        return self.template.render(**values)


@cache
def prompt(name: PromptName, *, language: PromptLanguage) -> Prompt:
    """The shipped prompt, read once.

    Raises:
        ValueError: its file begins with no version.
    """
    text = files(__package__).joinpath(f"{name}.{language}.md").read_text(encoding="utf-8")
    head, _, body = text.partition("\n\n")
    if not head.startswith(_HEAD):
        raise ValueError(f"expected {_HEAD!r} at the head of {name}.{language}.md, got {head!r}")
    return Prompt(
        name=name,
        language=language,
        version=head.removeprefix(_HEAD).strip(),
        template=_JINJA.from_string(body.strip()),
    )
