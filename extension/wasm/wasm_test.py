# SPDX-License-Identifier: BSD-3-Clause
"""The build by Emscripten: documented behaviours in Node, networks beside this machine's numbers, a selective build,
text, the page in a browser, the guide's commands."""

from __future__ import annotations

import http.server
import json
import os
import runpy
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.examples.models import make_example
from executorch.examples.models.example import Method
from executorch.examples.xnnpack.quantization import quantized_method
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.llm.runner.test import tiny_llama
from executorch.test.cli import wrapped
from executorch.test.documents.commands import commands_of
from executorch.test.e2e.build_tree import ROOT
from executorch.test.e2e.chromium import Chromium, needs_chromium
from executorch.test.e2e.cpp_calls import call_in_cpp
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.install.commands import beside, command

HERE = ROOT / "extension" / "wasm"
PROGRAMS = runpy.run_path(str(HERE / "test" / "programs.py"))  # no part of the installed package

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        shutil.which("emcmake") is None, reason="needs Emscripten (scripts/apt-packages.txt)"
    ),
]


def emscripten() -> dict[str, str]:
    """Debian's Emscripten does not find its own parser without the path of Debian's Node modules."""
    return {"NODE_PATH": os.environ.get("NODE_PATH", "/usr/share/nodejs")}


def built(folder: Path, *options: str, target: str = "executorch_wasm_page") -> Path:
    """The folder of the interface's build."""
    command("emcmake", "cmake", "--preset", "wasm", "-B", folder, *options, **emscripten())
    command("cmake", "--build", folder, "--target", target, **emscripten())
    return folder / "extension" / "wasm"


@pytest.fixture(scope="module")
def package() -> Path:
    return built(beside("wasm")) / "page"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    PROGRAMS["write"](folder)
    return folder


def test_the_documented_behaviours(package: Path, small: Path) -> None:
    text = command(
        "node", "--test", HERE / "test" / "documented.test.mjs",
        EXECUTORCH_WASM=str(package), PROGRAMS=str(small),
    )  # fmt: skip
    assert "# fail 0" in text, text


NETWORKS = ("mv2", "mv2_int8", "vit")


def method_of(name: str) -> Method:
    method = make_example(name.removesuffix("_int8")).forward
    return quantized_method(method) if name.endswith("_int8") else method


@pytest.fixture(scope="module", params=NETWORKS)
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with program.pte, inputs and the native outputs."""
    folder = tmp_path_factory.mktemp(request.param)
    method = method_of(request.param)
    lowered = to_edge_transform_and_lower(method.export(), partitioner=[XnnpackPartitioner()])
    (folder / "program.pte").write_bytes(lowered.to_executorch().buffer)
    (folder / "inputs").write_bytes(b"".join(each.numpy().tobytes() for each in method.inputs))
    (outputs,) = call_in_cpp(folder / "program.pte", [("forward", list(method.inputs))])
    (folder / "expected").write_bytes(b"".join(each.numpy().tobytes() for each in outputs))
    return folder


def run_in_node(package: Path, folder: Path, runs: int = 1) -> tuple[np.ndarray, dict[str, float]]:
    text = command(
        "node", ROOT / "examples" / "wasm" / "run.mjs", package, folder / "program.pte",
        folder / "inputs", folder / "outputs", runs,
    )  # fmt: skip
    return np.fromfile(folder / "outputs", np.float32), json.loads(text)


@pytest.mark.req("XQ-011")
def test_a_network_gives_the_native_numbers(package: Path, network: Path) -> None:
    outputs, times = run_in_node(package, network)
    expected = np.fromfile(network / "expected", np.float32)
    difference = np.abs(outputs - expected).max() / max(1.0, np.abs(expected).max())
    print(f"{network.name}: {difference:.1e} from the native numbers, {times['median']:.1f} ms")
    assert outputs.shape == expected.shape and difference < 1e-4


WRONG = """
import { readFileSync } from "node:fs";
import { load } from "executorch";
import { AllOfIt, type Elements } from "./AllOfIt.js";

