# SPDX-License-Identifier: BSD-3-Clause
"""Swift: a class over the package ExecuTorch, whose tensors have types of elements."""

from __future__ import annotations

import math

from executorch.cli.wrap.layout import listed
from executorch.cli.wrap.names import Traits, Words, literal
from executorch.cli.wrap.program import Method, Program, Value

_KEYWORDS = """
    Any Self Type Protocol as associatedtype break case catch class continue default defer deinit do else enum
    extension fallthrough false fileprivate for func guard if import in init inout internal is let nil operator
    precedencegroup private protocol public repeat rethrows return self static struct subscript super switch throw
    throws true try typealias var where while
"""
_WORDS = Words(
    keywords=frozenset(_KEYWORDS.split()),
    is_camel=True,
    members=("module", "labels", "labeled", "execute"),
    types=(
        "Module", "Tensor", "Value", "ErrorCode", "AnyTensor", "Scalar", "String", "Int", "Double", "Bool", "Float",
        "Array", "ExecuTorch", "Foundation",
    ),
    locals=("outputs", "module", "execute"),
)  # fmt: skip
_TYPES = {
    "uint8": "UInt8", "int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64", "uint16": "UInt16",
    "uint32": "UInt32", "uint64": "UInt64", "float16": "Float16", "float32": "Float", "float64": "Double",
    "bool": "Bool",
}  # fmt: skip
TRAITS = Traits("//", _WORDS, frozenset(_TYPES))
_SCALARS = {"int": "Int", "float": "Double", "bool": "Bool", "str": "String"}


def file_name(program: Program) -> str:
    return f"{program.class_name}.swift"


def class_text(program: Program) -> str:
    name = program.class_name
    lines = [
        "import ExecuTorch",
        "",
        f"/// {program.file}. Methods are loaded when they are first called. One thread at a time. Results are copies.",
        "/// Errors are ErrorCode with the input, what was expected and what was found.",
        f"public final class {name} {{",
    ]
    for method in program.methods:
        if len(method.results) > 1:
            lines += [f"  public struct {method.result_type} {{"]
            lines += [
                f"    /// {each.text}\n    public let {each.name}: {_type(each)}"
                for each in method.results
            ]
            lines += ["  }", ""]
    if program.labels:
        lines += [
            "  public static let labels: [String] = [",
            *(f"    {literal(each)}," for each in program.labels),
            "  ]",
            "",
        ]
    for method in program.labeled:
        lines += [*_LABELED.strip("\n").replace("FOUND", method.result_type).splitlines(), ""]
    lines += [
        "  public let module: Module",
        "",
        "  /// dataFilePaths: weights (.ptd) that are not in the program.",
        "  public init(filePath: String, dataFilePaths: [String] = []) {",
        "    module = Module(filePath: filePath, dataFilePaths: dataFilePaths)",
        "  }",
    ]
    for method in program.methods:
        lines += ["", *_method(method)]
    lines += [
        "",
        "  private func execute(_ method: String, _ expected: Int, _ inputs: [Value]) throws -> [Value] {",
        "    let outputs = try module.execute(method, inputs)",
        "    guard outputs.count == expected else {",
        "      throw ErrorCode(",
        "        .invalidProgram,",
        '        "method \\(method): expected \\(expected) outputs, found \\(outputs.count): "',
        '          + "the file is another program")',
        "    }",
        "    return outputs",
        "  }",
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _method(method: Method) -> list[str]:
    types = {each.name: _type(each) for each in method.results}
    returned = method.returned("", types)
    lines = [f"  /// {each}" for each in method.notes()]
    parameters = [f"{each.name}: {_type(each)}" for each in method.arguments]
    arrow = f" -> {returned}" if returned else ""
    lines += listed(f"  public func {method.key}(", parameters, f") throws{arrow} {{")
    given = [f"Value({_given(each)})" for each in method.inputs]
    assigned = "let outputs" if method.results else "_"
    before = f"    {assigned} = try execute({literal(method.name)}, {len(method.outputs)}, ["
    lines += listed(before, given, "])")
    reads = [f"{_type(each)}(outputs[{each.declared.number}])" for each in method.results]
    if len(reads) == 1:
        lines.append(f"    return try {reads[0]}")
    elif reads:
        fields = [f"{each.name}: {read}" for each, read in zip(method.results, reads, strict=True)]
        lines += listed(f"    return try {method.result_type}(", fields, ")")
    return [*lines, "  }"]


def _type(value: Value) -> str:
    return f"Tensor<{_TYPES[value.dtype]}>" if value.is_tensor else _SCALARS[value.kind]


def _given(value: Value) -> str:
    held = value.declared.value
    if value.is_tensor:
        return value.name
    if value.kind == "none":
        return ""
    if value.kind == "bool":
        return "true" if held else "false"
    if value.kind == "str":
        return literal(held)
    if value.kind == "int":
        return str(held)
    if math.isnan(held) or math.isinf(held):
        return "Double.nan" if math.isnan(held) else f"{'-' if held < 0 else ''}Double.infinity"
    return repr(held)


_LABELED = """
  /// Labels with the scores of what a method gives, in its order.
  public static func labeled(_ found: FOUND) -> [(String, Float)] {
    zip(found.classes.scalars(), found.scores.scalars()).compactMap { (number, score) -> (String, Float)? in
      labels.indices.contains(Int(number)) ? (labels[Int(number)], score) : nil
    }
  }
"""


def main_text(program: Program, module: str) -> str:
    del module  # files of a target see each other
    lines = [
        "import ExecuTorch",
        "",
        "let path = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "
        + literal(program.file),
        f"let model = {program.class_name}(filePath: path)",
    ]
    for number, method in enumerate(program.methods):
        given = []
        for each in method.arguments:
            half = "true" if each.dtype == "bool" else "0" if "int" in each.dtype else "0.5"
            elements = (
                f"[{_TYPES[each.dtype]}](repeating: {half}, count: {math.prod(each.example)})"
            )
            order = (
                "" if each.is_row_major else f", dimensionOrder: {list(each.declared.dim_order)}"
            )
            given.append(f"{each.name}: Tensor({elements}, shape: {list(each.example)}{order})")
        assigned = f"let result{number} = " if method.results else ""
        lines += listed(f"{assigned}try model.{method.key}(", given, ")")
        for each in method.results:
            value = f"result{number}" + ("" if len(method.results) == 1 else f".{each.name}")
            shown = f"{value}.shape, {value}.scalars().prefix(3)" if each.is_tensor else value
            lines.append(f'print("{method.key} {each.name}", {shown})')
        if method in program.labeled:
            shown = f"{program.class_name}.labeled(result{number}).prefix(3)"
            lines.append(f"for (label, score) in {shown} {{")
            lines += [f'  print("{method.key} labeled", label, score)', "}"]
    return "\n".join(lines) + "\n"
