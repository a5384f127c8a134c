# SPDX-License-Identifier: BSD-3-Clause
"""Code to paste: a statement of the user's, written so that torch.export takes it. None where that takes a person."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

import torch

from executorch.exir.capture.diagnostics.statements import (
    Code,
    Statement,
    assigned,
    called,
    computes,
    expression,
    locals_of,
    read,
    rewritten,
)

_OPPOSITE = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}
_NUMPY = ("np.", "numpy.")
_AXES = {"axis": "dim", "keepdims": "keepdim"}


def branch(found: Statement) -> Code | None:
    """torch.where for one value a side, torch.cond for more."""
    node = found.node
    if not isinstance(node, ast.If):
        return _inner_branch(found)
    test = ast.unparse(_as_tensor(node.test))
    following = found.following
    other: Sequence[ast.stmt] = node.orelse
    last = None
    if not other and _ends(node.body) and isinstance(following, ast.Return):
        other, last = [following], following
    yes, no = _value(node.body), _value(other)
    if yes is not None and not other and yes[0]:
        no = (yes[0], yes[0])
    if yes is None or no is None or yes[0] != no[0]:
        return _cond(found, test, other, last)
    start = f"{yes[0]} =" if yes[0] else "return"
    return found.instead([f"{start} torch.where({test}, {yes[1]}, {no[1]})"], last)


def _ends(block: Sequence[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], ast.Return)


def _value(block: Sequence[ast.stmt]) -> tuple[str, str] | None:
    """The name that a block of one statement gives a value, empty for return, and that value."""
    if len(block) != 1:
        return None
    (node,) = block
    if (
        isinstance(node, ast.Return)
        and node.value is not None
        and not isinstance(node.value, ast.Tuple)
    ):
        return "", ast.unparse(node.value)
    if (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
    ):
        return node.targets[0].id, ast.unparse(node.value)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        sum_of = ast.BinOp(ast.Name(node.target.id), node.op, node.value)
        return node.target.id, ast.unparse(sum_of)
    return None


def _inner_branch(found: Statement) -> Code | None:
    """`a if test else b`."""

    def change(node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.IfExp):
            return None
        parts = (_as_tensor(node.test), node.body, node.orelse)
        return expression(f"torch.where({', '.join(map(ast.unparse, parts))})")

    text = rewritten(found.node, change)
    return found.instead([text]) if text else None


def _as_tensor(test: ast.expr) -> ast.expr:
    """A condition as a tensor of bool: `and`, `or` and `not` read their operands."""
    if isinstance(test, ast.BoolOp):
        name = "torch.logical_and" if isinstance(test.op, ast.And) else "torch.logical_or"
        text = ast.unparse(_as_tensor(test.values[0]))
        for each in test.values[1:]:
            text = f"{name}({text}, {ast.unparse(_as_tensor(each))})"
        return expression(text)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return expression(f"torch.logical_not({ast.unparse(_as_tensor(test.operand))})")
    if called(test) == "torch.equal":
        a, b = map(ast.unparse, test.args)
        return expression(f"({a} == {b}).all()")
    if called(test) == "torch.allclose":
        return expression(f"{ast.unparse(test).replace('allclose', 'isclose', 1)}.all()")
    if called(test) in ("bool", "float", "int") and len(test.args) == 1:
        return _as_tensor(test.args[0])
    if isinstance(test, ast.Compare) or called(test).endswith((".any", ".all", ".isnan")):
        return test
    return expression(f"({ast.unparse(test)}) != 0")


def _cond(
    found: Statement, test: str, other: Sequence[ast.stmt], last: ast.stmt | None
) -> Code | None:
    node = found.node
    assert isinstance(node, ast.If)
    blocks = (node.body, other)
    leaves = [
        each
        for block in blocks
        for one in block
        for each in ast.walk(one)
        if isinstance(each, ast.Return)
    ]
    returns = all(map(_ends, blocks)) and len(leaves) == 2
    if leaves and not returns:
        return None
    if not all(map(computes, blocks)):
        return None
    known = locals_of(found.function, node.lineno)
    given = list(dict.fromkeys(name for block in blocks for name in assigned(block)))
    if not returns and not given:
        return None
    operands = [
        name for name in dict.fromkeys([*read([*node.body, *other]), *given]) if name in known
    ]
    lines = [
        line
        for name, block in zip(("yes", "no"), blocks, strict=True)
        for line in _function(name, operands, block, () if returns else given)
    ]
    call = f"torch.cond({test}, yes, no, ({', '.join(operands)},))"
    lines.append(
        f"return {call}" if returns else f"{', '.join(given)}{',' * (len(given) == 1)} = {call}"
    )
    return found.instead(lines, last)


def _function(
    name: str, parameters: Sequence[str], block: Sequence[ast.stmt], results: Sequence[str]
) -> list[str]:
    """What is given back as it came is copied: branches may not give their operands."""
    inside = set(assigned(block))
    body = [line for node in block for line in ast.unparse(node).splitlines()]
    if results:
        values = [each if each in inside else f"{each}.clone()" for each in results]
        body.append(f"return ({', '.join(values)},)")
    return [f"def {name}({', '.join(parameters)}):", *(f"    {line}" for line in body), ""]


def loop(found: Statement) -> Code | None:
    node = found.node
    if not isinstance(node, ast.While) or node.orelse or not computes(node.body):
        return None
    inner = [each for one in node.body for each in ast.walk(one)]
    if any(isinstance(each, ast.Break | ast.Continue | ast.Return) for each in inner):
        return None
    known = locals_of(found.function, node.lineno)
    carried = [name for name in assigned(node.body) if name in known]
    if not carried:
        return None
    names = ", ".join(carried)
    body = [line for each in node.body for line in ast.unparse(each).splitlines()]
    return found.instead(
        [
            f"def again({names}):",
            f"    return {ast.unparse(_as_tensor(node.test))}",
            "",
            f"def step({names}):",
            *(f"    {line}" for line in body),
            f"    return ({names},)",
            "",
            f"{names}{',' * (len(carried) == 1)} = torch.while_loop(again, step, ({names},))",
        ]
    )


def only_eager(found: Statement) -> Code | None:
    """For what a program does not need: checks, prints, logs."""
    node = found.node
    if isinstance(node, ast.If) and (node.orelse or assigned(node.body) or _ends(node.body)):
        return None
    source = textwrap.dedent(found.source(node.lineno, node.end_lineno or node.lineno))
    return found.instead(["if not torch.compiler.is_exporting():", textwrap.indent(source, "    ")])


def never(found: Statement) -> Code | None:
    """A branch that the device never takes, as a promise."""
    node = found.node
    if not isinstance(node, ast.If) or node.orelse:
        return None
    test = node.test
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        opposite = ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)
        return found.instead([f"torch._check({ast.unparse(opposite)})"])
    return None


def _changed(found: Statement, change: object) -> Code | None:
    text = rewritten(found.node, change)  # type: ignore[arg-type]
    return found.instead([text]) if text else None


def number(found: Statement) -> Code | None:
    """int(x) of a tensor reads it; x.item() is a symbol."""

    def change(node: ast.expr) -> ast.expr | None:
        if called(node) not in ("int", "float") or len(node.args) != 1:
            return None
        return expression(f"{ast.unparse(node.args[0])}.item()")

    return _changed(found, change)


def of_torch(found: Statement) -> Code | None:
    """Functions of math and random, by torch's of that name."""

    def change(node: ast.expr) -> ast.expr | None:
        module, _, name = called(node).rpartition(".")
        if module == "math" and hasattr(torch, name):
            return expression(f"torch.{name}({', '.join(map(ast.unparse, node.args))})")
        if (
            called(node) in ("random.random", "np.random.rand", "numpy.random.rand")
            and not node.args
        ):
            return expression("torch.rand(())")
        return None

    return _changed(found, change)


