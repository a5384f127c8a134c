# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of faults of backends: in the Python that makes their programs, in Vulkan's operators and shaders. Fast tests
should notice them."""

from __future__ import annotations

from pathlib import Path

from executorch.tools.planted.kinds import Kind, Listed
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

_ALL = (conditions, guards, operands, comparisons, choices, numbers, entries, settings)
_CONFORMANCE = "backends/test/conformance"
_ARM, _CORTEX_M, _CADENCE = (f"backends/{name}/test" for name in ("arm", "cortex_m", "cadence"))
_MPS, _COREML = "backends/apple/mps", "backends/apple/coreml"
_VULKAN, _OPENVINO, _SAMSUNG = "backends/vulkan", "backends/openvino", "backends/samsung"
_QUALCOMM = "backends/qualcomm"


def _sources(*places: str) -> tuple[str, ...]:
    """Python files, and those of folders, in the order of their names."""
    root = Path(__file__).resolve().parents[2]
    found = [path for place in places for path in sorted(root.glob(place))]
    return tuple(path.relative_to(root).as_posix() for path in found if path.name != "__init__.py")


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

OF_BACKENDS = (
    Kind("arm", "Arm's rows, conditions and integer arithmetic",
         (_ARM, f"{_CONFORMANCE}/conformance_test.py -k TOSABackend and not integers"),
         _sources("backends/arm/aot/*.py"), _ALL, tier="fast", at_import=True),
    Kind("cortex-m", "rows, passes and formulas of Cortex-M",
         (_CORTEX_M, f"{_CONFORMANCE}/kernel_conformance_test.py -k cortex_m"),
         _sources("backends/cortex_m/passes/*.py", "backends/cortex_m/ops/*.py", "backends/cortex_m/quantizer/*.py"),
         _ALL, tier="fast", at_import=True),
    Kind("cadence", "rows, passes, quantizers and formulas of Cadence",
         (_CADENCE, f"{_CONFORMANCE}/kernel_conformance_test.py -k cadence"),
         _sources("backends/cadence/aot/*.py", "backends/cadence/aot/operators/*.py",
                  "backends/cadence/aot/quantizer/*.py"),
         _ALL, tier="fast", at_import=True),
    Kind("mps", "MPS's table, and how its rows and payloads are written",
         _of(f"{_MPS}/test", "mps_conditions_test mps_limits_test mps_nodes_test mps_lowering_test mps_values_test "
             "mps_corrupted_test mps_llm_test"),
         _of(f"{_MPS}/aot", "computing convolution elementwise indexing movement ops options payload row schema"),
         _ALL, tier="fast", at_import=True),
    Kind("coreml", "Core ML's table, its translations, and how models become payloads",
         _of(f"{_COREML}/aot", "halves_test package_test compiler_test enumerated_shapes_test")
         + _of(f"{_COREML}/test", "coreml_limits_test coreml_conditions_test coreml_values_test coreml_lowering_test "
             "coreml_weights_test "
             "coreml_payload_test coreml_quantizer_test coreml_runtime_test"),
         _of(f"{_COREML}/aot", "boundary compiler enumerated_shapes frontend_program halves ops package "
             "several_methods specs states torchao_weights torch_ops translations"), _ALL,
         tier="fast", at_import=True),
    Kind("vulkan", "Vulkan's table, its patterns, and how rows and payloads are written",
         _of(f"{_VULKAN}/aot", "packing_test memory_plan_test options_test eager_quantized_test limits_test "
              "fused_layers_test")
         + _of(f"{_VULKAN}/test", "vulkan_rotary_test vulkan_places_test vulkan_conditions_test vulkan_program_test "
               "vulkan_quantized_test vulkan_attention_test vulkan_values_test vulkan_operators_test "
               "vulkan_quantizer_test vulkan_layers_test vulkan_dim_orders_test vulkan_runtime_test"),
         _of(f"{_VULKAN}/aot", "aten_rows attention convolution_rows eager eager_quantized fused_int8 fused_linear "
             "fused_norm fused_rotary known memory_plan ops options packing passes payload places quantized_rows row "
             "sizes table"), _ALL, tier="fast", at_import=True),
    Kind("vulkan-runtime", "Vulkan's operators and shaders, on a device or a software driver",
         _of(f"{_VULKAN}/test", "vulkan_values_test vulkan_operators_test vulkan_quantized_test"),
         listed=SHADERS, native="portable_lib", tier="fast"),
    Kind("samsung", "Samsung's rows and conditions, and how graphs are written",
         _of(f"{_SAMSUNG}/test", "evaluator_faults_test meaning_test samsung_graphs_test samsung_calls_test"),
         _sources(f"{_SAMSUNG}/aot/*.py"), _ALL, tier="fast", at_import=True),
    Kind("qualcomm", "Qualcomm's rows, formulas and conditions, and how graphs are written",
         _of(f"{_QUALCOMM}/test", "composed_test evaluator_cases_test qnn_partitioner_test rows_test graphs_test"),
         _sources(f"{_QUALCOMM}/aot/*.py"), _ALL, tier="fast", at_import=True),
    Kind("openvino", "OpenVINO's table, and how programs are given to its compiler",
         _of(f"{_OPENVINO}/test", "openvino_limits_test openvino_conditions_test openvino_model_test "
             "openvino_names_test program_test cases_test openvino_calls_test"),
         _of(f"{_OPENVINO}/aot", "compiler graph ops options pools quantized static"), _ALL,
         tier="fast", at_import=True),
    Kind("android-archives", "archives, flavours and Maven folders of Android, and jars",
         ("extension/android/test/archives_test.py",), _of("tools/android", "archive publish"), _ALL, tier="fast",
         at_import=True),
)  # fmt: skip
