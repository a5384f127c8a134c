# SPDX-License-Identifier: BSD-3-Clause
"""Trees in Python, and the text form that the C++ reader takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from executorch.extension import pytree

TREE = ("a", {"o": ["b", "c"], "p": ()})


@pytest.mark.req("EXT-028")
def test_flatten_and_back() -> None:
    leaves, spec = pytree.tree_flatten(TREE)
    assert leaves == ["a", "b", "c"]
    assert pytree.tree_unflatten(leaves, spec) == TREE
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    assert pytree.tree_map(str.upper, TREE) == ("A", {"o": ["B", "C"], "p": ()})
    assert pytree.broadcast_to_and_flatten((1, 2), spec) == [1, 2, 2]
    assert pytree.broadcast_to_and_flatten((1, 2, 3), spec) is None


@pytest.mark.req("EXT-028")
@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (TREE, "T2#1#2($,D2#2#0('o':L2#1#1($,$),'p':T0()))"),
        (1, "$"),
        ([], "L0()"),
        ({3: 1}, "D1#1(3:$)"),
    ],
    ids=str,
)
def test_text_and_back(tree: Any, text: str) -> None:
    _, spec = pytree.tree_flatten(tree)
    assert pytree.to_str(spec) == text
    assert pytree.from_str(text) == spec


def test_specs_write_themselves_as_json() -> None:
    _, spec = pytree.tree_flatten(TREE)
    text = spec.to_str()
    assert text.startswith('[1, {"type": "builtins.tuple", "context": "null", "children_spec": [')
    assert text == pytree.treespec_dumps(spec)
    assert pytree.from_str(text) == pytree.TreeSpec.from_str(text) == spec
    with pytest.raises(ValueError):
        pytree.from_str("[1, ")


@pytest.mark.parametrize(
    "text", ["", "X", "T1", "T1#1(", "T1#2($)", "T2#1#1($)", "T1#1($)x", "D1#1($)", "D1#1('a:$)"]
)
def test_malformed_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        pytree.from_str(text)


def test_types_of_ones_own() -> None:
    class Pair:
        def __init__(self, one: int, two: int) -> None:
            self.items = [one, two]

    def put_together(items: Iterable[int], context: None) -> Pair:
        return Pair(*items)

    pytree.register_custom(Pair, lambda pair: (pair.items, None), put_together)
    leaves, spec = pytree.tree_flatten([Pair(1, 2), 3])
    assert leaves == [1, 2, 3]
    assert pytree.tree_unflatten([4, 5, 6], spec)[0].items == [4, 5]
    with pytest.raises(ValueError, match="found a Pair"):
        pytree.to_str(spec)
