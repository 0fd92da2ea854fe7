"""When a collection counts as idle by settings of its own. Knows nothing of clocks and stores."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from pipeline.awake.shortterm import Trigger
from pipeline.messages import Json

NEVER = datetime(9999, 1, 1, tzinfo=UTC)
"""When a collection is idle that idleness does not trigger."""


def idle_at(settings: Mapping[str, Json], since: datetime | None) -> datetime | None:
    """The instant after which it is, nothing being said after ``since``.

    None where the service's settings say, or nothing was said at all.

    Args:
        settings: the collection's own, as they are stored.
    """
    if not settings:
        return None
    triggers, idle_s = settings.get("triggers"), settings.get("idle_s")
    if isinstance(triggers, list) and Trigger.IDLE.value not in triggers:
        return NEVER
    if since is None or not isinstance(idle_s, int | float):
        return None
    return since + timedelta(seconds=idle_s)
