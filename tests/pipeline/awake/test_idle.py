from datetime import UTC, datetime

from pipeline.awake.idle import NEVER, idle_at

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)


def test_without_settings_of_its_own_the_services_say_when_a_collection_is_idle() -> None:
    assert idle_at({}, NOON) is None
    assert idle_at({"rate": 0.5}, NOON) is None
    assert idle_at({"triggers": ["idle"]}, NOON) is None


def test_seconds_of_its_own_count_from_the_last_message() -> None:
    assert idle_at({"idle_s": 90}, NOON) == datetime(2025, 5, 8, 12, 1, 30, tzinfo=UTC)
    assert idle_at({"idle_s": 90}, None) is None


def test_a_collection_without_the_trigger_is_never_idle() -> None:
    assert idle_at({"triggers": ["tokens"], "idle_s": 90}, NOON) == NEVER
