# SPDX-License-Identifier: BSD-3-Clause
"""From data and an allowed loss to a quantizer: 8 bits for all layers first, then more for those that lose most, until
samples that chose nothing lose no more than is allowed.

model, calls --capture--> graph --prepare, calibrate--> one graph a form --estimates.py--> LayerSites
    --choices.py: choose, quantize, measure, correct--> MixedQuantizer, Found"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import Quantizer

from executorch.devtools.accuracy.choices import Measured, best_within, choose, within
from executorch.devtools.progress import counted
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
_PASSES = 16  # calls whose gradients are taken


@dataclass(frozen=True)
class Found:
    """`graph`: the quantized model, to export; `tries`: what was measured, the first with the fewest bytes; `chosen`:
    the smallest within the loss."""

    graph: GraphModule
    sites: Sequence[LayerSite]
    tries: Sequence[Measured[LayerOption]]
    chosen: Measured[LayerOption]


@dataclass
class Search:
    """`forms`: quantizers by name, fewest bytes first; `loss`: of a quantized graph, on samples that chose nothing;
    `power`: it grows with this power of the errors that are estimated."""

    forms: Mapping[str, Quantizer]
    calls: Sequence[Call]
    loss: Callable[[GraphModule], float]
    is_of_classes: bool = False
    power: float = 0.5
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
        sites = sites_of(forms, self.calls[:_PASSES], self.is_of_classes)
        del forms

        def measure(chosen: list[LayerOption]) -> float:
            return self.loss(self._quantized(captured, sites, chosen))

        least = choose(sites, enough=float("inf"))
        first = Measured(least, measure(least))
        tries = [first]
        if first.lost > allowed:
            total = sum(option.error for option in least)
            enough = total * min(0.5, max(1e-3, (allowed / first.lost) ** (1 / self.power)))
            tries = within(sites, allowed, measure, enough, self.power, TRIES, tries)
        chosen = best_within(tries, allowed)
        if chosen is None or all(option.form == FLOAT for option in chosen.chosen):
            quantized = [t for t in tries if any(o.form != FLOAT for o in t.chosen)]
            best = min(quantized, key=lambda each: each.lost)
            raise Unreachable(allowed, best.lost)
        return Found(self._quantized(captured, sites, chosen.chosen), sites, tries, chosen)

    def _quantized(
        self, captured: GraphModule, sites: Sequence[LayerSite], chosen: Sequence[LayerOption]
    ) -> GraphModule:
        forms = {site.layer.name: option.form for site, option in zip(sites, chosen)}
        if all(form == FLOAT for form in forms.values()):
            return captured
        mixed = MixedQuantizer(self.forms, forms)
        return convert_pt2e(self._calibrated(captured, mixed, "the choice"))

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


class Unreachable(ValueError):
    """No choice with a quantized layer keeps within the loss."""

    def __init__(self, allowed: float, best: float) -> None:
        super().__init__(
            f"expected a loss of {allowed:.4g} at most; the best found, with any layer in few bits, is {best:.4g}"
        )
        self.best = best


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
