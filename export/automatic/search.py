# SPDX-License-Identifier: BSD-3-Clause
"""From data and an allowed loss to a quantizer: 8 bits for all layers first, then more for those that lose most, until
samples that chose nothing lose no more than is allowed.

model, calls --capture--> graph --prepare, calibrate--> one graph a form --estimates.py--> LayerSites
    --choices.py: choose, quantize, measure, correct--> MixedQuantizer, Found"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import Quantizer

from executorch.devtools.accuracy.choices import (
    Measured,
    best_within,
    choose,
    error_of,
    within,
)
from executorch.devtools.accuracy.intervals import Interval
from executorch.devtools.costs.machine import Machine
from executorch.devtools.progress import counted
from executorch.export.automatic.costs import REFERENCE, Costs, costs_of
from executorch.export.automatic.estimates import (
    OBSERVERS,
    Call,
    LayerOption,
    LayerSite,
    Observed,
    sites_of,
)
from executorch.export.automatic.mixed import FLOAT, MixedQuantizer

TRIES = 8
_PASSES = 16  # calls whose gradients are taken, drawn from all of the data
_SEED = 0
_CORRECTIONS = 3  # of estimates, where no choice keeps the loss
Choice = list[LayerOption]  # one for each site


@dataclass(frozen=True)
class Try:
    """What was measured of a choice; `time`: its share of floats', estimated."""

    chosen: Choice
    lost: Interval
    time: float


@dataclass(frozen=True)
class Found:
    """`graph`: the quantized model, to export; `tries`: the first in the fewest bits; `chosen`: the cheapest whose loss
    is within what was allowed for 95 % of resampled samples, or, where there is none (not `is_sure`), for all."""

    graph: GraphModule
    sites: Sequence[LayerSite]
    tries: Sequence[Try]
    chosen: Try
    is_sure: bool
    costs: Costs


@dataclass
class Search:
    """`forms`: quantizers by name, fewest bytes first; `loss`: of a quantized graph, on samples that chose nothing;
    `power`: it grows with this power of the errors that are estimated; `worth_of_time`: half of the time is worth so
    much of half of the size."""

    forms: Mapping[str, Quantizer]
    calls: Sequence[Call]
    loss: Callable[[GraphModule], Interval]
    is_of_classes: bool = False
    power: float = 0.5
    machine: Machine = REFERENCE
    worth_of_time: float = 1.0
    _observed: dict[Any, Any] = field(default_factory=dict, init=False)

    def run(self, captured: GraphModule, allowed: float) -> Found:
        """ValueError where no layer can be quantized, or none may be for such a loss."""
        forms = {}
        for name, quantizer in self.forms.items():
            mixed = MixedQuantizer({name: quantizer})
            model = self._calibrated(captured, mixed, name)
            forms[name] = Observed(model, mixed.layers)
        if not next(iter(forms.values())).layers:
            raise ValueError(
                "--quantize auto: expected a layer that the backend's quantizer takes, found none"
            )
        drawn = random.Random(_SEED).sample(range(len(self.calls)), min(_PASSES, len(self.calls)))
        some = [self.calls[number] for number in sorted(drawn)]
        sites = sites_of(forms, some, self.is_of_classes)
        costs = costs_of(captured, sites, self.machine)
        links = costs.set(self.worth_of_time)
        del forms
        tries: list[Try] = []

        def measure(chosen: Choice) -> float:
            lost = self.loss(self._quantized(captured, sites, chosen))
            tries.append(Try(chosen, lost, costs.time(chosen)))
            return lost.high

        least = choose(sites, enough=float("inf"), links=links)
        found = [Measured(least, measure(least))]
        if found[0].lost > allowed:
            total = sum(option.error for option in least)
            enough = total * min(0.5, max(1e-3, (allowed / found[0].lost) ** (1 / self.power)))
            found = within(sites, allowed, measure, enough, self.power, TRIES, found, links)
            if not any(each.lost <= allowed for each in filter(_has_few_bits, found)):
                links = costs.set(0)  # what is worth its time is floats: size counts
                first = found[:1]
                for _ in range(1 + _CORRECTIONS):
                    found += within(
                        sites, allowed, measure, enough, self.power, TRIES, first, links
                    )
                    if any(each.lost <= allowed for each in filter(_has_few_bits, found)):
                        break
                    _correct(found, total)
        best = best_within(filter(_has_few_bits, found), allowed, links)
        is_sure = best is not None
        if best is None:  # the samples say so, but others may lose more
            values = [Measured(t.chosen, t.lost.value) for t in tries if _has_few_bits(t)]
            best = best_within(values, allowed, links)
        if best is None:
            raise Unreachable(allowed, min(t.lost.value for t in tries if _has_few_bits(t)))
        chosen = next(each for each in tries if each.chosen == best.chosen)
        graph = self._quantized(captured, sites, chosen.chosen)
        return Found(graph, sites, tries, chosen, is_sure, costs)

    def _quantized(
        self, captured: GraphModule, sites: Sequence[LayerSite], chosen: Sequence[LayerOption]
    ) -> GraphModule:
        forms = {site.layer.name: option.form for site, option in zip(sites, chosen)}
        if all(form == FLOAT for form in forms.values()):
            return captured
        mixed = MixedQuantizer(self.forms, forms)
        return converted(self._calibrated(captured, mixed, "the choice"))

    @torch.no_grad()
    def _calibrated(self, captured: GraphModule, quantizer: Quantizer, what: str) -> GraphModule:
        """Observers that have seen the same value in another graph are taken from there."""
        prepared = prepare_pt2e(copy.deepcopy(captured), quantizer)
        keys = _observers(prepared)
        missing = [name for name, key in keys.items() if key not in self._observed]
        for name, key in keys.items():
            if key in self._observed:
                _put(prepared, name, self._observed[key])
        if missing:
            for args, keywords in counted(
                self.calls, f"samples, to calibrate {what}", len(self.calls)
            ):
                prepared(*args, **keywords)
            for name in missing:
                self._observed[keys[name]] = prepared.get_submodule(name)
        return prepared


