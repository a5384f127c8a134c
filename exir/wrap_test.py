# SPDX-License-Identifier: BSD-3-Clause
"""Values of a dispatch trace can be told to stand for another node."""

from __future__ import annotations

import pytest
import torch

from executorch.exir.tracer import dispatch_trace, unwrap_proxy
from executorch.exir.wrap import is_functionaltensor, update_with_proxy


def test_a_value_stands_for_the_node_that_it_is_told() -> None:
    def body(x: torch.Tensor) -> torch.Tensor:
        added, doubled = x + 1, x * 2
        assert update_with_proxy(added, unwrap_proxy(doubled)) is added
        return added - 3

    x = torch.arange(3.0)
    graph = dispatch_trace(body, (x,))
    torch.testing.assert_close(graph(x), [x * 2 - 3])
    with pytest.raises(TypeError, match="found a Tensor"):
        update_with_proxy(x, None)


def test_functional_tensors_are_known() -> None:
    x = torch.ones(2)
    assert not is_functionaltensor(x)
    seen = []
    torch.func.functionalize(lambda y: seen.append(is_functionaltensor(y)) or y)(x)
    assert seen == [True]
