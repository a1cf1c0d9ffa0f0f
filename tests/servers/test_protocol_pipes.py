"""Work beside an event loop: results, errors, any number at once, and threads that are used again."""

import asyncio
import threading
import time

import pytest

from causalist.servers.protocol_pipes import run_in_thread


def test_results_and_errors() -> None:
    async def drive() -> None:
        assert await run_in_thread(lambda: 7) == 7
        with pytest.raises(ZeroDivisionError):
            await run_in_thread(lambda: 1 // 0)
        assert await run_in_thread(lambda: "after") == "after"

    asyncio.run(drive())


def test_there_is_a_thread_for_everyone() -> None:
    """Each waits for all the others, so that fewer threads than that would never end."""
    barrier = threading.Barrier(20, timeout=20)

    async def drive() -> list[int]:
        return await asyncio.gather(*(run_in_thread(barrier.wait) for _ in range(20)))

    assert sorted(asyncio.run(drive())) == list(range(20))


def test_threads_are_used_again() -> None:
    async def drive() -> set[int]:
        seen = set()
        for _ in range(30):
            seen.add(await run_in_thread(threading.get_ident))
            await asyncio.sleep(0.001)
        return seen

    assert len(asyncio.run(drive())) <= 10


def test_whoever_stops_waiting_holds_nobody_up() -> None:
    async def drive() -> float:
        slow = asyncio.ensure_future(run_in_thread(lambda: time.sleep(1)))
        await asyncio.sleep(0.01)
        slow.cancel()
        began = time.monotonic()
        assert await run_in_thread(lambda: 1) == 1
        return time.monotonic() - began

    assert asyncio.run(drive()) < 0.9
