import pytest

from pipeline.awake.shortterm import Granularity, Trigger
from pipeline.errors import InputError
from pipeline.settings import (
    MOST_PROMPT_CHARS,
    CollectionSettings,
    ShortTermSettings,
    collection_settings,
)


@pytest.mark.parametrize("tokens", [1, 256, 300, 512, 1024, 100_000])
def test_any_positive_threshold_is_taken(tokens: int) -> None:
    stored = {"window_tokens": tokens, "short_term_tokens": tokens}

    assert collection_settings(stored).own == stored


@pytest.mark.parametrize(
    ("stored", "field"),
    [
        ({"colour": "red"}, "settings.colour"),
        ({"triggers": []}, "settings.triggers"),
        ({"triggers": ["full moon"]}, "settings.triggers.0"),
        ({"roles": []}, "settings.roles"),
        ({"rate": 0}, "settings.rate"),
        ({"rate": float("nan")}, "settings.rate"),
        ({"idle_s": float("inf")}, "settings.idle_s"),
        ({"window_tokens": 0}, "settings.window_tokens"),
        ({"prompt": "   "}, "settings.prompt"),
        ({"prompt": "a\0b"}, "settings.prompt"),
        ({"prompt": "字" * (MOST_PROMPT_CHARS + 1)}, "settings.prompt"),
        ({"granularity": "page"}, "settings.granularity"),
    ],
)
def test_what_is_no_setting_is_refused_by_name(stored: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as refused:
        collection_settings(stored)  # type: ignore[arg-type]  # as it may lie in a file

    assert refused.value.field == field


def test_lists_are_kept_in_one_order_without_repeats() -> None:
    one = collection_settings({"triggers": ["flush", "tokens", "flush"], "roles": ["user"]})

    assert one.own == {"triggers": ["tokens", "flush"], "roles": ["user"]}


def test_a_change_sets_what_it_names_and_takes_back_what_it_names_none() -> None:
    before = CollectionSettings(rate=0.5, window_tokens=256)

    after = before.changed(CollectionSettings(rate=None, turns=3))

    assert after.own == {"window_tokens": 256, "turns": 3}


def test_what_is_not_set_is_as_the_service_has_it() -> None:
    service = CollectionSettings(rate=0.6, granularity=Granularity.SEGMENT)

    found = CollectionSettings(rate=0.4).over(service)

    assert (found.rate, found.granularity) == (0.4, Granularity.SEGMENT)


def test_the_service_itself_refuses_a_trigger_that_could_never_fire() -> None:
    with pytest.raises(ValueError, match="turns: expected how many"):
        ShortTermSettings(triggers=(Trigger.TURNS,))
