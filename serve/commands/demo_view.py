"""What the demo shows to people; says nothing where a JSON document is asked for."""

from collections.abc import Mapping, Sequence

from rich.markup import escape

from serve.commands.screen import Screen, table
from serve.commands.sleeping import decisions_view, totals_line
from serve.local.home import Home
from serve.local.record import Service
from serve.replies import Collection, Decision, Entry, Hit, Run, Segment, UndoItem

_ENTRIES, _TOPICS, _HITS = 6, 6, 3


class View:
    """The chapters of the demo."""

    def __init__(self, screen: Screen) -> None:
        self._out = screen.err if screen.as_json else screen.out
        self._is_silent = screen.as_json

    def memory(
        self,
        collections: Sequence[Collection],
        segments: Mapping[str, Sequence[Segment]],
        entries: Mapping[str, Sequence[Entry]],
    ) -> None:
        """Topics and entries of each collection."""
        if self._is_silent:
            return
        for each in collections:
            name = each["collection"]
            self._chapter(f"{name}: {each['messages']} messages, {len(segments[name])} segments")
            topics = " | ".join(segment["topic"] for segment in segments[name][:_TOPICS])
            self._out.print(f"[dim]topics[/dim]  {escape(topics)}")
            for entry in entries[name][:_ENTRIES]:
                said = entry["said_at"][:10]
                self._out.print(f"[dim]{said} {entry['kind']:<11}[/dim] {escape(entry['text'])}")
            left = len(entries[name]) - _ENTRIES
            self._out.print(f"[dim]and {max(0, left)} more entries[/dim]")

    def sleep(self, run: Run, decisions: Sequence[Decision]) -> None:
        """Every decision that changes something, and how many were left alone."""
        if self._is_silent:
            return
        self._chapter("Sleep: each older entry against the newer ones that bear on it")
        changing = [each for each in decisions if each["action"] != "ignore"]
        ignored = [each for each in decisions if each["action"] == "ignore"]
        self._out.print(decisions_view([*changing, *ignored]))
        self._out.print(totals_line(run))

    def questions(
        self, queries: Sequence[str], before: Sequence[list[Hit]], after: Sequence[list[Hit]]
    ) -> None:
        """The best entries before and after the sleep, side by side."""
        if self._is_silent:
            return
        self._chapter("Questions before and after the sleep")
        for query, old, new in zip(queries, before, after, strict=True):
            rows = [(_text(old, place), _text(new, place)) for place in range(_HITS)]
            self._out.print(table(query, ("before", "after"), rows))

    def undo_redo(self, undone: Sequence[UndoItem], redone: Sequence[UndoItem]) -> None:
        """How many entries went back and forth."""
        if self._is_silent:
            return
        self._chapter("The sleep taken back, then applied again without a decider")
        for word, items in (("undone", undone), ("applied again", redone)):
            done = sum(item["done"] for item in items)
            self._out.print(f"{done} of {len(items)} entries {word}")

    def second_sleep(self, run: Run) -> None:
        """A second sleep finds nothing to decide."""
        if self._is_silent:
            return
        self._chapter("A second sleep over an unchanged memory")
        self._out.print(totals_line(run))

    def end(self, service: Service, *, home: Home, is_kept: bool) -> None:
        """Where to look further."""
        if self._is_silent:
            return
        self._chapter("Where to look")
        self._out.print(f"API docs       {service.url}/docs")
        self._out.print(f"Ray dashboard  {service.dashboard}  (token: {service.token_file})")
        if is_kept:
            self._out.print(f"end it with    SLOWWAVE_HOME={home.path} slowwave down")
        else:
            self._out.print(
                "[dim]both end with the demo; `slowwave demo --keep` leaves them running[/dim]"
            )

    def _chapter(self, title: str) -> None:
        self._out.print(f"\n[bold]{escape(title)}[/bold]")


def _text(hits: Sequence[Hit], place: int) -> str:
    return hits[place]["entry"]["text"] if place < len(hits) else ""
