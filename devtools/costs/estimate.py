# SPDX-License-Identifier: BSD-3-Clause
"""How long each operator of a program should take on a machine, from its file and the record of its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch.fx import Node

from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.costs.machine import KERNELS, Machine
from executorch.devtools.costs.timing import nodes_by_handle
from executorch.devtools.costs.work import ELEMENTWISE, FUNCTION, Work, bytes_of, works_of
from executorch.devtools.inspector._graphs import at_instruction, one_method
from executorch.exir.backend.payload import PayloadOperator, operator_key
from executorch.exir.program._etrecord import ETRecord

Group = tuple[Node, ...]
# What a delegate does on the values that the operator before it has just computed.
_FOLLOWING = (ELEMENTWISE, FUNCTION)


@dataclass(frozen=True)
class Estimated:
    """`nodes`: of the edge program, which run as one operator of `engine` (a backend, or KERNELS); what they do."""

    engine: str
    nodes: Group
    works: tuple[Work, ...]
    seconds: float


def seconds_of(nodes: Group, engine: str, machine: Machine) -> float:
    """Of nodes that run together: a kernel goes over the values of one node, a delegate over those of all."""
    passes = [(node,) for node in nodes] if engine == KERNELS else [nodes]
    return sum(machine.seconds(engine, works_of(each), bytes_of(each)) for each in passes)


def estimates(
    file: ProgramFile, method: str, record: ETRecord, machine: Machine
) -> list[Estimated]:
    """In the order of the file. What the record does not know is left out; calls that one part of the model was
    written as together are one."""
    nodes = nodes_by_handle(record)
    found: dict[Group, Estimated] = {}
    handles, delegates = one_method(record._debug_handle_map), one_method(record._delegate_map)
    plan = file.plan(method)
    for call in (each for each in file.calls if each.method == method):
        if call.delegate is None:
            engine, groups = KERNELS, [_joined(nodes, at_instruction(handles, call.instruction))]
        else:
            operators = file.payload_operators(plan.delegates[call.delegate]) or ()
            keys = (at_instruction(delegates, call.instruction) or {}).get("delegate_map", {})
            engine, groups = call.name, _of_delegate(operators, keys, nodes)
        for group in filter(None, groups):
            seconds = seconds_of(group, engine, machine)
            found.setdefault(group, Estimated(engine, group, tuple(works_of(group)), seconds))
    return list(found.values())


def _of_delegate(
    operators: Sequence[PayloadOperator],
    keys: Mapping[str, Sequence[int]],
    nodes: Mapping[int, Sequence[Node]],
) -> list[Group]:
    """What the delegate runs as one: what its lowering joined, and what only reads the values before it."""
    groups: list[Group] = []
    maker: dict[Node, int] = {}
    for handle in dict.fromkeys(each.debug_handle for each in operators):
        if handle is None:
            continue
        group = _joined(nodes, keys.get(operator_key(handle), (handle,)))
        place = next((p for p in _makers(group, maker) if _is_followed(groups[p], group)), None)
        if place is None:
            place = len(groups)
            groups.append(())
        groups[place] += group
        maker |= dict.fromkeys(group, place)
    return groups


def _makers(group: Group, maker: Mapping[Node, int]) -> list[int]:
    return [maker[given] for node in group for given in node.all_input_nodes if given in maker]


def _is_followed(before: Group, group: Group) -> bool:
    """By this group alone, which goes over its values, and over constants."""
    readers = {user for node in before for user in node.users if user not in before}
    given = {each for node in group for each in node.all_input_nodes if each not in group}
    others = [each for each in given if each not in before and each.op == "call_function"]
    works = works_of(group)
    return readers <= set(group) and not others and all(work.kind in _FOLLOWING for work in works)


def _joined(nodes: Mapping[int, Sequence[Node]], handles: Any) -> Group:
    listed = [handles] if isinstance(handles, int) else handles or ()
    return tuple(dict.fromkeys(node for handle in listed for node in nodes.get(handle, ())))
