# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of faults: in which files they are planted, by which changes, and the tests beside them that should notice.

A kind for a file of one's own is one row. Changes of C++ are listed one by one: each takes a compilation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from executorch.tools.planted.plants import (
    Mutator,
    Plant,
    choices,
    comparisons,
    conditions,
    entries,
    guards,
    in_python,
    listed,
    numbers,
    operands,
    settings,
)


@dataclass(frozen=True)
class Listed:
    """A change by hand of a file: `old` stands there once."""

    file: str
    old: str
    new: str
    change: str


@dataclass(frozen=True)
class Kind:
    """`tests` run in this order until one fails: those that are quick and near first. `native` names the target of
    CMake whose module the tests load, and which is linked again with what was planted. `at_import`: what the files make
    of their functions is made when they are imported, so that each plant takes a process of its own."""

    name: str
    about: str
    tests: tuple[str, ...]
    files: tuple[str, ...] = ()
    changes: tuple[Mutator, ...] = ()
    listed: tuple[Listed, ...] = ()
    native: str = ""
    at_import: bool = False

    def plants(self, root: Path) -> Iterator[Plant]:
        for file in self.files:
            yield from in_python(root, file, self.changes)
        for one in self.listed:
            yield listed(root, one.file, one.old, one.new, one.change)


_XNNPACK = "backends/xnnpack"
_QUANTIZER = "exir/backend/lowering/quantizer"
_NORM, _UNARY = "kernels/portable/norm/norm.cpp", "kernels/portable/unary.h"
_QUANTIZED = "kernels/quantized"

KERNELS = (
    Listed(_NORM, "1.0 / std::sqrt(squares / static_cast<double>(length) + eps)",
           "1.0 / std::sqrt(squares / static_cast<double>(length) + 1.1 * eps)", "eps 10 % more"),
    Listed("kernels/portable/norm/batch_norm.cpp",
           "const double unbiased = moments.variance * count / (count - 1.0);",
           "const double unbiased = moments.variance;", "running variance without ddof"),
    Listed("kernels/portable/reduce/variance.cpp", "count - correction > 0 ? count - correction : 0",
           "count - correction > 0 ? count - 1.01 * correction : 0", "the correction 1 % more"),
    Listed("kernels/portable/softmax.cpp", "const C scale = static_cast<C>(1.0 / sum);",
           "const C scale = static_cast<C>(1.0001 / sum);", "0.01 % more"),
    Listed(_UNARY, "T(0.70710678118654752440)", "T(0.7072)", "gelu's root of a half"),
    Listed(_UNARY, "T(0.044715)", "T(0.0448)", "gelu's cubic term"),
    Listed("kernels/portable/resize/sample.cpp", "align_corners ? C(0) : C(-0.5)",
           "align_corners ? C(0) : C(-0.499)", "a border's place"),
)  # fmt: skip
QUANTIZED = (
    Listed(f"{_QUANTIZED}/choose_qparams.cpp",
           "const float shift = std::nearbyint(extremes.least / scale);",
           "const float shift = std::floor(extremes.least / scale);", "the zero point is cut off"),
    Listed(f"{_QUANTIZED}/choose_qparams.cpp", "               static_cast<float>(eps));",
           "               static_cast<float>(eps) * 1.5f);", "eps 50 % more"),
    Listed(f"{_QUANTIZED}/quantize.cpp", "const C inverse = static_cast<C>(1.0 / param.scale(at));",
           "const C inverse = static_cast<C>(1.002 / param.scale(at));", "scale 0.2 % off"),
    Listed(f"{_QUANTIZED}/add.cpp", "const float inverse = static_cast<float>(1.0 / out_scale);",
           "const float inverse = static_cast<float>(1.01 / out_scale);", "scale 1 % off"),
)  # fmt: skip
PLANNER = (
    Listed("exir/_native/memory_planner.cpp", "return a.first <= b.last && b.first <= a.last;",
           "return a.first < b.last && b.first <= a.last;", "what ends and what begins at a step share a place"),
    Listed("exir/_native/memory_planner.cpp", "(tensor.size + alignment - 1) / alignment * alignment",
           "(tensor.size + 7) / 8 * 8", "sizes rounded to 8"),
    Listed("exir/_native/file_layout.cpp", "own == 0 ? 0 : std::lcm(alignment, own)",
           "own == 0 ? 0 : alignment", "an alignment of a datum's own is forgotten"),
)  # fmt: skip

