# SPDX-License-Identifier: BSD-3-Clause
"""The build by Emscripten in Node: documented behaviours, networks beside this machine's numbers, threads, a selective
build, text, events, tokenizers, the guide's commands."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from executorch.devtools import Inspector
from executorch.examples.models import make_example
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.llm.runner.test import tiny_llama
from executorch.test.cli import wrapped
from executorch.test.documents.commands import commands_of
from executorch.test.e2e.build_tree import ROOT
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.install.commands import command

HERE = ROOT / "extension" / "wasm"
Build = Callable[..., Path]

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        shutil.which("emcmake") is None, reason="needs Emscripten (scripts/apt-packages.txt)"
    ),
]


@pytest.mark.parametrize("threads", [1, 2])
def test_the_documented_behaviours(threaded: Path, small: Path, threads: int) -> None:
    text = command(
        "node", "--test", HERE / "test" / "documented.test.mjs",
        EXECUTORCH_WASM=str(threaded), PROGRAMS=str(small), THREADS=str(threads),
    )  # fmt: skip
    assert "# fail 0" in text, text


def run_in_node(
    package: Path, folder: Path, runs: int = 1, threads: int = 1
) -> tuple[np.ndarray, dict[str, float]]:
    text = command(
        "node", ROOT / "examples" / "wasm" / "run.mjs", package, folder / "program.pte",
        folder / "inputs", folder / "outputs", runs, threads,
    )  # fmt: skip
    return np.fromfile(folder / "outputs", np.float32), json.loads(text)


@pytest.mark.req("XQ-011")
def test_a_network_gives_the_native_numbers(package: Path, network: Path) -> None:
    outputs, times = run_in_node(package, network, 10)
    expected = np.fromfile(network / "expected", np.float32)
    difference = np.abs(outputs - expected).max() / max(1.0, np.abs(expected).max())
    native = float((network / "milliseconds").read_text())
    print(
        f"{network.name}: {difference:.1e} from the native numbers, {times['median']:.1f} ms "
        f"beside {native:.1f} native, one thread each"
    )
    assert outputs.shape == expected.shape and difference < 1e-4


def test_threads_give_the_numbers_of_one(threaded: Path, network: Path) -> None:
    outputs, times = run_in_node(threaded, network, 10, threads=2)
    expected, alone = run_in_node(threaded, network, 10)
    assert times["threads"] == 2 and alone["threads"] == 1
    ratio = alone["median"] / times["median"]
    print(f"{network.name}: two threads are {ratio:.2f} times as fast as one")
    assert (outputs == expected).all()


@pytest.mark.parametrize("name", ["index.mjs", "index.cjs"])
def test_threads_that_cannot_be_had_are_one(package: Path, threaded: Path, name: str) -> None:
    """Without the folder; with it, in both kinds of modules."""
    script = (
        "import(process.argv[1]).then(({ default: load }) => load({ threads: 2 }))"
        ".then((et) => console.log(et.numThreads, et.whyOneThread))"
    )
    assert command("node", "-e", script, threaded / name) == "2 \n"
    found = command("node", "-e", script, package / name)
    assert found.startswith("1 threads need the package's folder threads: ")


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


def test_a_selective_build_runs_its_network(package: Path, built: Build, tmp_path: Path) -> None:
    """Without XNNPACK, the kernels of one program."""
    method = make_example("mv2").forward
    (tmp_path / "program.pte").write_bytes(
        to_edge_transform_and_lower(method.export()).to_executorch().buffer
    )
    small = built(
        "wasm-selected", f"-DEXECUTORCH_SELECT_OPS_MODEL={tmp_path / 'program.pte'}",
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


PROMPT = "The quick brown fox"


def test_a_language_model_writes_the_same_text(
    with_text: Path, tmp_path_factory: pytest.TempPathFactory, program_store: ProgramStore
) -> None:
    """Beside transformers' 40 best tokens; in pieces, and again after the context went back."""
    llama = tiny_llama.kept(tmp_path_factory.mktemp("llama"), program_store)
    expected = llama.decode(llama.greedy(llama.encode(PROMPT), 40))
    answer = json.loads(
        command(
            "node", ROOT / "examples" / "wasm" / "write.mjs", with_text, llama.program,
            llama.tokenizer, PROMPT, 40,
        )
    )  # fmt: skip
    assert answer["text"] == expected and "".join(answer["pieces"]) == expected
    assert len(answer["pieces"]) > 1 and answer["newTokens"] == 40
    assert answer["ids"] == llama.encode(PROMPT) and answer["again"] == expected


SCRIPT = """
const et = require(process.argv[1]);
et.onRuntimeInitialized = () => {
  const module = et.Module.load(require("fs").readFileSync(process.argv[2]));
  const [sum] = module.forward([et.Tensor.ones([2, 2]), et.Tensor.full([2, 2], 2)]);
  console.log(et.ScalarType.Float.value, Array.from(sum.data).join());
};
"""


def test_the_documented_target(built: Build, small: Path) -> None:
    """An executable that links executorch_wasm: the names are on the module object. Emscripten 3.1.6 takes Node's fetch
    for a browser's."""
    script = built("wasm", target="executorch_wasm_lib") / "executorch_wasm_lib.js"
    words = "node", "--no-experimental-fetch", "-e", SCRIPT, script, small / "add.pte"
    assert command(*words) == "6 3,3,3,3\n"


