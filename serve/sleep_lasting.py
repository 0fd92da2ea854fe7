"""A sleep job that outlives the loss of a node with something that Ray needs itself."""

import logging
from collections.abc import Callable
from typing import TypeVar

from ray.exceptions import (
    ActorUnschedulableError,
    NodeDiedError,
    ObjectLostError,
    RayActorError,
    WorkerCrashedError,
)

log = logging.getLogger("slowwave.sleep")

LOST = (
    ActorUnschedulableError,
    NodeDiedError,
    ObjectLostError,
    RayActorError,
    WorkerCrashedError,
)
"""What Ray raises where a node or a process is gone, and none of our own errors."""

TRIES = 3
"""How often a job is made: what the one before has written or been answered stays."""

T = TypeVar("T")


def lasting(work: Callable[[], T]) -> T:
    """What the work gives, done again where Ray raises one of ``LOST``.

    Ray Data survives the loss of what computes, but it pins helpers of its own to the node of the
    first job of a cluster, and every job fails with them.
    """
    for _ in range(TRIES - 1):
        try:
            return work()
        except LOST as error:
            log.warning("what Ray lost is done again: %s", type(error).__name__)
    return work()
