# SPDX-License-Identifier: BSD-3-Clause
"""`compile_options` of VulkanPartitioner: a dict of the names below, compile specs of the file, and back."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from executorch.backends.vulkan.aot.schema import VkMemoryLayout, VkStorageType
from executorch.exir.backend.lowering.payload.options import OptionError
from executorch.exir.error import ExportErrorType
from executorch.exir.schema import CompileSpec

Limits = tuple[int, int, int]
DEFAULT_TEXTURE_LIMITS: Limits = (16384, 16384, 2048)
SMALL_TEXTURE_LIMITS: Limits = (2048, 2048, 2048)
DEFAULT_BUFFER_LIMIT = 128 * 1024 * 1024
_AXES = "xyz"


@dataclass(frozen=True)
class VulkanOptions:
    """`require_dynamic_shapes`: sizes change from run to run. `force_fp16`: floats are of 16 bits inside, inputs and
    outputs stay as they are. `texture_limits`, `small_texture_limits`: what a device can hold as an image; tensors
    beyond become buffers. `skip_bool_tensors`: calls that read or give booleans stay on the CPU. `buffer_limit`:
    largest number of elements of a tensor. `storage_type_override`, `memory_layout_override`: of all tensors, hints for
    the runtime. `skip_tag_memory_metadata`: no such hints. `skip_memory_planning`: the runtime shares no memory by the
    file's plan. `downcast_64_bit`: int64 is computed in int32, float64 in float32. `warmup_execute_after_compile`: the
    runtime runs once while it loads."""

    require_dynamic_shapes: bool = False
    force_fp16: bool = False
    texture_limits: Limits | None = None
    small_texture_limits: bool = False
    skip_bool_tensors: bool = False
    buffer_limit: int = DEFAULT_BUFFER_LIMIT
    storage_type_override: Any = None
    memory_layout_override: Any = None
    skip_tag_memory_metadata: bool = False
    skip_memory_planning: bool = False
    downcast_64_bit: bool = True
    warmup_execute_after_compile: bool = False

    @property
    def limits(self) -> Limits:
        if self.texture_limits is not None:
            return self.texture_limits
        return SMALL_TEXTURE_LIMITS if self.small_texture_limits else DEFAULT_TEXTURE_LIMITS


_DEFAULTS = {each.name: each.default for each in fields(VulkanOptions)}
_ENUMS = {"storage_type_override": VkStorageType, "memory_layout_override": VkMemoryLayout}
_BOOLS = frozenset(name for name, default in _DEFAULTS.items() if isinstance(default, bool))


def options_of(compile_options: Mapping[str, Any]) -> VulkanOptions:
    """OptionError for a name that there is not, and for a value of another kind."""
    known = {}
    for name, value in compile_options.items():
        if name not in _DEFAULTS:
            near = difflib.get_close_matches(name, _DEFAULTS, 1)
            hint = f"; is {near[0]} meant?" if near else f"; there are {', '.join(_DEFAULTS)}"
            text = f"VulkanPartitioner: no option {name}{hint}"
            raise OptionError(ExportErrorType.INVALID_INPUT_TYPE, text)
        _check(name, value)
        known[name] = tuple(value) if name == "texture_limits" else value
    return VulkanOptions(**known)


def _check(name: str, value: Any) -> None:
    if name in _BOOLS:
        expected, fits = "a bool", isinstance(value, bool)
    elif name in _ENUMS:
        expected, fits = _ENUMS[name].__name__, isinstance(value, _ENUMS[name])
    elif name == "texture_limits":
        fits = isinstance(value, tuple | list) and [type(each) for each in value] == [int] * 3
        expected = "three numbers (x, y, z)"
    else:
        expected, fits = "a number of elements", type(value) is int and value > 0
    if not fits:
        text = f"VulkanPartitioner: option {name}: expected {expected}, found {value!r}"
        raise OptionError(ExportErrorType.INVALID_INPUT_TYPE, text)


def parse_compile_options(compile_options: Mapping[str, Any]) -> list[CompileSpec]:
    """Of a dict, in its order; buffer_limit is the partitioner's alone."""
    options_of(compile_options)
    specs = []
    for name, value in compile_options.items():
        if name in _ENUMS:
            specs.append(CompileSpec(name, int(value).to_bytes(4, "little")))
        elif name in _BOOLS:
            specs.append(CompileSpec(name, bytes([value])))
        elif name == "texture_limits":
            for axis, limit in zip(_AXES, value, strict=True):
                spec = CompileSpec(f"{name}_{axis}", limit.to_bytes(4, "little"))
                specs.append(spec)
    return specs


def parse_compile_spec(specs: Sequence[CompileSpec]) -> dict[str, Any]:
    """What they say, by the names of options; those of others are left out."""
    found: dict[str, Any] = {}
    for spec in specs:
        data = bytes(spec.value)
        number = int.from_bytes(data, "little")
        if spec.key in _ENUMS:
            _check_size(spec, 4)
            found[spec.key] = _ENUMS[spec.key](number)
        elif spec.key in _BOOLS:
            _check_size(spec, 1)
            found[spec.key] = bool(number)
        elif spec.key in [f"texture_limits_{axis}" for axis in _AXES]:
            _check_size(spec, 4)
            found[spec.key] = number
    return found


def _check_size(spec: CompileSpec, num_bytes: int) -> None:
    if len(spec.value) != num_bytes:
        text = f"VulkanBackend: compile spec {spec.key}: expected {num_bytes} bytes, found {len(spec.value)}"
        raise OptionError(ExportErrorType.NOT_SUPPORTED, text)


def options_in(specs: Sequence[CompileSpec]) -> VulkanOptions:
    """Of a program's compile specs, which are all to have an effect."""
    found = parse_compile_spec(specs)
    for spec in specs:
        if spec.key not in found:
            text = f"VulkanBackend: compile spec {spec.key}: expected one of {', '.join(_DEFAULTS)}"
            raise OptionError(ExportErrorType.INVALID_INPUT_TYPE, text)
    limits = [found.pop(f"texture_limits_{axis}", None) for axis in _AXES]
    given = {} if None in limits else {"texture_limits": tuple(limits)}
    return VulkanOptions(**found, **given)