def test_the_guides_commands(package: Path) -> None:
    """What the fixture did, in the guide's words; the folder is there."""
    commands = " ".join(commands_of("other_languages", "Browsers and Node"))
    assert "--preset wasm" in commands and "--target executorch_wasm_page" in commands
    assert {"index.mjs", "executorch.wasm", "index.html"} <= {
        each.name for each in package.iterdir()
    }
    commands = " ".join(commands_of("other_languages", "Threads in WebAssembly"))
    assert (
        "--preset wasm" in commands
        and "-DEXECUTORCH_WASM_THREADS=ON" in commands
        and "--target executorch_wasm_package" in commands
    )


def test_smollm2_writes_what_it_writes_natively(with_text: Path, smollm2: dict[str, Any]) -> None:
    answer = json.loads(
        command(
            "node", ROOT / "examples" / "wasm" / "write.mjs", with_text, smollm2["program"],
            smollm2["tokenizer"], smollm2["prompt"], smollm2["count"],
        )
    )  # fmt: skip
    speed = (answer["newTokens"] - 1) / answer["answerSeconds"]
    print(f"SmolLM2 in Node: {speed:.1f} tokens/s, natively {smollm2['speed']:.1f}, as floats")
    assert answer["text"] == smollm2["text"] == "".join(answer["pieces"]) == answer["again"]


TOKENIZERS = """
import { readFileSync } from "node:fs";
const [folder, file] = process.argv.slice(2);
const { load } = await import(`${folder}/index.mjs`);
const et = await load();
const said = (call) => { try { return `${call()}`; } catch (error) { return error.message; } };
const tokenizer = new et.HFTokenizer();
const before = tokenizer.isLoaded;
const errors = [
  () => tokenizer.load(new Uint8Array(9)), () => tokenizer.encode("x"), () => tokenizer.load(null),
].map(said);
tokenizer.load(readFileSync(file));
const ids = tokenizer.encode("the quick fox");
const facts = [before, tokenizer.isLoaded, tokenizer.vocabSize, typeof tokenizer.bosTok];
const text = tokenizer.decode(ids);
tokenizer.delete();
errors.push(said(() => tokenizer.encode("x")));
const names = ["HFTokenizer", "Llama2cTokenizer", "SPTokenizer", "Tekken", "Tiktoken"];
const kinds = names.filter((name) => new et[name]().isLoaded === false);
console.log(JSON.stringify({ ids: ids.map(Number), facts, text, errors, kinds }));
"""
EVENTS = """
import { writeFileSync, readFileSync } from "node:fs";
const [folder, program, place] = process.argv.slice(2);
const { load } = await import(`${folder}/index.mjs`);
const et = await load();
const module = et.Module.load(readFileSync(program));
for (let i = 0; i < 3; ++i) {
  module.forward([1, 2, 3].map((value) => et.Tensor.full([2, 2], value)));
}
const dump = module.etdump();
writeFileSync(place, dump.buffer);
dump.delete();
console.log(module.etdump().buffer.length < dump.buffer.length);
"""


def test_events_are_an_etdump(built: Build, small: Path, tmp_path: Path) -> None:
    """In a build with the event tracer; they are taken once."""
    page = built(
        "wasm-events", "-DEXECUTORCH_ENABLE_EVENT_TRACER=ON", "-DEXECUTORCH_BUILD_XNNPACK=OFF",
        "-DEXECUTORCH_BUILD_KERNELS_QUANTIZED=OFF", "-DEXECUTORCH_BUILD_KERNELS_OPTIMIZED=OFF",
        "-DEXECUTORCH_SELECT_OPS_LIST=aten::mm.out,aten::add.out",
    ) / "page"  # fmt: skip
    (tmp_path / "events.mjs").write_text(EVENTS)
    words = page, small / "add_mul.pte", tmp_path / "etdump.etdp"
    assert command("node", tmp_path / "events.mjs", *words) == "true\n"
    blocks = Inspector(etdump_path=str(tmp_path / "etdump.etdp")).event_blocks
    events = [event for block in blocks for event in block.events]
    times = {each.name: len(each.perf_data.raw) for each in events if each.perf_data}
    assert times["native_call_mm.out"] == times["native_call_add.out"] == 3, times


def test_tokenizers_alone(with_text: Path, tmp_path: Path) -> None:
    """A class for each format; ids of the reference."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    words = {"<unk>": 0, "the": 1, "Ġquick": 2, "Ġfox": 3}
    reference = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    reference.decoder = decoders.ByteLevel()
    reference.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizers.mjs").write_text(TOKENIZERS)
    found = json.loads(
        command("node", tmp_path / "tokenizers.mjs", with_text, tmp_path / "tokenizer.json")
    )
    ids = reference.encode("the quick fox").ids
    assert found["ids"] == ids and found["text"] == "the quick fox"
    assert found["facts"] == [False, True, 4, "bigint"]
    refused = ["Failed to load tokenizer", "Failed to encode text", "Unsupported data type: null"]
    assert found["errors"] == [*refused, "expected a tokenizer, found one after delete()"]
    assert found["kinds"] == [
        "HFTokenizer",
        "Llama2cTokenizer",
        "SPTokenizer",
        "Tekken",
        "Tiktoken",
    ]
