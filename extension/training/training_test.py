# SPDX-License-Identifier: BSD-3-Clause
"""Training in Python: losses and weights against eager PyTorch step for step, checkpoints, wrong usage."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.export import export
from torch.export.experimental import _export_forward_backward

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from executorch.extension.training import (
        TrainingModule,
        _load_for_executorch_for_training,
        _load_for_executorch_for_training_from_buffer,
        get_adamw_optimizer,
        get_sgd_optimizer,
        load_checkpoint,
        save_checkpoint,
    )
from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig, schema, to_edge, to_edge_transform_and_lower
from executorch.exir.error import ExportError
from executorch.exir.passes import MemoryPlanningPass
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from executorch.extension.training.examples.XOR.export_model import export_xor
from executorch.extension.training.examples.XOR.model import Net, TrainingNet

pytestmark = pytest.mark.filterwarnings("ignore:This API is experimental")

ROWS = [
    (torch.tensor([[a, b]], dtype=torch.float32), torch.tensor([int(a != b)]))
    for a in (0, 1)
    for b in (0, 1)
]
OPTIMIZERS: dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = {
    "sgd": (get_sgd_optimizer, torch.optim.SGD, {"lr": 0.1}),
    "sgd, momentum": (
        get_sgd_optimizer,
        torch.optim.SGD,
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.01},
    ),
    "sgd, nesterov": (
        get_sgd_optimizer,
        torch.optim.SGD,
        {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    ),
    "adamw": (get_adamw_optimizer, torch.optim.AdamW, {}),
    "adamw, options": (
        get_adamw_optimizer,
        torch.optim.AdamW,
        {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1},
    ),
}


@pytest.fixture(scope="module")
def net() -> Net:
    torch.manual_seed(0)
    return Net()


@pytest.fixture(scope="module")
def program(net: Net) -> bytes:
    return export_xor(net, external_mutable_weights=False).buffer


@pytest.fixture
def module(program: bytes) -> TrainingModule:
    return _load_for_executorch_for_training_from_buffer(program)


def steps(module: TrainingModule, optimizer: Any, count: int, first: int = 0) -> list[float]:
    losses = []
    for step in range(first, first + count):
        loss, _ = module.forward_backward("forward", ROWS[step % 4])
        optimizer.step(module.named_gradients())
        losses.append(loss.item())
    return losses


def eager_steps(model: nn.Module, optimizer: torch.optim.Optimizer, count: int) -> list[float]:
    losses = []
    for step in range(count):
        optimizer.zero_grad()
        loss, _ = model(*ROWS[step % 4])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.req("EXT-031", "RT-048", "IX-036")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_hundred_steps_are_those_of_eager(name: str, net: Net, module: TrainingModule) -> None:
    make, make_eager, options = OPTIMIZERS[name]
    model = TrainingNet(copy.deepcopy(net))
    expected = eager_steps(model, make_eager(model.parameters(), **options), 100)
    found = steps(module, make(module.named_parameters("forward"), **options), 100)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(
            module.named_parameters()[name], parameter.detach(), rtol=1e-4, atol=1e-5
        )


@pytest.mark.req("EXT-031")
def test_xor_is_learned(module: TrainingModule) -> None:
    module.forward_backward("forward", ROWS[0])
    optimizer = get_sgd_optimizer(module.named_parameters(), lr=0.5, momentum=0.9)
    losses = steps(module, optimizer, 1000)
    assert max(losses[-4:]) < 0.05 < min(losses[:4])
    for bits, label in ROWS:
        _, predicted = module.forward_backward("forward", (bits, label))
        assert predicted.tolist() == label.tolist()


def test_weights_may_start_in_a_data_file(net: Net, tmp_path: Path) -> None:
    exported = export_xor(net, external_mutable_weights=True)
    exported.save(tmp_path / "xor.pte")
    exported.write_tensor_data_to_file(tmp_path)
    assert [each.name for each in tmp_path.glob("*.ptd")] == ["_default_external_constant.ptd"]
    data = (tmp_path / "_default_external_constant.ptd").read_bytes()
    module = _load_for_executorch_for_training_from_buffer(exported.buffer, data)
    for name, start in net.named_parameters():
        torch.testing.assert_close(
            module.named_parameters("forward")[f"net.{name}"], start.detach(), rtol=0, atol=0
        )
    options = {"lr": 0.1, "momentum": 0.9}
    model = TrainingNet(copy.deepcopy(net))
    expected = eager_steps(model, torch.optim.SGD(model.parameters(), **options), 8)
    found = steps(module, get_sgd_optimizer(module.named_parameters("forward"), **options), 8)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.req("EXT-031", "RT-008")
@pytest.mark.parametrize("make", [get_adamw_optimizer, get_sgd_optimizer])
def test_an_interrupted_run_goes_on_bit_for_bit(
    make: Callable[..., Any], program: bytes, tmp_path: Path
) -> None:
    options = {"momentum": 0.9, "dampening": 0.5} if make is get_sgd_optimizer else {}

    def begin() -> tuple[TrainingModule, Any, dict[str, Tensor]]:
        module = _load_for_executorch_for_training_from_buffer(program)
        optimizer = make(module.named_parameters("forward"), lr=0.05, **options)
        return module, optimizer, {**module.named_parameters("forward"), **optimizer.state_dict()}

    module, optimizer, tensors = begin()
    whole = steps(module, optimizer, 40)
    for interruption in (0, 1, 17):
        path = tmp_path / f"{interruption}.ptd"
        module, optimizer, before = begin()
        steps(module, optimizer, interruption)
        save_checkpoint(path, before)
        module, optimizer, after = begin()
        load_checkpoint(path, after)
        rest = steps(module, optimizer, 40 - interruption, first=interruption)
        assert rest == whole[interruption:]
        assert all(torch.equal(tensors[name], after[name]) for name in tensors)


def test_a_corrupted_checkpoint_is_refused_and_changes_nothing(
    module: TrainingModule, tmp_path: Path
) -> None:
    path = tmp_path / "run.ptd"
    parameters = module.named_parameters("forward")
    save_checkpoint(path, parameters)
    before = {name: tensor.clone() for name, tensor in parameters.items()}
    good = path.read_bytes()
    path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    with pytest.raises(RuntimeError, match="is corrupted: its checksum is .* take an earlier"):
        load_checkpoint(path, parameters)
    assert all(torch.equal(parameters[name], before[name]) for name in before)
    path.write_bytes(good)
    load_checkpoint(path, parameters)


def test_a_checkpoint_is_a_data_file_of_the_program(net: Net, tmp_path: Path) -> None:
    exported = export_xor(net, external_mutable_weights=True)
    trained = {f"net.{name}": p.detach() + 1 for name, p in net.named_parameters()}
    save_checkpoint(tmp_path / "trained.ptd", trained)
    data = (tmp_path / "trained.ptd").read_bytes()
    module = _load_for_executorch_for_training_from_buffer(exported.buffer, data)
    for name, tensor in module.named_parameters("forward").items():
        assert torch.equal(tensor, trained[name])


class _Normalized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))

    def forward(self, x: Tensor) -> Tensor:
        return (self.net(x) ** 2).mean()


def test_running_statistics_are_attributes(tmp_path: Path) -> None:
    """They follow eager's, and a checkpoint takes them along."""
    model, x = _Normalized(), torch.randn(6, 3)
    joint = _export_forward_backward(export(_Normalized(), (x,), strict=True))
    config = ExecutorchBackendConfig(emit_mutable_buffer_names=True)
    buffer = to_edge(joint).to_executorch(config).buffer

    def begin() -> tuple[TrainingModule, Any, dict[str, Any]]:
        module = _load_for_executorch_for_training_from_buffer(buffer)
        optimizer = get_sgd_optimizer(module.named_parameters("forward"), lr=0.1, momentum=0.9)
        return module, optimizer, {**module.named_attributes("forward"), **optimizer.state_dict()}

    def step(module: TrainingModule, optimizer: Any) -> float:
        (loss,) = module.forward_backward("forward", (x,))
        optimizer.step(module.named_gradients())
        return loss.item()

    module, optimizer, run = begin()
    eager = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(5):
        eager.zero_grad()
        expected = model(x)
        expected.backward()
        eager.step()
        assert step(module, optimizer) == pytest.approx(expected.item(), rel=1e-4)
    names = {"net.1.running_mean", "net.1.running_var", "net.1.num_batches_tracked"}
    attributes = module.named_attributes("forward")
    assert attributes.keys() == names | module.named_parameters().keys()
    for name, value in model.named_buffers():
        torch.testing.assert_close(run[name], value, rtol=1e-4, atol=1e-6)
    save_checkpoint(tmp_path / "run.ptd", run)
    rest = [step(module, optimizer) for _ in range(5)]
    module, optimizer, again = begin()
    load_checkpoint(tmp_path / "run.ptd", again)
    assert [step(module, optimizer) for _ in range(5)] == rest
    assert all(torch.equal(run[name], again[name]) for name in run)


