# SPDX-License-Identifier: BSD-3-Clause
"""`QnnConfig`: for which SoC and where a program is made and run, and the flags of scripts that say so."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from executorch.backends.qualcomm.aot import sdk
from executorch.backends.qualcomm.serialization.compile_specs import get_soc_to_chipset_map
from executorch.backends.qualcomm.serialization.qc_schema import (
    QnnExecuTorchBackendType,
    QnnExecuTorchHtpPerformanceMode,
)
from executorch.exir.error import ExportError, ExportErrorType

_BACKENDS = {
    "htp": QnnExecuTorchBackendType.kHtpBackend,
    "gpu": QnnExecuTorchBackendType.kGpuBackend,
    "lpai": QnnExecuTorchBackendType.kLpaiBackend,
}
TARGETS = ("aarch64-android", "aarch64-oe-linux-gcc9.3", "aarch64-oe-linux-gcc11.2")
_BURST = QnnExecuTorchHtpPerformanceMode.kHtpBurst


def get_backend_type(backend: str) -> QnnExecuTorchBackendType:
    """ValueError for one that is not known."""
    if backend not in _BACKENDS:
        raise ValueError(f"backend: expected one of {', '.join(_BACKENDS)}, found {backend}")
    return _BACKENDS[backend]


@dataclass
class QnnConfig:
    """`device`: the serial of a phone, which `adb devices` prints; `host`, `port`, `ip`: of adb's server on another
    computer. `enable_x86_64`: programs run on this computer, by the SDK's simulator. `compile_only`: none
    runs."""

    soc_model: str
    build_folder: str
    direct_build_folder: str | None = None
    backend: str = "htp"
    target: str = "aarch64-android"
    online_prepare: bool = False
    shared_buffer: bool = False
    dump_intermediate_outputs: bool = False
    profile_level: int = 0
    enable_x86_64: bool = False
    host: str | None = None
    device: str | None = None
    port: int = -1
    ip: str = ""
    skip_delegate_node_ids: str | None = None
    skip_delegate_node_ops: str | None = None
    compile_only: bool = False
    pre_gen_pte: str | None = None
    skip_push: bool = False
    ci: bool = False
    seed: int | None = None
    htp_performance_mode: int = _BURST

    def __post_init__(self) -> None:
        if self.soc_model not in get_soc_to_chipset_map():
            raise ValueError(f"unknown SoC model for QNN: {self.soc_model}")
        get_backend_type(self.backend)
        missing = "build_folder" if not self.build_folder else "" if sdk.root() else sdk.VARIABLE
        if missing:
            raise ExportError(
                ExportErrorType.MISSING_PROPERTY, f"{missing} is not set: {sdk.GET_SDK}"
            )
        if not (self.compile_only or self.enable_x86_64 or self.device):
            raise RuntimeError(
                "device serial is required if not compile only or run on x86 emulator: `adb devices` prints it"
            )

    @classmethod
    def load_config(cls, config: argparse.Namespace | Mapping[str, Any] | str | Path) -> QnnConfig:
        """Of the flags of a script, whose --config_file says what they do not, or of a file with JSON."""
        if isinstance(config, str | Path):
            given = json.loads(Path(config).read_text())
        else:
            given = dict(vars(config) if isinstance(config, argparse.Namespace) else config)
            file = given.get("config_file")
            stored = json.loads(Path(file).read_text()) if file else {}
            given = {**given, **stored}
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in given.items() if name in known})


_FLAGS: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (("--config_file",), {"help": "JSON with any of the other flags"}),
    (("-m", "--soc_model", "--model"), {"help": "such as SM8650"}),
    (("-b", "--build_folder"), {"help": "such as build-android", "default": ""}),
    (("-H", "--host"), {"help": "the computer with adb's server"}),
    (("--online_prepare",), {"action": "store_true", "help": "compile on the device"}),
    (("--ip",), {"help": "of a socket that the script answers to", "default": ""}),
    (("--port",), {"type": int, "help": "of it", "default": -1}),
    (("--skip_delegate_node_ids",), {"help": "names of nodes, by commas, for the CPU"}),
    (("--skip_delegate_node_ops",), {"help": "such as aten.add.Tensor, by commas, for the CPU"}),
    (("--compile_only",), {"action": "store_true", "help": "write the program, run nothing"}),
    (("-s", "--device"), {"help": "serial of the phone"}),
    (("--backend",), {"choices": list(_BACKENDS), "default": "htp"}),
    (("-z", "--shared_buffer"), {"action": "store_true", "help": "do not copy inputs and outputs"}),
    (("--skip_push",), {"action": "store_true", "help": "files are on the phone already"}),
    (("-D", "--dump_intermediate_outputs"), {"action": "store_true"}),
    (("--profile_level",), {"type": int, "choices": [0, 2, 3], "default": 0}),
    (("-x", "--enable_x86_64"), {"action": "store_true", "help": "run on this computer"}),
    (("--ci",), {"action": "store_true", "help": "small data"}),
    (("--seed",), {"type": int}),
    (("-t", "--target"), {"choices": list(TARGETS), "default": TARGETS[0]}),
    (("--pre_gen_pte",), {"help": "a folder with the program"}),
    (("--direct_build_folder",), {"help": "of direct mode"}),
    (("--htp_performance_mode",), {"type": int, "choices": list(range(9)), "default": int(_BURST)}),
    (("--download",), {"action": "store_true", "help": "accepted; nothing is downloaded"}),
]  # fmt: skip


def setup_common_args_and_variables(
    parser: argparse.ArgumentParser | None = None,
) -> argparse.ArgumentParser:
    """With the flags that scripts have in common."""
    made = parser or argparse.ArgumentParser()
    for names, options in _FLAGS:
        made.add_argument(*names, **options)
    return made
