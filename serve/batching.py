"""A model behind a fair queue: many callers ask, one batch at a time runs in a thread."""

import asyncio
from collections.abc import Callable, Hashable, Sequence, Sized
from dataclasses import dataclass
from typing import Generic, TypeVar

from pipeline.errors import LimitError, SlowwaveError
from serve.fairness import FairQueue, Text

T = TypeVar("T", bound=Sized)
R = TypeVar("R")

_BUSY_S = 1.0

MOST_TEXTS = 32
"""Texts of one batch, unless the model asks for others."""


@dataclass(slots=True, eq=False)
class _Call(Generic[T, R]):
    """One caller's texts and the answers that came so far."""

    texts: Sequence[T]
    answers: dict[int, R]
    future: asyncio.Future[list[R]]

    def answer(self, place: int, value: R) -> None:
        self.answers[place] = value
        if len(self.answers) == len(self.texts) and not self.future.done():
            self.future.set_result([self.answers[i] for i in range(len(self.texts))])

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)


@dataclass(slots=True, eq=False)
class _Ticket(Generic[T, R]):
    call: _Call[T, R]
    place: int

    @property
    def text(self) -> T:
        return self.call.texts[self.place]


class Batcher(Generic[T, R]):
    """Asks a model for texts of many callers in fair batches; used on one event loop.

    A text may be anything with a length that the model reads at once, as a chunk of tokens.
    """

    def __init__(
        self,
        run: Callable[[Hashable, Sequence[T]], Sequence[R]],
        *,
        max_texts: int = MOST_TEXTS,
        max_chars: int = 8_192,
        padding: int = 128,
        max_urgent: int = 2_000,
    ) -> None:
        """
        Args:
            run: one answer per text of one group; called in a thread, never twice at once.
            max_texts: texts of one batch.
            max_chars: characters of one batch, or what else lengths count; a longer text goes
                alone.
            padding: by how much short texts may differ in length and share a batch.
            max_urgent: urgent texts that may wait; one more is refused.
        """
        self._run = run
        self._queue: FairQueue[_Ticket[T, R]] = FairQueue(
            max_texts=max_texts, max_chars=max_chars, padding=padding
        )
        self._max_urgent = max_urgent
        self._worker: asyncio.Task[None] | None = None

    async def ask(
        self,
        texts: Sequence[T],
        *,
        group: Hashable,
        owners: Sequence[str] = (),
        is_urgent: bool = False,
    ) -> list[R]:
        """One answer per text.

        Args:
            group: texts of different groups never share a model call.
            owners: whose each text is; empty where nobody's.

        Raises:
            LimitError: too many urgent texts wait already.
            SlowwaveError: what the model raised on texts of this call.
        """
        if is_urgent and self._queue.urgent + len(texts) > self._max_urgent:
            raise LimitError(
                f"{self._queue.urgent} texts wait for the model, at most {self._max_urgent} may",
                retry_after_s=_BUSY_S,
                field="models",
            )
        if not texts:
            return []
        call: _Call[T, R] = _Call(texts, {}, asyncio.get_running_loop().create_future())
        whose = owners or [""] * len(texts)
        waiting = [
            Text(size=len(text), owner=owner, ticket=_Ticket(call, place))
            for place, (text, owner) in enumerate(zip(texts, whose, strict=True))
        ]
        self._queue.add(waiting, group=group, is_urgent=is_urgent)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await call.future

    async def _work(self) -> None:
        while len(self._queue):
            batch = self._queue.next()
            # A caller that gave up or failed meanwhile needs no answers.
            asked = [text.ticket for text in batch.texts if not text.ticket.call.future.done()]
            if asked:
                await self._answer(batch.group, asked)

    async def _answer(self, group: Hashable, asked: Sequence[_Ticket[T, R]]) -> None:
        try:
            texts = [ticket.text for ticket in asked]
            answers = await asyncio.to_thread(self._run, group, texts)
            pairs = list(zip(asked, answers, strict=True))
        except SlowwaveError as error:
            await self._apart(group, asked, error)
        except Exception as error:  # raised again at every caller, who would wait for ever
            for ticket in asked:
                ticket.call.fail(error)
        else:
            for ticket, answer in pairs:
                ticket.call.answer(ticket.place, answer)

    async def _apart(
        self, group: Hashable, asked: Sequence[_Ticket[T, R]], error: SlowwaveError
    ) -> None:
        """Asks for each caller alone, so that nobody fails by another's text."""
        calls = {ticket.call for ticket in asked}
        if len(calls) == 1:
            calls.pop().fail(error)
            return
        for call in calls:
            await self._answer(group, [ticket for ticket in asked if ticket.call is call])
