"""What requests about sleep may hold."""

from typing import Annotated

from pydantic import AfterValidator, Field

from pipeline.entries import Kind
from pipeline.names import check_name
from pipeline.runs import EntryFilter, RunOptions
from pipeline.sleep.windows import LONGEST_S, NIGHTLY, Schedule
from serve.ingress.bodies import Body, Name, PathName, Text
from serve.sleeping import Asked

MOST_TOKENS = 1_000_000_000_000
Seconds = Annotated[float, Field(gt=0, le=LONGEST_S, allow_inf_nan=False)]
Tokens = Annotated[int, Field(ge=1, le=MOST_TOKENS)]
Cosine = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Names = Annotated[list[Name], Field(min_length=1, max_length=100)]


class SleepIn(Body):
    """A sleep run over what is due; where kinds, speakers or topics are named, over such entries.

    ``full`` compares every pair again, as the published pass does. It ends after ``max_s`` seconds,
    or once it used ``max_tokens``; what is left is due in the next run.
    """

    dry_run: bool = False
    collection: PathName | None = None
    wait: bool = False
    kinds: Annotated[list[Kind], Field(min_length=1, max_length=20)] | None = None
    speakers: Names | None = None
    topics: Names | None = None
    full: bool = False
    min_similarity: Cosine | None = None
    absorb: bool | None = None
    max_s: Seconds | None = None
    max_tokens: Tokens | None = None

    @property
    def asked(self) -> Asked:
        """It as the service takes it."""
        return Asked(
            dry_run=self.dry_run,
            options=RunOptions(
                collection=self.collection,
                full=self.full,
                min_similarity=self.min_similarity,
                absorb=self.absorb,
            ),
            only=EntryFilter(
                kinds=tuple(self.kinds or ()),
                speakers=tuple(self.speakers or ()),
                topics=tuple(self.topics or ()),
            ),
            max_s=self.max_s,
            max_tokens=self.max_tokens,
        )


def _window_name(name: str) -> str:
    check_name(name)
    return name


WindowName = Annotated[Text, Field(min_length=1, max_length=64), AfterValidator(_window_name)]


class ScheduleIn(Body):
    """When the tenant sleeps: at a cron, after ``idle_s`` without a message, or both.

    The cron is read in ``zone``; left out, it is the one that the tenant has.
    """

    name: WindowName = NIGHTLY
    cron: Annotated[Text, Field(max_length=200)] | None = None
    zone: Annotated[Text, Field(min_length=1, max_length=64)] | None = None
    max_s: Seconds = 4 * 3600.0
    max_tokens: Tokens | None = None
    idle_s: Seconds | None = None

    def schedule(self, zone: str) -> Schedule:
        """It as a schedule, in the zone it names, else in this one. Raises InputError."""
        return Schedule(**{**self.model_dump(), "zone": self.zone or zone})
