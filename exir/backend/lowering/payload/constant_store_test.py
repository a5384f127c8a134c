# SPDX-License-Identifier: BSD-3-Clause
"""Constants go where the data of their node goes, once, in the order of their dimensions."""

from __future__ import annotations

import hashlib
import struct

import torch
from torch.fx import Graph, Node

from executorch.exir.backend.lowering.payload.constant_store import ConstantStore, FiledConstant


def placeholder(data_file: str | None = None) -> Node:
    node = Graph().placeholder("weight")
    node.meta["custom"] = {"delegate_constant_tag": data_file}
    return node


def test_a_constant_is_named_by_its_bytes_and_aligned() -> None:
    store = ConstantStore(64)
    filed = store.file(placeholder(), torch.tensor([1.0, 2.0]))
    data = struct.pack("<2f", 1, 2)
    assert filed == FiledConstant(hashlib.sha256(data).hexdigest(), 8)
    output = store.output()
    assert output.buffers == [data] and not output.external_data
    assert output.pte_data[filed.key].alignment == 64


def test_equal_bytes_are_one_constant_unless_they_mean_something_else() -> None:
    store = ConstantStore(16)
    plain = store.file(placeholder(), torch.tensor([1.0, 2.0]))
    again = store.file(placeholder(), torch.tensor([[1.0], [2.0]]))
    scales = store.file(placeholder(), torch.tensor([1.0, 2.0]), prefix="scale_")
    assert plain == again and scales == FiledConstant("scale_" + plain.key, 8)
    assert set(store.output().pte_data) == {plain.key, scales.key}
    assert len(store.output().buffers) == 1


def test_elements_stand_in_the_order_of_dimensions_whatever_the_memory() -> None:
    values = torch.arange(24.0).reshape(1, 2, 3, 4)
    expected = struct.pack("<24f", *range(24))
    for tensor in (values, values.to(memory_format=torch.channels_last)):
        store = ConstantStore(16)
        store.file(placeholder(), tensor)
        assert bytes(store.output().buffers[0]) == expected
    store = ConstantStore(16)
    store.file(placeholder(), torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t())
    assert bytes(store.output().buffers[0]) == struct.pack("<4f", 1, 3, 2, 4)


def test_data_of_a_data_file_goes_there_and_what_is_computed_of_it_too() -> None:
    store = ConstantStore(16)
    weight = placeholder("weights")
    computed = weight.graph.call_function(torch.neg, (weight,))
    first = store.file(weight, torch.ones(1))
    second = store.file(computed, -torch.ones(1))
    third = store.file_in("other", torch.zeros(1))
    output = store.output()
    assert set(output.external_data["weights"]) == {first.key, second.key}
    assert set(output.external_data["other"]) == {third.key} and not output.pte_data


def test_it_files_into_a_store_that_is_given() -> None:
    first = ConstantStore(16)
    second = ConstantStore(32, first.named_data)
    filed = second.file(placeholder(), torch.ones(2))
    assert first.output().pte_data[filed.key].alignment == 32
