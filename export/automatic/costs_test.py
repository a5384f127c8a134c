# SPDX-License-Identifier: BSD-3-Clause
"""Seconds and conversions by arithmetic, and a search in which they decide."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.fx import GraphModule

from executorch.backends.discovery import all_backends
from executorch.cli.automatic import forms_of
from executorch.devtools.accuracy.choices import Measured
from executorch.devtools.accuracy.intervals import Interval
from executorch.devtools.costs import work
from executorch.devtools.costs.machine import KERNELS, Engine, Machine
from executorch.exir.capture.diagnostics import export_module
from executorch.export.automatic import search
from executorch.export.automatic.costs import costs_of
from executorch.export.automatic.estimates import LayerOption, LayerSite
from executorch.export.automatic.mixed import FLOAT, Layer
from executorch.export.automatic.search import Found, Search

X = torch.randn(1, 8, generator=torch.Generator().manual_seed(3))
# A byte a second, and nothing else takes time.
BYTES = Machine({KERNELS: Engine(1.0, 1.0, 0.0)})


class Net(nn.Module):
    """`b` has a weight of 1000 for a number that is always 0: rounded by it, the others are lost."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
        with torch.no_grad():
            self.a.weight[0], self.a.bias[0] = 0, 0
            self.b.weight[:, 0] = 1000

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.a(x)
        return self.b(y) + y


class Chain(Net):
    def __init__(self) -> None:
        super().__init__()
        self.c = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.c(self.b(self.a(x)))


@pytest.fixture(scope="module")
def captured() -> GraphModule:
    return export_module(Net().eval(), (X,), {}, strict=False).module()


def _sites(captured: GraphModule) -> list[LayerSite]:
    """Two linear layers and an addition."""
    nodes = [node.name for node in captured.graph.nodes if node.op == "call_function"]
    sites = []
    for name in nodes[-3:]:
        weights = 64 * (not name.startswith("add"))
        few, floats = (
            LayerOption("int8", 1.0, weights, 8, 8),
            LayerOption(FLOAT, 0.0, 4 * weights),
        )
        dynamic = LayerOption("int8-dynamic", 0.5, weights, 32, 8)
        sites.append(LayerSite(Layer(name, frozenset([name]), name, name), [few, dynamic, floats]))
    return sites


def test_seconds_are_those_of_bytes_and_products(captured: GraphModule) -> None:
    """A linear layer reads and writes 8 numbers and reads 64 weights; 64 products, two at once in few bits. What is
    dynamic reads 8 floats twice and writes 8 bytes, then reads 8 bytes and 64, and writes 8 floats."""
    sites = _sites(captured)
    costs_of(captured, sites, BYTES)
    assert [o.seconds for o in sites[0].options] == [8 + 8 + 64, 64 + 8 + 8 + 64 + 32, 4 * 80]
    assert [o.seconds for o in sites[2].options[::2]] == [24, 96]
    slow = Machine({KERNELS: Engine(1e9, 1e9, 0.5, {work.MATMUL: 1.0})})
    costs_of(captured, sites, slow)
    assert [o.seconds for o in sites[0].options] == pytest.approx([32.5, 33, 64.5], abs=1e-6)


def test_values_are_converted_once_for_each_width(captured: GraphModule) -> None:
    """x to `a`; y to `b` and the sum; b's to the sum; the sum goes out in floats. A conversion of 8 numbers moves 40
    bytes."""
    sites = _sites(captured)
    costs = costs_of(captured, sites, BYTES)
    found = sorted(
        (c.parts, c.has_giver, c.is_read_whole)
        for c in (each.conversion for each in costs.conversions)
    )
    assert found == [
        ((0,), False, False),
        ((0, 1, 2), True, False),
        ((1, 2), True, False),
        ((2,), True, True),
    ]

    def between(*forms: int) -> float:
        chosen = [site.options[form] for site, form in zip(sites, forms)]
        return costs.time(chosen) * costs.floats - sum(each.seconds for each in chosen)

    assert between(2, 2, 2) == between(1, 1, 1) == pytest.approx(0)
    assert between(0, 0, 0) == pytest.approx(2 * 40)
    assert between(0, 2, 0) == pytest.approx(4 * 40)
    assert between(0, 2, 2) == pytest.approx(2 * 40)
    assert between(2, 0, 0) == pytest.approx((1 + 1) * 40)  # y once for both


