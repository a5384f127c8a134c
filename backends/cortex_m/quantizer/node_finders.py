# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes of a captured graph a quantizer is meant for, by what they are called, what they call and where they
stand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from torch import nn
from torch.fx import GraphModule, Node

from executorch.exir.backend.lowering.quantizer.captured import (
    module_paths,
    module_types,
    qualified,
)


def make_list(item_or_list: Any) -> Any:
    """Of one item a list; several as they are."""
    return item_or_list if isinstance(item_or_list, list | tuple) else [item_or_list]


def format_items(items: Any) -> str:
    return ", ".join(map(str, make_list(items)))


class NodeFinder(ABC):
    """`find_nodes` gives them in the order of the graph; `what`: of its text."""

    what: ClassVar[str]

    def __init__(self, items: Any = ()) -> None:
        self.items = make_list(items)

    def find_nodes(self, model: GraphModule) -> Iterator[Node]:
        return (node for node in model.graph.nodes if self.takes(node))

    @abstractmethod
    def takes(self, node: Node) -> bool: ...

    def names(self) -> str:
        return format_items(self.items)

    def __repr__(self) -> str:
        names = self.names()
        return f"{type(self).__name__} targeting {self.what}{f': {names}' if names else ''}"


class GlobalNodeFinder(NodeFinder):
    what = "all nodes"

    def __init__(self) -> None:
        super().__init__()

    def takes(self, node: Node) -> bool:
        return True


class InputNodeFinder(GlobalNodeFinder):
    what = "all placeholder nodes"

    def takes(self, node: Node) -> bool:
        return node.op == "placeholder"


class OutputNodeFinder(GlobalNodeFinder):
    """The node that returns."""

    what = "the output node"

    def takes(self, node: Node) -> bool:
        return node.op == "output"


class NodeNameNodeFinder(NodeFinder):
    what = "names"

    def __init__(self, names: str | list[str]) -> None:
        super().__init__(names)

    def takes(self, node: Node) -> bool:
        return node.name in self.items


class NodeTargetNodeFinder(NodeFinder):
    """Calls of operators, such as torch.ops.aten.linear.default."""

    what = "node targets"

    def __init__(self, targets: Any) -> None:
        super().__init__(targets)

    def takes(self, node: Node) -> bool:
        return node.target in self.items

    def names(self) -> str:
        known = (getattr(each, "_schema", None) for each in self.items)
        return format_items([each.name for each in known if each is not None] or self.items)


class ModuleNameNodeFinder(NodeFinder):
    """What modules of those qualified names, and those within them, call."""

    what = "module names"

    def __init__(self, module_names: str | list[str]) -> None:
        super().__init__(module_names)

    def takes(self, node: Node) -> bool:
        return not set(self.items).isdisjoint(module_paths(node))


class ModuleTypeNodeFinder(NodeFinder):
    """What modules of those classes, and those within them, call."""

    what = "module types"

    def __init__(self, module_types: type[nn.Module] | list[type[nn.Module]]) -> None:
        super().__init__(module_types)

    def takes(self, node: Node) -> bool:
        return not set(map(qualified, self.items)).isdisjoint(module_types(node))

    def names(self) -> str:
        return format_items([getattr(each, "__name__", each) for each in self.items])
