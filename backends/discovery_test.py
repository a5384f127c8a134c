# SPDX-License-Identifier: BSD-3-Clause
"""A folder with a `backend.py` is in every list: nothing outside of it says its name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.backends import discovery
from executorch.exir.backend.lowering.manifest import BackendAbsent, BackendManifest
from executorch.test.e2e.build_tree import ROOT

MANIFESTS = discovery.all_backends()
NAMES = ("partitioner", "passes", "edge_config", "quantizer", "recipes", "language_models", "flows")


@pytest.mark.parametrize("name", MANIFESTS)
def test_what_a_manifest_names_is_there(name: str) -> None:
    manifest = MANIFESTS[name]
    if reason := manifest.why_absent():
        pytest.skip(reason)
    assert manifest.partitioner or manifest.passes
    for field in NAMES:
        if named := getattr(manifest, field):
            assert manifest.load(named) is not None
    if manifest.operators is not None:
        table = manifest.load(manifest.operators.table)
        assert len(table) + len(table.rows_of_patterns)
    if manifest.partitioner:
        assert manifest.load(manifest.partitioner)().delegation_spec.backend_id == manifest.id
    if manifest.recipes:
        known = manifest.load(manifest.recipes).__members__
        assert set(manifest.recipe_of.values()) <= set(known)
        assert manifest.load(manifest.recipes).get_backend_name() == name


def test_every_folder_with_a_compiler_has_a_manifest() -> None:
    root = ROOT / "backends"
    found = [*root.glob("*/aot/__init__.py"), *root.glob("*/*/aot/__init__.py")]
    folders = {".".join(path.parents[1].relative_to(root).parts) for path in found}
    assert folders and folders <= set(discovery.folders())


def test_finding_backends_imports_no_pytorch() -> None:
    code = (
        "import sys\nfrom executorch import _light\n_light.is_on = True\n"
        "from executorch.backends.discovery import all_backends\n"
        "assert {'xnnpack', 'skeleton', 'skeleton_kernels'} <= set(all_backends())\n"
        "assert not {'torch', 'numpy', 'yaml'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_for_tests_alone_is_no_users() -> None:
    assert {"skeleton", "skeleton_kernels"} & set(discovery.backends()) == set()
    assert set(discovery.language_models()) <= set(discovery.backends()) <= set(MANIFESTS)


def test_a_backend_without_its_sdk_says_how_it_is_had() -> None:
    manifest = BackendManifest(
        __name__,
        "npu",
        partitioner="x:Y",
        needs=("os", "no_such_sdk.core"),
        get_sdk="ask its maker",
    )
    message = "the backend npu needs no_such_sdk.core, not installed here: ask its maker"
    assert manifest.why_absent() == message
    with pytest.raises(BackendAbsent, match="ask its maker"):
        manifest.load(manifest.partitioner)


def test_two_backends_of_one_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(
        tmp_path,
        {"twin_one/backend.py": _manifest("twin"), "twin_two/backend.py": _manifest("twin")},
    )
    import executorch.backends

    monkeypatch.setattr(executorch.backends, "__path__", [str(tmp_path)])
    with pytest.raises(ValueError, match=r"called twin: .*twin_one and .*twin_two"):
        discovery.all_backends.__wrapped__()
    for name in [each for each in sys.modules if each.startswith("executorch.backends.twin_")]:
        del sys.modules[name]


def _manifest(name: str, more: str = "") -> str:
    return (
        "from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage\n"
        f"BACKENDS = (BackendManifest(__package__, {name!r}, {more}),)\n"
    )


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
        (root / name).with_name("__init__.py").touch()


# A backend that has all: it is XNNPACK's compiler under another name.
NPU = {
    "npu/backend.py": _manifest(
        "npu",
        """id="XnnpackBackend", partitioner="npu:NpuPartitioner", quantizer="npu:NpuQuantizer",
        recipes="npu:NpuRecipeType", recipe_of={"int2": "INT2"}, language_models="llm",
        pt2e_quantizations=("npu_int2",), operators=OperatorPage(table="npu:TABLE", dtypes="int2")""",
    ),
    "npu/npu.py": """
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner as NpuPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer as NpuQuantizer
from executorch.export import BackendRecipeProvider, ExportRecipe, RecipeType, recipe_registry

class NpuRecipeType(RecipeType):
    INT2 = "npu_int2"

    @classmethod
    def get_backend_name(cls):
        return "npu"

class Provider(BackendRecipeProvider):
    backend_name = "npu"

    def get_supported_recipes(self):
        return list(NpuRecipeType)

    def create_recipe(self, recipe_type, **kwargs):
        return ExportRecipe(name=recipe_type.value)

recipe_registry.register_backend_recipe_provider(Provider())
""",
    "npu/llm.py": """
RULES = ((lambda c: c.base.use_lora, "npu has no adapters: leave out base.use_lora"),)

def partitioners(config):
    return [("npu", config.backend.npu.enabled)]

def quantizers(name):
    return [name]
""",
    "other_npu/backend.py": _manifest(
        "qnn",
        """language_models="llm", needs=("no_such_sdk",), get_sdk="it is macOS's", id="QNN" """,
    ),
}
LISTS = """
import argparse, pytest, sys
import executorch.backends
executorch.backends.__path__.append(sys.argv[1])
from executorch.cli import export, exporting
def recipe(*words):
    return exporting.recipe(export.parser("x").parse_args(["m", *words])).name
assert recipe("--backend", "npu") == "npu" and recipe("--backend", "npu", "--quantize", "int2") == "npu_int2"
assert recipe("--recipe", "npu_int2") == "npu_int2" and "npu_int2" in exporting.listing()
with pytest.raises(ValueError, match="--quantize: expected --backend npu, found xnnpack"):
    recipe("--backend", "xnnpack", "--quantize", "int2")
from executorch.extension.llm.export.config.reading import read
from executorch.extension.llm.export.config.rules import check
from executorch.extension.llm.export.partitioner_lib import get_qnn_partitioner
from executorch.extension.llm.export.pipeline import partitioners_for
from executorch.extension.llm.export.quantizer_lib import quantizers_for
config = read(None, ["backend.npu.enabled=True"])
check(config)
assert partitioners_for(config) == [("npu", True)]
config = read(None, ["quantization.pt2e_quantize=npu_int2"])
check(config)
assert quantizers_for(config) == ["npu_int2"]
with pytest.raises(ValueError, match="npu has no adapters"):
    check(read(None, ["backend.npu.enabled=True", "base.use_lora=4", "quantization.use_qat=True"]))
with pytest.raises(ValueError, match="qnn needs no_such_sdk, not installed here: it is macOS's"):
    check(read(None, ["backend.qnn.enabled=True"]))
with pytest.raises(RuntimeError, match="it is macOS's"):
    get_qnn_partitioner()
from executorch.backends.test.suite.flow import all_flows
import executorch.backends.test.suite.flows.xnnpack as documented
assert documented.XNNPACK_TEST_FLOW is all_flows()["xnnpack"] and "npu" in all_flows()
assert type(all_flows()["npu_quantized"].quantize_stage_factory().quantizer).__name__ == "XNNPACKQuantizer"
from tools import backend_operators
assert backend_operators.main(["npu"]) == 0
"""


def test_a_folder_alone_is_in_every_list(tmp_path: Path) -> None:
    _write(tmp_path, NPU)
    command = [sys.executable, "-c", LISTS, str(tmp_path)]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "aten.linear.default,int2,," in done.stdout
