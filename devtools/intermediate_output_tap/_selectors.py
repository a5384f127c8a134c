# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes to tap: predicates on nodes of an exported program, and how they combine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from torch import fx

NodeSelector = Callable[[fx.Node], bool]


def select_all_call_function(exclude: tuple[str, ...] = ("getitem",)) -> NodeSelector:
    """Calls of operators without any of these words in their target."""
    return lambda node: (
        node.op == "call_function" and not any(word in str(node.target) for word in exclude)
    )


def select_by_op_type(*op_targets: str) -> NodeSelector:
    """Calls of "aten.linear.default", or of all overloads of "aten.linear"; the beginning may be left out at a dot."""
    wanted = [str(each) for each in _given(op_targets, "select_by_op_type", "op target")]
    return lambda node: (
        node.op == "call_function"
        and any(f".{each}." in f".{node.target}." and _ends(node, each) for each in wanted)
    )


def _ends(node: fx.Node, name: str) -> bool:
    """With the name's overload, or any where it has none."""
    target = str(node.target)
    return target.endswith(name) or target.startswith(f"{name}.")


def select_by_module_path(*patterns: str, output_only: bool = True) -> NodeSelector:
    """Nodes of modules whose path ("layers.0.attention") matches a shell pattern; `output_only`: of the outermost
    such module only what nothing inside of it reads."""
    _given(patterns, "select_by_module_path", "pattern")
    return lambda node: _of_module(
        node, output_only, lambda path, kind: any(fnmatchcase(path, each) for each in patterns)
    )


def select_by_module_class(*class_names: str, output_only: bool = True) -> NodeSelector:
    """Likewise, of modules of these classes ("Linear")."""
    _given(class_names, "select_by_module_class", "class name")
    return lambda node: _of_module(node, output_only, lambda path, kind: kind in class_names)


def _given(names: Sequence[str], selector: str, what: str) -> Sequence[str]:
    if not names:
        raise ValueError(f"{selector} requires at least one {what}")
    return names


def select_any(*selectors: NodeSelector) -> NodeSelector:
    return lambda node: any(each(node) for each in selectors)


def select_all(*selectors: NodeSelector) -> NodeSelector:
    return lambda node: all(each(node) for each in selectors)


def select_not(selector: NodeSelector) -> NodeSelector:
    return lambda node: not selector(node)


def modules_of(node: fx.Node) -> list[tuple[str, str]]:
    """(path, class) of the modules that a node is in, the outermost first."""
    stack = (node.meta.get("nn_module_stack") or {}).values()
    return [
        (
            path.replace("L['self']", "").replace("['", ".").replace("']", "").lstrip("."),
            (kind if isinstance(kind, str) else kind.__qualname__).rpartition(".")[2],
        )
        for path, kind in stack
    ]


def _of_module(node: fx.Node, output_only: bool, matches: Callable[[str, str], bool]) -> bool:
    found = [each for each in modules_of(node) if matches(*each)]
    if node.op != "call_function" or not found:
        return False
    return not output_only or all(found[0] not in modules_of(user) for user in node.users)
