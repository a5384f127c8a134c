# SPDX-License-Identifier: BSD-3-Clause
"""C++17: a header over Module. Elements stay where they are: the caller's for inputs, the program's for outputs."""

from __future__ import annotations

import math

from executorch.cli.wrap.layout import listed
from executorch.cli.wrap.names import Traits, Words, literal, snake
from executorch.cli.wrap.program import Method, Program, Value

_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int
    long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template
    this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
    while xor xor_eq assert errno stdin stdout stderr linux unix NULL EOF
"""
_WORDS = Words(
    keywords=frozenset(_KEYWORDS.split()),
    is_camel=False,
    members=(
        "labels",
        "labeled",
        "module",
        "has_count",
        "tensor_of",
        "is_of",
        "array_of",
        "executorch",
        "std",
    ),
    types=("Array", "Result"),
    locals=("has_count", "tensor_of", "is_of", "array_of", "executorch", "std"),
    fields=("executorch", "std"),
)
_TYPES = {
    "uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t",
    "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "float32": "float", "float64": "double",
    "bool": "bool", "float16": "executorch::aten::Half", "bfloat16": "executorch::aten::BFloat16",
    "complex64": "executorch::aten::complex<float>", "complex128": "executorch::aten::complex<double>",
    "complex32": "executorch::aten::complex<executorch::aten::Half>",
}  # fmt: skip
TRAITS = Traits("//", _WORDS, frozenset(_TYPES))
_SCALARS = {"int": "int64_t", "float": "double", "bool": "bool", "str": "std::string"}
_INVALID = "executorch::runtime::Error::InvalidProgram"
_READS = {"int": "Int", "float": "Double", "bool": "Bool", "str": "String"}


def file_name(program: Program) -> str:
    return f"{snake(program.class_name)}.h"


def class_text(program: Program) -> str:
    lines = [
        "#pragma once",
        "",
        *(
            f"#include <{name}>"
            for name in ("array", "cstddef", "cstdint", "limits", "string", "utility", "vector")
        ),
        "",
        "#include <executorch/extension/module/module.h>",
        "#include <executorch/extension/tensor/tensor.h>",
        "",
        f"// {program.file}. Methods are loaded when they are first called. One thread at a time.",
        "// What an error is about (the input, what was expected, what was found) is in the runtime's log.",
        f"class {program.class_name} {{",
        " public:",
        *_ARRAY.strip("\n").splitlines(),
        "",
    ]
    if program.labels:
        lines += [
            f"  static const std::array<const char*, {len(program.labels)}>& labels() {{",
            f"    static const std::array<const char*, {len(program.labels)}> names = {{{{",
            *(f"        {literal(each)}," for each in program.labels),
            "    }};",
            "    return names;",
            "  }",
            "",
        ]
    for method in program.methods:
        if len(method.results) > 1:
            lines += [f"  struct {method.result_type} {{"]
            lines += [
                f"    {_type(each, 'const ')} {each.name};  // {each.text}"
                for each in method.results
            ]
            lines += ["  };", ""]
    for method in program.labeled:
        found = _LABELED.strip("\n").replace("FOUND", method.result_type)
        lines += [*found.splitlines(), ""]
    name = program.class_name
    lines += [
        "  // data_files: weights (.ptd) that are not in the program.",
        f"  explicit {name}(const std::string& path, std::vector<std::string> data_files = {{}})",
        "      : module_(path, std::move(data_files)) {}",
        "",
        "  executorch::extension::Module& module() { return module_; }",
    ]
    for method in program.methods:
        lines += ["", *_method(method)]
    lines += ["", " private:", *_COUNT.strip("\n").splitlines()]
    if any(each.arguments for each in program.methods):
        lines += ["", *_INPUT.strip("\n").splitlines()]
    if any(each.results for each in program.methods):
        lines += ["", *_CHECK.strip("\n").splitlines()]
    if any(each.is_tensor for method in program.methods for each in method.results):
        lines += ["", *_OUTPUT.strip("\n").splitlines()]
    return "\n".join([*lines, "", "  executorch::extension::Module module_;", "};"]) + "\n"


def _method(method: Method) -> list[str]:
    types = {each.name: _type(each, "const ") for each in method.results}
    nothing = "executorch::runtime::Error"
    returned = method.returned(nothing, types)
    if returned != nothing:
        returned = f"Result<{returned}>"
    parameters = [f"const {_type(each, 'const ')}& {each.name}" for each in method.arguments]
    lines = [f"  // {each}" for each in method.notes()]
    if any(each.is_tensor for each in method.results):
        lines.append("  // Outputs are the program's, and change when the method runs again.")
    lines += listed(f"  {returned} {method.key}(", parameters, ") {")
    given = []  # names of locals end with _, those of parameters that do are keywords
    for each in method.inputs:
        local = f"input_{each.declared.number}_"
        if each.is_tensor:
            order = ", ".join(map(str, each.declared.dim_order))
            lines += [
                f"    auto {local} = tensor_of({each.name}, {literal(each.title)}, {{{order}}});",
                f"    if (!{local}.ok()) return {local}.error();",
            ]
            given.append(f"*{local}")
        elif each.kind == "str":
            text = f"text_{each.declared.number}_"
            lines += [
                f"    const std::string {text} = {literal(each.declared.value)};",
                f"    executorch::aten::ArrayRef<char> {local}({text}.data(), {text}.size());",
            ]
            given.append(f"&{local}")
        else:
            given.append(_constant(each))
    name = literal(method.name)
    values = [f"executorch::runtime::EValue({each})" for each in given]
    lines += listed("    const std::vector<executorch::runtime::EValue> given_ = {", values, "};")
    lines += [
        f"    auto outputs_ = module_.execute({name}, given_);",
        "    if (!outputs_.ok()) return outputs_.error();",
        f"    if (!has_count(*outputs_, {len(method.outputs)}, {name})) return {_INVALID};",
    ]
    for each in method.results:
        place = f"outputs_->at({each.declared.number})"
        tag = f"executorch::runtime::Tag::{'Tensor' if each.is_tensor else _READS[each.kind]}"
        title = literal(each.title)
        lines.append(f"    if (!is_of({tag}, {place}, {title})) return {_INVALID};")
        if each.is_tensor:
            local = f"output_{each.declared.number}_"
            lines += [
                f"    auto {local} = array_of<{_types_of(each)}>({place}, {title});",
                f"    if (!{local}.ok()) return {local}.error();",
            ]
    reads = [_read(each) for each in method.results]
    if not reads:
        lines.append("    return executorch::runtime::Error::Ok;")
    elif len(reads) == 1:
        lines.append(f"    return {reads[0]};")
    else:
        lines += listed(f"    return {method.result_type}{{", reads, "};")
    return [*lines, "  }"]


def _types_of(value: Value) -> str:
    return f"{_TYPES[value.dtype]}, {value.rank}"


def _type(value: Value, const: str) -> str:
    return f"Array<{const}{_types_of(value)}>" if value.is_tensor else _SCALARS[value.kind]


def _read(value: Value) -> str:
    if value.is_tensor:
        return f"*output_{value.declared.number}_"
    read = f"outputs_->at({value.declared.number}).to{_READS[value.kind]}()"
    return f"std::string({read}.data(), {read}.size())" if value.kind == "str" else read


def _constant(value: Value) -> str:
    held = value.declared.value
    if value.kind == "none":
        return ""
    if value.kind == "bool":
        return "true" if held else "false"
    if value.kind == "int":
        # The least one has no literal.
        return f"int64_t{{{held}}}" if held > -(2**63) else "INT64_MIN"
    return f"double{{{held!r}}}" if held == held and abs(held) != float("inf") else _odd(held)


def _odd(number: float) -> str:
    if number != number:
        return "std::numeric_limits<double>::quiet_NaN()"
    sign = "-" if number < 0 else ""
    return f"{sign}std::numeric_limits<double>::infinity()"


def main_text(program: Program, module: str) -> str:
    lines = [
        "#include <cstdio>",
        "#include <memory>",
        "#include <vector>",
        "",
        f'#include "{module}.h"',
        "",
        "template <typename T>",
        "double number(const T& value) {",
        "  return static_cast<double>(value);",
        "}",
        "template <typename T>",
        "double number(const executorch::aten::complex<T>& value) {",
        "  return static_cast<double>(value.real());",
        "}",
        "",
        "template <typename Array>",
        "void print(const char* name, const Array& array) {",
        '  std::printf("%s [", name);',
        '  const char* comma = "";',
        "  for (const auto size : array.sizes) {",
        '    std::printf("%s%d", comma, static_cast<int>(size));',
        '    comma = ", ";',
        "  }",
        '  std::printf("]");',
        "  for (size_t i = 0; i < array.size() && i < 3; ++i) {",
        '    std::printf(" %.9g", number(array.data[i]));',
        "  }",
        '  std::printf("\\n");',
        "}",
        "",
        "int main(int argc, char** argv) {",
        f"  {program.class_name} model(argc > 1 ? argv[1] : {literal(program.file)});",
    ]
    for method in program.methods:
        class_name = program.class_name if method in program.labeled else ""
        lines += ["  {", *(f"    {each}" for each in _example(method, class_name)), "  }"]
    return "\n".join([*lines, "  return 0;", "}"]) + "\n"


def _example(method: Method, class_name: str) -> list[str]:
    """`class_name`: of the class, where its results have labels."""
    lines = []
    given = []
    for each in method.arguments:
        count = math.prod(each.example)
        kind = _TYPES[each.dtype]
        number = "true" if each.dtype == "bool" else "0" if "int" in each.dtype else f"{kind}(0.5f)"
        # No std::vector: that of bool has no array.
        lines += [
            f"std::unique_ptr<{kind}[]> {each.name}_elements(new {kind}[{count}]);",
            f"for (size_t i = 0; i < {count}; ++i) {each.name}_elements[i] = {number};",
        ]
        given.append(f"{{{each.name}_elements.get(), {{{', '.join(map(str, each.example))}}}}}")
    if not method.results:
        lines += listed(f"const auto error = model.{method.key}(", given, ");")
        return [*lines, "if (error != executorch::runtime::Error::Ok) return 1;"]
    lines += listed(f"const auto result = model.{method.key}(", given, ");")
    lines.append("if (!result.ok()) return 1;")
    for each in method.results:
        value = "*result" if len(method.results) == 1 else f"result->{each.name}"
        name = f"{method.key} {each.name}"
        if each.is_tensor:
            lines.append(f'print("{name}", {value});')
        elif each.kind == "str":
            lines.append(f'std::printf("{name} %s\\n", ({value}).c_str());')
        else:
            lines.append(f'std::printf("{name} %.9g\\n", static_cast<double>({value}));')
    if class_name:
        lines.append(f"for (const auto& [label, score] : {class_name}::labeled(*result)) {{")
        lines += [f'  std::printf("{method.key} labeled %s %.9g\\n", label, score);', "}"]
    return lines


_ARRAY = """
  template <typename T>
  using Result = executorch::runtime::Result<T>;

  // Elements that are kept elsewhere, in the order of memory (rows first, unless a comment says another dim order), and
  // their sizes: Array<const float, 2>{elements.data(), {2, 3}}.
  template <typename T, size_t Rank>
  struct Array {
    T* data = nullptr;
    std::array<executorch::aten::SizesType, Rank> sizes{};

    size_t size() const {
      size_t count = 1;
      for (const auto size : sizes) count *= static_cast<size_t>(size);
      return count;
    }
    T* begin() const { return data; }
    T* end() const { return data + size(); }
  };
