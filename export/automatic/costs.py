# SPDX-License-Identifier: BSD-3-Clause
"""What layers cost in a form, and what values cost that are converted between forms: the time of it as a share of the
model's in floats, and weights as a share of its bytes.

Time is doctor's estimate (devtools/costs) by rates of no machine in particular, so that the same model and data give
the same choice everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from executorch.devtools.costs import work
from executorch.devtools.costs.machine import KERNELS, Engine, Machine
from executorch.devtools.costs.work import Work, works_of
from executorch.export.automatic.estimates import FLOAT_BITS, LayerOption, LayerSite

# Two cores at 3 GHz with vectors of 256 bits and products of bytes, as phones and desktops have them, by step.
REFERENCE = Machine(
    {
        KERNELS: Engine(
            near=60e9,
            far=30e9,
            call=2e-6,
            rates={
                **dict.fromkeys((work.MATMUL, work.BATCHED, work.CONVOLUTION), 100e9),
                work.WINOGRAD: 180e9,
                work.DEPTHWISE: 40e9,
                work.FUNCTION: 3e9,
                work.NORM: 5e9,
                work.REDUCTION: 5e9,
                work.ARRANGE: 3e9,
                work.RESAMPLE: 4e9,
            },
        )
    }
)
# What 8 bits multiply in the time of one product of floats; others gain by the bytes that they move.
_PRODUCTS = {work.MATMUL: 2, work.BATCHED: 2, work.CONVOLUTION: 2, work.WINOGRAD: 1.2}
_FEW_BITS = 8
_LEAST_WORTH = 1e-3  # so that no option without weights is free


@dataclass(frozen=True)
class Conversion:
    """A value between layers, `parts`, the first of which gives it where `has_giver` (else an input, or what stays
    float); `is_read_whole`: also by what stays float. It is converted once for each width that others read."""

    parts: tuple[int, ...]
    has_giver: bool
    is_read_whole: bool
    elements: int
    machine: Machine

    def seconds(self, options: Sequence[LayerOption]) -> float:
        given = options[0].bits if self.has_giver else FLOAT_BITS
        read = {option.bits for option in options[self.has_giver :]}
        if self.is_read_whole:
            read.add(FLOAT_BITS)
        return sum(
            self.machine.seconds(KERNELS, (), self.elements * (bits + given) // 8)
            for bits in read - {given}
        )


@dataclass(frozen=True)
class _Link:
    conversion: Conversion
    whole: float

    @property
    def parts(self) -> tuple[int, ...]:
        return self.conversion.parts

    def cost(self, options: Sequence[LayerOption]) -> float:
        return self.conversion.seconds(options) / self.whole


@dataclass(frozen=True)
class Costs:
    """`floats`, `weights`: seconds and bytes of all layers in floats."""

    sites: Sequence[LayerSite]
    conversions: Sequence[_Link]
    floats: float
    weights: int

    def set(self, worth_of_time: float) -> Sequence[_Link]:
        """Costs of options, where the time of floats is worth that much of their size; of what lies between layers,
        which costs nothing where time is worth nothing."""
        for site in self.sites:
            for option in site.options:
                size, time = option.weight_bytes / self.weights, option.seconds / self.floats
                option.cost = size + (worth_of_time or _LEAST_WORTH) * time
        return self.conversions if worth_of_time else ()

    def time(self, chosen: Sequence[LayerOption]) -> float:
        """A share of the time of floats."""
        between = sum(link.cost([chosen[part] for part in link.parts]) for link in self.conversions)
        return between + sum(option.seconds for option in chosen) / self.floats


def costs_of(
    captured: GraphModule, sites: Sequence[LayerSite], machine: Machine = REFERENCE
) -> Costs:
    """Sets the seconds of options, not yet their costs."""
    part_of = {name: part for part, site in enumerate(sites) for name in site.layer.nodes}
    nodes: list[list[Node]] = [[] for _ in sites]
    for node in captured.graph.nodes:
        if node.name in part_of:
            nodes[part_of[node.name]].append(node)
    for site, mine in zip(sites, nodes):
        for option in site.options:
            option.seconds = _seconds(mine, option, machine)
    floats = sum(site.options[-1].seconds for site in sites)
    weights = sum(site.options[-1].weight_bytes for site in sites) or 1
    links = [_Link(each, floats) for each in _conversions(captured, part_of, machine)]
    return Costs(sites, links, floats, weights)


def _seconds(nodes: Sequence[Node], option: LayerOption, machine: Machine) -> float:
    is_few = option.computes <= _FEW_BITS
    works = [
        Work(kind, int(amount / _PRODUCTS.get(kind, 1)) if is_few else amount)
        for kind, amount in works_of(nodes)
    ]
    mine = set(nodes)
    taken = {each for node in nodes for each in node.all_input_nodes if each not in mine}
    given = {node for node in nodes if any(user not in mine for user in node.users)}
    read, written = (sum(map(_elements, some)) for some in (taken, given))
    if option.computes == option.bits:
        return machine.seconds(
            KERNELS, works, (read + written) * option.bits // 8 + option.weight_bytes
        )
    # An operator more looks for the range of what is read, and writes it in few bits.
    few = read * option.computes // 8
    rounding = machine.seconds(KERNELS, (), 2 * read * option.bits // 8 + few)
    moved = few + written * option.bits // 8 + option.weight_bytes
    return rounding + machine.seconds(KERNELS, works, moved)


def _conversions(
    captured: GraphModule, part_of: dict[str, int], machine: Machine
) -> Iterable[Conversion]:
    for node in captured.graph.nodes:
        elements = _elements(node)
        giver = part_of.get(node.name)
        readers = {part_of.get(user.name) for user in node.users} - {giver}
        parts = sorted(part for part in readers if part is not None)
        if elements and readers and (parts or giver is not None):
            first = () if giver is None else (giver,)
            yield Conversion(
                (*first, *parts), giver is not None, None in readers, elements, machine
            )


def _elements(node: Node) -> int:
    """Of floats that are computed or given; weights have none."""
    if node.op == "get_attr":
        return 0
    found = pytree.tree_leaves(node.meta.get("val"))
    tensors = [
        each for each in found if isinstance(each, torch.Tensor) and each.is_floating_point()
    ]
    sizes = [size for each in tensors for size in each.shape]
    return sum(each.numel() for each in tensors) if all(isinstance(s, int) for s in sizes) else 0
