# SPDX-License-Identifier: BSD-3-Clause
"""Which of its forms each part of a model gets: least cost for a loss. For weights of language models and layers of
any network alike; where errors are from, curvature.py says."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

TRIES = 5  # choices that are measured
_CLOSE = 1.02  # errors between which no choice is looked for
_NEAR = 0.9  # of the loss that is allowed: no further try


class Option(Protocol):
    """A form of a part: what it costs (bytes, or what else shall be little), and the error that is estimated of it."""

    @property
    def cost(self) -> float: ...

    @property
    def error(self) -> float: ...


T = TypeVar("T", bound=Option)
T_co = TypeVar("T_co", bound=Option, covariant=True)
T_contra = TypeVar("T_contra", bound=Option, contravariant=True)


class Site(Protocol[T_co]):
    """A part of a model, and the forms that it may have."""

    @property
    def options(self) -> Sequence[T_co]: ...


class Link(Protocol[T_contra]):
    """What some parts cost together, beside what each costs: a value that must be converted between their forms.
    `parts`: their numbers among the sites."""

    @property
    def parts(self) -> Sequence[int]: ...

    def cost(self, options: Sequence[T_contra]) -> float:
        """`options`: of these parts."""


def cost_of(chosen: Sequence[T], links: Iterable[Link[T]] = ()) -> float:
    """Of all parts, and of what lies between them."""
    between = sum(link.cost([chosen[part] for part in link.parts]) for link in links)
    return sum(option.cost for option in chosen) + between


def error_of(chosen: Iterable[Option]) -> float:
    return sum(option.error for option in chosen)


def choose(
    sites: Sequence[Site[T]],
    most: float = math.inf,
    enough: float = 0.0,
    links: Sequence[Link[T]] = (),
) -> list[T]:
    """From the cheapest option of each site on, step by step that which saves most error for what it costs more: until
    no step fits `most`, or all errors together are `enough`. With links a step may be of two parts or of all parts of a
    link, and behind the last come those that cost less and leave errors within `enough`."""
    state = _State(sites, links)
    if state.error <= enough:
        return state.chosen
    while state.error > enough:
        step = state.best(most)
        if step is None:
            break
        state.take(step)
    if links:
        while (step := state.cheaper(enough)) is not None:
            state.take(step)
    return state.chosen


_LEAST = 1e-9  # of what is chosen: a cost below it is no reason for a step


class _State(Generic[T]):
    """Options that are held, and what each step from them would cost and save."""

    def __init__(self, sites: Sequence[Site[T]], links: Sequence[Link[T]]) -> None:
        self.chosen = [min(site.options, key=lambda option: option.cost) for site in sites]
        self._links = links
        self._links_of: dict[int, list[int]] = {part: [] for part in range(len(sites))}
        for number, link in enumerate(links):
            for part in link.parts:
                self._links_of[part].append(number)
        self._steps = [{part: o} for part, site in enumerate(sites) for o in site.options]
        self._steps += [step for link in links for step in _joint(sites, link)]
        self._steps_of: dict[int, list[int]] = {part: [] for part in range(len(sites))}
        for number, each in enumerate(self._steps):
            for part in each:
                self._steps_of[part].append(number)
        self.cost, self.error = cost_of(self.chosen, links), error_of(self.chosen)
        self._least = _LEAST * abs(self.cost)
        self._values = [self._value(each) for each in self._steps]

    def _value(self, step: dict[int, T]) -> tuple[float, float]:
        """What it costs more, and the error that it saves."""
        held = self.chosen
        more = saved = 0.0
        for part, option in step.items():
            more += option.cost - held[part].cost
            saved += held[part].error - option.error
        for number in {number for part in step for number in self._links_of[part]}:
            link = self._links[number]
            before = [held[part] for part in link.parts]
            after = [step.get(part, held[part]) for part in link.parts]
            more += link.cost(after) - link.cost(before)
        return more, saved

    def best(self, most: float) -> dict[int, T] | None:
        """Saves most error for a cost more; what costs nothing first."""
        found, highest = None, (0.0, 0.0)
        for step, (more, saved) in zip(self._steps, self._values):
            if saved > 0 and self.cost + more <= most:
                value = (saved / more, 0.0) if more > self._least else (math.inf, saved)
                if value > highest:
                    found, highest = step, value
        return found

    def cheaper(self, enough: float) -> dict[int, T] | None:
        """Saves most cost, within the errors."""
        found, lowest = None, -self._least
        for step, (more, saved) in zip(self._steps, self._values):
            if more < lowest and self.error - saved <= enough:
                found, lowest = step, more
        return found

    def take(self, step: dict[int, T]) -> None:
        more, saved = self._value(step)
        self.cost, self.error = self.cost + more, self.error - saved
        for part, option in step.items():
            self.chosen[part] = option
        near = {
            part
            for each in step
            for link in self._links_of[each]
            for part in self._links[link].parts
        }
        for number in {number for part in near | set(step) for number in self._steps_of[part]}:
            self._values[number] = self._value(self._steps[number])


def _joint(sites: Sequence[Site[T]], link: Link[T]) -> Iterator[dict[int, T]]:
    """Of options at the same place from the cheapest on or from the last: few bits, or floats, for two or all."""
    for place in range(max(len(sites[part].options) for part in link.parts)):
        alike = {
            part: sites[part].options[min(place, len(sites[part].options) - 1)]
            for part in link.parts
        }
        for pair in itertools.combinations(alike, 2):
            yield {part: alike[part] for part in pair}
        if len(alike) > 2:
            yield alike


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
    links: Sequence[Link[T]] = (),
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
        chosen = choose(sites, enough=enough, links=links)
        error = error_of(chosen)
        seen = next((each for each in found if each.chosen == chosen), None)
        lost = loss(chosen) if seen is None else seen.lost
        if seen is None:
            found.append(Measured(chosen, lost))
        elif (lost > allowed and enough <= floor) or failed < held * _CLOSE:
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


def best_within(
    found: Iterable[Measured[T]], allowed: float, links: Sequence[Link[T]] = ()
) -> Measured[T] | None:
    """The cheapest that keeps within the loss."""
    held = [each for each in found if each.lost <= allowed]
    return min(held, key=lambda each: cost_of(each.chosen, links), default=None)
