# SPDX-License-Identifier: BSD-3-Clause
"""Prints the source and its header from a plan and the tables of kernels."""

from __future__ import annotations

from dataclasses import dataclass

from ..op_table import Kernel, Row
from .arguments import Arguments
from .plan import FOR_KERNELS, VIEW, CannotWrite, Plan, Tensor

ALIGNMENT = 16  # of weights and arenas, as in program files


@dataclass(frozen=True)
class Files:
    """The two texts."""

    header: str
    source: str


def write_files(plan: Plan, rows: dict[str, Row], name: str, origin: str, scratch: int) -> Files:
    """`name` begins every name in the source; `rows` are the operators that there are kernels for."""
    chosen = _kernels(plan, rows)
    weights, places = _weights(plan)
    return Files(
        _header(plan, name, origin, len(weights), scratch),
        _source(plan, rows, chosen, name, origin, weights, places),
    )


def _kernels(plan: Plan, rows: dict[str, Row]) -> list[Kernel | None]:
    """The kernel of each call, None for a view; one error for all operators without any."""
    chosen: list[Kernel | None] = []
    missing: dict[str, None] = {}
    for call in plan.calls:
        row = rows.get(call.operator)
        if call.operator == VIEW:
            chosen.append(None)
            continue
        found = [k for k in row.kernels if call.key in k.keys] if row else []
        found += [k for k in row.kernels if not k.keys] if row else []
        if found:
            chosen.append(found[0])
        else:
            missing[call.operator] = None
    if missing:
        raise CannotWrite(
            f"no kernel serves {', '.join(missing)}: give their table with --custom-ops-yaml-path, or `executorch "
            f"export` the model with {FOR_KERNELS}; operators on sizes (executorch_prim) go away with fixed sizes"
        )
    return chosen


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _weights(plan: Plan) -> tuple[bytes, dict[int, int]]:
    """All weights and start values one behind the other, and where those of each tensor begin."""
    data, places, known = bytearray(), {}, {}
    for index, tensor in plan.tensors.items():
        content = tensor.weights if tensor.weights is not None else tensor.start
        if content is None:
            continue
        if content not in known:
            data.extend(bytes(_aligned(len(data)) - len(data)))
            known[content] = len(data)
            data.extend(content)
        places[index] = known[content]
    return bytes(data), places


def described(tensor: Tensor) -> str:
    """Its dtype, its sizes and how these lie in memory, where that is not their order."""
    message = f"{tensor.dtype.lower()} [{', '.join(map(str, tensor.sizes))}]"
    if tensor.dim_order == tuple(range(len(tensor.sizes))):
        return message
    is_last = tensor.dim_order == (0, 2, 3, 1)
    return f"{message}, {'channels last' if is_last else f'dim order {tensor.dim_order}'}"


def _own_memory(plan: Plan) -> list[int]:
    """Inputs, outputs and others that the export left without a place."""
    views = {call.arguments[-1] for call in plan.calls if call.operator == VIEW}
    return [
        index
        for index, tensor in plan.tensors.items()
        if tensor.arena == 0 and tensor.weights is None and index not in views
    ]


def kernels_of(plan: Plan, rows: dict[str, Row]) -> list[Kernel]:
    """The kernels that are called, each once."""
    return list(dict.fromkeys(each for each in _kernels(plan, rows) if each is not None))


def weight_bytes(plan: Plan) -> int:
    """Of flash: weights and start values of state."""
    return len(_weights(plan)[0])


def arena_bytes(plan: Plan) -> int:
    """Of RAM: all tensors."""
    own = sum(_aligned(plan.tensors[index].nbytes) for index in _own_memory(plan))
    return sum(plan.arenas[1:]) + own