const said = (call: () => unknown) => {
  try {
    return `no error: ${call()}`;
  } catch (problem) {
    return (problem as Error).message;
  }
};
const et = await load();
const model = new AllOfIt(et, readFileSync(process.argv[2]));
const floats = (...sizes: number[]): Elements<Float32Array> =>
  ({ data: new Float32Array(sizes.reduce((product, size) => product * size, 1)), sizes });
// @ts-expect-error: the elements are of another type
const doubles: Elements<Float32Array> = { data: new Float64Array(2), sizes: [2] };
const other = new AllOfIt(et, readFileSync(process.argv[3]));
console.log(said(() => model.ranges(floats(3, 3), floats(8), floats(1))));
console.log(said(() => model.ranges(floats(3, 4), floats(6), floats(1))));
console.log(said(() => model.store({ data: new Float32Array(2), sizes: [3] })));
console.log(said(() => other.delete_()));
console.log(said(() => other.useKvCache()));
console.log(model.scalars(floats(4, 2)).output1, AllOfIt.labels[1], doubles.sizes.length);
model.delete();
"""
NODE_TYPES = """
declare module "node:fs" { export function readFileSync(path: string): Uint8Array; }
declare const process: { argv: string[] };
"""


@pytest.mark.skipif(
    shutil.which("tsc") is None, reason="needs TypeScript (scripts/apt-packages.txt)"
)
def test_a_typed_class_compiles_and_gives_the_numbers(package: Path, tmp_path: Path) -> None:
    """Of `executorch wrap --lang ts`."""
    program = wrapped.write(tmp_path)
    wrapped.wrapped(program, "ts", tmp_path, ".ts")
    (tmp_path / "wrong.ts").write_text(WRONG)
    (tmp_path / "node.d.ts").write_text(NODE_TYPES)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "executorch").symlink_to(package.resolve())
    strict = ("--strict", "--noUnusedLocals", "--noUnusedParameters", "--noImplicitReturns")
    files = ("main.ts", "wrong.ts", "node.d.ts")
    command("tsc", *strict, "--target", "es2022", "--module", "node16", *files, cwd=tmp_path)
    names = {"delete_": "delete", "getMaxSeqLen": "get_max_seq_len", "useKvCache": "use_kv_cache"}
    bits = float(0x3800)  # of a half 0.5: JavaScript has no halves
    printed = command("node", tmp_path / "main.js", program, cwd=tmp_path)
    wrapped.same(printed, names, halves=bits, bfloats=0x3F00)
    other = wrapped.save(tmp_path / "other.pte", wrapped.others(), use_kv_cache=2)
    printed = command("node", tmp_path / "wrong.js", program, other, cwd=tmp_path)
    for sentence in (
        "dimension 0 of input rows is 3, so dimension 0 of input pairs must be 6, got 8",
        "Input rows of method ranges, dimension 1: expected 3, found 4",
        "input x: expected 3 elements for sizes [3], found 2",
        "Method delete: expected 5 inputs, input x is missing",
        "output 0: expected a boolean, found a bigint: the file is another program",
        f"4n {wrapped.LABELS[1]} 1",  # x.shape[0]
    ):
        assert sentence in printed, printed


def test_a_selective_build_runs_its_network(package: Path, tmp_path: Path) -> None:
    """Without XNNPACK, the kernels of one program."""
    method = make_example("mv2").forward
    (tmp_path / "program.pte").write_bytes(
        to_edge_transform_and_lower(method.export()).to_executorch().buffer
    )
    small = built(
        beside("wasm-selected"), f"-DEXECUTORCH_SELECT_OPS_MODEL={tmp_path / 'program.pte'}",
        "-DEXECUTORCH_BUILD_XNNPACK=OFF", "-DEXECUTORCH_BUILD_KERNELS_QUANTIZED=OFF",
    ) / "page"  # fmt: skip
    (tmp_path / "inputs").write_bytes(method.inputs[0].numpy().tobytes())
    outputs, _ = run_in_node(small, tmp_path)
    expected = method.eager()[0][0].numpy().ravel()
    assert np.abs(outputs - expected).max() < 1e-4 * max(1.0, np.abs(expected).max())
    sizes = [(each / "executorch.wasm").stat().st_size for each in (package, small)]
    print(
        f"executorch.wasm: {sizes[0] // 1024} KiB with all kernels, {sizes[1] // 1024} KiB selected"
    )
    assert sizes[1] < sizes[0] / 2


TEXT = ("EXTENSION_LLM_RUNNER", "KERNELS_LLM", "KERNELS_TORCHAO")
PROMPT = "The quick brown fox"


def test_a_language_model_writes_the_same_text(
    tmp_path_factory: pytest.TempPathFactory, program_store: ProgramStore
) -> None:
    """Beside transformers' 40 best tokens; in pieces, and again after the context went back."""
    llama = tiny_llama.kept(tmp_path_factory.mktemp("llama"), program_store)
    with_text = built(beside("wasm-text"), *(f"-DEXECUTORCH_BUILD_{name}=ON" for name in TEXT))
    expected = llama.decode(llama.greedy(llama.encode(PROMPT), 40))
    answer = json.loads(
        command(
            "node", ROOT / "examples" / "wasm" / "write.mjs", with_text / "page", llama.program,
            llama.tokenizer, PROMPT, 40,
        )
    )  # fmt: skip
    assert answer["text"] == expected and "".join(answer["pieces"]) == expected
    assert len(answer["pieces"]) > 1 and answer["newTokens"] == 40
    assert answer["ids"] == llama.encode(PROMPT) and answer["again"] == expected


