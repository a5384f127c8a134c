# SPDX-License-Identifier: BSD-3-Clause
"""Values that a run recorded: from bytes to tensors, and held against others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch

from executorch.devtools.etdump.schema_flatcc import Tensor, Value, ValueType
from executorch.exir.scalar_type import ScalarType
from executorch.exir.tensor import num_bytes_from_shape_and_dtype

# Bits have no arithmetic: they are compared as numbers.
_DTYPES = {
    ScalarType.BYTE: torch.uint8,
    ScalarType.CHAR: torch.int8,
    ScalarType.SHORT: torch.int16,
    ScalarType.INT: torch.int32,
    ScalarType.LONG: torch.int64,
    ScalarType.HALF: torch.float16,
    ScalarType.FLOAT: torch.float32,
    ScalarType.DOUBLE: torch.float64,
    ScalarType.BOOL: torch.bool,
    ScalarType.BFLOAT16: torch.bfloat16,
    ScalarType.BITS16: torch.uint16,
    ScalarType.UINT16: torch.uint16,
}
InferenceOutput: TypeAlias = torch.Tensor | list[torch.Tensor] | int | float | str | bool | None
ProgramOutput: TypeAlias = list[InferenceOutput]


def inflate_runtime_output(value: Value, output_buffer: bytes | None) -> InferenceOutput:
    """The value; tensors from the debug buffer, whose order of dimensions their strides tell. Raises ValueError for
    a tensor without a buffer or outside of it."""
    if value.val == ValueType.INT.value and value.int_value is not None:
        return value.int_value.int_val
    if value.val == ValueType.BOOL.value and value.bool_value is not None:
        return value.bool_value.bool_val
    if value.val == ValueType.FLOAT.value and value.float_value is not None:
        return value.float_value.float_val
    if value.val == ValueType.DOUBLE.value and value.double_value is not None:
        return value.double_value.double_val
    if value.val == ValueType.TENSOR.value and value.tensor is not None:
        return _tensor(value.tensor, output_buffer)
    if value.val == ValueType.TENSOR_LIST.value and value.tensor_list is not None:
        return [_tensor(tensor, output_buffer) for tensor in value.tensor_list.tensors]
    raise ValueError(f"a value says it is {value.val} and holds none")


def _tensor(tensor: Tensor, output_buffer: bytes | None) -> torch.Tensor:
    dtype = _DTYPES.get(tensor.scalar_type)
    if dtype is None:
        raise ValueError(f"a value has elements of type {tensor.scalar_type.name}")
    if any(size < 0 for size in (*tensor.sizes, *tensor.strides)):
        raise ValueError(f"a tensor has sizes {tensor.sizes} and strides {tensor.strides}")
    if len(tensor.sizes) != len(tensor.strides):
        raise ValueError(f"sizes {tensor.sizes} and strides {tensor.strides} do not go together")
    if 0 in tensor.sizes or tensor.offset in (None, -1):
        return torch.zeros(tensor.sizes, dtype=dtype)
    if output_buffer is None:
        raise ValueError("a tensor's bytes are in the debug buffer: give debug_buffer_path")
    num_elements = math.prod(tensor.sizes)
    num_bytes = num_bytes_from_shape_and_dtype(tensor.sizes, dtype)
    reached = 1 + sum((n - 1) * stride for n, stride in zip(tensor.sizes, tensor.strides))
    if (
        tensor.offset < 0
        or tensor.offset + num_bytes > len(output_buffer)
        or reached > num_elements
    ):
        raise ValueError(
            f"a tensor of {num_bytes} bytes at offset {tensor.offset} lies outside the {len(output_buffer)} bytes of "
            "the debug buffer"
        )
    flat = torch.frombuffer(
        bytearray(output_buffer[tensor.offset : tensor.offset + num_bytes]), dtype=dtype
    )
    return flat.as_strided(tensor.sizes, tensor.strides)


def is_inference_output_equal(output1: InferenceOutput, output2: InferenceOutput) -> bool:
    """Equal in type and in every bit that counts: nan is equal to nan."""
    if type(output1) is not type(output2):
        return False
    if isinstance(output1, torch.Tensor):
        return (
            output1.dtype == output2.dtype
            and output1.shape == output2.shape
            and bool(
                torch.all((output1 == output2) | ((output1 != output1) & (output2 != output2)))
            )
        )
    if isinstance(output1, (list, tuple)):
        return len(output1) == len(output2) and all(
            map(is_inference_output_equal, output1, output2)
        )
    return output1 == output2 or (output1 != output1 and output2 != output2)


def verify_debug_data_equivalence(existing_data: ProgramOutput, new_data: ProgramOutput) -> None:
    """Raises AssertionError when two runs of the same event gave different values."""
    assert len(existing_data) == len(new_data), (
        f"expected {len(existing_data)} values in each run, found {len(new_data)}"
    )
    for index, (existing, new) in enumerate(zip(existing_data, new_data)):
        assert is_inference_output_equal(existing, new), f"value {index} differs between runs"


def convert_to_float_tensor(input_data: Any) -> torch.Tensor:
    """As float64, without NaN (0 in its place); of complex numbers both parts. Raises AssertionError for lists,
    ValueError for what is no number."""
    assert not isinstance(input_data, Sequence), "expected one tensor or number, found a sequence"
    if isinstance(input_data, complex):
        raise ValueError(f"expected a tensor or a real number, found {input_data}")
    try:
        tensor = torch.as_tensor(input_data)
        tensor = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
        tensor = tensor.to(torch.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"expected a tensor or a number, found {input_data!r}: {error}") from error
    tensor = tensor.detach().clone()
    tensor[torch.isnan(tensor)] = 0.0
    return tensor


def _by_output(
    ref_values: ProgramOutput,
    values: ProgramOutput,
    metric: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
) -> list[float | None]:
    """Rounded to two digits; None for pairs that are not both tensors. Raises ValueError for other sizes."""
    found: list[float | None] = []
    for index, (ref, value) in enumerate(zip(ref_values, values, strict=True)):
        if not (isinstance(ref, torch.Tensor) and isinstance(value, torch.Tensor)):
            found.append(None)
            continue
        if ref.shape != value.shape:
            raise ValueError(
                f"Input tensors must have the same shape: output {index} has {tuple(ref.shape)} and "
                f"{tuple(value.shape)}"
            )
        found.append(round(float(metric(ref.to(torch.float64), value.to(torch.float64))), 2))
    return found


def calculate_mse(ref_values: ProgramOutput, values: ProgramOutput) -> list[float | None]:
    """Mean squared error of each output; see _by_output for what is none."""
    return _by_output(ref_values, values, lambda ref, value: torch.mean((ref - value) ** 2))


def calculate_snr(ref_values: ProgramOutput, values: ProgramOutput) -> list[float | None]:
    """Signal to noise of each output, in dB; inf where there is no noise."""
    return _by_output(
        ref_values,
        values,
        lambda ref, value: 10 * torch.log10(torch.mean(ref**2) / torch.mean((ref - value) ** 2)),
    )


def calculate_cosine_similarity(
    ref_values: ProgramOutput, values: ProgramOutput
) -> list[float | None]:
    """Of each output, as one long vector."""
    return _by_output(
        ref_values,
        values,
        lambda ref, value: (ref * value).sum() / (ref.norm() * value.norm()),
    )


_METRICS = {
    "snr": calculate_snr,
    "mse": calculate_mse,
    "cosine_similarity": calculate_cosine_similarity,
}


def compare_results(
    reference_output: ProgramOutput,
    run_output: ProgramOutput,
    metrics: list[str] | None = None,
    plot: bool = False,
) -> dict[str, list[float | None]]:
    """Each metric (of snr, mse, cosine_similarity; all) by output, printed with two digits, and drawn if asked for:
    in a notebook, and in comparison_result.png. Raises ValueError for other names of metrics."""
    wanted = list(_METRICS) if metrics is None else metrics
    for name in wanted:
        if name not in _METRICS:
            raise ValueError(f"expected metrics of {', '.join(_METRICS)}, got {name!r}")
    results = {name: _METRICS[name](reference_output, run_output) for name in wanted}
    for name, numbers in results.items():
        print(name, ["None" if number is None else f"{number:.2f}" for number in numbers])
    if plot:
        plot_metric(results)
    return results


def plot_metric(
    results: dict[str, list[float | None]], path: str = "comparison_result.png"
) -> None:
    """Draws a curve for each metric. Needs matplotlib: ImportError says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    figure, axes = plt.subplots(len(results), 1, squeeze=False, figsize=(8, 3 * len(results)))
    for axis, (name, numbers) in zip(axes[:, 0], results.items()):
        shown = [math.nan if number is None else number for number in numbers]
        axis.plot(range(len(shown)), shown, marker="o")
        axis.set(title=name, xlabel="output", ylabel=name)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)
