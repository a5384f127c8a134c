# SPDX-License-Identifier: BSD-3-Clause
"""Which of its forms each part of a model gets: fewest bytes for a loss. For weights of language models and layers of
any network alike; where errors are from, curvature.py says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

TRIES = 5  # choices that are measured
_CLOSE = 1.02  # errors between which no choice is looked for
_NEAR = 0.9  # of the loss that is allowed: no further try


class Option(Protocol):
    """A form of a part: its bytes, and the error that is estimated of it."""

    bytes: int
    error: float


T = TypeVar("T", bound=Option)
T_co = TypeVar("T_co", bound=Option, covariant=True)


class Site(Protocol[T_co]):
    """A part of a model, and the forms that it may have."""

    @property
    def options(self) -> Sequence[T_co]: ...


def bytes_of(chosen: Iterable[Option]) -> int:
    return sum(option.bytes for option in chosen)


def error_of(chosen: Iterable[Option]) -> float:
    return sum(option.error for option in chosen)


def choose(sites: Sequence[Site[T]], most: float = math.inf, enough: float = 0.0) -> list[T]:
    """From the smallest option of each site on, step by step that which saves most error for a byte more: until no step
    fits `most` bytes, or all errors together are `enough`."""
    chosen = [min(site.options, key=lambda option: option.bytes) for site in sites]
    total, error = bytes_of(chosen), error_of(chosen)
    while error > enough:
        best: tuple[float, int, T] | None = None
        for i, (site, held) in enumerate(zip(sites, chosen)):
            for option in site.options:
                more, saved = option.bytes - held.bytes, held.error - option.error
                if more > 0 and saved > 0 and total + more <= most:
                    step = (saved / more, i, option)
                    best = step if best is None or step[0] > best[0] else best
        if best is None:
            break
        _, i, option = best
        total, error = (
            total + option.bytes - chosen[i].bytes,
            error + option.error - chosen[i].error,
        )
        chosen[i] = option
    return chosen


@dataclass(frozen=True)
class Measured(Generic[T]):
    chosen: list[T]
    lost: float


def within(
    sites: Sequence[Site[T]],
    allowed: float,
    loss: Callable[[list[T]], float],
    enough: float,
    power: float = 1.0,
    tries: int = TRIES,
    known: Sequence[Measured[T]] = (),
) -> list[Measured[T]]:
    """Choices that were measured, behind those `known`, the first with errors of `enough`: errors estimate a loss,
    which grows with that `power` of them, and each try corrects them; between the largest that held and the smallest
    that did not once both are known."""
    found = list(known)
    held = max((error_of(each.chosen) for each in known if each.lost <= allowed), default=0.0)
    failed = min((error_of(each.chosen) for each in known if each.lost > allowed), default=math.inf)
    # of the part that loses least in few bits: less would be to have none
    floor = min((o.error for site in sites for o in site.options if o.error > 0), default=0.0)
    for _ in range(4 * tries):
        chosen = choose(sites, enough=enough)
        error = error_of(chosen)
        seen = next((each for each in found if each.chosen == chosen), None)
        lost = loss(chosen) if seen is None else seen.lost
        if seen is None:
            found.append(Measured(chosen, lost))
        elif enough <= floor or failed < held * _CLOSE:
            break  # nothing lies between
        if len(found) == tries or _NEAR * allowed <= lost <= allowed:
            break
        if lost <= allowed:  # also a choice with smaller errors, where none has errors of `enough`
            held = max(held, error, enough if failed < math.inf and seen else 0.0)
        else:
            failed = min(failed, error)
        if 0 < held < failed < math.inf:
            enough = math.sqrt(held * failed)
        else:
            factor = (allowed / max(lost, 1e-6)) ** (1 / power)
            base = error if lost > allowed else max(error, enough)
            enough = max(floor, base * min(4.0, max(1 / 16, factor)))
    return found


def best_within(found: Iterable[Measured[T]], allowed: float) -> Measured[T] | None:
    """The smallest that keeps within the loss."""
    held = [each for each in found if each.lost <= allowed]
    return min(held, key=lambda each: bytes_of(each.chosen), default=None)
