# SPDX-License-Identifier: BSD-3-Clause
"""Kotlin, compiled by 1.3 and later: a class over org.pytorch.executorch.Module, for Android and desktops."""

from __future__ import annotations

import math
from dataclasses import dataclass

from executorch.cli.wrap.layout import listed
from executorch.cli.wrap.names import Traits, Words, literal
from executorch.cli.wrap.program import Method, Program, Value

_KEYWORDS = """
    as break class continue do else false for fun if in interface is null object package return super this throw true
    try typealias typeof val var when while
"""
_WORDS = Words(
    keywords=frozenset(_KEYWORDS.split()),
    is_camel=True,
    members=(
        "close", "labels", "labeled", "fits", "toString", "hashCode", "equals", "getClass", "notify", "notifyAll",
        "wait", "execute", "module",
    ),
    types=(
        "Elements", "Module", "Tensor", "EValue", "DType", "Closeable", "String", "Long", "Double", "Boolean", "List",
        "Any", "Array", "Unit", "Short", "Byte", "Int", "Float", "Pair",
    ),
    locals=("outputs", "execute", "fits", "module"),
)  # fmt: skip


@dataclass(frozen=True)
class _Dtype:
    """`array`: what holds elements; `maker` and `reader`: of a Tensor from it and back; `half`: a half, or zero."""

    array: str
    maker: str
    reader: str
    half: str


def _row(
    kind: str, maker: str = "fromBlob({0}.data, {0}.sizes)", read: str = "", half: str = "0"
) -> _Dtype:
    return _Dtype(f"{kind}Array", f"Tensor.{maker}", read or f"dataAs{kind}Array", half)


def _shorts(dtype: str, half: str = "0") -> _Dtype:
    return _row("Short", f"fromBlob({{0}}.data, {{0}}.sizes, DType.{dtype})", half=half)


_DTYPES = {
    "uint8": _row("Byte", "fromBlobUnsigned({0}.data, {0}.sizes)", "dataAsUnsignedByteArray"),
    "int8": _row("Byte"),
    "int16": _shorts("INT16"),
    "int32": _row("Int"),
    "int64": _row("Long"),
    "uint16": _shorts("UINT16"),
    "float16": _shorts("HALF", "0x3800"),
    "bfloat16": _shorts("BFLOAT16", "0x3f00"),
    "float32": _row("Float", half="0.5f"),
    "float64": _row("Double", half="0.5"),
    "bool": _row("Boolean", half="true"),
}
TRAITS = Traits(
    "//",
    _WORDS,
    frozenset(_DTYPES),
    has_layouts=False,
    no_inputs=frozenset({"str", "none"}),
    has_packages=True,
)
_BITS = {
    "uint8": "unsigned",
    "uint16": "unsigned",
    "float16": "their bits",
    "bfloat16": "their bits",
}
_SCALARS = {"int": "Long", "float": "Double", "bool": "Boolean", "str": "String"}
_READS = {"int": "toInt", "float": "toDouble", "bool": "toBool", "str": "toStr"}


def file_name(program: Program) -> str:
    return f"{program.class_name}.kt"


def class_text(program: Program) -> str:
    lines = [f"package {program.package}", ""] if program.package else []
    names = ["EValue", "Module", "Tensor"]
    makers = [_DTYPES[each.dtype].maker for method in program.methods for each in method.arguments]
    names += ["DType"] * any("DType" in each for each in makers)
    lines += [
        "import java.io.Closeable",
        *(f"import org.pytorch.executorch.{each}" for each in sorted(names)),
    ]
    name = program.class_name
    lines += [
        "",
        "/**",
        f" * {program.file}. Methods are loaded when they are first called. Threads: any; calls wait for each other.",
        " * Errors are ExecutorchRuntimeException with the input, what was expected and what was found.",
        " * [dataFiles]: weights (.ptd) that are not in the program.",
        " */",
        f"class {name}(path: String, dataFiles: List<String> = listOf()) : Closeable {{",
        "  /** Elements with rows first, and their sizes: Elements(floats, 2, 3). */",
        "  class Elements<A>(val data: A, vararg val sizes: Long)",
        "",
    ]
    for method in program.methods:
        if len(method.results) > 1:
            fields = [
                f"    /** {_text(each)} */ val {each.name}: {_type(each)}"
                for each in method.results
            ]
            lines += [f"  class {method.result_type}(", ",\n".join(fields), "  )", ""]
    lines += ["  private val module: Module = Module.load(path, dataFiles)"]
    for method in program.methods:
        lines += ["", *_method(method)]
    lines += [
        "",
        "  override fun close() {",
        "    module.close()",
        "  }",
        "",
        "  private fun execute(method: String, expected: Int, vararg inputs: EValue): Array<EValue> {",
        "    val outputs = module.execute(method, *inputs)",
        "    check(outputs.size == expected) {",
        '      "method $method: expected $expected outputs, found ${outputs.size}: the file is another program"',
        "    }",
        "    return outputs",
        "  }",
    ]
    if any(each.arguments for each in program.methods):
        lines += ["", *_FITS.strip("\n").splitlines()]
    if program.labels:
        lines += ["", "  companion object {", "    val labels: List<String> = listOf("]
        lines += [",\n".join(f"      {_literal(each)}" for each in program.labels), "    )"]
        for method in program.labeled:
            found = _LABELED.strip("\n").replace("FOUND", method.result_type)
            lines += ["", *found.splitlines()]
        lines += ["  }"]
    return "\n".join([*lines, "}"]) + "\n"


