# SPDX-License-Identifier: BSD-3-Clause
"""What several calls that run as one look like, and where a graph has them.

A pattern is written as the calls are, the result outside, what it reads inside:

    norm = Call("aten._native_batch_norm_legit_no_training.default", HEAD, name="norm", optional=True)
    Call(("aten.relu.default", "aten.clamp.default"), norm, name="limits", optional=True)

matches HEAD, HEAD with a norm behind, with a relu or clamp, or with both. Arguments that are not written may be any."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from torch.fx import Node

from executorch.exir.graph_facts import op_name


@dataclass(frozen=True)
class Value:
    """Anything that a call reads; the same wherever the name stands."""

    name: str


HEAD = Value("head")


@dataclass(frozen=True, init=False)
class Call:
    """A call of one of `ops`, of which only output 0 may be read. `reads`: its first arguments, each a Call, a Value,
    None for anything, a number that must be equal, or a tuple of these. `where`: what else must hold for it;
    `commutes`: its first two arguments may be the other way round; `optional`: it may be missing, and what it reads
    first stands in its place. Nobody outside of the pattern may read it, unless it is the result or `shared`."""

    ops: tuple[str, ...]
    reads: tuple[Any, ...]
    name: str
    where: Callable[[Node], bool] | None
    commutes: bool
    optional: bool
    shared: bool

    def __init__(
        self,
        ops: str | tuple[str, ...],
        *reads: Any,
        name: str = "",
        where: Callable[[Node], bool] | None = None,
        commutes: bool = False,
        optional: bool = False,
        shared: bool = False,
    ) -> None:
        names = (ops,) if isinstance(ops, str) else ops
        values = (names, reads, name, where, commutes, optional, shared)
        for key, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, key, value)

    def __str__(self) -> str:
        """Such as `aten.relu.default(aten.add.Tensor(x, y))`."""
        text = f"{' or '.join(self.ops)}({', '.join(map(_text, self.reads))})"
        return f"{text}, if it is there" if self.optional else text

    def operators(self) -> tuple[str, ...]:
        """All that it may have."""
        inner = [each.operators() for each in self.reads if isinstance(each, Call)]
        return tuple(dict.fromkeys(sum(inner, self.ops)))

    def results(self) -> tuple[str, ...]:
        """The operators whose result may be the pattern's."""
        inner = self.reads[0] if self.optional and self.reads else None
        return self.ops + (inner.results() if isinstance(inner, Call) else ())


def _text(read: Any) -> str:
    if isinstance(read, tuple):
        return f"[{', '.join(map(_text, read))}]"
    return read.name if isinstance(read, Value) else str(read)


@dataclass(frozen=True)
class Found:
    """Where a graph has a pattern. `calls`: from the first to the result, with the items that are read of them; those
    that others read, too (`shared`), are not among them."""

    named: Mapping[str, Any] = field(default_factory=dict)
    calls: tuple[Node, ...] = ()


def find(pattern: Call | Value, result: Node, head: Node | None = None) -> Found | None:
    """The pattern with `result` as its result, and with HEAD, if it has that, at `head`. What is optional is taken
    along where it is there."""
    start = Found() if head is None else Found({HEAD.name: head}, (head,))
    for found in _ways(pattern, result, start, is_result=True):
        inside = set(found.calls)
        if all(inside.issuperset(node.users) for node in inside if node is not result):
            return Found(found.named, tuple(sorted(inside)))
    return None


def _ways(pattern: Any, node: Any, found: Found, is_result: bool = False) -> Iterator[Found]:
    """Each way in which `node` is what `pattern` says, beside what was found before."""
    if isinstance(pattern, Call):
        call = _call_of(node)
        if op_name(call) in pattern.ops and (pattern.where is None or pattern.where(call)):
            nodes = () if pattern.shared and not is_result else tuple(dict.fromkeys((node, call)))
            here = Found(_with(found.named, pattern.name, call), (*found.calls, *nodes))
            for reads in _orders(pattern):
                yield from _operands(reads, call.args, here)
        if pattern.optional:
            yield from _ways(pattern.reads[0], node, found, is_result)
    elif isinstance(pattern, Value):
        yield from _value(pattern, node, found)
    elif isinstance(pattern, tuple):
        if isinstance(node, list | tuple) and len(node) == len(pattern):
            yield from _operands(pattern, tuple(node), found)
    elif pattern is None or (not isinstance(node, Node) and node == pattern):
        yield found


def _value(pattern: Value, node: Any, found: Found) -> Iterator[Found]:
    known = found.named.get(pattern.name, found)
    if known is found:
        yield Found(_with(found.named, pattern.name, node), found.calls)
    elif node is known or (not isinstance(node, Node) and node == known):
        yield found
    elif _call_of(node) is known:
        yield Found(found.named, (*found.calls, node))


def _operands(patterns: tuple[Any, ...], args: tuple[Any, ...], found: Found) -> Iterator[Found]:
    """Every pattern one argument; those that are left out of a call are None."""
    if not patterns:
        yield found
        return
    for each in _ways(patterns[0], args[0] if args else None, found):
        yield from _operands(patterns[1:], args[1:], each)


def _orders(pattern: Call) -> Iterator[tuple[Any, ...]]:
    if not pattern.commutes:
        yield pattern.reads
        return
    for first in permutations(pattern.reads[:2]):
        yield (*first, *pattern.reads[2:])


def _call_of(node: Any) -> Any:
    """The call whose output 0 it is, when no other output is read; else itself."""
    if isinstance(node, Node) and node.target is operator.getitem and node.args[1] == 0:
        call = node.args[0]
        return call if len(call.users) == 1 else node
    return node


def _with(named: Mapping[str, Any], name: str, value: Any) -> Mapping[str, Any]:
    return {**named, name: value} if name else named