def _header(plan: Plan, name: str, origin: str, weight_bytes: int, scratch: int) -> str:
    upper = name.upper()
    lines = [
        f"/* Method {plan.method} of {origin}, written by python -m executorch.codegen.c; do not edit. */",
        "#pragma once",
        "#include <stddef.h>",
        "",
        f"#define {upper}_INPUTS {len(plan.inputs)}",
        f"#define {upper}_OUTPUTS {len(plan.outputs)}",
    ]
    for kind, indices in (("INPUT", plan.inputs), ("OUTPUT", plan.outputs)):
        for i, index in enumerate(indices):
            tensor = plan.tensors[index]
            lines.append(
                f"#define {upper}_{kind}_{i}_BYTES {tensor.nbytes} /* {described(tensor)} */"
            )
    lines += [
        f"#define {upper}_ARENA_BYTES {arena_bytes(plan)} /* of RAM: all tensors */",
        f"#define {upper}_WEIGHT_BYTES {weight_bytes} /* of flash */",
        f"#ifndef {upper}_SCRATCH_BYTES",
        f"#define {upper}_SCRATCH_BYTES {scratch} /* of RAM: what kernels ask for while they run */",
        "#endif",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "/* Puts start values into state. To be called once, before anything else, and again to forget what ran. */",
        f"void {name}_init(void);",
        "/* Memory of an input, of its INPUT_BYTES: write before each run, as runs may use it for other tensors. */",
        f"void* {name}_input(size_t index);",
        "/* An output, valid until the next run. */",
        f"const void* {name}_output(size_t index);",
        "/* Runs once, on one thread at a time: 0, or the code of an error (executorch/runtime/core/error.h). */",
        f"int {name}_run(void);",
        "#ifdef __cplusplus",
        "}",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _address(index: int, plan: Plan, places: dict[int, int], own: list[int]) -> str:
    tensor = plan.tensors[index]
    if tensor.weights is not None:
        return f"const_cast<uint8_t*>(weights) + {places[index]}"
    if tensor.arena:
        return f"arena_{tensor.arena} + {tensor.offset}"
    return f"own_{index}" if index in own else "nullptr"


def _rows(plan: Plan, places: dict[int, int], own: list[int]) -> tuple[list[str], list[str]]:
    """The table of tensors, by value index, and the numbers that its shapes refer to."""
    numbers: list[int] = []
    starts: dict[tuple[int, ...], int] = {}

    def pooled(sequence: tuple[int, ...]) -> int:
        if sequence not in starts:
            starts[sequence] = len(numbers)
            numbers.extend(sequence)
        return starts[sequence]

    orders: list[int] = []
    order_starts: dict[tuple[int, ...], int] = {}
    rows = []
    for index, tensor in plan.tensors.items():
        if tensor.dim_order not in order_starts:
            order_starts[tensor.dim_order] = len(orders)
            orders.extend(tensor.dim_order)
        sizes, strides = pooled(tensor.sizes), pooled(tensor.strides)
        order = order_starts[tensor.dim_order]
        address = _address(index, plan, places, own)
        fields = f"{tensor.number}, {len(tensor.sizes)}, {sizes}, {strides}, {order}, {address}"
        rows.append(f"    {{{fields}}},  // {described(tensor)}")
    if len(numbers) > 0xFFFF or len(orders) > 0xFFFF:
        raise CannotWrite(
            "the shapes of the tensors have more than 65535 numbers: the program is too large"
        )
    pools = [
        f"const int32_t shapes[] = {{{', '.join(map(str, numbers)) or '0'}}};",
        f"const uint8_t orders[] = {{{', '.join(map(str, orders)) or '0'}}};",
    ]
    return rows, pools


def _declarations(plan: Plan, rows: dict[str, Row], chosen: list[Kernel | None]) -> str:
    by_namespace: dict[str, dict[str, None]] = {}
    for call, kernel in zip(plan.calls, chosen, strict=True):
        if kernel is not None:
            schema = rows[call.operator].schema
            line = f"{schema.cpp_return_type} {kernel.cpp_name}({schema.cpp_parameters()});"
            by_namespace.setdefault(kernel.cpp_namespace, {})[line] = None
    return "".join(
        f"namespace {space} {{\n" + "\n".join(lines) + f"\n}}  // namespace {space}\n"
        for space, lines in sorted(by_namespace.items())
    )


def _calls(
    plan: Plan, rows: dict[str, Row], chosen: list[Kernel | None], written: Arguments
) -> str:
    lines = []
    for call, kernel in zip(plan.calls, chosen, strict=True):
        if kernel is None:
            source, target = (written.slots[i] for i in (call.arguments[0], call.arguments[-1]))
            lines.append(f"  impl({target})->set_data(impl({source})->mutable_data());  // view")
            continue
        schema = rows[call.operator].schema
        given = zip(schema.arguments, call.arguments, strict=False)  # behind them, results again
        expressions = [written.expression(argument, index) for argument, index in given]
        lines.append(f"  ::{kernel.qualified}({', '.join(['context', *expressions])});")
        lines.append(
            f"  if (failed()) return static_cast<int>(context.failure_state());  // {call.operator}"
        )
    return "\n".join(lines)


def _bytes(data: bytes) -> str:
    rows = (data[i : i + 32] for i in range(0, len(data), 32))
    return "\n".join("    " + ",".join(map(str, row)) + "," for row in rows)


_HEAD = """\
// Method {method} of {origin}, written by python -m executorch.codegen.c; do not edit.
#include "{name}.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string_view>
#include <tuple>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

{declarations}
namespace {{

using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::KernelRuntimeContext;

{memory}
{pools}

struct Row {{
  int8_t dtype;
  uint8_t dim;
  uint16_t sizes, strides, order;  // where they begin in shapes and orders
  void* data;
}};
const Row rows[] = {{
{rows}
}};
constexpr size_t kTensors = sizeof(rows) / sizeof(rows[0]);

alignas(TensorImpl) uint8_t impls[kTensors * sizeof(TensorImpl)];
alignas(Tensor) uint8_t tensors[kTensors * sizeof(Tensor)];
[[maybe_unused]] TensorImpl* impl(size_t i) {{
  return reinterpret_cast<TensorImpl*>(impls) + i;
}}
[[maybe_unused]] Tensor& t(size_t i) {{
  return reinterpret_cast<Tensor*>(tensors)[i];
}}

{lists}
alignas(16) uint8_t scratch[{upper}_SCRATCH_BYTES + 1];

}}  // namespace

extern "C" void {name}_init(void) {{
{clear}
  for (size_t i = 0; i < kTensors; ++i) {{
    const Row& row = rows[i];
    // Tensors of fixed size never write to their shapes.
    new (impls + i * sizeof(TensorImpl))
        TensorImpl(static_cast<executorch::aten::ScalarType>(row.dtype), row.dim,
                   const_cast<int32_t*>(shapes + row.sizes), row.data,
                   const_cast<uint8_t*>(orders + row.order),
                   const_cast<int32_t*>(shapes + row.strides));
    new (tensors + i * sizeof(Tensor)) Tensor(impl(i));
  }}
}}

extern "C" void* {name}_input(size_t index) {{
  static const uint16_t slots[] = {{{inputs}}};
  return impl(slots[index])->mutable_data();
}}

extern "C" const void* {name}_output(size_t index) {{
  static const uint16_t slots[] = {{{outputs}}};
  return impl(slots[index])->data();
}}

extern "C" int {name}_run(void) {{
  executorch::runtime::MemoryAllocator allocator({upper}_SCRATCH_BYTES, scratch);
  KernelRuntimeContext context(nullptr, &allocator);
  [[maybe_unused]] const auto failed = [&] {{
    allocator.reset();
    return context.failure_state() != executorch::runtime::Error::Ok;
  }};
{calls}
  return static_cast<int>(context.failure_state());
}}
"""


def _source(
    plan: Plan,
    rows: dict[str, Row],
    chosen: list[Kernel | None],
    name: str,
    origin: str,
    weights: bytes,
    places: dict[int, int],
) -> str:
    own = _own_memory(plan)
    memory = [
        f"alignas({ALIGNMENT}) const uint8_t weights[] = {{\n{_bytes(weights) or '    0'}\n}};"
    ]
    arenas = [(f"arena_{i}", size) for i, size in enumerate(plan.arenas) if i and size]
    arenas += [(f"own_{index}", plan.tensors[index].nbytes) for index in own]
    memory += [f"alignas({ALIGNMENT}) uint8_t {array}[{max(size, 1)}];" for array, size in arenas]
    clear = [f"  std::memset({array}, 0, sizeof({array}));" for array, _ in arenas]
    for index, tensor in plan.tensors.items():
        if tensor.start is not None:
            target = _address(index, plan, places, own)
            clear.append(f"  std::memcpy({target}, weights + {places[index]}, {tensor.nbytes});")
    slots = {index: slot for slot, index in enumerate(plan.tensors)}
    written = Arguments(plan, slots)
    calls = _calls(plan, rows, chosen, written)
    table, pools = _rows(plan, places, own)
    return _HEAD.format(
        method=plan.method,
        origin=origin,
        name=name,
        upper=name.upper(),
        declarations=_declarations(plan, rows, chosen),
        memory="\n".join(memory),
        pools="\n".join(pools),
        rows="\n".join(table),
        lists="".join(line + "\n" for line in written.declarations),
        clear="\n".join(clear),
        inputs=", ".join(str(slots[i]) for i in plan.inputs) or "0",
        outputs=", ".join(str(slots[i]) for i in plan.outputs) or "0",
        calls=calls,
    )
