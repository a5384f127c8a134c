# SPDX-License-Identifier: BSD-3-Clause
"""Python: NumPy's arrays with their dtypes; PyTorch's tensors in methods with a dtype that NumPy lacks."""

from __future__ import annotations

import keyword
import math
from functools import partial

from executorch.cli.wrap.layout import listed
from executorch.cli.wrap.names import Traits, Words, literal, snake
from executorch.cli.wrap.program import Method, Program, Value

_BUILTINS = (
    "int",
    "float",
    "bool",
    "str",
    "list",
    "len",
    "type",
    "getattr",
    "isinstance",
    "zip",
    "tuple",
)
_WORDS = Words(
    keywords=frozenset(keyword.kwlist),
    is_camel=False,
    members=("LABELS", "labeled", *_BUILTINS),
    types=("Any", "NDArray", "NamedTuple", "Path", "PathLike", "Runtime", "TypeVar"),
    locals=("self", "np", "torch", "outputs", *_BUILTINS),
    fields=("count", "index", *_BUILTINS),
)
_NUMPY = {
    "uint8": "np.uint8", "int8": "np.int8", "int16": "np.int16", "int32": "np.int32", "int64": "np.int64",
    "uint16": "np.uint16", "uint32": "np.uint32", "uint64": "np.uint64", "float16": "np.float16",
    "float32": "np.float32", "float64": "np.float64", "complex64": "np.complex64", "complex128": "np.complex128",
    "bool": "np.bool_",
}  # fmt: skip
_TORCH = (
    "bfloat16", "complex32", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz",
)  # fmt: skip
TRAITS = Traits("#", _WORDS, frozenset((*_NUMPY, *_TORCH)))


def file_name(program: Program) -> str:
    name = snake(program.class_name)
    return f"{name}_.py" if keyword.iskeyword(name) else f"{name}.py"


def uses_torch(method: Method) -> bool:
    return any(each.dtype in _TORCH for each in method.tensors)


_listed = partial(listed, step=4)


def class_text(program: Program) -> str:
    methods = program.methods
    has_torch = any(map(uses_torch, methods))
    has_numpy = any(each.tensors and not uses_torch(each) for each in methods)
    tuples = [each for each in methods if len(each.results) > 1]
    lines = [
        f'"""{program.file} as a class."""',
        "",
        "from __future__ import annotations",
        "",
        "from os import PathLike",
        "from pathlib import Path",
        f"from typing import Any{', NamedTuple' if tuples else ''}{', TypeVar' if has_numpy else ''}",
        "",
    ]
    lines += ["import numpy as np"] * has_numpy + ["import torch"] * has_torch
    lines += ["from numpy.typing import NDArray"] * has_numpy
    lines += [""] * (has_torch or has_numpy) + ["from executorch.runtime import Runtime", ""]
    lines += ['_T = TypeVar("_T", bound=np.generic)', ""] * has_numpy
    for each in tuples:
        lines += ["", f"class {each.result_type}(NamedTuple):"]
        for value in each.results:
            lines += [f"    {value.name}: {_type(each, value)}  # {value.text}"]
        lines += [""]
    lines += ["", *_class(program)]
    lines += ["", "", *_NUMPY_OUTPUT.strip().splitlines()] if has_numpy else []
    lines += ["", "", *_TORCH_OUTPUT.strip().splitlines()] if has_torch else []
    return "\n".join(lines) + "\n"


def _class(program: Program) -> list[str]:
    path = f"Path(__file__).with_name({literal(program.file)})"
    lines = [
        f"class {program.class_name}:",
        '    """Loads a method when it is first called. Threads: any number, of which each loads its own.',
        "    RuntimeError: the input, what was expected and what was found. ValueError: the file is another program.",
        '    """',
        "",
    ]
    if program.labels:
        lines += [
            "    LABELS = (",
            *(f"        {literal(each)}," for each in program.labels),
            "    )",
            "",
        ]
    lines += [
        "    def __init__(",
        "        self,",
        f"        path: str | PathLike[str] = {path},",
        "        data_path: str | PathLike[str] | None = None,",
        "    ) -> None:",
        '        """`data_path`: the file (.ptd) of weights that are not in the program."""',
        "        self._program = Runtime.get().load_program(path, data_path=data_path)",
    ]
    if program.labeled:
        types = " | ".join(each.result_type for each in program.labeled)
        lines += ["", *(row.replace("FOUND", types) for row in _LABELED.strip("\n").splitlines())]
    for method in program.methods:
        lines += ["", *_method(method)]
    return [*lines, *_EXECUTE.splitlines()]