def copies(found: Statement) -> Code | None:
    def change(node: ast.expr) -> ast.expr | None:
        if called(node) not in ("copy.deepcopy", "copy.copy", "deepcopy") or len(node.args) != 1:
            return None
        return expression(f"{ast.unparse(node.args[0])}.clone()")

    return _changed(found, change)


def stacked(found: Statement) -> Code | None:
    """torch.tensor([x, y]) of tensors reads them."""

    def change(node: ast.expr) -> ast.expr | None:
        if (
            called(node) not in ("torch.tensor", "torch.Tensor", "torch.FloatTensor")
            or len(node.args) != 1
        ):
            return None
        values = node.args[0]
        numbers = [each for each in ast.walk(values) if isinstance(each, ast.Constant)]
        if not isinstance(values, ast.List) or any(each in numbers for each in values.elts):
            return None
        return expression(f"torch.stack({ast.unparse(values)})")

    return _changed(found, change)


def reshaped(found: Statement) -> Code | None:
    def change(node: ast.expr) -> ast.expr | None:
        if not called(node).endswith(".view"):
            return None
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        return ast.Call(
            ast.Attribute(node.func.value, "reshape", ast.Load()), node.args, node.keywords
        )

    return _changed(found, change)


def as_tuple(found: Statement) -> Code | None:
    node = found.node
    if not isinstance(node, ast.Return) or node.value is None:
        return None
    value = node.value
    if isinstance(value, ast.Set):
        value = ast.Tuple(value.elts, ast.Load())
        return found.instead([f"return {ast.unparse(value)}"])
    return found.instead([f"return tuple({ast.unparse(value)})"])


def without_numpy(found: Statement) -> Code | None:
    """All statements of a function that have to do with NumPy, from the first to the last."""
    body = [node for node in found.function.body if not isinstance(node, ast.FunctionDef)]
    texts = {node: rewritten(node, _by_torch) for node in body}
    changed = [node for node, text in texts.items() if text]
    if not changed or any(_uses_numpy(text) for text in texts.values() if text):
        return None
    first, last = body.index(changed[0]), body.index(changed[-1])
    lines: list[str] = []
    for node in body[first : last + 1]:
        source = textwrap.dedent(found.source(node.lineno, node.end_lineno or node.lineno))
        lines += (texts[node] or source).splitlines()
    start = Statement(body[first], body, found.function, found.text)
    return start.instead(lines, body[last])


def _uses_numpy(text: str) -> bool:
    return any(start in text for start in (*_NUMPY, ".numpy(", "from_numpy("))


def _by_torch(node: ast.expr) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    name = called(node)
    if name.endswith((".numpy", ".cpu", ".detach")) and not node.args:
        assert isinstance(node.func, ast.Attribute)
        return node.func.value
    if name == "torch.from_numpy":
        return node.args[0]
    start = next((each for each in _NUMPY if name.startswith(each)), None)
    if start is None or not _has(name.removeprefix(start)):
        return None
    words = [ast.keyword(_AXES.get(each.arg or "", each.arg), each.value) for each in node.keywords]
    inner = "tensor" if name.endswith(".array") else name.removeprefix(start)
    return ast.Call(expression(f"torch.{inner}"), node.args, words)


def _has(name: str) -> bool:
    """Whether torch has a function of that name."""
    found: object = torch
    for part in name.split("."):
        found = getattr(found, part, None)
    return callable(found) or name == "array"