def test_costs_are_shares_of_floats(captured: GraphModule) -> None:
    sites = _sites(captured)
    costs = costs_of(captured, sites, BYTES)
    assert len(costs.set(0.5)) == 4 and costs.floats == 320 + 320 + 96 and costs.weights == 512
    assert sites[0].options[0].cost == pytest.approx(64 / 512 + 0.5 * 80 / 736)
    assert costs.set(0) == ()
    assert sites[0].options[0].cost == pytest.approx(64 / 512, abs=1e-3)


def _found(net: type[nn.Module], allowed: float, width: float = 1.0) -> Found:
    draw = torch.Generator().manual_seed(1)
    calls = [((torch.randn(1, 8, generator=draw),), {}) for _ in range(4)]
    model = net().eval()
    captured = export_module(model, (X,), {}, strict=False).module()

    @torch.no_grad()
    def loss(graph: GraphModule) -> Interval:
        errors = [(graph(*args) - model(*args)).norm() / model(*args).norm() for args, _ in calls]
        value = float(torch.stack(errors).mean())
        return Interval(value, value, width * value)

    forms = {"int8": forms_of(all_backends()["xnnpack"])["int8"]}
    return Search(forms, calls, loss, machine=BYTES).run(captured, allowed)


def _forms(found: Found) -> dict[str, str]:
    layers = [site.layer.module or site.layer.operators for site in found.sites]
    return dict(zip(layers, (option.form for option in found.chosen.chosen)))


def test_errors_are_estimated_on_all_parts_of_the_data(
    captured: GraphModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Samples are in the order of their files: of 40 calls 16, from each quarter some, the same ones each time."""
    forms = {"int8": forms_of(all_backends()["xnnpack"])["int8"]}
    seen: list[float] = []

    def sites_of(_: object, calls: list, __: bool) -> None:
        seen.extend(float(args[0][0, 0]) for args, _ in calls)
        raise InterruptedError

    monkeypatch.setattr(search, "sites_of", sites_of)
    calls = [((torch.full((1, 8), float(number)),), {}) for number in range(40)]
    for _ in range(2):
        with pytest.raises(InterruptedError):
            Search(forms, calls, lambda _: Interval(0, 0, 0)).run(captured, 0.1)
    assert seen[:16] == seen[16:] and len(set(seen[:16])) == 16
    assert {number // 10 for number in seen} == {0, 1, 2, 3}


def test_one_layer_that_loses_everything_stays_in_floats_and_nothing_else() -> None:
    """A neighbour in floats would save one conversion of 40 bytes by moving another, and move 240 more itself."""
    found = _found(Chain, 0.05)
    assert found.tries[0].lost.value > 0.5
    assert _forms(found) == {"a": "int8", "b": FLOAT, "c": "int8"}
    assert found.chosen.lost.value <= 0.05 and found.is_sure


def test_a_cheap_neighbour_comes_along() -> None:
    """The sum in 8 bits moves 72 bytes less than in floats, and needs two conversions more, of 40."""
    found = _found(Net, 0.05)
    assert _forms(found) == {"a": "int8", "b": FLOAT, "add": FLOAT}
    assert found.chosen.time == pytest.approx((80 + 320 + 96 + 80) / 736)


def test_a_loss_that_samples_do_not_show_is_unsure() -> None:
    """All samples lose little, resampled ones a hundred times as much: the cheapest by what all lose."""
    found = _found(Chain, 0.05, width=100.0)
    assert not found.is_sure
    assert found.chosen.lost.value <= 0.05 < found.chosen.lost.high
    assert FLOAT in _forms(found).values() and "int8" in _forms(found).values()


def test_estimates_that_losses_contradict_are_corrected() -> None:
    """The last layer loses all that there is, and was thought to lose nothing: first it is the one in few bits, then
    another is."""

    def found(layer: str) -> Measured[LayerOption]:
        return Measured([options[name][name != layer] for name in options], 1.0)

    options = {
        name: (LayerOption("int8", error), LayerOption(FLOAT)) for name, error in
        (("a", 2.0), ("b", 3.0), ("c", 1e-9))
    }  # fmt: skip
    both = Measured([options["a"][0], options["b"][0], options["c"][1]], 1.0)
    search._correct([both, found("c"), found("b")], 5.0)
    assert [few.error for few, _ in options.values()] == [2.0, 3.0, 5.0]
    search._correct([both, found("c"), found("b")], 5.0)
    assert [few.error for few, _ in options.values()] == [2.0, 5.0, 5.0]
