"""Prompts as files, and the form of a reply."""

import json
from typing import get_args

import pytest

from pipeline.entries import Kind
from pipeline.prompts import PromptLanguage, PromptName, prompt
from pipeline.prompts.schemas import item_of, reply_schema

ALL = [(name, code) for name in get_args(PromptName) for code in get_args(PromptLanguage)]


@pytest.mark.parametrize(("name", "language"), ALL)
def test_every_prompt_has_a_version_and_no_blank_left(
    name: PromptName, language: PromptLanguage
) -> None:
    found = prompt(name, language=language)

    assert found.version.isdigit()
    assert "{{" not in found.render(problem="it was empty", tokens="100")


def test_a_prompt_is_short_since_every_call_pays_for_it() -> None:
    words = sum(len(prompt(name, language="en").render().split()) for name in ("extract", "reply"))  # type: ignore[arg-type]

    assert words < 220


def test_the_schema_is_json_and_the_prompt_names_every_kind_but_summaries() -> None:
    schema = json.loads(json.dumps(reply_schema()))

    assert schema["properties"]["items"]["items"] == {"type": "string"}
    for code in get_args(PromptLanguage):
        told = prompt("reply", language=code).render()
        assert all((kind in told) == (kind is not Kind.SUMMARY) for kind in Kind)


def test_a_statement_is_read_from_one_text() -> None:
    item = item_of("kp, tb event?: Ivo | Ada sailed. | 2023-05-07 | Ivo; boat; Lark | +Ivo, Ada")
    chinese = item_of("kp preference：豆豆喜欢晒太阳。 | 豆豆; 喜欢; 晒太阳")
    bare = item_of("kp: Mara likes tea: green tea | black tea.")

    assert item is not None
    assert chinese is not None
    assert bare is not None
    assert (item.s, item.k, item.u) == (["kp", "tb"], Kind.EVENT, True)
    assert (item.t, item.w) == ("Ivo | Ada sailed.", "2023-05-07")
    assert (item.a, item.e) == (["Ivo", "boat", "Lark"], ["Ivo", "Ada"])
    assert (chinese.t, chinese.a) == ("豆豆喜欢晒太阳。", ["豆豆", "喜欢", "晒太阳"])
    assert (bare.s, bare.k) == (["kp"], Kind.FACT)
    assert bare.t == "Mara likes tea: green tea | black tea."


@pytest.mark.parametrize(
    ("value", "sources", "kind"),
    [
        ({"s": "kp", "t": "x"}, ["kp"], Kind.FACT),
        ({"s": [3], "t": "x", "k": "event"}, ["3"], Kind.EVENT),
        (
            {"s": ["kp"], "t": "x", "k": "summary", "e": None, "a": [1], "u": None},
            ["kp"],
            Kind.FACT,
        ),
    ],
)
def test_what_means_the_same_is_read(value: object, sources: list[str], kind: Kind) -> None:
    item = item_of(value)

    assert item is not None
    assert (item.s, item.k, item.a, item.e, item.u) == (sources, kind, None, [], False)


@pytest.mark.parametrize(
    "value", [None, 3, "x", "no id", [], {"t": "x"}, {"s": ["kp"]}, {"s": {}, "t": 1}]
)
def test_what_is_no_item_is_none(value: object) -> None:
    assert item_of(value) is None
