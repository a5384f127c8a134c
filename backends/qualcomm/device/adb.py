# SPDX-License-Identifier: BSD-3-Clause
"""`SimpleADB`: programs, libraries and inputs onto a phone, a run, and its outputs back; or all of it in a folder of
this computer."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from executorch.backends.qualcomm.aot import sdk
from executorch.backends.qualcomm.device.config import QnnConfig, get_backend_type
from executorch.backends.qualcomm.serialization.compile_specs import get_soc_to_htp_arch_map
from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchBackendType

_RUNNER = "qnn_executor_runner"
# Where a build has it: as its own build folder, or as an installed tree of the examples.
_RUNNER_FOLDERS = (
    "",
    "examples/qualcomm/executor_runner",
    "examples/qualcomm/oss_scripts/llama",
    "bin",
)
_BACKEND = "libqnn_executorch_backend.so"
_OUTPUTS, _INPUT_LIST = "outputs", "input_list.txt"


def generate_inputs(
    dest: str | Path, list_name: str, inputs: Iterable[Sequence[torch.Tensor]], prefix: str = ""
) -> list[Path]:
    """Files {prefix}_input_{i}_{j}.raw of each sample's tensors, and a list with a line of names for each sample; all
    of them, the list last."""
    dest = Path(dest)
    lines, files = [], []
    for place, sample in enumerate(inputs):
        names = []
        for number, tensor in enumerate(sample):
            stem = f"input_{place}_{number}.raw"
            files.append(dest / (f"{prefix}_{stem}" if prefix else stem))
            tensor.detach().contiguous().cpu().numpy().tofile(files[-1])
            names.append(files[-1].name)
        lines.append(" ".join(names))
    (dest / list_name).write_text("".join(line + "\n" for line in lines))
    return [*files, dest / list_name]


class SimpleADB:
    """`pte_path`: one program or several, of which the first one runs. `workspace`: a folder of the phone, or of this
    computer where programs run here. `runner`: another program than qnn_executor_runner, in the build's folder.
    `expected_input_shape`, `expected_output_shape`: of dynamic sizes, which delegates here do not have."""

    def __init__(
        self,
        qnn_config: QnnConfig,
        pte_path: str | Path | Sequence[str | Path],
        workspace: str,
        error_only: bool = False,
        runner: str | None = None,
        expected_input_shape: object = None,
        expected_output_shape: object = None,
    ) -> None:
        if expected_input_shape is not None or expected_output_shape is not None:
            raise ValueError("expected_input_shape, expected_output_shape: sizes are static here")
        self.config, self.workspace, self.error_only = qnn_config, workspace, error_only
        is_one = isinstance(pte_path, str | Path)
        self.programs = [Path(each) for each in ([pte_path] if is_one else pte_path)]
        self.runner = self._find_runner(runner or _RUNNER)

    def push(
        self,
        inputs: Iterable[Sequence[torch.Tensor]] | None = None,
        files: Iterable[str | Path] | None = None,
        backends: Iterable[QnnExecuTorchBackendType] | None = None,
        init_env: bool = True,
    ) -> None:
        """Programs, the runner and libraries into a new workspace; with `init_env` False only inputs and files."""
        if self.config.skip_push:
            return
        if init_env:
            self._shell(f"rm -rf {self.workspace}; mkdir -p {self.workspace}/{_OUTPUTS}")
            kinds = backends or [get_backend_type(self.config.backend)]
            libraries = [] if self.config.enable_x86_64 else self.libraries(kinds)
            for each in [*self.programs, self.runner, *libraries]:
                self._put(each)
        if inputs is not None:
            with TemporaryDirectory() as folder:
                for each in generate_inputs(folder, _INPUT_LIST, inputs):
                    self._put(each)
        for each in files or ():
            self._put(Path(each))

    def libraries(self, backends: Iterable[QnnExecuTorchBackendType]) -> list[Path]:
        """Of the SDK, for the phone's processor and its NPU, and of the build."""
        root, target = sdk.root(), self.config.target
        names = [sdk.LIBRARIES[each] for each in backends] + ["libQnnSystem.so"]
        folder = root / "lib" / target
        found = [folder / each for each in names]
        if QnnExecuTorchBackendType.kHtpBackend in backends:
            arch = int(get_soc_to_htp_arch_map()[self.config.soc_model])
            found += [folder / f"libQnnHtpV{arch}Stub.so", folder / "libQnnHtpPrepare.so"]
            skeleton = root / "lib" / f"hexagon-v{arch}" / "unsigned" / f"libQnnHtpV{arch}Skel.so"
            found.append(skeleton)
        built = sorted(Path(self.config.build_folder).rglob(_BACKEND))[:1]
        missing = [str(each) for each in found if not each.is_file()]
        if missing:
            raise FileNotFoundError(f"{', '.join(missing)}: expected in {sdk.VARIABLE}={root}")
        return [*found, *built]

    def execute(
        self,
        custom_runner_cmd: str | None = None,
        method_index: int = 0,
        output_callback: Callable[[subprocess.CompletedProcess[str]], None] | None = None,
        iteration: int = 1,
    ) -> None:
        """Runs the first program on the inputs that were pushed. RuntimeError when that fails."""
        flags = [
            f"--model_path {self.programs[0].name}",
            f"--output_folder_path {_OUTPUTS}",
            f"--input_list_path {_INPUT_LIST}",
            f"--method_index {method_index}",
            f"--iteration {iteration}",
            "--etdump_path etdump.etdp",
            f"--htp_performance_mode {int(self.config.htp_performance_mode)}",
        ]
        command = custom_runner_cmd or " ".join([f"./{self.runner.name}", *flags])
        path = f"{sdk.root() / sdk.HOST}" if self.config.enable_x86_64 else "."
        given = f"export LD_LIBRARY_PATH={path} && export ADSP_LIBRARY_PATH=."
        done = self._shell(
            f"cd {self.workspace} && {given} && chmod +x {self.runner.name} && {command}"
        )
        if output_callback is not None:
            output_callback(done)

    def pull(
        self,
        host_output_path: str | Path,
        device_output_path: str | None = None,
        callback: Callable[[], None] | None = None,
    ) -> None:
        """The folder of outputs, or another file or folder of the phone."""
        self._get(device_output_path or f"{self.workspace}/{_OUTPUTS}", Path(host_output_path))
        if callback is not None:
            callback()

    def pull_etdump(
        self, output_path: str | Path, callback: Callable[[], None] | None = None
    ) -> None:
        self.pull(output_path, f"{self.workspace}/etdump.etdp", callback)

    def pull_debug_output(
        self,
        etdump_path: str | Path,
        debug_buffer_path: str | Path,
        callback: Callable[[], None] | None = None,
    ) -> None:
        self.pull(etdump_path, f"{self.workspace}/etdump.etdp")
        self.pull(debug_buffer_path, f"{self.workspace}/debug_output.bin", callback)

    # ---- Where it runs ----

    def _find_runner(self, name: str) -> Path:
        folder = Path(self.config.build_folder)
        found = [folder / each / name for each in _RUNNER_FOLDERS]
        for each in [Path(name), *found]:
            if each.is_file():
                return each
        raise FileNotFoundError(f"{name}: expected in {folder}: build it (EXECUTORCH_BUILD_QNN)")

    def _shell(self, command: str) -> subprocess.CompletedProcess[str]:
        is_here = self.config.enable_x86_64
        return self._run(["sh", "-c", command] if is_here else [*self._adb(), "shell", command])

    def _put(self, file: Path) -> None:
        if self.config.enable_x86_64:
            shutil.copy(file, self.workspace)
        else:
            self._run([*self._adb(), "push", str(file), self.workspace])

    def _get(self, source: str, target: Path) -> None:
        if not self.config.enable_x86_64:
            self._run([*self._adb(), "pull", "-a", source, str(target)])
        elif Path(source).is_dir():
            shutil.copytree(source, target / Path(source).name, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)

    def _adb(self) -> list[str]:
        host = ["-H", self.config.host] if self.config.host else []
        return ["adb", *host, "-s", str(self.config.device)]

    def _run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, check=False, env=os.environ
            )
        except FileNotFoundError as error:
            raise RuntimeError(
                f"{words[0]} is not installed: it comes with Android's SDK"
            ) from error
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
        if not self.error_only:
            print(done.stdout, end="")
        return done
