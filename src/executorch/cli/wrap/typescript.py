# SPDX-License-Identifier: BSD-3-Clause
"""TypeScript for browsers and Node: a class over the package for WebAssembly. Types alone are erased: no enums, no
properties made by parameters."""

from __future__ import annotations

import math

from executorch.cli.wrap.layout import listed
from executorch.cli.wrap.names import Traits, Words, literal, snake
from executorch.cli.wrap.program import Method, Program, Value

_KEYWORDS = """
    arguments await break case catch class const continue debugger default delete do else enum eval export extends false
    finally for function if implements import in instanceof interface let new null package private protected public
    return static super switch this throw true try typeof undefined var void while with yield
"""
_WORDS = Words(
    keywords=frozenset(_KEYWORDS.split()),
    is_camel=True,
    members=("constructor", "delete", "labels", "labeled"),
    types=(
        "Elements", "ExecuTorch", "Module", "Source", "Tensor", "TensorData", "Value", "Named", "Float32Array", "Error",
        "Float64Array", "Uint8Array", "Int8Array", "Uint16Array", "Int16Array", "Uint32Array", "Int32Array",
        "BigInt64Array", "BigUint64Array", "Array", "String", "Number", "Object", "Promise",
    ),
    locals=("outputs", "elementsOf", "scalarOf"),
)  # fmt: skip
# PyTorch's name -> ScalarType of the package, and the array of its elements.
_DTYPES = {
    "uint8": ("Byte", "Uint8Array"),
    "int8": ("Char", "Int8Array"),
    "int16": ("Short", "Int16Array"),
    "int32": ("Int", "Int32Array"),
    "int64": ("Long", "BigInt64Array"),
    "float16": ("Half", "Uint16Array"),
    "float32": ("Float", "Float32Array"),
    "float64": ("Double", "Float64Array"),
    "complex32": ("ComplexHalf", "Uint16Array"),
    "complex64": ("ComplexFloat", "Float32Array"),
    "complex128": ("ComplexDouble", "Float64Array"),
    "bool": ("Bool", "Uint8Array"),
    "bfloat16": ("BFloat16", "Uint16Array"),
    "float8_e5m2": ("Float8_e5m2", "Uint8Array"),
    "float8_e4m3fn": ("Float8_e4m3fn", "Uint8Array"),
    "float8_e5m2fnuz": ("Float8_e5m2fnuz", "Uint8Array"),
    "float8_e4m3fnuz": ("Float8_e4m3fnuz", "Uint8Array"),
    "uint16": ("UInt16", "Uint16Array"),
    "uint32": ("UInt32", "Uint32Array"),
    "uint64": ("UInt64", "BigUint64Array"),
}
TRAITS = Traits("//", _WORDS, frozenset(_DTYPES))
_SCALARS = {"int": "bigint", "float": "number", "bool": "boolean", "str": "string"}
_HALVES = {"float16": "0x3800", "bfloat16": "0x3f00", "bool": "1", "int64": "0n", "uint64": "0n"}


def file_name(program: Program) -> str:
    return f"{snake(program.class_name)}.ts"


