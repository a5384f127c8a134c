# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of faults: in which files they are planted, by which changes, and the tests beside them that should notice.

A kind for a file of one's own is one row. Changes of C++ are listed one by one: each takes a compilation.
"""

from __future__ import annotations

from executorch.tools.planted.kinds import Kind, Listed
from executorch.tools.planted.of_backends import OF_BACKENDS
from executorch.tools.planted.of_language_models import OF_LANGUAGE_MODELS
from executorch.tools.planted.plants import (
    choices,
    comparisons,
    conditions,
    entries,
    guards,
    numbers,
    operands,
    settings,
)

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
    Kind("kernel", "parameters of portable kernels",
         ("kernels/test/differential_test.py -k sample_of_calls and portable", "kernels/test/op_test.py"),
         listed=KERNELS, native="_portable_kernels"),
    Kind("quantized-kernel", "rounding and scales of quantized kernels",
         ("kernels/test/quantized_test.py",), listed=QUANTIZED, native="_quantized_kernels"),
    Kind("native-planner", "the planner and the file's layout in C++",
         ("exir/memory_planning_test.py", "exir/_serialize", "exir/emit/emit_program_test.py"),
         listed=PLANNER, native="exir_native"),
    *OF_LANGUAGE_MODELS,
    *OF_BACKENDS,
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
