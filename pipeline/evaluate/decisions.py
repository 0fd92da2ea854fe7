"""How well a decider's actions match labelled ones: pure metrics, no stores, no models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.entries import Decision, Delete, Ignore, Update

ACTIONS = ("update", "delete", "ignore")


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
    def is_destructive_error(self) -> bool:
        """A delete that was not expected, or an update that loses facts."""
        return (self.got == "delete" != self.expected) or self.loses_facts


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
    by_action: Mapping[str, Share] = field(default_factory=dict)
    by_language: Mapping[str, Share] = field(default_factory=dict)
    always_ignore_by_language: Mapping[str, float] = field(default_factory=dict)


def action(decision: Decision) -> str:
    """update, delete or ignore."""
    match decision:
        case Update():
            return "update"
        case Delete():
            return "delete"
        case Ignore():
            return "ignore"


def judge(
    decision: Decision, *, language: str, expected: str, must_keep: Sequence[str] = ()
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
        by_action={name: _share([j for j in judged if j.expected == name]) for name in ACTIONS},
        by_language={name: _share(_of(judged, name)) for name in languages},
        always_ignore_by_language={name: _ignored(_of(judged, name)) for name in languages},
    )


def _of(judged: Sequence[Judged], language: str) -> list[Judged]:
    return [each for each in judged if each.language == language]


def _share(judged: Sequence[Judged]) -> Share:
    return Share(n=len(judged), right=sum(each.is_right for each in judged))


def _ignored(judged: Sequence[Judged]) -> float:
    return sum(each.expected == "ignore" for each in judged) / len(judged) if judged else 0.0
