"""Places at a chat model: none too many, fair between tenants, people first."""

import asyncio

from serve.chat_turns import Turns


async def _ask(turns: Turns, owner: str, log: list[str], *, is_urgent: bool = False) -> None:
    async with turns.taken(owner, is_urgent=is_urgent):
        log.append(owner)
        await asyncio.sleep(0)


def _all(turns: Turns, *asked: tuple[str, bool]) -> list[str]:
    log: list[str] = []

    async def run() -> None:
        await asyncio.gather(
            *(_ask(turns, owner, log, is_urgent=urgent) for owner, urgent in asked)
        )

    asyncio.run(run())
    return log


def test_a_tenant_with_little_to_ask_does_not_wait_behind_one_with_much() -> None:
    log = _all(Turns(2), *[("bulk", False)] * 8, ("small", False), ("small", False))

    assert log.index("small") <= 3
    assert log.count("bulk") == 8
    assert log.count("small") == 2


def test_who_is_waited_for_by_a_person_comes_first() -> None:
    log = _all(Turns(1), *[("bulk", False)] * 4, ("person", True))

    assert log == ["bulk", "person", "bulk", "bulk", "bulk"]


def test_there_are_never_more_at_once_than_places() -> None:
    turns, held, most = Turns(3), 0, 0

    async def one(owner: str) -> None:
        nonlocal held, most
        async with turns.taken(owner):
            held += 1
            most = max(most, held)
            await asyncio.sleep(0.001)
            held -= 1

    async def run() -> None:
        await asyncio.gather(*(one(str(number % 5)) for number in range(50)))

    asyncio.run(run())

    assert most == 3


def test_one_that_goes_away_while_it_waits_or_works_leaves_its_place_to_others() -> None:
    async def run() -> list[str]:
        turns, log = Turns(1), []

        async def hold(owner: str, seconds: float) -> None:
            async with turns.taken(owner):
                await asyncio.sleep(seconds)
                log.append(owner)

        working = asyncio.create_task(hold("working", 60))
        waiting = asyncio.create_task(hold("waiting", 60))
        chosen = asyncio.create_task(hold("chosen", 60))
        last = asyncio.create_task(hold("last", 0))
        await asyncio.sleep(0.01)
        waiting.cancel()
        working.cancel()
        await asyncio.sleep(0)
        chosen.cancel()
        await asyncio.wait_for(last, timeout=5)
        await asyncio.gather(working, waiting, chosen, return_exceptions=True)
        return log

    assert asyncio.run(run()) == ["last"]
