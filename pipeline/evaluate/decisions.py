"""How well a decider's actions match labelled ones: pure metrics, no stores, no models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.entries import Decision, Delete, Ignore, Update
from pipeline.evaluate.report import Claim, at_least, at_most
from pipeline.messages import Json

ACTIONS = ("update", "delete", "ignore")
FAILED = "failed"
"""What a case got whose decider gave no decision."""

MIN_ACCURACY = 0.70
MIN_GAIN = 0.25
"""What a decider must add to the accuracy of never acting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One labelled case and what was decided; ``loses_facts`` where an update dropped some."""

    language: str
    expected: str
    got: str
    loses_facts: bool = False

    @property
    def is_right(self) -> bool:
        """The expected action, and an update that keeps what it must."""
        return self.got == self.expected and not self.loses_facts

    @property
    def is_wrong_delete(self) -> bool:
        """A delete that was not expected."""
        return self.got == "delete" != self.expected

    @property
    def is_destructive_error(self) -> bool:
        """A wrong delete, or an update that loses facts."""
        return self.is_wrong_delete or self.loses_facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """``right`` of ``n`` cases."""

    n: int
    right: int

    @property
    def accuracy(self) -> float:
        """In 0..1; 0 for no cases."""
        return self.right / self.n if self.n else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionReport:
    """Accuracies in 0..1; ``always_ignore`` is what a decider that never acts would reach."""

    n: int
    accuracy: float
    always_ignore: float
    destructive_errors: int
    wrong_deletes: int = 0
    failed: int = 0
    by_action: Mapping[str, Share] = field(default_factory=dict)
    by_language: Mapping[str, Share] = field(default_factory=dict)
    always_ignore_by_language: Mapping[str, float] = field(default_factory=dict)


def action(decision: Decision | None) -> str:
    """update, delete or ignore; failed where there is no decision."""
    match decision:
        case None:
            return FAILED
        case Update():
            return "update"
        case Delete():
            return "delete"
        case Ignore():
            return "ignore"


def judge(
    decision: Decision | None, *, language: str, expected: str, must_keep: Sequence[str] = ()
) -> Judged:
    """The decision beside its label; an update must hold every phrase of ``must_keep``."""
    text = decision.text.lower() if isinstance(decision, Update) else None
    return Judged(
        language=language,
        expected=expected,
        got=action(decision),
        loses_facts=text is not None and any(each.lower() not in text for each in must_keep),
    )


def report(judged: Sequence[Judged]) -> DecisionReport:
    """The figures over all cases, by expected action and by language."""
    everything = _share(judged)
    languages = sorted({each.language for each in judged})
    return DecisionReport(
        n=everything.n,
        accuracy=everything.accuracy,
        always_ignore=_ignored(judged),
        destructive_errors=sum(each.is_destructive_error for each in judged),
        wrong_deletes=sum(each.is_wrong_delete for each in judged),
        failed=sum(each.got == FAILED for each in judged),
        by_action={name: _share([j for j in judged if j.expected == name]) for name in ACTIONS},
        by_language={name: _share(_of(judged, name)) for name in languages},
        always_ignore_by_language={name: _ignored(_of(judged, name)) for name in languages},
    )


def claims(figures: DecisionReport) -> tuple[Claim, ...]:
    """What the baseline is held to: no wrong delete, and enough right cases in each language."""
    wrong = at_most("wrong deletes", figures.wrong_deletes, 0.0, unit="cases")
    found = [wrong]
    for language, share in figures.by_language.items():
        ignored = figures.always_ignore_by_language[language]
        gain = share.accuracy - ignored
        found += [
            at_least(f"accuracy in {language}", share.accuracy, MIN_ACCURACY, unit="share"),
            at_least(f"above always-ignore in {language}", gain, MIN_GAIN, unit="share"),
        ]
    return tuple(found)


def unbarred(claimed: Sequence[Claim]) -> tuple[Claim, ...]:
    """The same values without bars: what a model of the user's choice comes to."""
    return tuple(Claim(claim=one.claim, value=one.value, unit=one.unit) for one in claimed)


def document(figures: DecisionReport) -> dict[str, Json]:
    """The figures as JSON."""
    ignored = figures.always_ignore_by_language
    return {
        "n": figures.n,
        "accuracy": figures.accuracy,
        "always_ignore": figures.always_ignore,
        "destructive_errors": figures.destructive_errors,
        "wrong_deletes": figures.wrong_deletes,
        "failed": figures.failed,
        "by_action": {name: _row(share) for name, share in figures.by_action.items()},
        "by_language": {
            name: _row(share) | {"always_ignore": ignored[name]}
            for name, share in figures.by_language.items()
        },
    }


def _row(share: Share) -> dict[str, Json]:
    return {"n": share.n, "right": share.right, "accuracy": share.accuracy}


def _of(judged: Sequence[Judged], language: str) -> list[Judged]:
    return [each for each in judged if each.language == language]


def _share(judged: Sequence[Judged]) -> Share:
    return Share(n=len(judged), right=sum(each.is_right for each in judged))


def _ignored(judged: Sequence[Judged]) -> float:
    return sum(each.expected == "ignore" for each in judged) / len(judged) if judged else 0.0
