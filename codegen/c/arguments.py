# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of kernel calls as C++ expressions, by the types of the operator's schema."""

from __future__ import annotations

import json
import math

from ..schema import ATEN, Argument
from .plan import CannotWrite, Plan

_ENUMS = ("ScalarType", "MemoryFormat", "Layout")


class Arguments:
    """Writes expressions; lists get a static array each, collected in `declarations`."""

    def __init__(self, plan: Plan, slots: dict[int, int]) -> None:
        """`slots` are the places of tensors in the source's table, by value."""
        self._plan = plan
        self.slots = slots
        self.declarations: list[str] = []
        self._lists: dict[str, str] = {}

    def expression(self, argument: Argument, index: int) -> str:
        kind = argument.type
        value = self._plan.values[index]
        if kind.endswith("?"):
            inner = kind[:-1]
            if value.get("val_type", "Null") in ("Null", "NONE"):
                return "std::nullopt"
            of = Argument(argument.name, inner)
            cpp = of.cpp_type.removeprefix("const ").removesuffix("&")
            return f"std::optional<{cpp}>({self.expression(of, index)})"
        if kind in ("Tensor", "Tensor!"):
            return f"t({self.slots[index]})"
        if kind in ("Tensor[]", "Tensor![]"):
            return self._tensor_list(value, optional=False)
        if kind == "Tensor?[]":
            return self._tensor_list(value, optional=True)
        if kind in ("int[]", "float[]", "bool[]"):
            return self._list(kind, value)
        if kind == "Scalar":
            return f"{ATEN}Scalar({self._number(index)})"
        if kind in _ENUMS:
            return f"static_cast<{ATEN}{kind}>({self._number(index)})"
        if kind == "float":
            return f"double({self._number(index)})"
        if kind in ("int", "bool"):
            return self._number(index)
        if kind == "str":
            return json.dumps(value["val"].get("string_val", ""))
        raise CannotWrite(f"argument {argument.name}: values of type {kind} cannot be written")

    def _number(self, index: int) -> str:
        value = self._plan.values[index]
        match value.get("val_type"):
            case "Int":
                return _int(int(value["val"].get("int_val", 0)))
            case "Bool":
                return "true" if value["val"].get("bool_val", False) else "false"
            case "Double":
                return _double(float(value["val"].get("double_val", 0.0)))
        raise CannotWrite(f"expected a number, found a value of kind {value.get('val_type')}")

    def _list(self, kind: str, value: dict) -> str:
        element = {"int[]": "int64_t", "float[]": "double", "bool[]": "bool"}[kind]
        items = value["val"].get("items", [])
        if kind == "int[]":
            items = [self._number(item) for item in items]  # lists of ints name values
        elif kind == "float[]":
            items = [_double(float(item)) for item in items]
        else:
            items = ["true" if item else "false" for item in items]
        return self._array(f"const {element}", f"{ATEN}ArrayRef<{element}>", items)

    def _array(self, element: str, view: str, items: list[str]) -> str:
        if not items:
            return f"{view}()"
        text = f"{element} {{}}[] = {{{{{', '.join(items)}}}}};"
        if text not in self._lists:
            self._lists[text] = f"list_{len(self._lists)}"
            self.declarations.append(text.format(self._lists[text]))
        return f"{view}({self._lists[text]}, {len(items)})"

    def _tensor_list(self, value: dict, *, optional: bool) -> str:
        items = value["val"].get("items", [])
        element = f"std::optional<{ATEN}Tensor>" if optional else "Tensor"
        made = ["std::nullopt" if item < 0 else f"t({self.slots[item]})" for item in items]
        view = f"{ATEN}ArrayRef<{element}>"
        if not made:
            return f"{view}()"
        # A temporary that lives as long as the call.
        return f"{view}(std::array<{element}, {len(made)}>{{{{{', '.join(made)}}}}}.data(), {len(made)})"


def _int(value: int) -> str:
    if value == -(2**63):
        return "INT64_MIN"
    return f"int64_t({value})" if abs(value) < 2**31 else f"int64_t({value}LL)"


def _double(value: float) -> str:
    if math.isnan(value):
        return "std::numeric_limits<double>::quiet_NaN()"
    if math.isinf(value):
        return ("-" if value < 0 else "") + "std::numeric_limits<double>::infinity()"
    return value.hex() if value != int(value) else repr(value)