"""
_LABELED = """
  // Labels with the scores of what a method gives, in its order.
  static std::vector<std::pair<const char*, float>> labeled(const FOUND& found) {
    std::vector<std::pair<const char*, float>> pairs;
    for (size_t i = 0; i < found.classes.size() && i < found.scores.size(); ++i) {
      const auto number = static_cast<uint64_t>(found.classes.data[i]);  // -1, which is none, becomes the largest
      if (number < labels().size()) pairs.emplace_back(labels()[number], found.scores.data[i]);
    }
    return pairs;
  }
"""
_COUNT = """
  static bool has_count(const std::vector<executorch::runtime::EValue>& outputs, size_t expected, const char* method) {
    if (outputs.size() == expected) return true;
    ET_LOG(Error, "Method %s: expected %zu outputs, got %zu: the file is another program", method, expected,
           outputs.size());
    return false;
  }
"""
_INPUT = """
  template <typename T, size_t Rank>
  static Result<executorch::extension::TensorPtr> tensor_of(const Array<const T, Rank>& array, const char* name,
                                                            std::vector<executorch::aten::DimOrderType> dim_order) {
    const auto count = executorch::aten::safe_numel(array.sizes.data(), static_cast<ssize_t>(Rank));
    if (!count.ok() || (*count != 0 && array.data == nullptr)) {
      ET_LOG(Error, "Input %s: %s", name,
             count.ok() ? "it has sizes and no elements" : "its sizes are negative or their product does not fit");
      return executorch::runtime::Error::InvalidArgument;
    }
    // Read only.
    return executorch::extension::make_tensor_ptr(
        std::vector<executorch::aten::SizesType>(array.sizes.begin(), array.sizes.end()), const_cast<T*>(array.data),
        std::move(dim_order), {}, executorch::runtime::CppTypeToScalarType<T>::value);
  }
"""
_CHECK = """
  static bool is_of(executorch::runtime::Tag expected, const executorch::runtime::EValue& output, const char* name) {
    if (output.tag == expected) return true;
    ET_LOG(Error, "Output %s: expected kind %d, got %d: the file is another program", name, static_cast<int>(expected),
           static_cast<int>(output.tag));
    return false;
  }
"""
_OUTPUT = """
  template <typename T, size_t Rank>
  static Result<Array<const T, Rank>> array_of(const executorch::runtime::EValue& output, const char* name) {
    const auto& tensor = output.toTensor();
    if (tensor.scalar_type() != executorch::runtime::CppTypeToScalarType<T>::value ||
        tensor.sizes().size() != Rank) {
      ET_LOG(Error, "Output %s: another element type or number of dimensions: the file is another program", name);
      return executorch::runtime::Error::InvalidProgram;
    }
    Array<const T, Rank> array;
    array.data = tensor.template const_data_ptr<T>();
    for (size_t i = 0; i < Rank; ++i) array.sizes[i] = tensor.sizes()[i];
    return array;
  }
"""
