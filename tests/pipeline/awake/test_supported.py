import pytest

from pipeline.awake.shortterm import Granularity, Trigger
from pipeline.awake.supported import Offered, check_supported
from pipeline.errors import InputError
from pipeline.settings import CollectionSettings

USUAL = CollectionSettings(
    triggers=(Trigger.TOKENS, Trigger.IDLE, Trigger.FLUSH),
    idle_s=60,
    granularity=Granularity.SEGMENT,
)
EVERYTHING = Offered(settings=USUAL, has_compressor=True, takes_prompt=True)
BASELINE = Offered(settings=USUAL, has_compressor=False, takes_prompt=False)
NEVER_IDLE = Offered(
    settings=CollectionSettings(triggers=(Trigger.TOKENS,)), has_compressor=True, takes_prompt=True
)

NEVER_SHORTER = Offered(
    settings=USUAL.model_copy(update={"compression": False}), has_compressor=True, takes_prompt=True
)


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"triggers": ["turns"], "turns": 4},
        {"triggers": ["idle"], "idle_s": 5, "granularity": "conversation"},
        {"granularity": "turn", "short_term_tokens": 100},
        {"granularity": "conversation", "window_tokens": 1, "rate": 0.3},
        {"compression": False},
        {"prompt": "只提取事实。", "rate": 0.4, "roles": ["user"]},
        {"triggers": ["flush"]},
    ],
)
def test_what_goes_together_is_taken(own: dict[str, object]) -> None:
    check_supported(CollectionSettings.model_validate(own), EVERYTHING)


@pytest.mark.parametrize(
    ("own", "offered", "field", "why"),
    [
        ({"triggers": ["turns"]}, EVERYTHING, "turns", "how many turns may wait, .* got no number"),
        ({"turns": 4}, EVERYTHING, "turns", "the trigger turns .* triggers tokens, idle, flush"),
        ({"rate": 0.4, "compression": False}, EVERYTHING, "rate", "got false"),
        ({"rate": 0.4}, NEVER_SHORTER, "rate", "got false"),
        (
            {"triggers": ["flush"], "short_term_tokens": 300},
            EVERYTHING,
            "short_term_tokens",
            "the trigger tokens beside it, got the triggers flush",
        ),
        ({"window_tokens": 9, "granularity": "turn"}, EVERYTHING, "window_tokens", "got turn"),
        ({"triggers": ["topic_shift"], "granularity": "turn"}, EVERYTHING, "triggers", "no topics"),
        ({"triggers": ["tokens"], "idle_s": 5}, EVERYTHING, "idle_s", "got the triggers tokens"),
        ({"triggers": ["idle"]}, NEVER_IDLE, "idle_s", "which the service does not have"),
        ({"min_shift": 0.5, "granularity": "turn"}, EVERYTHING, "min_shift", "no topics"),
        ({"prompt": "Facts only."}, BASELINE, "prompt", "reads no prompt"),
        ({"compression": True}, BASELINE, "compression", "models.compressor"),
        ({"rate": 0.5}, BASELINE, "rate", "models.compressor"),
    ],
)
def test_what_could_never_have_an_effect_is_refused_by_name(
    own: dict[str, object], offered: Offered, field: str, why: str
) -> None:
    with pytest.raises(InputError, match=why) as refused:
        check_supported(CollectionSettings.model_validate(own), offered)

    assert refused.value.field == field
