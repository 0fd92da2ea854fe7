"""Settings come from one file; what is unknown is refused by name."""

from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from serve.settings import load, parse

ROOT = Path(__file__).parent.parent.parent
HEAD = "applications:\n- name: slowwave\n  args:\n"


def test_the_shipped_local_profile_needs_no_key(tmp_path: Path) -> None:
    settings = load(ROOT / "configs/local.yaml", home=tmp_path, models_dir=tmp_path)

    assert not settings.access.keys_required
    assert settings.records_url == f"sqlite:///{tmp_path / 'records.sqlite'}"


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ("    colour: red\n", "colour"),
        ("    window: { capacity: 5 }\n", "window.capacity"),
        ("    window: { capacity_tokens: none }\n", "window.capacity_tokens"),
        ("    compression: { rate: 1.5 }\n", "compression.rate"),
        ("    deployments: { Embedder: { gpus: 1 } }\n", "deployments.Embedder.gpus"),
        ("    deployments: { Segmentor: {} }\n", "deployments.Segmentor"),
        ("    {}\n  replicas: 3\n", "replicas"),
        ("    {}\nbogus: 1\n", "bogus"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(tmp_path: Path, args: str, field: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(HEAD + args)

    with pytest.raises(ConfigError) as refused:
        load(config, home=tmp_path, models_dir=tmp_path)

    assert refused.value.field == field
    assert field in str(refused.value)


@pytest.mark.parametrize("text", ["", "[]", "applications: []", ": :", "applications: [{name: x}]"])
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(text)

    with pytest.raises(ConfigError):
        load(config, home=tmp_path, models_dir=tmp_path)


ENDPOINT = {"endpoint": "https://example.org/v1", "model": "m"}


@pytest.mark.parametrize(
    ("chat", "field"),
    [
        ({}, "chat"),
        ({"model": "m"}, "chat"),
        ({"endpoint": "https://example.org/v1"}, "chat"),
        ({**ENDPOINT, "vllm": {"model": "m"}}, "chat"),
        ({**ENDPOINT, "key": "sk-1"}, "chat.key"),
        ({**ENDPOINT, "key_env": "sk-1 2"}, "chat.key_env"),
        ({**ENDPOINT, "structured": "xml"}, "chat.structured"),
        ({**ENDPOINT, "requests_per_minute": 0}, "chat.requests_per_minute"),
        ({"vllm": {"model": "m", "args": {}}}, "chat.vllm.args"),
    ],
)
def test_a_chat_model_is_one_and_its_key_stands_in_no_file(
    tmp_path: Path, chat: dict[str, object], field: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        parse({"home": tmp_path, "models_dir": tmp_path, "chat": chat})

    assert refused.value.field == field


@pytest.mark.parametrize(
    ("chat", "name"),
    [
        (ENDPOINT, "m"),
        ({"vllm": {"model": "v"}}, "v"),
        ({"model": "fake:delay_s=1"}, "fake:delay_s=1"),
    ],
)
def test_a_chat_model_has_the_name_of_its_model(
    tmp_path: Path, chat: dict[str, object], name: str
) -> None:
    settings = parse({"home": tmp_path, "models_dir": tmp_path, "chat": chat})

    assert settings.chat is not None
    assert settings.chat.name == name


@pytest.mark.parametrize(
    ("models", "field", "why"),
    [
        ({"extractor": "chatt"}, "models.extractor", "extractive-baseline or chat, got 'chatt'"),
        ({"extractor": "chat"}, "models.extractor", "chat.endpoint .* got no section chat"),
        ({"decider": "chatt"}, "models.decider", "'rules-baseline' or 'chat', got 'chatt'"),
        ({"decider": "chat"}, "models.decider", "chat.endpoint .* got no section chat"),
    ],
)
def test_a_model_that_there_is_not_is_refused_by_the_name_of_its_setting(
    tmp_path: Path, models: dict[str, object], field: str, why: str
) -> None:
    with pytest.raises(ConfigError, match=f"^setting {field}: .*{why}") as refused:
        parse({"home": tmp_path, "models_dir": tmp_path, "models": models})

    assert refused.value.field == field


@pytest.mark.parametrize(
    ("endpoint", "why"),
    [
        ("http://example.org/v1", "https, got http to example.org"),
        ("ftp://example.org/v1", "an http or https address with a host, got the scheme 'ftp'"),
        ("example.org/v1", "one without a scheme"),
        ("https:///v1", "with a host"),
        ("https://a:b@example.org/v1", "without a name or password"),
        ("http://[::1/v1", "cannot be read"),
    ],
)
def test_an_address_that_may_not_be_asked_is_refused_when_settings_are_read(
    tmp_path: Path, endpoint: str, why: str
) -> None:
    chat = {"endpoint": endpoint, "model": "m"}

    with pytest.raises(ConfigError, match=why) as refused:
        parse({"home": tmp_path, "models_dir": tmp_path, "chat": chat})

    assert refused.value.field == "chat.endpoint"


@pytest.mark.parametrize(
    "chat",
    [
        {"endpoint": "http://127.0.0.1:9/v1"},
        {"endpoint": "http://localhost/v1"},
        {"endpoint": "http://10.0.0.5/v1", "plain_http": True},
    ],
)
def test_plain_http_is_for_this_machine_or_a_network_that_is_said_to_be_trusted(
    tmp_path: Path, chat: dict[str, object]
) -> None:
    parsed = parse({"home": tmp_path, "models_dir": tmp_path, "chat": {**chat, "model": "m"}})

    assert parsed.chat is not None


def test_an_unknown_key_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    chat = {**ENDPOINT, "attempt": 2}

    with pytest.raises(
        ConfigError, match=r"did you mean attempts\? Expected one of endpoint, model"
    ):
        parse({"home": tmp_path, "models_dir": tmp_path, "chat": chat})


@pytest.mark.parametrize("index", ["edge", "qdrant:6333", ""])
def test_an_index_is_embedded_or_at_an_address(tmp_path: Path, index: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse({"home": tmp_path, "models_dir": tmp_path, "stores": {"index": index}})

    assert refused.value.field == "stores.index"


def test_keys_are_required_unless_a_profile_says_otherwise(tmp_path: Path) -> None:
    assert parse({"home": tmp_path, "models_dir": tmp_path}).access.keys_required
