"""What ``slowwave up`` checks and says before any process runs."""

from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from serve.local.plan import check_key, notes
from serve.settings import AppSettings, ChatSettings, parse

ENDPOINT = {"endpoint": "https://example.org/v1", "model": "m"}


def settings(**args: object) -> AppSettings:
    return parse({"home": Path("/nowhere"), "models_dir": Path("/nowhere"), **args})


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({}, ["extraction and sleep decisions are baselines without a language model"]),
        (
            {"models": {"extractor": "chat"}, "chat": ENDPOINT},
            [
                "sleep decisions are baselines without a language model",
                "m at https://example.org/v1 is sent what people said",
            ],
        ),
        (
            {"models": {"decider": "chat"}, "chat": ENDPOINT},
            [
                "extraction is a baseline without a language model",
                "m at https://example.org/v1 is sent what people said",
            ],
        ),
        (
            {"models": {"extractor": "chat", "decider": "chat"}, "chat": {"vllm": {"model": "v"}}},
            [],
        ),
        (
            {
                "models": {"extractor": "chat", "decider": "chat"},
                "chat": {
                    "endpoint": "http://models.internal/v1",
                    "model": "m",
                    "plain_http": True,
                    "key_env": "KEY",
                },
            },
            [
                "m at http://models.internal/v1 is sent what people said",
                "the key and what is sent there goes over the network unencrypted "
                "(chat.plain_http)",
            ],
        ),
    ],
)
def test_what_is_no_language_model_and_what_leaves_the_machine_is_said(
    args: dict[str, object], expected: list[str]
) -> None:
    assert list(notes(settings(**args))) == expected


def test_a_key_that_is_not_set_is_refused_before_anything_starts() -> None:
    chat = ChatSettings(endpoint="https://example.org/v1", model="m", key_env="MY_KEY")

    with pytest.raises(ConfigError, match="variable MY_KEY, which is not set") as refused:
        check_key(chat, secret=lambda name: None)

    assert refused.value.field == "chat.key_env"


def test_a_key_that_is_set_or_not_asked_for_is_fine() -> None:
    chat = ChatSettings(endpoint="https://example.org/v1", model="m", key_env="MY_KEY")

    check_key(chat, secret=lambda name: "sk-1")
    check_key(None)
