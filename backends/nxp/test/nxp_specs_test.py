# SPDX-License-Identifier: BSD-3-Clause
"""Compile specs have the keys and bytes that files have; targets and options that are none are refused."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path

import pytest
import torch

from executorch.backends.nxp.aot.ops import TABLE
from executorch.backends.nxp.aot.options import NeutronOptions, options_in
from executorch.backends.nxp.backend import BACKENDS
from executorch.backends.nxp.backend.neutron_target_spec import NeutronHWVersion, NeutronTargetSpec
from executorch.backends.nxp.neutron_partitioner import NeutronPartitioner
from executorch.backends.nxp.nxp_backend import (
    NeutronCompileSpecBuilder,
    core_aten_ops_exception_list,
    generate_neutron_compile_spec,
)
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError
from executorch.tools.backend_operators import table

DEFAULTS = {
    "output_format": b"tflite",
    "compile_flags": b"",
    "target": b"imxrt700",
    "intermediates_dir": b"None",
    "operators_not_to_delegate": b"",
    "use_neutron_for_format_conversion": b"True",
    "fetch_constants_to_sram": b"False",
    "dump_kernel_selection_code": b"False",
    "use_profiling": b"False",
}


def as_dict(specs: list[CompileSpec]) -> dict[str, bytes]:
    return {each.key: each.value for each in specs}


@pytest.mark.req("NPU-033")
def test_specs_are_texts_in_one_order() -> None:
    specs = generate_neutron_compile_spec("imxrt700", neutron_converter_flavor="SDK_25_06")
    assert list(as_dict(specs).items()) == list(DEFAULTS.items())
    assert NeutronCompileSpecBuilder().neutron_compile_spec("imxrt700").build() == specs


@pytest.mark.req("NPU-033")
def test_specs_say_what_was_asked_for(tmp_path: Path) -> None:
    specs = generate_neutron_compile_spec(
        "imxrt700",
        system_config="of no consequence",
        extra_flags="-a -b",
        intermediates_dir=str(tmp_path),
        operators_not_to_delegate=["aten::convolution", "aten::add"],
        use_neutron_for_format_conversion=False,
        fetch_constants_to_sram=True,
        use_profiling=True,
    )
    changed = {
        "compile_flags": b"-a -b",
        "intermediates_dir": str(tmp_path).encode(),
        "operators_not_to_delegate": b"aten_convolution,aten_add",
        "use_neutron_for_format_conversion": b"False",
        "fetch_constants_to_sram": b"True",
        "use_profiling": b"True",
    }
    assert as_dict(specs) == DEFAULTS | changed
    options = options_in(specs)
    assert options.specs() == specs and options.intermediates_dir == tmp_path
    assert options.operators_not_to_delegate == ("aten_convolution", "aten_add")


def test_a_builder_is_for_one_program() -> None:
    builder = NeutronCompileSpecBuilder().neutron_compile_spec("imxrt700")
    with pytest.raises(AssertionError, match="Output format already set"):
        builder.neutron_compile_spec("imxrt700")


def test_wrong_specs_are_refused(tmp_path: Path) -> None:
    specs = NeutronOptions().specs()
    with pytest.raises(RuntimeError, match="output format is required"):
        options_in(specs[1:])
    with pytest.raises(RuntimeError, match="Unknown format onnx"):
        options_in([CompileSpec("output_format", b"onnx")])
    with pytest.raises(ValueError, match="intermediates_dir is not a directory path"):
        options_in(NeutronOptions(intermediates_dir=tmp_path / "none").specs())
    with pytest.raises(ExportError, match="expected one of output_format, .*, found speed"):
        options_in([*specs, CompileSpec("speed", b"1")])


@pytest.mark.req("NPU-034")
def test_targets() -> None:
    spec = NeutronTargetSpec(target="imxrt700", converter_flavor="SDK_25_09")
    assert (spec.get_name(), spec.is_subsystem()) == ("imxrt700", False)
    assert (spec.get_num_macs(), spec.get_num_pipes()) == (8, 8)
    assert spec.get_hw_version() is NeutronHWVersion.N3
    expected = r"Target `imxrt9` is not a valid target. Must be one of `\['imxrt700'\]`"
    with pytest.raises(ValueError, match=expected):
        NeutronTargetSpec("imxrt9")
    with pytest.raises(ValueError, match=expected):
        NeutronPartitioner(generate_neutron_compile_spec("imxrt9"))


@pytest.mark.req("NPU-037")
def test_the_page_of_operators_is_made_of_the_table() -> None:
    page = table(dataclasses.replace(BACKENDS[0], needs=()))
    lines = {line["Operator"]: line for line in csv.DictReader(io.StringIO(page))}
    assert list(lines) == list(TABLE)
    assert "alpha must be 1" in lines["aten.add.Tensor"]["Not delegated because"]


def test_prelu_is_an_operator_of_edge_programs() -> None:
    assert core_aten_ops_exception_list == [torch.ops.aten.prelu.default]
