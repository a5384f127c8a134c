# SPDX-License-Identifier: BSD-3-Clause
"""`UserLists`: which calls stay undelegated because a user of the partitioner says so, by operator, node or module."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase

from executorch.exir.graph_facts import call_name, called_op

Names = Callable[[Node, Collection[Any]], bool]
_List = tuple[str, Names, Iterable[Any] | None]


def by_operator(node: Node, listed: Collection[Any]) -> bool:
    """An operator of edge or torch, or its name in any case: "aten.mm.default", "aten.mm", "aten::mm"."""
    name = call_name(node)
    packet = name.removesuffix(".default")
    known = {name, packet, name.replace(".", "::", 1), packet.replace(".", "::", 1)}
    known = {each.lower() for each in known}
    return any(
        str(each).lower() in known or each is node.target or each is called_op(node)
        for each in listed
    )


def by_part_of_operator(node: Node, listed: Collection[Any]) -> bool:
    """A part of the operator's name with `_` for its dots: "aten_mm" of aten.mm.default."""
    name = call_name(node).replace(".", "_")
    return any(each in name for each in listed)


def by_node(node: Node, listed: Collection[Any]) -> bool:
    """The name of the node."""
    return node.name in listed


def by_module(node: Node, listed: Collection[Any]) -> bool:
    """A part of the class's name of a module that the call is of."""
    types = " ".join(str(kind) for _, kind in node.meta.get("nn_module_stack", {}).values())
    return any(each in types for each in listed)


_KINDS = {
    by_operator: "operator",
    by_part_of_operator: "operator",
    by_node: "name",
    by_module: "module",
}


class UserLists:
    """Lists are given as (name of the user's argument, how it names calls, its entries); None is no list. `checks` are
    torch's, asked of each call."""

    def __init__(
        self,
        blocked: Iterable[_List] = (),
        allowed: Iterable[_List] = (),
        checks: Sequence[OperatorSupportBase] = (),
    ) -> None:
        self._allowed, self._blocked = _given(allowed), _given(blocked)
        self.checks = list(checks)

    def why_not(self, node: Node) -> str:
        """Why a call stays undelegated; empty when no list is against it."""
        for title, names, entries in self._allowed:
            if not names(node, entries):
                return f"its {_KINDS[names]} is not in {title}"
        if reason := self.why_blocked(node):
            return reason
        for check in self.checks:
            if not check.is_node_supported({}, node):
                return f"Rejected by {type(check).__name__}"
        return ""

    def why_blocked(self, node: Node) -> str:
        """The same of blocked lists alone, for calls that go with another, as a quantize does."""
        for title, names, entries in self._blocked:
            if names(node, entries):
                return f"its {_KINDS[names]} is in {title}"
        return ""


def _given(lists: Iterable[_List]) -> list[tuple[str, Names, list[Any]]]:
    return [(title, names, list(entries)) for title, names, entries in lists if entries is not None]