def class_text(program: Program) -> str:
    name = program.class_name
    has_inputs = any(each.arguments for each in program.methods)
    has_tensors = any(each.is_tensor for method in program.methods for each in method.results)
    types = ["ExecuTorch", "Module", *["Named"] * (has_inputs or has_tensors), "Source"]
    types += ["Tensor"] * has_inputs + ["TensorData", "Value"]
    lines = [
        f'import type {{ {", ".join(types)} }} from "executorch";',
        "",
        "/** Elements in the order of memory, which is rows first unless a comment says another dim order, and sizes.",
        " * Halves and bfloat16 are their bits, complex numbers are two elements. */",
        "export interface Elements<D extends TensorData> {",
        "  readonly data: D;",
        "  readonly sizes: readonly number[];",
        "}",
    ]
    for method in program.methods:
        if len(method.results) > 1:
            lines += ["", f"export interface {method.result_type} {{"]
            lines += [
                f"  /** {each.text} */\n  readonly {each.name}: {_type(each)};"
                for each in method.results
            ]
            lines += ["}"]
    lines += [
        "",
        f"/** {program.file}. Methods are loaded when they are first called. Results are copies.",
        " * Errors are ExecuTorchError with the input, what was expected and what was found. */",
        f"export class {name} {{",
        "  readonly #et: ExecuTorch;",
        "  readonly #module: Module;",
        "",
        "  /** program: its bytes, or a path among the files of the WebAssembly program.",
        "   * dataFiles: weights (.ptd) that are not in it. */",
        "  constructor(et: ExecuTorch, program: Source, dataFiles: Source[] = []) {",
        "    this.#et = et;",
        "    this.#module = et.Module.load(program, dataFiles);",
        "  }",
    ]
    if program.labels:
        lines += ["", "  static readonly labels: readonly string[] = ["]
        lines += [*(f"    {literal(each)}," for each in program.labels), "  ];"]
    if program.labeled:
        types = " | ".join(each.result_type for each in program.labeled)
        text = _LABELED.rstrip().replace("FOUND", types).replace("CLASS", name)
        lines += text.splitlines()
    for method in program.methods:
        lines += ["", *_method(method)]
    lines += [
        "",
        "  /** Frees the program's memory at once. */",
        "  delete(): void {",
        "    this.#module.delete();",
        "  }",
        "",
        *(_INPUT.removeprefix("\n").removesuffix("\n").splitlines() if has_inputs else []),
        "  #execute(method: string, expected: number, inputs: Value[]): Value[] {",
        "    const outputs = this.#module.execute(method, inputs);",
        "    if (outputs.length !== expected) {",
        "      throw new Error(",
        "        `method ${method}: expected ${expected} outputs, found ${outputs.length}: ` +",
        '        "the file is another program");',
        "    }",
        "    return outputs;",
        "  }",
        "}",
    ]
    if has_tensors:
        lines += ["", *_TENSOR.strip().splitlines()]
    kinds = {
        _SCALARS[each.kind]
        for method in program.methods
        for each in method.results
        if not each.is_tensor
    }
    if kinds:
        lines += ["", *_SCALAR.strip().splitlines()]
    return "\n".join(lines) + "\n"


def _method(method: Method) -> list[str]:
    types = {each.name: _type(each) for each in method.results}
    returned = method.returned("void", types)
    notes = method.notes()
    lines = ["  /**", *(f"   * {each}" for each in notes), "   */"] if notes else []
    parameters = [f"{each.name}: {_type(each)}" for each in method.arguments]
    lines += listed(f"  {method.key}(", parameters, f"): {returned} {{")
    assigned = "const outputs = " if method.results else ""
    before = f"    {assigned}this.#execute({literal(method.name)}, {len(method.outputs)}, ["
    lines += listed(before, list(map(_given, method.inputs)), "]);")
    reads = [_read(each) for each in method.results]
    if len(reads) == 1:
        lines.append(f"    return {reads[0]};")
    elif reads:
        fields = [f"{each.name}: {read}" for each, read in zip(method.results, reads, strict=True)]
        lines += listed("    return {", fields, "};")
    return [*lines, "  }"]


def _type(value: Value) -> str:
    return f"Elements<{_DTYPES[value.dtype][1]}>" if value.is_tensor else _SCALARS[value.kind]


def _given(value: Value) -> str:
    held = value.declared.value
    if value.is_tensor:
        kind = f"this.#et.ScalarType.{_DTYPES[value.dtype][0]}"
        order = "" if value.is_row_major else f", [{', '.join(map(str, value.declared.dim_order))}]"
        return f"this.#tensor({literal(value.title)}, {value.name}, {kind}{order})"
    if value.kind == "none":
        return "null"
    if value.kind == "bool":
        return "true" if held else "false"
    if value.kind == "str":
        return literal(held)
    if value.kind == "int":
        return f"{held}n"
    if math.isnan(held) or math.isinf(held):
        return "NaN" if math.isnan(held) else f"{'-' if held < 0 else ''}Infinity"
    return repr(held)