def test_tensors_of_numpy(program: bytes, net: Net) -> None:
    module = _load_for_executorch_for_training_from_buffer(program)
    rows = [tuple(tensor.numpy() for tensor in row) for row in ROWS]
    module.forward_backward("forward", rows[0])
    optimizer = get_sgd_optimizer(module.named_parameters(), lr=0.1)
    model = TrainingNet(copy.deepcopy(net))
    expected = eager_steps(model, torch.optim.SGD(model.parameters(), lr=0.1), 4)
    for row, loss in zip(rows, expected, strict=True):
        found, _ = module.forward_backward("forward", row)
        gradients = module.named_gradients()
        assert all(isinstance(gradient, np.ndarray) for gradient in gradients.values())
        optimizer.step(gradients)
        np.testing.assert_allclose(found, loss, rtol=1e-4)


def test_gradients_are_copies_and_parameters_are_not(module: TrainingModule) -> None:
    with pytest.raises(RuntimeError, match="Must call forward_backward before"):
        module.named_gradients()
    with pytest.raises(RuntimeError, match="Must call forward_backward before"):
        module.named_parameters()
    loss, _ = module.forward_backward("forward", ROWS[1])
    gradients = module.named_gradients()
    kept = {name: gradient.clone() for name, gradient in gradients.items()}
    again, _ = module.forward_backward("forward", ROWS[2])
    assert all(torch.equal(gradients[name], kept[name]) for name in kept)
    assert loss.item() != again.item()
    module.named_parameters()["net.linear2.bias"].fill_(9)
    changed, _ = module.forward_backward("forward", ROWS[2])
    assert changed.item() != again.item()


