# SPDX-License-Identifier: BSD-3-Clause
"""Rotary embeddings of queries and keys as one call.

%c = unsqueeze(%cos, 1), %s = unsqueeze(%sin, 1); twice, of queries and of keys [batch, rows, heads, head]:
  neighbours  %y = view(cat(%a * %c - %b * %s, %a * %s + %b * %c)), of %a, %b = the even and odd columns
  halves      %y = %x * %c + cat(-%second, %first) * %s, of the first columns where the tables are no wider
The first of the two writes the call, whose other result is the second's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from executorch.backends.vulkan.aot.row import FLOATS, VulkanRow
from executorch.exir.backend.lowering.op_table import Condition, Constants
from executorch.exir.backend.lowering.patterns import Call, Found, Value, find
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.graph_facts import arguments_by_name, op_name

_MUL, _CAT = "aten.mul.Tensor", "aten.cat.default"
_SLICE, _VIEW = "aten.slice_copy.Tensor", "aten.view_copy.default"
_UNSQUEEZE = "aten.unsqueeze_copy.default"
_X, _COS, _SIN = Value("x"), Value("cos"), Value("sin")
_LAST = (3, -1)


def _sizes(node: Node) -> list[Any]:
    return list(node.meta["val"].shape)


# ---- Patterns ----


def _in_pairs(node: Node) -> bool:
    """[..., head] seen as [..., head / 2, 2]."""
    before, after = _sizes(node.args[0]), _sizes(node)
    return len(after) == len(before) + 1 == 5 and after[-1] == 2 and after[:3] == before[:3]


def _out_of_pairs(node: Node) -> bool:
    before, after = _sizes(node.args[0]), _sizes(node)
    return len(before) == len(after) + 1 == 5 and before[-1] == 2 and after[:3] == before[:3]


def _is_of_pairs(node: Node) -> bool:
    dims = node.args[1]
    return (dims if isinstance(dims, int) else dims[0]) in (4, -1)


def _neighbours() -> Call:
    pairs = Call(_VIEW, _X, where=_in_pairs)

    def column(place: int) -> Call:
        one = Call(_SLICE, pairs, None, place, place + 1, where=_is_of_pairs)
        return Call("aten.squeeze_copy.dims", one, where=_is_of_pairs)

    def both(op: str, first: Value, second: Value, name: str) -> Call:
        by_first = Call(_MUL, column(0), first, commutes=True, name=name)
        by_second = Call(_MUL, column(1), second, commutes=True)
        summed = Call(op, by_first, by_second, where=_has_no_factor)
        return Call(_UNSQUEEZE, summed, where=_is_of_pairs)

    columns = (both("aten.sub.Tensor", _COS, _SIN, "by"), both("aten.add.Tensor", _SIN, _COS, ""))
    joined = Call(_CAT, columns, where=lambda node: node.args[1] in (4, -1))
    return Call(_VIEW, joined, where=_out_of_pairs)


def _has_no_factor(node: Node) -> bool:
    return node.kwargs.get("alpha", 1) == 1


def _is_of_columns(node: Node) -> bool:
    arguments = arguments_by_name(node)
    return arguments["dim"] in _LAST and arguments["step"] == 1


def _is_first_half(node: Node) -> bool:
    half = _sizes(node.args[0])[-1] // 2
    return _is_of_columns(node) and node.args[2:4] == (0, half)


def _is_second_half(node: Node) -> bool:
    width = _sizes(node.args[0])[-1]
    return _is_of_columns(node) and _is_from(node, width // 2)


def _is_from(node: Node, start: int) -> bool:
    """A slice to the end."""
    _, _, begin, end = node.args[:4]
    return begin == start and isinstance(end, int) and end >= _sizes(node.args[0])[-1]


def _is_joined(node: Node) -> bool:
    return arguments_by_name(node)["dim"] in _LAST


def _halves(x: Any) -> Call:
    second = Call("aten.neg.default", Call(_SLICE, x, where=_is_second_half))
    other = Call(_CAT, (second, Call(_SLICE, x, where=_is_first_half)), where=_is_joined)
    terms = (Call(_MUL, x, _COS, commutes=True, name="by"), Call(_MUL, other, _SIN, commutes=True))
    return Call("aten.add.Tensor", *terms, commutes=True, where=_has_no_factor)


def _passes_the_rest(node: Node) -> bool:
    """What is joined are the turned first columns and all others, as they were."""
    if len(node.args[0]) != 2 or not _is_joined(node):
        return False
    turned, rest = node.args[0]
    return op_name(rest) == _SLICE and _is_from(rest, _sizes(turned)[-1])


def _halves_of_part() -> Call:
    first = Call(_SLICE, _X, where=lambda node: _is_of_columns(node) and node.args[2] == 0)
    rest = Call(_SLICE, _X, where=_is_of_columns)
    return Call(_CAT, (_halves(first), rest), where=_passes_the_rest)


class _Form(NamedTuple):
    """What is written behind the tables, and how many calls of a turn multiply by the cosines."""

    name: str
    more: tuple[int, ...]
    multiplied: int


_NEIGHBOURS = _Form("et_vk.apply_rotary_emb.default", (), 2)
_HALVES = _Form("et_vk.apply_rotary_emb_hf.default", (0,), 1)
_FORMS = {_neighbours(): _NEIGHBOURS, _halves_of_part(): _HALVES, _halves(_X): _HALVES}


# ---- The two that one call turns ----


def _results(node: Node, depth: int) -> Iterator[Node]:
    """Of a chain that begins with `node`."""
    yield node
    for user in node.users if depth else ():
        yield from _results(user, depth - 1)


def _pair(step: Step) -> tuple[Found, Found, list[Node]] | None:
    """Both turns by the same tables, in their order, and their results: those whose products with the cosines are
    neighbours among all of them."""
    cosines, multiplied = step.named["cos"], _FORMS[step.pattern].multiplied
    products = [user for user in cosines.users if op_name(user) == _MUL]
    place = products.index(step.named["by"]) // multiplied
    turns = []
    for product in products[(place & ~1) * multiplied :][: 2 * multiplied : multiplied]:
        found = ((find(step.pattern, end), end) for end in _results(product, 4))
        turns += [each for each in found if each[0] is not None][:1]
    if len(turns) != 2:
        return None
    (first, result), (second, other) = turns
    same = all(first.named[each] is second.named[each] for each in ("cos", "sin"))
    return (first, second, [result, other]) if same and result is not other else None


def _is_pair(step: Step, constants: Constants) -> bool:
    found = _pair(step)
    if found is None or step.result not in found[2]:
        return False
    first, second, results = found
    return second.named["x"] < results[0] and all(_fits(each.named) for each in (first, second))


def _fits(named: Any) -> bool:
    """Tables with a row for each row, one for all heads."""
    x, tables = named["x"], [named["cos"], named["sin"]]
    if any(op_name(each) != _UNSQUEEZE for each in tables) or len(_sizes(x)) != 4:
        return False
    rows, dtype = _sizes(x)[1], x.meta["val"].dtype
    return dtype in FLOATS and all(
        each.meta["val"].dtype == dtype
        and len(sizes := _sizes(each)) == 3
        and sizes[1] == 1
        and statically_known_true(sizes[0] == rows)
        for each in tables
    )


def write_turn(writer: Any, step: Step) -> None:
    first, second, results = _pair(step)
    form = _FORMS[step.pattern]

    def make() -> int:
        args = [writer.read(each.named["x"]) for each in (first, second)]
        args += [writer.read(first.named[each].args[0]) for each in ("cos", "sin")]
        args += map(writer.scalar, form.more)
        made = writer.result_value([each.meta["val"] for each in results])
        writer.call_on_ids(form.name, [*args, made])
        return made

    made = writer.constant_once(("turned", results[0]), make)
    writer.define(step.result, writer.values[made].value.items[results.index(step.result)])


def rotary_patterns() -> dict[Call, VulkanRow]:
    reason = (
        "queries and keys turned by the same tables, with a row for each of theirs, are expected"
    )
    pair = Condition(_is_pair, reason)
    return {pattern: VulkanRow(write_turn, (pair,)) for pattern in _FORMS}
