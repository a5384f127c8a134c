# SPDX-License-Identifier: BSD-3-Clause
"""Compile specs are, byte for byte, those that the released package 1.4.1 writes (data/compile_specs.tsv), and read
back whatever the order of their fields."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import IntEnum
from pathlib import Path

import pytest

from executorch.backends.qualcomm.serialization import qc_schema
from executorch.backends.qualcomm.serialization.compile_specs import options_in
from executorch.backends.qualcomm.serialization.qc_schema import (
    HtpArch,
    QcomChipset,
    QnnExecuTorchBackendOptions,
    QnnExecuTorchBackendType,
    QnnExecuTorchGpuPrecision,
    QnnExecuTorchHtpPerformanceMode,
    QnnExecuTorchOpPackageInfo,
    QnnExecuTorchOpPackageOptions,
    QnnExecuTorchOpPackagePlatform,
    QnnExecuTorchOpPackageTarget,
)
from executorch.backends.qualcomm.serialization.qc_schema_serialize import (
    SCHEMA,
    flatbuffer_to_option,
    option_to_flatbuffer,
)
from executorch.backends.qualcomm.utils.utils import (
    generate_gpu_compiler_spec,
    generate_htp_compiler_spec,
    generate_lpai_compiler_spec,
    generate_qnn_executorch_compiler_spec,
    get_soc_to_chipset_map,
    get_soc_to_htp_arch_map,
    get_soc_to_lpai_hw_ver_map,
)
from executorch.exir.backend.compile_spec_schema import CompileSpec

PACKAGE = QnnExecuTorchOpPackageInfo(
    "Pkg",
    "/p.so",
    "get",
    QnnExecuTorchOpPackageTarget.HTP,
    "my.op",
    "MyOp",
    QnnExecuTorchOpPackagePlatform.X86_64,
)


def golden() -> dict[str, bytes]:
    lines = (Path(__file__).parent / "data" / "compile_specs.tsv").read_text().splitlines()
    return {name: bytes.fromhex(data) for name, data in (line.split("\t") for line in lines)}


def spec(backend: QnnExecuTorchBackendOptions, soc: str = "SM8650", **options) -> bytes:
    (made,) = generate_qnn_executorch_compiler_spec(QcomChipset[soc], backend, **options)
    assert made.key == "qnn_compile_spec"
    return made.value


def made(name: str) -> bytes:
    """What a line's name says."""
    match name.split():
        case ["soc", soc]:
            return spec(generate_htp_compiler_spec(True), soc)
        case ["htp", option] if option.startswith("use_"):
            return spec(generate_htp_compiler_spec(False, **{option: True}))
        case ["htp", mode]:
            mode = QnnExecuTorchHtpPerformanceMode[mode]
            return spec(generate_htp_compiler_spec(False, htp_performance_mode=mode))
        case ["gpu", "not", option]:
            return spec(generate_gpu_compiler_spec(**{option: False}))
        case ["gpu", "use_weight_sharing"]:
            return spec(generate_gpu_compiler_spec(use_weight_sharing=True))
        case ["gpu", precision]:
            return spec(generate_gpu_compiler_spec(QnnExecuTorchGpuPrecision[precision]))
        case ["lpai"]:
            return spec(generate_lpai_compiler_spec(), "SM8850")
        case ["spec", "op_package"]:
            options = QnnExecuTorchOpPackageOptions([PACKAGE])
            return spec(generate_htp_compiler_spec(False), op_package_options=options)
        case ["spec", "profile_level", level]:
            return spec(generate_htp_compiler_spec(False), profile_level=int(level))
        case ["spec", option]:
            return spec(generate_htp_compiler_spec(False), **{option: True})
    raise AssertionError(name)


