# SPDX-License-Identifier: BSD-3-Clause
"""Specifications and compile specs. Expected texts: programs of 1.4.1."""

from __future__ import annotations

import pytest

from executorch.backends.arm.aot.fixed_point import multiplier_and_shift
from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.ethosu import EthosUCompileSpec
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.specification import (
    TosaLoweringContext,
    TosaSpecification,
    get_context_spec,
)
from executorch.backends.arm.util._factory import parse_compile_spec
from executorch.backends.arm.vgf import VgfCompileSpec


@pytest.mark.req("ARM-007")
def test_a_specification_is_read_and_written() -> None:
    spec = TosaSpecification.create_from_string("TOSA-1.0+INT+int16+int4+u55")
    assert str(spec) == "TOSA-1.0+INT+int16+int4+u55" and spec.is_U55_subset
    assert spec.support_integer() and not spec.support_float() and spec.support_extension("int16")
    assert spec == TosaSpecification.create_from_string("TOSA-1.0+INT")
    assert len(TosaSpecification.all_versions_and_profiles()) == 4
    with pytest.raises(RuntimeError):
        get_context_spec()
    with TosaLoweringContext(spec):
        assert get_context_spec() is spec


@pytest.mark.parametrize(
    "text, words",
    [
        ("TOSA-2.0+INT", "Wrong TOSA version"),
        ("TOSA", "Failed to parse TOSA specification representation: TOSA"),
        ("TOSA-1.0+int16", "No profile"),
        ("TOSA-1.0+INT+FP+INT", "Too many profiles"),
        ("TOSA-1.0+FP+int16", "Bad extensions for TOSA-1.0"),
    ],
)
def test_a_specification_that_is_none(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TosaSpecification.create_from_string(text)


@pytest.mark.req("ARM-012")
def test_compile_specs_of_ethos_u() -> None:
    spec = EthosUCompileSpec("ethos-u55-128", extra_flags=["--optimise=Size"])
    found = [(each.key, bytes(each.value).decode()) for each in spec._to_list()]
    assert found == [
        ("tosa_spec", "TOSA-1.0+INT+int16+int4+u55"),
        (
            "compile_flags",
            "--optimise=Size --accelerator-config=ethos-u55-128 --config=Arm/vela.ini --output-format=raw "
            "--system-config=Ethos_U55_High_End_Embedded --memory-mode=Shared_Sram",
        ),
        ("output_format", "vela"),
        ("ouput_reorder_workaround", ""),
        ("preserve_io_quantization", "False"),
        ("target", "ethos-u55-128"),
    ]
    assert parse_compile_spec(spec._to_list()) == spec
    assert spec.get_output_format() == "vela" and spec.get_intermediate_path() is None
    with pytest.raises(RuntimeError, match="Unknown ethos target: ethos-u99"):
        EthosUCompileSpec("ethos-u99")


@pytest.mark.req("ARM-007", "ARM-029")
def test_compile_specs_of_the_others() -> None:
    vgf = VgfCompileSpec()
    assert [each.value for each in vgf._to_list() if each.key == "tosa_sw_dev_mode"] == [b"True"]
    assert parse_compile_spec(vgf._to_list()) == vgf
    tosa = TosaCompileSpec("TOSA-1.0+FP").dump_debug_info(ArmCompileSpec.DebugMode.JSON)
    with pytest.raises(ValueError, match="dump_intermediate_artifacts_to"):
        tosa._to_list()
    tosa.dump_intermediate_artifacts_to("/there")
    assert parse_compile_spec(tosa._to_list()) == tosa
    with pytest.raises(ValueError, match="Incorrect output format 'vgf' for TosaCompileSpec"):
        TosaCompileSpec._from_list(vgf._to_list())
    with pytest.raises(ValueError, match="More than one tosa_spec entry"):
        VgfCompileSpec._from_list([*vgf._to_list(), vgf._to_list()[0]])


def test_scales_as_multiplier_and_shift() -> None:
    """0.5 is 2^30 * 2^-31; 2^31 - 1 rounded up would be 2^31, which is 2^30 with a shift less by one."""
    assert multiplier_and_shift(0.5) == (1 << 30, 31)
    assert multiplier_and_shift(2.0**19) == (1 << 30, 11)
    assert multiplier_and_shift(1 - 2.0**-40) == (1 << 30, 30)
    assert multiplier_and_shift(0.75, bits=16) == (3 << 13, 15)
    assert multiplier_and_shift(2.0**-40) == (1 << 22, 62)
    with pytest.raises(ValueError, match="too large"):
        multiplier_and_shift(2.0**30)