@pytest.fixture
def site(package: Path) -> Iterator[str]:
    """The page on a server of this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        extensions_map = {
            **http.server.SimpleHTTPRequestHandler.extensions_map,
            ".mjs": "text/javascript", ".wasm": "application/wasm",
        }  # fmt: skip

        def log_message(self, *values: object) -> None:
            pass

    handler = partial(Quiet, directory=str(package))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host, port = server.server_address[:2]
        yield f"http://{host}:{port}"
        server.shutdown()


SCRIPT = """
const et = require(process.argv[1]);
et.onRuntimeInitialized = () => {
  const module = et.Module.load(require("fs").readFileSync(process.argv[2]));
  const [sum] = module.forward([et.Tensor.ones([2, 2]), et.Tensor.full([2, 2], 2)]);
  console.log(et.ScalarType.Float.value, Array.from(sum.data).join());
};
"""


def test_the_documented_target(package: Path, small: Path) -> None:
    """An executable that links executorch_wasm: the names are on the module object. Emscripten 3.1.6 takes Node's fetch
    for a browser's."""
    script = built(beside("wasm"), target="executorch_wasm_lib") / "executorch_wasm_lib.js"
    words = "node", "--no-experimental-fetch", "-e", SCRIPT, script, small / "add.pte"
    assert command(*words) == "6 3,3,3,3\n"


def test_the_guides_commands(package: Path) -> None:
    """What the fixture did, in the guide's words; the folder is there."""
    commands = " ".join(commands_of("other_languages", "Browsers and Node"))
    assert "--preset wasm" in commands and "--target executorch_wasm_page" in commands
    assert {"index.mjs", "executorch.wasm", "index.html"} <= {
        each.name for each in package.iterdir()
    }


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_runs_a_program(
    site: str, package: Path, small: Path, width: int, tmp_path: Path
) -> None:
    shutil.copy(small / "add_mul.pte", package / "add_mul.pte")
    (package / "wrong.pte").write_bytes(bytes(64))
    with Chromium(tmp_path / "profile") as page:
        page.resize(width, 900)
        page.open(f"{site}/index.html?program=add_mul.pte")
        page.wait_for("document.querySelectorAll('#times div').length === 4")
        shown = page.value("document.body.innerText")
        for text in ("aten::mm.out", "aten::add.out", "2 × 2", "Float", "Planned for values"):
            assert text in shown, shown
        # Nothing is wider than the window.
        assert page.value(
            "(root => root.scrollWidth <= root.clientWidth)(document.documentElement)"
        )
        page.open(f"{site}/index.html?program=wrong.pte")
        page.wait_for("document.querySelector('#status').className === 'bad'")
        assert "Failed to load program, error: 0x23" in page.value(
            "document.querySelector('#status').innerText"
        )
        assert not page.exceptions