def _correct(found: Sequence[Measured[LayerOption]], total: float) -> None:
    """Where estimates are wrong (samples that calibrated never had such values): of the choices that lost too much, the
    layers of that with the fewest in few bits are thought to lose all that there is to lose."""
    for option in min(filter(_has_few_bits, found), key=_few_bits).chosen:
        if option.form != FLOAT:
            option.error = max(option.error, total)


def _few_bits(each: Measured[LayerOption]) -> tuple[int, float]:
    """How many layers, and what they are thought to lose: what was corrected comes last."""
    few = [option for option in each.chosen if option.form != FLOAT]
    return len(few), error_of(few)


def _has_few_bits(each: Try | Measured[LayerOption]) -> bool:
    return any(option.form != FLOAT for option in each.chosen)


class Unreachable(ValueError):
    """No choice with a quantized layer keeps within the loss."""

    def __init__(self, allowed: float, best: float) -> None:
        super().__init__(
            f"expected a loss of {allowed:.4g} at most; the best found, with any layer in few bits, is {best:.4g}"
        )
        self.best = best


_BATCH_NORM = torch.ops.aten.batch_norm.default


def _batch_norm(*args: Any) -> Any:
    return _BATCH_NORM(*args)


def converted(prepared: GraphModule) -> GraphModule:
    """Batch norms that follow no convolution stay out of sight: torchao would trace 96 patterns of training for them,
    which takes a minute."""
    for node in prepared.graph.find_nodes(op="call_function", target=_BATCH_NORM):
        node.target = _batch_norm
    converted = convert_pt2e(prepared)
    for node in converted.graph.find_nodes(op="call_function", target=_batch_norm):
        node.target = _BATCH_NORM
    converted.recompile()
    return converted


def _observers(prepared: GraphModule) -> dict[str, Any]:
    """By name, what tells an observer from others: all that it sees, and how."""
    modules = dict(prepared.named_modules(remove_duplicate=False))
    seen: dict[int, tuple[str, list[str]]] = {}
    for node in prepared.graph.find_nodes(op="call_module"):
        observer = modules.get(str(node.target))
        if isinstance(observer, OBSERVERS):
            seen.setdefault(id(observer), (str(node.target), []))[1].append(node.args[0].name)
    found = {}
    for name, sources in seen.values():
        observer = modules[name]
        how = (type(observer), observer.dtype, getattr(observer, "qscheme", None))
        limits = (getattr(observer, "quant_min", None), getattr(observer, "quant_max", None))
        found[name] = (frozenset(sources), *how, *limits, getattr(observer, "is_dynamic", False))
    return found


def _put(prepared: GraphModule, name: str, observer: Any) -> None:
    """In all places of the one that is there."""
    old = prepared.get_submodule(name)
    for path, module in list(prepared.named_modules(remove_duplicate=False)):
        if module is old:
            parent, _, last = path.rpartition(".")
            setattr(prepared.get_submodule(parent), last, observer)