_MPS, _COREML = "backends/apple/mps", "backends/apple/coreml"
_VULKAN, _OPENVINO = "backends/vulkan", "backends/openvino"
_ALL = (conditions, guards, operands, comparisons, choices, numbers, entries, settings)


def _of(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}.py" for name in names.split())


_OPS = f"{_VULKAN}/runtime/graph/ops"
SHADERS = (
    Listed(f"{_OPS}/reduction.cpp", "std::max<int64_t>(count - correction, 0)",
           "std::max<int64_t>(count - correction, 1)", "a variance's least divisor"),
    Listed(f"{_OPS}/unary.cpp", "static_cast<int64_t>(std::ceil(low));",
           "static_cast<int64_t>(std::floor(low));", "a least whole number is cut off"),
    Listed(f"{_OPS}/norm.cpp", "std::max<int64_t>(norm.count / std::max<int64_t>(x[1] / groups, 1), 1);",
           "std::max<int64_t>(norm.count / std::max<int64_t>(x[1], 1), 1);", "weights of other channels"),
    Listed(f"{_OPS}/resample.cpp", "steps[i] = aligns ? (wanted > 1 ? (size - 1) / (wanted - 1) : 0)",
           "steps[i] = aligns ? (wanted > 1 ? size / wanted : 0)", "aligned corners are not"),
    Listed(f"{_OPS}/glsl/norm.glsl", "factor = 1.0 / sqrt(over_lanes_sum(sum) / float(count) + epsilon);",
           "factor = 1.0 / sqrt(over_lanes_sum(sum) / float(count) + 1.1 * epsilon);", "eps 10 % more"),
    Listed(f"{_OPS}/glsl/softmax.glsl", "largest = over_lanes_max(largest);", "largest = 0.0;",
           "no largest is taken off"),
    Listed(f"{_OPS}/glsl/unary.glsl", "0.044715 * v * v * v", "0.0448 * v * v * v", "gelu's cubic term"),
    Listed(f"{_OPS}/glsl/unary.glsl", "case 9: return roundEven(v);",
           "case 9: return floor(v + 0.5);", "halves are rounded up"),
    Listed(f"{_OPS}/glsl/binary.glsl", "case 4: return floor(u / v);",
           "case 4: return trunc(u / v);", "floor is trunc"),
    Listed(f"{_OPS}/glsl/reduce.glsl", "float result = CODE == 0 ? sum : sum / float(count);",
           "float result = CODE == 0 ? sum : sum / float(count + 1);", "a mean by one more"),
    Listed(f"{_OPS}/glsl/resample.glsl", "fx = min(max(fx, 0.0), float(sizes.y - 1));",
           "fx = max(fx, 0.0);", "the right border is not repeated"),
    Listed(f"{_OPS}/glsl/activations.glslh", "const float t = 1.0 / (1.0 + 0.3275911 * a);",
           "const float t = 1.0 / (1.0 + 0.3276 * a);", "erf's first number"),
)  # fmt: skip

