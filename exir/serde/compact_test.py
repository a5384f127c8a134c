# SPDX-License-Identifier: BSD-3-Clause
"""Files hold what tensors show: sizes are arithmetic, values and shared elements stay."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.exir import load, save
from executorch.exir.serde.compact import compact, compact_program

WHOLE = torch.arange(100_000, dtype=torch.float32)


def saved_bytes(tree: Any) -> int:
    stream = io.BytesIO()
    torch.save(tree, stream)
    return len(stream.getvalue())


@pytest.mark.parametrize(
    "view",
    [
        WHOLE[500:510],
        WHOLE[::10_000],
        WHOLE.reshape(1000, 100)[:10, :10],
        WHOLE.reshape(1000, 100).T[3],
        WHOLE.reshape(10, 100, 100)[2, 3:5].T,
        WHOLE[7].expand(4, 5),
        WHOLE[8:10].view(torch.int16),
        WHOLE[1:2].reshape(()),
    ],
)
def test_a_view_is_written_without_what_is_around_it(view: torch.Tensor) -> None:
    made = compact(view)
    assert torch.equal(made, view) and made.dtype == view.dtype
    assert made.dim_order() == view.dim_order() or view.is_contiguous() or 0 in view.stride()
    assert made.untyped_storage().nbytes() <= view.numel() * view.itemsize + 32
    assert saved_bytes(made) < 6_000 < saved_bytes(view)


def test_what_shares_elements_still_does() -> None:
    one, other, far = WHOLE[10:14], WHOLE[12:16], WHOLE[90_000:90_002]
    made = compact({"one": one, "other": [other], "far": far, "again": one, "number": 3})
    assert made["number"] == 3 and saved_bytes(made) < 4_000
    made["one"][2] = -1.0
    assert made["other"][0][0] == -1.0 and made["again"][2] == -1.0
    assert torch.equal(made["far"], far) and WHOLE[12] == 12.0
    assert made["far"].untyped_storage().data_ptr() != made["one"].untyped_storage().data_ptr()


def test_what_needs_nothing_is_not_copied() -> None:
    halves = WHOLE[:50_000], WHOLE[50_000:]
    fake = torch.empty(3, device="meta")
    for tree in ([WHOLE], list(halves), [fake], [torch.empty(0)], [WHOLE[: 9 * 10_000]]):
        for tensor, made in zip(tree, compact(tree)):
            assert made is tensor


def test_parameters_stay_parameters() -> None:
    made = compact([torch.nn.Parameter(WHOLE[3:5]), torch.nn.Parameter(WHOLE[9:11], False)])
    assert all(type(each) is torch.nn.Parameter for each in made)
    assert [each.requires_grad for each in made] == [True, False]


def test_complex_numbers_that_are_conjugated() -> None:
    view = torch.view_as_complex(WHOLE.reshape(-1, 2))[:2].conj()
    assert torch.equal(compact([view])[0], view)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(WHOLE[100:103].clone())
        self.weight.data = WHOLE[100:103]
        self.register_buffer("offset", WHOLE[::50_000][:1])
        self.constant = WHOLE[5:8]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight + self.offset + self.constant


def test_a_program_for_torch_export_save(tmp_path: Path) -> None:
    program = export(Model(), (WHOLE[20:23],))
    torch.export.save(compact_program(program), path := tmp_path / "model.pt2")
    assert path.stat().st_size < 40_000
    x = torch.tensor([1.0, 2.0, 3.0])
    torch.testing.assert_close(torch.export.load(path).module()(x), Model()(x))


def test_a_saved_program(tmp_path: Path) -> None:
    """Parameters, buffers, constants and example inputs, each of 12 bytes in a storage of 400,000."""
    program = export(Model(), (WHOLE[20:23],))
    save(program, path := tmp_path / "model.pt2")
    assert path.stat().st_size < 40_000
    again = load(path)
    torch.testing.assert_close(again.example_inputs[0][0], WHOLE[20:23])
    x = torch.tensor([1.0, 2.0, 3.0])
    torch.testing.assert_close(again.module()(x), Model()(x))
    assert program.state_dict["weight"].untyped_storage().nbytes() == 400_000  # left as it was
