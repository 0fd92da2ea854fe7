"""The one form of every benchmark and evaluation: measured claims beside their bars.

Knows nothing of how anything is measured or printed for people.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.messages import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One measured value; ``bar`` is what it is held against, None where nothing is asked.

    ``holds`` is None exactly where there is no bar.
    """

    claim: str
    value: float
    unit: str
    bar: float | None = None
    holds: bool | None = None


def at_least(claim: str, value: float, bar: float, *, unit: str) -> Claim:
    """A claim that holds when the value reaches the bar."""
    return Claim(claim=claim, value=value, unit=unit, bar=bar, holds=value >= bar)


def at_most(claim: str, value: float, bar: float, *, unit: str) -> Claim:
    """A claim that holds when the value does not exceed the bar."""
    return Claim(claim=claim, value=value, unit=unit, bar=bar, holds=value <= bar)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What ran, how, where, and what it claims; ``extra`` holds figures without a claim.

    ``date`` is when, as ISO 8601 in UTC, where the report says so.
    """

    name: str
    version: str
    config: Mapping[str, Json]
    machine: Mapping[str, Json]
    claims: tuple[Claim, ...]
    extra: Mapping[str, Json] = field(default_factory=dict)
    date: str | None = None

    @property
    def failed(self) -> tuple[Claim, ...]:
        """The claims that miss their bar."""
        return tuple(claim for claim in self.claims if claim.holds is False)

    def document(self) -> dict[str, Json]:
        """Name, version, date, config, machine, claims, then extra's keys beside them."""
        document: dict[str, Json] = {
            "name": self.name,
            "version": self.version,
            **({} if self.date is None else {"date": self.date}),
            "config": self.config,
            "machine": self.machine,
            "claims": [_row(claim) for claim in self.claims],
        }
        extra = {key: value for key, value in self.extra.items() if key not in document}
        return document | extra

    def to_json(self) -> str:
        """The document as one line."""
        return json.dumps(self.document(), ensure_ascii=False)


def _row(claim: Claim) -> dict[str, Json]:
    return {
        "claim": claim.claim,
        "value": round(claim.value, 6),
        "unit": claim.unit,
        "bar": None if claim.bar is None else round(claim.bar, 6),
        "holds": claim.holds,
    }