def _method(method: Method) -> list[str]:
    types = {each.name: _type(each) for each in method.results}
    returned = method.returned("", types)
    notes = method.notes()
    lines = ["  /**", *(f"   * {each}" for each in notes), "   */"] if notes else []
    parameters = [f"{each.name}: {_type(each)}" for each in method.arguments]
    lines += listed(
        f"  fun {method.key}(", parameters, f"){f': {returned}' if returned else ''} {{"
    )
    for each in method.arguments:
        lines.append(f"    fits({_literal(each.title)}, {each.name}.data.size, {each.name}.sizes)")
    inputs = [_literal(method.name), str(len(method.outputs)), *map(_given, method.needed)]
    lines += listed(f"    {'val outputs = ' if method.results else ''}execute(", inputs, ")")
    reads = [_read(each) for each in method.results]
    if len(reads) == 1:
        lines.append(f"    return {reads[0]}")
    elif reads:
        lines += listed(f"    return {method.result_type}(", reads, ")")
    return [*lines, "  }"]


def _text(value: Value) -> str:
    return value.text + (
        f", {_BITS[value.dtype]}" if value.is_tensor and value.dtype in _BITS else ""
    )


def _type(value: Value) -> str:
    return f"Elements<{_DTYPES[value.dtype].array}>" if value.is_tensor else _SCALARS[value.kind]


def _given(value: Value) -> str:
    held = value.declared.value
    if value.is_tensor:
        return f"EValue.from({_DTYPES[value.dtype].maker.format(value.name)})"
    if value.kind == "bool":
        return f"EValue.from({'true' if held else 'false'})"
    if value.kind == "int":
        # The least one has no literal.
        return f"EValue.from({held}L)" if held > -(2**63) else "EValue.from(Long.MIN_VALUE)"
    if math.isnan(held):
        return "EValue.from(Double.NaN)"
    if math.isinf(held):
        return f"EValue.from(Double.{'POSITIVE' if held > 0 else 'NEGATIVE'}_INFINITY)"
    return f"EValue.from({held!r})"


def _read(value: Value) -> str:
    output = f"outputs[{value.declared.number}]"
    if not value.is_tensor:
        return f"{output}.{_READS[value.kind]}()"
    return f"{output}.toTensor().let {{ Elements(it.{_DTYPES[value.dtype].reader}, *it.shape()) }}"


def _literal(text: str) -> str:
    return literal(text).replace("$", "\\$")


_LABELED = """
    /** Labels with the scores of what a method gives, in its order. */
    fun labeled(found: FOUND): List<Pair<String, Float>> =
      found.classes.data.indices.mapNotNull { i ->
        labels.getOrNull(found.classes.data[i].toInt())?.let { Pair(it, found.scores.data[i]) }
      }
"""
_FITS = """
  private fun fits(name: String, found: Int, sizes: LongArray) {
    require(found.toLong() == Tensor.numel(sizes)) {
      "input $name: expected ${Tensor.numel(sizes)} elements for sizes ${sizes.toList()}, found $found"
    }
  }
"""


def main_text(program: Program, module: str) -> str:
    del module  # classes are found by their package
    lines = [f"import {program.package}.{program.class_name}", ""] if program.package else []
    name = program.class_name
    lines += [
        "fun main(words: Array<String>) {",
        f"  {name}(words.firstOrNull() ?: {_literal(program.file)}).use {{ model ->",
    ]
    for number, method in enumerate(program.methods):
        given = []
        for each in method.arguments:
            row = _DTYPES[each.dtype]
            half = (
                f"{row.half}.to{row.array[:-5]}()"
                if row.array in ("ByteArray", "ShortArray")
                else row.half
            )
            half += "L" if row.array == "LongArray" else ""
            sizes = "".join(f", {size}L" for size in each.example)
            given.append(
                f"{name}.Elements({row.array}({math.prod(each.example)}) {{ {half} }}{sizes})"
            )
        assigned = f"val result{number} = " if method.results else ""
        lines += listed(f"    {assigned}model.{method.key}(", given, ")")
        for each in method.results:
            value = f"result{number}" + ("" if len(method.results) == 1 else f".{each.name}")
            shown = (
                f"${{{value}.sizes.toList()}} ${{{value}.data.take(3)}}"
                if each.is_tensor
                else f"${{{value}}}"
            )
            lines.append(f'    println("{method.key} {each.name} {shown}")')
        if method in program.labeled:
            shown = f"${{{name}.labeled(result{number}).take(3)}}"
            lines.append(f'    println("{method.key} labeled {shown}")')
    return "\n".join([*lines, "  }", "}"]) + "\n"
