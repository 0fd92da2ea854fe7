"""What a step does with a collection, from the service's settings and its own."""

from pathlib import Path

import pytest

from pipeline.awake.shortterm import Granularity, Trigger
from pipeline.awake.supported import check_supported
from pipeline.errors import ConfigError
from pipeline.messages import Role
from pipeline.settings import CollectionSettings
from serve.plans import Plans, WalkSettings
from serve.replicas import idle_s, offered, walk_settings
from serve.settings import AppSettings, parse

SERVICE = WalkSettings(
    compress=True, rate=0.6, window_tokens=512, shortterm_tokens=512, model="fake"
)


def settings(**args: object) -> AppSettings:
    return parse({"home": Path("/nowhere"), "models_dir": Path("/nowhere"), **args})


def test_a_collection_without_settings_is_walked_as_the_service_has_it() -> None:
    assert Plans(SERVICE).of({}) is SERVICE


def test_the_same_settings_are_read_once() -> None:
    plans = Plans(SERVICE)

    one = plans.of({"rate": 0.4, "roles": ["user"], "granularity": "turn"})

    assert (one.rate, one.roles, one.granularity) == (
        0.4,
        frozenset([Role.USER]),
        Granularity.TURN,
    )
    assert one.window_tokens == 512
    assert plans.of({"granularity": "turn", "roles": ["user"], "rate": 0.4}) is one


def test_a_damaged_row_holds_nothing_up_and_is_told(caplog: pytest.LogCaptureFixture) -> None:
    assert Plans(SERVICE).of({"rate": "quick"}) is SERVICE
    assert "settings.rate" in caplog.text


def test_what_the_service_is_set_to_holds_for_its_walk_and_is_what_it_offers() -> None:
    app = settings(
        short_term={"triggers": ["turns", "flush"], "turns": 3, "granularity": "conversation"},
        extraction={"roles": ["user"]},
    )

    walked, shown = walk_settings(app), offered(app)

    assert walked.most_turns == 3
    assert walked.roles == frozenset([Role.USER])
    assert shown.settings.triggers == (Trigger.TURNS, Trigger.FLUSH)
    assert shown.settings.granularity is Granularity.CONVERSATION
    assert not shown.takes_prompt
    check_supported(CollectionSettings(turns=9), shown)


def test_a_service_without_the_trigger_idle_waits_longer_than_anybody_lives() -> None:
    usual = settings(window={"idle_s": 5})
    never = settings(short_term={"triggers": ["tokens"]})

    assert idle_s(usual) == 5
    assert idle_s(never) > 1e9


def test_a_trigger_without_its_number_is_refused_at_start() -> None:
    with pytest.raises(ConfigError, match="turns: expected how many"):
        settings(short_term={"triggers": ["turns"]})