KINDS = (
    Kind("condition", "conditions under which XNNPACK takes a call",
         (f"{_XNNPACK}/test/conditions_test.py", f"{_XNNPACK}/test/quantized_conditions_test.py",
          f"{_XNNPACK}/test/limits_test.py", f"{_XNNPACK}/test/partitioner_test.py",
          f"{_XNNPACK}/test/ops_test.py"),
         (f"{_XNNPACK}/aot/conditions.py",), (conditions,)),
    Kind("row", "rows of XNNPACK's table of operators, and their settings",
         (f"{_XNNPACK}/test/ops_test.py", f"{_XNNPACK}/test/quantized_test.py",
          f"{_XNNPACK}/test/partitioner_test.py", f"{_XNNPACK}/quantizer/xnnpack_quantizer_test.py",
          f"{_XNNPACK}/test/row_settings_test.py"),
         (f"{_XNNPACK}/aot/ops.py",), (entries, settings)),
    Kind("annotation", "what the quantizer annotates, and with which observer",
         (f"{_QUANTIZER}/table_quantizer_test.py", f"{_XNNPACK}/quantizer/xnnpack_quantizer_test.py",
          f"{_XNNPACK}/test/quantized_test.py", f"{_XNNPACK}/quantizer/large_values_test.py",
          f"{_XNNPACK}/quantizer/annotation_choices_test.py"),
         (f"{_QUANTIZER}/annotate.py", f"{_QUANTIZER}/captured.py", f"{_QUANTIZER}/configs.py"),
         (guards, operands, choices, entries, numbers)),
    Kind("planner", "lifetimes, arenas and what is left out of them",
         ("exir/memory_planning_test.py", "exir/emit/memory_planning_choices_test.py", "exir/emit/branches_test.py",
          "exir/passes/passes_test.py", "exir/emit/emit_program_test.py", "exir/emit/loops_test.py"),
         ("exir/memory_planning.py", "exir/memory_lifetimes.py", "exir/passes/memory_planning_pass.py"),
         (guards, operands, comparisons, choices)),
    Kind("emitter", "values, lists, views, constants and control flow of a program",
         ("exir/emit/emit_program_test.py", "exir/emit/refusals_test.py", "exir/emit/branches_test.py",
          "exir/emit/lists_test.py",
          "exir/emit/emission_choices_test.py", "exir/emit/loops_test.py",
          "exir/program/external_data_test.py", "exir/memory_planning_test.py", "test/e2e/small_programs_test.py"),
         ("exir/emit/_emitter.py", "exir/emit/_values.py", "exir/emit/_program_state.py",
          "exir/emit/_control_flow.py"),
         (guards, operands, comparisons, choices, entries)),
    Kind("rope", "constants of rotary positions and their scaling rules",
         ("extension/llm/model/rope_test.py", "extension/llm/model/rope_turns_test.py", "extension/llm/model"),
         ("extension/llm/model/rope.py",), (numbers, guards, operands, comparisons, choices)),
    Kind("mps", "MPS's table, and how its rows and payloads are written",
         _of(f"{_MPS}/test", "mps_conditions_test mps_values_test mps_lowering_test mps_corrupted_test mps_llm_test"),
         _of(f"{_MPS}/aot", "computing convolution elementwise indexing movement ops options payload row schema"),
         _ALL, at_import=True),
    Kind("coreml", "Core ML's table, its translations, and how models become payloads",
         _of(f"{_COREML}/test", "coreml_conditions_test coreml_values_test coreml_lowering_test coreml_weights_test "
             "coreml_payload_test coreml_quantizer_test coreml_runtime_test"),
         _of(f"{_COREML}/aot", "boundary compiler enumerated_shapes frontend_program halves ops package "
             "several_methods specs states stored_weights torch_ops translations"), _ALL,
         at_import=True),
    Kind("vulkan", "Vulkan's table, its patterns, and how rows and payloads are written",
         _of(f"{_VULKAN}/test", "vulkan_conditions_test vulkan_values_test vulkan_operators_test vulkan_program_test "
             "vulkan_quantized_test vulkan_quantizer_test vulkan_attention_test vulkan_rotary_test vulkan_places_test "
             "vulkan_layers_test vulkan_dim_orders_test vulkan_runtime_test"),
         _of(f"{_VULKAN}/aot", "aten_rows attention convolution_rows eager eager_quantized fused_int8 fused_linear "
             "fused_norm fused_rotary known memory_plan ops options packing passes payload places quantized_rows row "
             "sizes table"), _ALL, at_import=True),
    Kind("vulkan-runtime", "Vulkan's operators and shaders, on a device or a software driver",
         _of(f"{_VULKAN}/test", "vulkan_values_test vulkan_operators_test vulkan_quantized_test"),
         listed=SHADERS, native="portable_lib"),
    Kind("openvino", "OpenVINO's table, and how programs are given to its compiler",
         _of(f"{_OPENVINO}/test", "openvino_conditions_test openvino_calls_test cases_test program_test "
             "openvino_names_test"),
         _of(f"{_OPENVINO}/aot", "compiler graph ops options pools quantized static"), _ALL, at_import=True),
    Kind("kernel", "parameters of portable kernels",
         ("kernels/test/differential_test.py -k sample_of_calls and portable", "kernels/test/op_test.py"),
         listed=KERNELS, native="_portable_kernels"),
    Kind("quantized-kernel", "rounding and scales of quantized kernels",
         ("kernels/test/quantized_test.py",), listed=QUANTIZED, native="_quantized_kernels"),
    Kind("native-planner", "the planner and the file's layout in C++",
         ("exir/memory_planning_test.py", "exir/_serialize", "exir/emit/emit_program_test.py"),
         listed=PLANNER, native="exir_native"),
)  # fmt: skip


def named(names: list[str]) -> list[Kind]:
    """All kinds, or those of the names."""
    known = {kind.name: kind for kind in KINDS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"unknown kind {', '.join(unknown)}: expected one of {', '.join(known)}; --list shows them"
        )
    return [known[name] for name in names] if names else list(KINDS)
