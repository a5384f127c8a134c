# SPDX-License-Identifier: BSD-3-Clause
"""What each layer would lose in a form: of each value that the form rounds, the error that curvature.py estimates,
shared by the layers that must leave it whole for it to be whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule, Interpreter, Node
from torch.utils import _pytree as pytree
from torchao.quantization.pt2e import ObserverBase
from torchao.quantization.pt2e.fake_quantize import FakeQuantizeBase

from executorch.devtools.accuracy.curvature import draw_classes, draw_values, watch
from executorch.devtools.progress import counted
from executorch.export.automatic.mixed import FLOAT, Layer

_SEED = 0  # of what is drawn: the same model and data give the same choice
FLOAT_BITS = 32
OBSERVERS = (ObserverBase, FakeQuantizeBase)
Call = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass
class LayerOption:
    """A layer's form. `bits`: of what it takes and gives; `computes`: in which it multiplies; `seconds`, `cost`: see
    costs.py."""

    form: str
    error: float = 0.0
    weight_bytes: int = 0
    bits: int = FLOAT_BITS
    computes: int = FLOAT_BITS
    seconds: float = 0.0
    cost: float = 0.0


@dataclass
class LayerSite:
    layer: Layer
    options: list[LayerOption] = field(default_factory=list)


@dataclass
class _Point:
    """A value that is rounded. `owner`: the layer whose weight it is, or that gives it rounded; `touching`: those that
    must be float for it to be float."""

    node: Node
    observer: Any
    owner: str | None
    touching: frozenset[str]
    is_weight: bool
    elements: int = 0
    error: float = 0.0

    @property
    def source(self) -> str:
        return self.node.args[0].name

    @cached_property
    def parameters(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point: of histograms a search, so once."""
        scale, zero = self.observer.calculate_qparams()
        return scale.float(), zero.float()

    @property
    def is_dynamic(self) -> bool:
        """Its range is found while running."""
        return bool(getattr(self.observer, "is_dynamic", False))

    @property
    def bits(self) -> int:
        return int(self.observer.quant_max - self.observer.quant_min).bit_length()


@dataclass(frozen=True)
class Observed:
    """The model with a form's observers, which have seen data, and the layers that the form has."""

    model: GraphModule
    layers: Sequence[Layer]


def sites_of(
    forms: Mapping[str, Observed], calls: Sequence[Call], is_of_classes: bool
) -> list[LayerSite]:
    """Layers are those of the first form; each may have any form that takes its nodes, and float."""
    layers = next(iter(forms.values())).layers
    layer_of = {node: layer.name for layer in layers for node in layer.nodes}
    points = {}
    for name, form in forms.items():
        points[name] = _points(form.model, layer_of)
        _measure(form.model, points[name], calls, is_of_classes, name)
    sites = []
    weights = _weights(point for each in points.values() for point in each)
    for layer in layers:
        site, owned = LayerSite(layer), weights.get(layer.name, {})
        for name, form in forms.items():
            if any(layer.nodes & each.nodes for each in form.layers):
                site.options.append(_option(name, layer.name, points[name], owned))
        site.options.append(_option(FLOAT, layer.name, (), owned))
        sites.append(site)
    return sites


def _weights(points: Iterable[_Point]) -> dict[str, dict[str, int]]:
    """By layer, of each weight that a form rounds, how many numbers it has."""
    found: dict[str, dict[str, int]] = {}
    for point in points:
        if point.owner is not None and point.is_weight:
            found.setdefault(point.owner, {})[point.source] = point.elements
    return found


def _option(
    form: str, layer: str, points: Sequence[_Point], owned: Mapping[str, int]
) -> LayerOption:
    """Weights that this form leaves whole have the bytes of floats."""
    bits = {point.source: point.bits for point in points if point.owner == layer}
    option = LayerOption(form)
    for source, count in owned.items():
        option.weight_bytes += count * bits.get(source, FLOAT_BITS) // 8
    for point in points:
        if layer in point.touching:
            option.error += point.error / len(point.touching)
            if not point.is_weight:
                option.computes = min(option.computes, point.bits)
                if not point.is_dynamic:
                    option.bits = min(option.bits, point.bits)
    return option


def _points(model: GraphModule, layer_of: Mapping[str, str]) -> list[_Point]:
    found = []
    for node in model.graph.find_nodes(op="call_module"):
        observer = model.get_submodule(str(node.target))
        if not isinstance(observer, OBSERVERS):
            continue
        source = node.args[0]
        readers = {layer_of[user.name] for user in node.users if user.name in layer_of}
        is_weight = source.op == "get_attr"
        gives = not is_weight and not getattr(observer, "is_dynamic", False)
        giver = layer_of.get(source.name) if gives else None
        if touching := frozenset(readers | ({giver} if giver else set())):
            owner = min(readers) if is_weight and readers else giver
            found.append(_Point(node, observer, owner, touching, is_weight))
    return found


def _measure(
    model: GraphModule,
    points: Sequence[_Point],
    calls: Sequence[Call],
    is_of_classes: bool,
    form: str,
) -> None:
    """Sets each point's elements and error, the mean over calls."""
    draw, count = torch.Generator().manual_seed(_SEED), 0
    watcher = _Watcher(model, points)
    for args, keywords in counted(calls, f"samples, for what {form} would lose", len(calls)):
        outputs = [*filter(_is_float, pytree.tree_leaves(watcher.called(args, keywords)))]
        if is_of_classes and outputs:
            count += draw_classes(outputs[0].reshape(-1, outputs[0].shape[-1]).float(), draw)
        else:
            count += draw_values(outputs, draw)
    for point in points:
        point.error /= max(count, 1)


def _is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


class _Watcher(Interpreter):
    """Runs in floats; values that are rounded have hooks."""

    def __init__(self, model: GraphModule, points: Sequence[_Point]) -> None:
        super().__init__(model)
        self._points = {point.node: point for point in points}
        self._observers = {
            node
            for node in model.graph.find_nodes(op="call_module")
            if isinstance(model.get_submodule(str(node.target)), OBSERVERS)
        }

    def called(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        return self.run(*pytree.tree_leaves((args, keywords)))

    def run_node(self, node: Node) -> Any:
        if node not in self._observers:
            return super().run_node(node)
        value = self.fetch_args_kwargs_from_env(node)[0][0]
        point = self._points.get(node)
        if point is None or not _is_float(value):
            return value
        point.elements = value.numel()
        here = value.view_as(value) if value.requires_grad else value.detach().requires_grad_()
        exact = value.detach()
        watch(here, [point], lambda each: rounded(each, exact) - exact, dim=0)
        return here


@torch.no_grad()
def rounded(point: _Point, value: Tensor) -> Tensor:
    """As the program will hold it; what is quantized while running, by its own range."""
    observer = point.observer
    low, high = observer.quant_min, observer.quant_max
    if point.is_dynamic:
        least, most = min(0.0, float(value.min())), max(0.0, float(value.max()))
        scale = torch.tensor(max((most - least) / (high - low), 1e-12))
        zero = (low - least / scale).round()
    else:
        scale, zero = point.parameters
        axis = getattr(observer, "ch_axis", None)
        if scale.numel() > 1 and axis is not None:
            shape = [-1 if dim == axis % value.dim() else 1 for dim in range(value.dim())]
            scale, zero = scale.view(shape), zero.view(shape)
    codes = ((value / scale).round() + zero).clamp(low, high)
    return (codes - zero) * scale