def _method(method: Method) -> list[str]:
    types = {each.name: _type(method, each) for each in method.results}
    returned = method.returned("None", types)
    parameters = ["self", *(f"{each.name}: {_type(method, each)}" for each in method.arguments)]
    lines = _listed(f"    def {method.key}(", parameters, f") -> {returned}:")
    if notes := method.notes():
        lines += ['        """', *(f"        {each}" for each in notes), '        """']
    results = [_read(method, each) for each in method.results]
    assigned = "outputs = " if results else ""
    inputs = list(map(_given, method.inputs))
    call = f"        {assigned}self._execute({literal(method.name)}, {len(method.outputs)}, ["
    lines += _listed(call, inputs, "])")
    if len(results) == 1:
        return [*lines, f"        return {results[0]}"]
    return lines + (
        _listed(f"        return {method.result_type}(", results, ")") if results else []
    )


def _given(value: Value) -> str:
    held = value.declared.value
    if value.is_tensor:
        return value.name
    if isinstance(held, float) and not math.isfinite(held):
        return f'float("{held}")'
    return literal(held) if isinstance(held, str) else repr(held)


def _type(method: Method, value: Value) -> str:
    if not value.is_tensor:
        return value.kind
    return "torch.Tensor" if uses_torch(method) else f"NDArray[{_NUMPY[value.dtype]}]"


def _read(method: Method, value: Value) -> str:
    output = f"outputs[{value.declared.number}]"
    if not value.is_tensor:
        return f"{value.kind}({output})"
    if uses_torch(method):
        return f"_tensor({output}, torch.{value.dtype})"
    return f"_array({output}, {_NUMPY[value.dtype]})"


def main_text(program: Program, module: str) -> str:
    lines = [*["import numpy as np"] * any(each.arguments for each in program.methods)]
    lines += ["import torch"] * any(uses_torch(each) and each.arguments for each in program.methods)
    lines += [f"from {module} import {program.class_name}", "", f"model = {program.class_name}()"]
    for number, method in enumerate(program.methods):
        given = [_example(method, each) for each in method.arguments]
        assigned = f"result{number} = " if method.results else ""
        lines += _listed(f"{assigned}model.{method.key}(", given, ")")
        for value in method.results:
            result = f"result{number}" + ("" if len(method.results) == 1 else f".{value.name}")
            head = f'"{method.key} {value.name}"'
            if value.is_tensor:
                lines.append(
                    f"print({head}, list({result}.shape), {result}.flatten()[:3].tolist())"
                )
            else:
                lines.append(f"print({head}, {result})")
        if method in program.labeled:
            lines.append(f'print("{method.key} labeled", model.labeled(result{number})[:3])')
    return "\n".join(lines) + "\n"


def _example(method: Method, value: Value) -> str:
    sizes = f"({', '.join(map(str, value.example))}{',' * (value.rank == 1)})"
    number = "True" if value.dtype == "bool" else "0" if "int" in value.dtype else "0.5"
    if uses_torch(method):
        return f"torch.full({sizes}, {number}).to(torch.{value.dtype})"
    return f"np.full({sizes}, {number}, {_NUMPY[value.dtype]})"


_LABELED = """
    @classmethod
    def labeled(cls, found: FOUND) -> list[tuple[str, float]]:
        \"\"\"Labels with the scores of what a method gives, in its order.\"\"\"
        pairs = zip(found.classes.ravel().tolist(), found.scores.ravel().tolist())
        return [(cls.LABELS[number], score) for number, score in pairs if 0 <= number < len(cls.LABELS)]
"""
_EXECUTE = """
    def _execute(self, method: str, num_outputs: int, inputs: list[Any]) -> list[Any]:
        loaded = self._program.load_method(method)
        assert loaded is not None
        outputs = loaded.execute(inputs, copy=True)
        if len(outputs) != num_outputs:
            raise ValueError(
                f"method {method}: expected {num_outputs} outputs, found {len(outputs)}: the file is another program"
            )
        return outputs"""
_NUMPY_OUTPUT = """
def _array(output: Any, dtype: type[_T]) -> NDArray[_T]:
    array = np.asarray(output)
    if array.dtype != dtype:
        raise ValueError(
            f"expected an output of {np.dtype(dtype)}, found {array.dtype}: the file is another program"
        )
    return array
"""
_TORCH_OUTPUT = """
def _tensor(output: Any, dtype: torch.dtype) -> torch.Tensor:
    if not isinstance(output, torch.Tensor) or output.dtype != dtype:
        found = getattr(output, "dtype", type(output).__name__)
        raise ValueError(f"expected an output of {dtype}, found {found}: the file is another program")
    return output
"""
