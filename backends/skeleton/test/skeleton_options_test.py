# SPDX-License-Identifier: BSD-3-Clause
"""What Python writes of the options the runtime reads, and both refuse what they do not know."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from executorch.backends.skeleton.aot.options import SkeletonOptions
from executorch.backends.skeleton.aot.partitioner import SkeletonPartitioner
from executorch.backends.skeleton.aot.preprocess import SkeletonBackend
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.backend_api import to_backend
from executorch.exir.backend.lowering.payload.options import OptionError, options_of
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.exir.schema import CompileSpec
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from executorch.test.e2e.build_tree import load_backend


class Sum(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x


def lowered(options: SkeletonOptions | None = None) -> Any:
    exported = torch.export.export(Sum(), (torch.ones(2),))
    return to_edge_transform_and_lower(exported, partitioner=[SkeletonPartitioner(options)])


def loaded(manager: Any, specs: list[CompileSpec] | None = None) -> Any:
    """With other compile specs in the file, if they are given."""
    load_backend("skeleton_backend")
    if specs is not None:
        (module,) = get_lowered_backend_modules(manager.exported_program().graph_module)
        module._compile_specs = specs
    return _load_for_executorch_from_buffer(manager.to_executorch().buffer)


def test_an_option_arrives_at_the_runtime() -> None:
    infinite = torch.tensor([1.0, math.inf])
    assert loaded(lowered()).forward((infinite,))[0].tolist() == [2.0, math.inf]
    checking = loaded(lowered(SkeletonOptions(check_finite=True)))
    assert checking.forward((torch.ones(2),))[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError):
        checking.forward((infinite,))


@pytest.mark.parametrize(
    "spec", [CompileSpec("check_infinite", b"\1"), CompileSpec("check_finite", b"\1\0")]
)
def test_what_is_not_known_is_refused_on_both_sides(spec: CompileSpec) -> None:
    program = torch.export.export(Sum(), (torch.ones(2),))
    edge = to_edge_transform_and_lower(program).exported_program()
    with pytest.raises(OptionError, match="SkeletonBackend: compile spec"):
        to_backend(SkeletonBackend.__name__, edge, [spec])
    with pytest.raises(RuntimeError):
        loaded(lowered(), [spec]).forward((torch.ones(2),))


def test_both_sides_have_the_same_options() -> None:
    with pytest.raises(RuntimeError) as caught:
        loaded(lowered(), [CompileSpec("?", b"")]).forward((torch.ones(2),))
    known = ", ".join(options_of(SkeletonOptions))
    assert f'SkeletonBackend: compile specs: expected one of {known}, found "?"' in str(
        caught.value
    )