@pytest.mark.req("NPU-010")
@pytest.mark.req("NPU-011")
@pytest.mark.filterwarnings("ignore:profile_level 1")
def test_bytes_are_those_of_the_released_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QNN_SDK_ROOT", raising=False)
    expected = golden()
    assert len(expected) == 54
    assert {name: made(name).hex() for name in expected} == {
        name: data.hex() for name, data in expected.items()
    }
    for data in expected.values():
        assert option_to_flatbuffer(flatbuffer_to_option(data)) == data


def test_a_field_that_is_not_there_has_the_default_of_the_schema() -> None:
    options = flatbuffer_to_option(SCHEMA.pack(SCHEMA.make("QnnExecuTorchOptions")))
    assert options.soc_info.soc_model == QcomChipset.UNKNOWN_SM
    assert options.backend_options.htp_options is None and options.saver_output_dir == ""


def test_changed_bytes_are_read_or_refused() -> None:
    source, rng = made("spec op_package"), random.Random(0)
    read = refused = 0
    for _ in range(3000):
        data = bytearray(source[: rng.choice([len(source), rng.randrange(len(source))])])
        for _ in range(rng.randrange(1, 4)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            flatbuffer_to_option(bytes(data))
            read += 1
        except ValueError:
            refused += 1
    assert read > 50 and refused > 1000


def test_python_and_the_schema_have_the_same_names_and_numbers() -> None:
    classes = SCHEMA.classes
    assert set(classes) == {
        name
        for name, each in vars(qc_schema).items()
        if isinstance(each, type) and (is_dataclass(each) or issubclass(each, IntEnum))
    } - {"IntEnum"}
    for name, each in classes.items():
        ours = getattr(qc_schema, name)
        if is_dataclass(each):
            assert [field.name for field in fields(ours)] == [field.name for field in fields(each)]
        else:
            assert dict(ours.__members__) == dict(each.__members__), name


def refused(call: Callable[[], object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_options_that_do_not_go_together() -> None:
    htp, lpai = generate_htp_compiler_spec(False), generate_lpai_compiler_spec()
    several = generate_htp_compiler_spec(False, use_multi_contexts=True)
    refused(lambda: spec(several, online_prepare=True), "online prepare mode")
    refused(
        lambda: spec(lpai, "SM8850", online_prepare=True), "LPAI does not support online prepare"
    )
    refused(lambda: spec(lpai, "SM8650"), r"choose the following SOC: \['SM8850', 'SAR2230P'\]")
    refused(lambda: spec(htp, "UNKNOWN_SM"), "unknown SoC model for QNN")
    refused(lambda: spec(htp, profile_level=7), "7 is not a valid")
    with pytest.warns(UserWarning, match="profile_level 1 is deprecated"):
        spec(htp, profile_level=1)


def test_an_old_sdk_has_no_lpai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.joinpath("sdk.yaml").write_text("version: 2.37.0.250724\n")
    monkeypatch.setenv("QNN_SDK_ROOT", str(tmp_path))
    refused(lambda: spec(generate_lpai_compiler_spec(), "SM8850"), "2.39 or later, found 2.37.0")


def test_specs_are_read() -> None:
    (first,) = generate_qnn_executorch_compiler_spec(
        QcomChipset.SM8550, generate_htp_compiler_spec(True)
    )
    options = options_in([first])
    assert options.soc_info.soc_model == QcomChipset.SM8550
    refused(lambda: options_in([first, CompileSpec("other", b"")]), "unknown compiler spec key")
    refused(lambda: options_in([]), "expected a compile spec qnn_compile_spec")
    refused(lambda: options_in([CompileSpec("qnn_compile_spec", b"no flatbuffer")]), "offset")


def test_tables_of_socs() -> None:
    assert get_soc_to_chipset_map()["SM8650"] is QcomChipset.SM8650
    assert get_soc_to_htp_arch_map()["SM8750"] is HtpArch.V79
    assert set(get_soc_to_lpai_hw_ver_map()) == {"SM8850", "SAR2230P"}
    assert str(QnnExecuTorchBackendType.kHtpBackend) == "htp"
    assert str(QnnExecuTorchBackendType.kUndefinedBackend) == "undefined"
