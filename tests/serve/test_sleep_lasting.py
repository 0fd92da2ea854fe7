"""What Ray lost is done again, a few times; what we did wrong is not."""

import pytest
from ray.exceptions import ActorUnschedulableError, RayError

from pipeline.errors import StoreError
from serve.sleep_lasting import TRIES, lasting


class Failing:
    """Fails with each of the errors, then gives a word."""

    def __init__(self, *errors: Exception) -> None:
        self._errors = list(errors)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self._errors:
            raise self._errors.pop(0)
        return "done"


def lost() -> RayError:
    """A node went, and what was pinned to it."""
    return ActorUnschedulableError("the node does not exist any more")


def test_what_ray_lost_is_done_again() -> None:
    work = Failing(lost(), lost())

    assert lasting(work) == "done"
    assert work.calls == TRIES


def test_it_is_given_up_in_the_end() -> None:
    work = Failing(*(lost() for _ in range(TRIES)))

    with pytest.raises(ActorUnschedulableError):
        lasting(work)

    assert work.calls == TRIES


def test_an_error_of_our_own_is_not_tried_again() -> None:
    work = Failing(StoreError("the disk is full"))

    with pytest.raises(StoreError, match="the disk is full"):
        lasting(work)

    assert work.calls == 1