def _read(value: Value) -> str:
    output = f"outputs[{value.declared.number}]"
    if not value.is_tensor:
        return f'scalarOf({output}, "{_SCALARS[value.kind]}", {literal(value.title)}) as {_SCALARS[value.kind]}'
    kind, array = _DTYPES[value.dtype]
    return f"elementsOf<{array}>({output}, this.#et.ScalarType.{kind}, {literal(value.title)})"


_LABELED = """
  /** Labels with the scores of what a method gives, in its order. */
  static labeled(found: FOUND): [string, number][] {
    const pairs: [string, number][] = [];
    found.classes.data.forEach((number, place) => {
      const label = CLASS.labels[Number(number)];
      if (label !== undefined) pairs.push([label, found.scores.data[place]]);
    });
    return pairs;
  }
"""
_INPUT = """
  #tensor(name: string, { data, sizes }: Elements<TensorData>, type: Named, dimOrder: number[] = []): Tensor {
    const width = type.name.startsWith("Complex") ? 2 : 1;
    const count = sizes.reduce((product, size) => product * size, width);
    if (data.length !== count) {
      throw new Error(`input ${name}: expected ${count} elements for sizes [${sizes}], found ${data.length}`);
    }
    return this.#et.Tensor.fromArray(sizes, data, type, dimOrder);
  }

"""
_TENSOR = """
function elementsOf<D extends TensorData>(output: Value, expected: Named, name: string): Elements<D> {
  if (output === null || typeof output !== "object" || output.scalarType !== expected) {
    throw new Error(`output ${name}: expected a tensor of ${expected.name}: the file is another program`);
  }
  return { data: output.data as D, sizes: output.sizes };
}
"""
_SCALAR = """
function scalarOf(output: Value, expected: string, name: string): Value {
  if (typeof output !== expected) {
    throw new Error(`output ${name}: expected a ${expected}, found a ${typeof output}: the file is another program`);
  }
  return output;
}
"""


def main_text(program: Program, module: str) -> str:
    lines = [
        'import { readFileSync } from "node:fs";',
        'import { load } from "executorch";',
        f'import {{ {program.class_name} }} from "./{module}.js";',
        "",
        f"const program = readFileSync(process.argv[2] ?? {literal(program.file)});",
        f"const model = new {program.class_name}(await load(), program);",
        "const shown = (value: { data: ArrayLike<number | bigint>; sizes: readonly number[] }) =>",
        '  `[${value.sizes.join(", ")}] ${Array.from(value.data).slice(0, 3).join(" ")}`;',
    ]
    for number, method in enumerate(program.methods):
        given = []
        for each in method.arguments:
            array = _DTYPES[each.dtype][1]
            half = _HALVES.get(each.dtype) or (
                "0" if "int" in each.dtype or "8" in each.dtype else "0.5"
            )
            count = math.prod(each.example) * (2 if "complex" in each.dtype else 1)
            sizes = ", ".join(map(str, each.example))
            given.append(f"{{ data: new {array}({count}).fill({half}), sizes: [{sizes}] }}")
        assigned = f"const result{number} = " if method.results else ""
        lines += listed(f"{assigned}model.{method.key}(", given, ");")
        for each in method.results:
            value = f"result{number}" + ("" if len(method.results) == 1 else f".{each.name}")
            shown = f"shown({value})" if each.is_tensor else f"String({value})"
            lines.append(f'console.log("{method.key} {each.name}", {shown});')
        if method in program.labeled:
            shown = f"{program.class_name}.labeled(result{number}).join(' ')"
            lines.append(f'console.log("{method.key} labeled", {shown});')
    return "\n".join(lines) + "\n"
