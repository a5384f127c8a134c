# SPDX-License-Identifier: BSD-3-Clause
"""Attention over caches that the same call writes.

%p = _local_scalar_dense(select_copy(%pos, 0, 0))
%k' = update_cache(%k, %k_cache, %p); %v' = update_cache(%v, %v_cache, %p)
%y = custom_sdpa(%q, %k', %v', %p, is_causal=True)
becomes select_as_symint and sdpa_with_kv_cache, which keeps the caches."""

from __future__ import annotations

import operator
from typing import Any

from torch.fx import Node

from executorch.backends.vulkan.aot.row import FLOATS, INTS, VulkanRow, argument, row
from executorch.exir.backend.lowering.op_table import when
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.graph_facts import op_name

ATTENTION = "llama.custom_sdpa.default"
SCALAR = "aten._local_scalar_dense.default"
_SELECT = "aten.select_copy.int"
_UPDATE = "llama.update_cache.default"


def _update_of(cache: Any) -> Node | None:
    """The call that gives the cache it has written."""
    if not isinstance(cache, Node) or cache.target is not operator.getitem:
        return None
    call = cache.args[0]
    is_wrapped = "auto_functionalized" in str(call.target)
    return call if is_wrapped and str(call.args[0]) == _UPDATE else None


def _base_of(update: Node) -> Node | None:
    """The buffer that it writes."""
    bases = update.kwargs.get("_all_bases") or [update.kwargs.get("cache")]
    return bases[0] if len(bases) == 1 else None


def _updates(attention: Node) -> list[tuple[Node, Node]]:
    """Of keys and values: the call, and the item that is the new cache."""
    found = [(_update_of(each), each) for each in attention.args[1:3]]
    return [(call, item) for call, item in found if call is not None]


def _writes_its_caches(node: Node) -> bool:
    updates = _updates(node)
    if len(updates) != 2 or updates[0][0] is updates[1][0]:
        return False
    starts = {_position(call.kwargs.get("start_pos")) for call, _ in updates}
    starts.add(_position(node.args[3]))
    return len(starts) == 1 and all(_is_only_here(node, *each) for each in updates)


def _position(start: Any) -> Any:
    """Equal for the same element, however often it is read."""
    if op_name(start) == SCALAR and op_name(start.args[0]) == _SELECT:
        return start.args[0].args
    return start


def _is_only_here(node: Node, call: Node, item: Node) -> bool:
    """Nobody else reads the cache, before or after."""
    base = _base_of(call)
    if base is None or base.op != "placeholder" or set(base.users) != {call}:
        return False
    readers = {user for user in item.users if user.op != "output"}
    return readers == {node} and all(each is item or not each.users for each in call.users)


def _is_causal(node: Node) -> bool:
    named = {name: argument(node, name) for name in ("attn_mask", "drpout_p", "is_causal", "scale")}
    plain = named["attn_mask"] is None and named["scale"] is None and not named["drpout_p"]
    return plain and bool(named["is_causal"])


def _is_one_batch(node: Node) -> bool:
    return node.args[0].meta["val"].shape[0] == 1


def _is_of_an_input(node: Node) -> bool:
    source = node.args[0]
    return op_name(source) == _SELECT and source.args[0].op == "placeholder"


def attention_along(head: Node) -> list[Node]:
    """What goes with a call: the writes of its caches with all their items, and what gives the position."""
    if op_name(head) == SCALAR:
        return [head.args[0]]
    if op_name(head) != ATTENTION:
        return []
    found = []
    for call, _ in _updates(head):
        found += [call, *call.users]
    return found


def write_attention(writer: Any, step: Step) -> None:
    node = step.head
    q, _, _, start = node.args[:4]
    updates = [call for call, _ in _updates(node)]
    args = [writer.read(q), *(writer.read(call.kwargs["value"]) for call in updates)]
    caches = [_base_of(call) for call in updates]
    args += [writer.raw(each) for each in caches]
    args += [writer.argument(start), writer.scalar(1), writer.null(), writer.scalar(0.0)]
    args += [writer.scalar(True), writer.null()]
    writer.call("sdpa_with_kv_cache.default", args, node)
    writer.kept_by_calls.update(caches)


def write_position(writer: Any, step: Step) -> None:
    """Once for all that read the element."""
    source, dim, index = step.head.args[0].args

    def make() -> int:
        made = writer.result_value(step.head.meta["val"])
        args = [writer.read(source), writer.scalar(dim), writer.scalar(index), made]
        writer.call_on_ids("et_vk.select_as_symint.default", args)
        return made

    writer.define(step.head, writer.constant_once(("position", source, dim, index), make))


def attention_rows() -> dict[str, VulkanRow]:
    return {
        ATTENTION: row(
            FLOATS,
            when(
                _writes_its_caches, "two caches that are written for this call alone are expected"
            ),
            when(_is_causal, "causal attention without mask, scale and dropout is expected"),
            when(_is_one_batch, "a batch of one is expected"),
            lower=write_attention,
        ),
        SCALAR: row(
            INTS,
            when(_is_of_an_input, "an element of an input is expected"),
            places=(0,),
            lower=write_position,
        ),
    }