def test_a_program_without_gradients_is_named() -> None:
    buffer = to_edge(export(Net(), (ROWS[0][0],))).to_executorch().buffer
    module = _load_for_executorch_for_training_from_buffer(buffer)
    with pytest.raises(RuntimeError, match="forward computes no gradients.*_export_forward_back"):
        module.forward_backward("forward", ROWS[0][:1])


WRONG: dict[str, tuple[Any, str]] = {
    "sizes": (torch.zeros(2, 10), r"sizes \[10, 2\] in order \[0, 1\]; expected a gradient of"),
    "type": (torch.zeros(10, 2, dtype=torch.float64), "of type Float, got Double"),
    "gaps": (torch.zeros(20, 2)[::2], "Gradient is not contiguous."),
    "kind": ([1, 2], "expected a torch.Tensor or a numpy.ndarray, got <class 'list'>"),
    "sparse": (torch.zeros(10, 2).to_sparse(), "expected a dense tensor"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_gradient_changes_nothing(name: str, module: TrainingModule) -> None:
    gradient, message = WRONG[name]
    parameters = module.named_parameters("forward")
    before = {name: tensor.clone() for name, tensor in parameters.items()}
    optimizer = get_sgd_optimizer(parameters, momentum=0.9)
    good = {name: torch.ones_like(tensor) for name, tensor in parameters.items()}
    with pytest.raises(RuntimeError, match=message):
        optimizer.step({**good, "net.linear.weight": gradient})
    assert all(torch.equal(parameters[name], before[name]) for name in before)


def test_loading_from_a_file(program: bytes, tmp_path: Path) -> None:
    (tmp_path / "xor.pte").write_bytes(program)
    module = _load_for_executorch_for_training(str(tmp_path / "xor.pte"))
    loss, predicted = module.forward_backward("forward", ROWS[0])
    assert (tuple(loss.shape), predicted.dtype) == ((), torch.int64)


class _ConvolutionGradients(nn.Module):
    """Of one convolution, those that `mask` asks for."""

    def __init__(self, mask: list[bool]) -> None:
        super().__init__()
        self.mask = mask

    def forward(self, gradient: Tensor, x: Tensor, weight: Tensor) -> list[Tensor]:
        found = torch.ops.aten.convolution_backward(
            *(gradient, x, weight, [8], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, self.mask)
        )
        return [one for one, wanted in zip(found, self.mask, strict=True) if wanted]


@pytest.mark.parametrize("mask", [[False, True, True], [True, False, True], [False, True, False]])
def test_gradients_that_nobody_asks_for_take_no_memory(mask: list[bool]) -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(2, 8, 16, 16), torch.randn(2, 3, 16, 16), torch.randn(8, 3, 3, 3))
    model = _ConvolutionGradients(mask)
    program = to_edge(export(model, inputs)).to_executorch()
    found = _load_for_executorch_from_buffer(program.buffer).forward(inputs)
    torch.testing.assert_close(found, model(*inputs), rtol=1e-4, atol=1e-3)


PLANS = {
    "outputs of the caller": MemoryPlanningPass(alloc_graph_output=False),
    "inputs and outputs of the caller": MemoryPlanningPass(
        alloc_graph_input=False, alloc_graph_output=False
    ),
    "naive": MemoryPlanningPass("naive"),
}


@pytest.mark.parametrize("plan", PLANS)
def test_parameters_have_memory_in_every_plan(plan: str, net: Net) -> None:
    """And no more of it than once."""
    model = TrainingNet(copy.deepcopy(net))
    joint = _export_forward_backward(export(model, ROWS[0], strict=True))
    config = ExecutorchBackendConfig(memory_planning_pass=PLANS[plan])
    program = to_edge(joint).to_executorch(config)
    placed = {
        (value.val.allocation_info.memory_id, value.val.allocation_info.memory_offset)
        for value in program.executorch_program.execution_plan[0].values
        if isinstance(value.val, schema.Tensor)
        and value.val.data_buffer_idx
        and value.val.allocation_info
    }
    assert len(placed) == len(list(model.parameters()))
    module = _load_for_executorch_for_training_from_buffer(program.buffer)
    expected = eager_steps(model, torch.optim.SGD(model.parameters(), lr=0.1), 8)
    found = steps(module, get_sgd_optimizer(module.named_parameters("forward"), lr=0.1), 8)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


class _Convolved(nn.Module):
    """A loss behind two convolutions, the first of which learns."""

    def __init__(self) -> None:
        super().__init__()
        self.learns, self.frozen = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 2, 3)
        self.frozen.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        return (self.frozen(self.learns(x)) ** 2).mean()


def test_a_delegate_does_not_get_a_parameter_that_learns() -> None:
    x = (torch.randn(1, 3, 8, 8),)
    joint = _export_forward_backward(export(_Convolved(), x, strict=True))
    with pytest.raises(ExportError, match="parameter learns.weight .* has a gradient and deleg"):
        to_edge_transform_and_lower(joint, partitioner=[XnnpackPartitioner()])
