# SPDX-License-Identifier: BSD-3-Clause
"""Counts of delegated and other calls."""

from __future__ import annotations

import importlib.util

import pytest
import torch
from torch.export import export

from executorch.devtools.backend_debug import get_delegation_info, print_delegation_info
from executorch.exir import to_edge
from executorch.exir.backend.test.op_partitioner_demo import AddMulPartitionerDemo


class Mixed(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple:
        values, places = torch.max(torch.sin(torch.mm(x, y) + x) + y, 1)
        return values, places


def mixed_graph() -> torch.fx.GraphModule:
    manager = to_edge(export(Mixed(), (torch.randn(2, 2), torch.randn(2, 2))))
    return manager.to_backend(AddMulPartitionerDemo()).exported_program().graph_module


ROWS = [
    ("aten_add_tensor", 2, 0),
    ("aten_max_dim", 0, 1),
    ("aten_mm_default", 1, 0),
    ("aten_sin_default", 0, 1),
    ("getitem", 0, 4),
    ("Total", 3, 6),
]


def test_counts() -> None:
    info = get_delegation_info(mixed_graph())
    assert info.get_summary() == (
        "Total delegated subgraphs: 2\n"
        "Number of delegated nodes: 3\n"
        "Number of non-delegated nodes: 6\n"
    )
    assert info.rows() == ROWS


def test_the_table() -> None:
    info = get_delegation_info(mixed_graph())
    if importlib.util.find_spec("pandas") is None:
        with pytest.raises(ImportError, match="needs pandas"):
            info.get_operator_delegation_dataframe()
        return
    frame = info.get_operator_delegation_dataframe()
    assert list(frame.columns) == [
        "op_type",
        "occurrences_in_delegated_graphs",
        "occurrences_in_non_delegated_graphs",
    ]
    assert [tuple(row) for row in frame.to_numpy().tolist()] == ROWS


def test_branches_count_and_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    class Branches(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.sum() > 0, lambda x: x + x, lambda x: torch.sin(x), [x])

    manager = to_edge(export(Branches(), (torch.ones(2),)))
    module = manager.to_backend(AddMulPartitionerDemo()).exported_program().graph_module
    info = get_delegation_info(module)
    assert info.num_delegated_subgraphs == 1
    assert info.delegation_by_operator["aten_add_tensor"].delegated == 1
    assert info.delegation_by_operator["aten_sin_default"].non_delegated == 1
    print_delegation_info(module)
    assert "aten_sin_default" in capsys.readouterr().out


@pytest.mark.req("DT-C04")
def test_the_table_is_printed_by_tabulate() -> None:
    """As the document does, without its second import, which hides the function behind the module."""
    pytest.importorskip("pandas")
    from tabulate import tabulate

    frame = get_delegation_info(mixed_graph()).get_operator_delegation_dataframe()
    text = tabulate(frame, headers="keys", tablefmt="fancy_grid")
    assert "occurrences_in_non_delegated_graphs" in text and "Total" in text
