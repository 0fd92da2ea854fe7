"""Which waiting texts a model reads next: urgent ones first, fair between owners, like lengths.

Knows nothing of models, Ray and time: a rule over lengths, owners and the order of arrival.
"""

from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Generic[T]):
    """A text's length in characters, whose it is, and what tells its caller apart."""

    size: int
    owner: str
    ticket: T


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Generic[T]):
    """Texts that go through the model together; all of one group."""

    group: Hashable
    texts: list[Text[T]]


@dataclass(slots=True, eq=False)
class _Waiting(Generic[T]):
    """A text in its line; ``place`` is its size and the number of its arrival."""

    text: Text[T]
    place: tuple[int, int]
    is_taken: bool = False


_size = attrgetter("size")
_place = attrgetter("place")


@dataclass(slots=True, eq=False)
class _Line(Generic[T]):
    """What one owner waits for in one group; ``served`` is its last turn."""

    group: Hashable
    owner: str
    served: int
    by_size: list[_Waiting[T]] = field(default_factory=list)
    arrived: deque[_Waiting[T]] = field(default_factory=deque)

    def add(self, waiting: _Waiting[T]) -> None:
        insort(self.by_size, waiting, key=_place)
        self.arrived.append(waiting)

    def oldest(self) -> _Waiting[T]:
        while self.arrived[0].is_taken:
            self.arrived.popleft()
        return self.arrived[0]

    def remove(self, waiting: _Waiting[T]) -> None:
        waiting.is_taken = True
        del self.by_size[bisect_left(self.by_size, waiting.place, key=_place)]

    def near(self, anchor: _Waiting[T], *, padding: int) -> Iterator[_Waiting[T]]:
        """Those of like length, the nearest first; never the anchor itself."""
        size = anchor.text.size
        above = bisect_left(self.by_size, anchor.place, key=_place)
        below = above - 1
        while True:
            up = self.by_size[above] if above < len(self.by_size) else None
            down = self.by_size[below] if below >= 0 else None
            is_up = up is not None and (
                down is None or up.text.size - size <= size - down.text.size
            )
            found = up if is_up else down
            if found is None or not _is_like(found.text.size, size, padding):
                return
            if is_up:
                above += 1
            else:
                below -= 1
            if found is not anchor:
                yield found


class _Lane(Generic[T]):
    """The lines of one urgency."""

    def __init__(self) -> None:
        self.lines: dict[tuple[Hashable, str], _Line[T]] = {}
        self.waiting: Counter[str] = Counter()

    def add(self, waiting: _Waiting[T], *, group: Hashable, turn: int) -> None:
        owner = waiting.text.owner
        line = self.lines.get((group, owner))
        if line is None:
            line = self.lines[group, owner] = _Line(group=group, owner=owner, served=turn)
        line.add(waiting)
        self.waiting[owner] += 1

    def others_wait(self, owner: str) -> bool:
        return len(self.waiting) > (owner in self.waiting)

    def taken(self, owner: str) -> None:
        self.waiting[owner] -= 1
        if not self.waiting[owner]:
            del self.waiting[owner]

    def remove(self, line: _Line[T], taken: Sequence[_Waiting[T]]) -> None:
        for waiting in taken:
            line.remove(waiting)
        if not line.by_size:
            del self.lines[(line.group, line.owner)]


class FairQueue(Generic[T]):
    """Texts in front of a model, handed out batch by batch.

    A batch starts with the oldest text of the owner served longest ago and takes those of like
    length beside it, one from each owner in turn; nobody takes more than half while others wait.
    Urgent texts go first, but after ``urgent_in_a_row`` batches of them the others have one, so
    that a flood of questions cannot stop ingestion.
    """

    def __init__(
        self,
        *,
        max_texts: int = 32,
        max_chars: int = 8_192,
        padding: int = 128,
        urgent_in_a_row: int = 16,
    ) -> None:
        self._max_texts = max_texts
        self._max_chars = max_chars
        self._padding = padding
        self._urgent_in_a_row = urgent_in_a_row
        self._urgent: _Lane[T] = _Lane()
        self._patient: _Lane[T] = _Lane()
        self._row = 0
        self._turn = 0
        self._number = 0

    def __len__(self) -> int:
        return self._urgent.waiting.total() + self._patient.waiting.total()

    @property
    def urgent(self) -> int:
        """How many urgent texts wait."""
        return self._urgent.waiting.total()

    def add(self, texts: Sequence[Text[T]], *, group: Hashable, is_urgent: bool) -> None:
        """Lets the texts of one call wait; texts of different groups never share a batch."""
        lane = self._urgent if is_urgent else self._patient
        for text in sorted(texts, key=_size):
            self._number += 1
            waiting = _Waiting(text=text, place=(text.size, self._number))
            lane.add(waiting, group=group, turn=self._turn)

    def next(self) -> Batch[T]:
        """The texts to read now; they wait no longer. Raises IndexError when nothing waits."""
        if not len(self):
            raise IndexError("nothing waits")
        lane = self._next_lane()
        self._turn += 1
        first = min(lane.lines.values(), key=_served)
        taken = self._filled(lane, first)
        for line, some in taken:
            line.served = self._turn
            lane.remove(line, some)
        texts = [waiting.text for _, some in taken for waiting in some]
        return Batch(group=first.group, texts=texts)

    def _next_lane(self) -> _Lane[T]:
        is_urgent = bool(self._urgent.lines) and (
            not self._patient.lines or self._row < self._urgent_in_a_row
        )
        self._row = self._row + 1 if is_urgent else 0
        return self._urgent if is_urgent else self._patient

    def _filled(self, lane: _Lane[T], first: _Line[T]) -> list[tuple[_Line[T], list[_Waiting[T]]]]:
        anchor = first.oldest()
        lane.taken(first.owner)
        taken: dict[_Line[T], list[_Waiting[T]]] = {first: [anchor]}
        room, chars = self._max_texts - 1, self._max_chars - anchor.text.size
        mates = sorted(
            (each for each in lane.lines.values() if each.group == first.group), key=_served
        )
        mates = [*(line for line in mates if line is not first), first]
        turns = deque((line, line.near(anchor, padding=self._padding)) for line in mates)
        while turns and room:
            line, near = turns.popleft()
            if len(taken.get(line, ())) >= self._max_texts // 2 and lane.others_wait(line.owner):
                continue
            found = next(near, None)
            if found is None or found.text.size > chars:
                continue
            taken.setdefault(line, []).append(found)
            lane.taken(line.owner)
            room, chars = room - 1, chars - found.text.size
            turns.append((line, near))
        return list(taken.items())


def _served(line: _Line[T]) -> int:
    return line.served


def _is_like(size: int, other: int, padding: int) -> bool:
    """Whether padding one to the other adds at most half; always for very short texts."""
    return 2 * max(size, other) <= 3 * min(size, other) + padding
