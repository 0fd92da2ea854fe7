"""A case as a chat model is shown it: an entry a line, fenced as data, times as they were said."""

from collections.abc import Iterator, Mapping, Sequence

from pipeline.entries import Candidate, Case, Entry, Status
from pipeline.ids import EntryId
from pipeline.prompts import PromptLanguage
from pipeline.prompts.shown import FENCES, one_line, short_ids
from pipeline.text.languages import language
from pipeline.text.zones import zone_info

MOST_SHOWN = 20
"""Candidates in one call; a target that many entries bear on is decided in several."""

MOST_CHARS = 12_000
"""About how long the candidates of one call may be together."""

_FENCE = FENCES[1]
_NAME_CHARS = 60
_HEADS: Mapping[PromptLanguage, tuple[str, str]] = {
    "en": ("# target", "# newer"),
    "zh": ("# 目标", "# 较新"),
}


def ids_of(case: Case) -> dict[EntryId, str]:
    """The short id of every entry of the case."""
    entries = [case.target.id, *(one.entry.id for one in case.candidates)]
    return {EntryId(name): short for name, short in short_ids(entries).items()}


def parts_of(case: Case) -> Iterator[tuple[Candidate, ...]]:
    """The candidates in as few parts as a call has room for, the newest first; each in time."""
    held: list[Candidate] = []
    chars = 0
    for one in sorted(case.candidates, key=lambda each: each.entry.order, reverse=True):
        length = len(one.entry.text)
        if held and (len(held) == MOST_SHOWN or chars + length > MOST_CHARS):
            yield tuple(held[::-1])
            held, chars = [], 0
        held.append(one)
        chars += length
    yield tuple(held[::-1])


def prompt_language(case: Case) -> PromptLanguage:
    """Chinese where most of what is shown is Chinese, else English."""
    texts = [case.target.text, *(one.entry.text for one in case.candidates)]
    spoken = [(language(text), len(text)) for text in texts]
    # A Chinese character says about as much as three Latin letters.
    chinese = 3 * sum(length for code, length in spoken if code == "zh")
    return "zh" if chinese > sum(length for code, length in spoken if code != "zh") else "en"


def shown(
    target: Entry,
    candidates: Sequence[Candidate],
    *,
    ids: Mapping[EntryId, str],
    spoken: PromptLanguage,
) -> str:
    """The target and the candidates inside their fence."""
    old, new = _HEADS[spoken]
    newer = (_line(one.entry, ids) for one in candidates)
    return "\n".join((f"<{_FENCE}>", old, _line(target, ids), new, *newer, f"</{_FENCE}>"))


def day(entry: Entry) -> str:
    """When the entry was said, in the zone it was said in."""
    return f"{entry.said_at.astimezone(zone_info(entry.zone)[0]):%Y-%m-%d}"


def _line(entry: Entry, ids: Mapping[EntryId, str]) -> str:
    local = entry.said_at.astimezone(zone_info(entry.zone)[0])
    unsure = "?" if entry.status is Status.TENTATIVE else ""
    speaker = one_line(entry.speaker).replace(":", " ").replace("|", " ")[:_NAME_CHARS]
    head = f"{ids[entry.id]} | {local:%Y-%m-%d %H:%M} | {entry.kind.value}{unsure}"
    return f"{head} | {speaker}: {one_line(entry.text)}"
