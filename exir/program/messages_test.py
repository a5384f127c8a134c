# SPDX-License-Identifier: BSD-3-Clause
"""What is given in a wrong place or form is named with what was expected, and the way out."""

from __future__ import annotations

import io
import logging
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram, export

from executorch.exir import (
    EdgeCompileConfig,
    ExecutorchBackendConfig,
    to_edge,
    to_edge_transform_and_lower,
)
from executorch.exir.error import ExportError

X = torch.randn(4, 6)


class Call(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


@pytest.fixture(scope="module")
def program() -> ExportedProgram:
    return export(nn.Linear(6, 3), (X,))


WRONG: dict[str, tuple[Callable[[ExportedProgram], Any], str]] = {
    "backend config to to_edge": (
        lambda p: to_edge(p, compile_config=ExecutorchBackendConfig()),
        r"compile_config: expected an EdgeCompileConfig, found an ExecutorchBackendConfig; it goes to to_executorch",
    ),
    "backend config to to_edge_transform_and_lower": (
        lambda p: to_edge_transform_and_lower(p, compile_config=ExecutorchBackendConfig()),
        r"expected an EdgeCompileConfig, found an ExecutorchBackendConfig",
    ),
    "edge config to to_executorch": (
        lambda p: to_edge(p).to_executorch(EdgeCompileConfig()),
        r"config: expected an ExecutorchBackendConfig, found an EdgeCompileConfig; it goes to to_edge\(",
    ),
    "dict as config": (
        lambda p: to_edge(p).to_executorch({"emit_stacktrace": True}),
        r"expected an ExecutorchBackendConfig, found a dict; construct one: ExecutorchBackendConfig\(",
    ),
    "name of a backend": (
        lambda p: to_edge(p).to_backend("xnnpack"),
        r"expected a partitioner, such as XnnpackPartitioner\(\), found the name 'xnnpack'; from executorch\.backends",
    ),
    "names of backends": (
        lambda p: to_edge_transform_and_lower(p, partitioner=["qnn"]),
        r"found the name 'qnn'; executorch\.exir\.backend\.backend_api\.to_backend",
    ),
    "constant methods": (
        lambda p: to_edge(p, constant_methods=3),
        r"constant_methods: expected a dict from method name to the value it returns, found an int",
    ),
    "one pass": (
        lambda p: to_edge(p).transform(lambda graph_module: None),
        r"expected a list of passes, found one pass .*; write \[\.\.\.\] around it",
    ),
    "no passes": (
        lambda p: to_edge(p).transform(EdgeCompileConfig()),
        r"expected a list of passes or a dict by method, found an EdgeCompileConfig",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name: str, program: ExportedProgram) -> None:
    call, pattern = WRONG[name]
    with pytest.raises(ExportError, match=pattern):
        call(program)


def test_a_bound_that_no_file_can_hold_is_not_called_missing() -> None:
    shapes = ({0: Dim("rows", max=2**40)},)
    edge = to_edge(export(Call(lambda x: x + 1), (X,), dynamic_shapes=shapes))
    with pytest.raises(ExportError) as caught:
        edge.to_executorch()
    text = str(caught.value)
    assert "sizes with an upper bound that no file can hold" in text
    assert f"up to {2**40}: a file holds sizes up to 2147483647" in text


def test_a_size_without_a_bound_is_called_so() -> None:
    edge = to_edge(export(Call(lambda x: x + 1), (X,), dynamic_shapes=({0: Dim.DYNAMIC},)))
    with pytest.raises(ExportError, match="sizes without an upper bound: x "):
        edge.to_executorch()


DROPS = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5))


def test_training_mode_is_told_with_its_lines() -> None:
    norms = nn.Sequential(nn.BatchNorm1d(6), nn.Dropout(0.5))
    with pytest.warns(
        UserWarning, match=r"forward was exported in training mode; call \.eval\(\)"
    ) as caught:
        to_edge(export(norms, (X,)))
    (found,) = (w for w in caught if "training mode" in str(w.message))
    assert found.filename == __file__
    assert "dropout from File" in str(found.message)
    assert "batch_norm from File" in str(found.message)


@pytest.mark.parametrize("module", [DROPS, nn.InstanceNorm1d(4)], ids=["dropout", "instances"])
def test_evaluation_mode_is_silent(module: nn.Module) -> None:
    module.train(not isinstance(module, nn.Sequential))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        to_edge(export(module, (X,)))


def test_derivatives_that_torch_did_not_record_are_refused() -> None:
    class Gradient(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.func.grad(lambda y: (y**3).sum())(x)

    x = torch.tensor([1.0, 2.0])
    with pytest.raises(ExportError, match=r"torch\.func .*torch\.func\.grad.*the derivative"):
        to_edge(export(Gradient(), (x,)))


def test_sparse_tensors_are_told_with_their_line() -> None:
    class Sparse(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sparse.mm(x.to_sparse(), x)

    with pytest.raises(ExportError, match=r"to_sparse.*messages_test.*torch\.sparse_coo.*to_dense"):
        to_edge(export(Sparse(), (torch.eye(2),)))


def test_a_program_from_a_file_exports_without_tracebacks(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Its sizes are not known to be large enough for topk; deciding about that was tried, and logged by torch."""
    shapes = ({0: Dim("rows", min=1, max=16)},)
    call = Call(lambda x: torch.cat([x, x]).topk(3, 0)[0])
    file = io.BytesIO()
    torch.export.save(export(call, (X,), dynamic_shapes=shapes), file)
    file.seek(0)
    loaded = torch.export.load(file)
    handler = logging.StreamHandler()  # on standard error as it is now
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    logger.addHandler(handler)
    try:
        assert to_edge(loaded).to_executorch().buffer
    finally:
        logger.removeHandler(handler)
    assert "Traceback" not in capfd.readouterr().err


def test_a_container_without_a_name_is_told_by_its_class(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        to_edge(export(Call(lambda x: x.topk(2)), (X,))).to_executorch()
    (record,) = (r for r in caplog.records if "container" in r.getMessage())
    assert "(torch.return_types.topk); it is described as a flat tuple" in record.getMessage()


def test_errors_of_writing_name_the_users_path(program: ExportedProgram, tmp_path: Path) -> None:
    config = ExecutorchBackendConfig(external_constants=True)
    manager = to_edge(program).to_executorch(config)
    missing = tmp_path / "none" / "such.pte"
    with pytest.raises(FileNotFoundError) as caught:
        manager.save(str(missing))
    assert caught.value.filename == str(missing)
    assert f"there is no folder {missing.parent}" in str(caught.value)
    (tmp_path / "folder.pte").mkdir()
    with pytest.raises(IsADirectoryError) as caught_folder:
        manager.save(str(tmp_path / "folder.pte"))
    assert str(caught_folder.value).endswith(f"'{tmp_path / 'folder.pte'}'")
    with pytest.raises(FileNotFoundError, match=r"none/_default_external_constant\.ptd"):
        manager.write_tensor_data_to_file(str(tmp_path / "none"))
    assert os.listdir(tmp_path) == ["folder.pte"], "something temporary was left"
