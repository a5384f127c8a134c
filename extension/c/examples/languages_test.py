# SPDX-License-Identifier: BSD-3-Clause
"""One program in C, Python, Rust, Go and Node over the C interface: numbers of the C++ Module, text, errors, memory."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.llm.runner.test import tiny_llama
from executorch.extension.llm.runner.test.tiny_llama import TinyLlama
from executorch.test.documents.commands import commands_of
from executorch.test.e2e.build_tree import build_folder, loadable
from executorch.test.e2e.cpp_calls import call_in_cpp
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.repository.sources import ROOT

HERE = ROOT / "extension" / "c"
ADD = ROOT / "extension" / "module" / "test" / "resources" / "add.pte"

Command = list[str]


PAGE = "other_languages"
TOOLS = {"C": "cc", "Python": "python", "Rust": "rustc", "Go": "go", "Node": "node"}


PROMPT = "The quick brown fox"


@pytest.fixture(scope="session")
def continuation(llama: TinyLlama) -> str:
    """The 40 best tokens behind the prompt, by transformers."""
    return llama.decode(llama.greedy(llama.encode(PROMPT), 40))


def run(
    *words: object, folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    command = [str(word) for word in words]
    return subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True)


@pytest.fixture(scope="module", params=TOOLS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The words that begin a command of the program in each language, built by the page's commands."""
    rust = Path.home() / ".cargo" / "bin"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], str(rust)])
    found = shutil.which(TOOLS[request.param], path=path)
    if found is None:
        pytest.skip(f"no {TOOLS[request.param]} on this machine (scripts/apt-packages.txt)")
    if request.param == "Node" and not (Path(found).parents[1] / "include" / "node").exists():
        pytest.skip("no headers of Node on this machine (Debian: libnode-dev)")
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "prefix").mkdir()
    (folder / "prefix" / "include").symlink_to(build_folder() / "generated")
    (folder / "prefix" / "lib").symlink_to(loadable("executorch_c").parent)
    (folder / "add.pte").symlink_to(ADD)
    (folder / "inputs").write_bytes(np.array([1.5, 2.25], np.float32).tobytes())
    commands = commands_of(PAGE, request.param)
    done = run(
        "sh", "-e", "-c", "\n".join(commands), folder=folder, PATH=path, EXECUTORCH=str(ROOT),
        PREFIX=str(folder / "prefix"), GOFLAGS="-mod=mod", GOPROXY="off",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert np.fromfile(folder / "outputs", np.float32).tolist() == [3.75]
    scripts = {
        "Python": [sys.executable, HERE / "examples" / "run.py", loadable("executorch_c")],
        "Node": [found, HERE / "examples" / "run.js", folder / "executorch.node"],
    }
    return [str(word) for word in scripts.get(request.param, [folder / "run"])]


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory, program_store: ProgramStore) -> TinyLlama:
    return tiny_llama.kept(tmp_path_factory.mktemp("tiny_llama"), program_store)


def outputs_of(program: Command, path: Path, inputs: list[torch.Tensor], folder: Path) -> bytes:
    (folder / "inputs").write_bytes(b"".join(each.numpy().tobytes() for each in inputs))
    done = run(*program, "run", path, folder / "inputs", folder / "outputs")
    assert done.returncode == 0, done.stderr
    return (folder / "outputs").read_bytes()


def outputs_in_cpp(path: Path, inputs: list[torch.Tensor]) -> bytes:
    (outputs,) = call_in_cpp(path, [("forward", inputs)])
    return b"".join(each.numpy().tobytes() for each in outputs)


class SmallNetwork(torch.nn.Module):
    """A convolution, a delegate, outputs of two dtypes."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.body = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU())

    def forward(self, x: torch.Tensor, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.body(x).mean((2, 3)), rows * 3


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[torch.Tensor]]:
    torch.manual_seed(4)
    inputs = [torch.randn(1, 3, 16, 16), torch.arange(5)]
    exported = torch.export.export(SmallNetwork(), tuple(inputs))
    path = tmp_path_factory.mktemp("small") / "small.pte"
    lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    path.write_bytes(lowered.to_executorch().buffer)
    return path, inputs


def test_outputs_are_those_of_cpp_bit_for_bit(
    program: Command, small: tuple[Path, list[torch.Tensor]], tmp_path: Path
) -> None:
    path, inputs = small
    found = outputs_of(program, path, inputs, tmp_path)
    assert found == outputs_in_cpp(path, inputs)
    assert np.frombuffer(found[-40:], np.int64).tolist() == [0, 3, 6, 9, 12]


def test_text_is_streamed_as_transformers_writes_it(
    program: Command, llama: TinyLlama, continuation: str
) -> None:
    done = run(*program, "text", llama.program, llama.tokenizer, PROMPT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode(errors="replace") == continuation


def test_errors_are_messages(program: Command, tmp_path: Path) -> None:
    (tmp_path / "inputs").write_bytes(bytes(8))
    done = run(*program, "run", "/nowhere/model.pte", tmp_path / "inputs", tmp_path / "outputs")
    assert done.returncode == 1
    assert b"module_load: Error::AccessFailed" in done.stderr
    assert b"/nowhere/model.pte" in done.stderr
    (tmp_path / "cut.pte").write_bytes(ADD.read_bytes()[:100])
    done = run(*program, "run", tmp_path / "cut.pte", tmp_path / "inputs", tmp_path / "outputs")
    assert done.returncode == 1 and b"module_load: Error::Invalid" in done.stderr


def test_memory_is_flat_over_1000_loads(program: Command) -> None:
    done = run(*program, "load", ADD, 1000)
    assert done.returncode == 0, done.stderr
    more = int(done.stdout.split()[0])
    print(more, "KiB more after 1,000 loads of", ADD.stat().st_size, "bytes")
    assert more < 1000  # a leak of a program's structures would be more than 1 KiB a load


# What lifetimes forbid: the error that rustc gives, and a function that would dangle or race.
MISUSE = {
    "E0597": """pub fn f() { let mut kept = Vec::new();
    { let data = vec![1f32]; kept.push(Tensor::new(&data[..], &[1]).unwrap()); }
    drop(kept) }""",
    "E0499": """pub fn f(module: &mut Module<'_>) {
    let first = module.execute("forward", &[]).unwrap(); module.execute("forward", &[]).unwrap(); drop(first) }""",
    "E0505": """pub fn f(mut module: Module<'static>) {
    let outputs = module.execute("forward", &[]).unwrap(); drop(module); drop(outputs) }""",
    "E0515": """pub fn f() -> Module<'static> { let bytes = vec![0u8]; Module::from_bytes(&bytes).unwrap() }""",
}


@pytest.fixture(scope="module")
def rustc() -> str:
    cargo = str(Path.home() / ".cargo" / "bin")
    found = shutil.which("rustc", path=os.pathsep.join([os.environ["PATH"], cargo]))
    return found or pytest.skip("no rustc on this machine (scripts/apt-packages.txt)")


@pytest.fixture(scope="module")
def crate(rustc: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crate")
    options = ["--edition", "2021", "--crate-type", "rlib", "--crate-name", "executorch"]
    strict = ["-D", "warnings", "--emit", "metadata"]
    done = run(rustc, *options, *strict, HERE / "rust" / "src" / "lib.rs", folder=folder)
    assert done.returncode == 0, done.stderr.decode()
    return folder


@pytest.mark.parametrize("code", MISUSE)
def test_what_would_dangle_does_not_compile_in_rust(code: str, rustc: str, crate: Path) -> None:
    source = crate / f"{code}.rs"
    source.write_text("use executorch::*;\n" + MISUSE[code])
    words = ["--edition", "2021", "--crate-type", "lib", "--emit", "metadata"]
    done = run(rustc, *words, "--extern", "executorch=libexecutorch.rmeta", source, folder=crate)
    found = re.findall(r"error\[(E\d+)\]", done.stderr.decode())
    assert done.returncode != 0 and found == [code], done.stderr.decode()


WRONG = """
const native = require(process.argv[1]);
const tensor = (dtype, rank, bytes) => ({ dtype, sizes: Array(rank).fill(1), data: new ArrayBuffer(bytes) });
const module = native.load(process.argv[2]);
const rows = [
  ["load"], ["load", null], ["load", 7], ["release", 1n], ["inputs"], ["inputs", 7n, "forward"], ["execute"],
  ["execute", 0n, "forward", [{}]], ["execute", module, "forward", [5, null]], ["execute", module, "backward", []],
  ["execute", module, "forward", [tensor(6, 1, 2)]], ["execute", module, "forward", [tensor(99, 1, 4)]],
  ["execute", module, "forward", [tensor(6, 40, 4)]], ["text", null, null], ["generate", 3n, "x", {}, null],
];
for (const [name, ...row] of rows) {
  let message = null;
  try { native[name](...row); } catch (error) { message = error.message; }
  if (message === null) { throw new Error(`${name}(${row}) is accepted`); }
}
native.release(module);
"""


@pytest.mark.parametrize("program", ["Node"], indirect=True)
def test_node_throws_for_wrong_arguments(program: Command) -> None:
    done = run(program[0], "-e", WRONG, program[2], ADD)
    assert done.returncode == 0, done.stderr.decode()


PANICS = """use executorch::*;
fn main() {
    let words: Vec<String> = std::env::args().collect();
    let mut session = TextSession::new(&words[1], Some(&words[2])).unwrap();
    let options = GenerateOptions { max_new_tokens: 5, ..Default::default() };
    let answer = session.chat(&[("user", "Hello")], None, &options, |_| panic!("of the callback")).unwrap();
    assert_eq!(answer.reason, raw::STOPPED);
    let error = session.chat(&[("tool", "x")], None, &options, |_| true).unwrap_err();
    assert_eq!(error.code, raw::INVALID_ARGUMENT);
    println!("{}", error);
}
"""


def test_a_panic_in_rust_ends_the_answer(rustc: str, llama: TinyLlama, tmp_path: Path) -> None:
    library = loadable("executorch_c").parent
    (tmp_path / "panics.rs").write_text(PANICS)
    crate = ["--crate-type", "rlib", "--crate-name", "executorch", HERE / "rust" / "src" / "lib.rs"]
    assert run(rustc, "--edition", "2021", *crate, folder=tmp_path).returncode == 0
    link = ["-L", library, "-C", f"link-arg=-Wl,-rpath,{library}"]
    crates = ["--extern", "executorch=libexecutorch.rlib"]
    built = run(rustc, "--edition", "2021", "panics.rs", *crates, *link, folder=tmp_path)
    assert built.returncode == 0, built.stderr.decode()
    done = run(tmp_path / "panics", llama.program, llama.tokenizer)
    assert done.returncode == 0, done.stderr.decode()
    assert b"expected the role system, user or assistant, found tool" in done.stdout


@pytest.mark.full
def test_mobilenet_v2_is_that_of_cpp_bit_for_bit(
    program: Command, program_store: ProgramStore, tmp_path: Path
) -> None:
    from executorch.examples.models.mobilenet_v2 import MobileNetV2

    def make(folder: Path) -> None:
        torch.manual_seed(0)
        exported = torch.export.export(MobileNetV2().eval(), (torch.randn(1, 3, 224, 224),))
        lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        lowered.to_executorch().save(str(folder / "mv2.pte"))

    path = program_store.folder("c/mv2", make) / "mv2.pte"
    image = torch.randn(1, 3, 224, 224)
    assert outputs_of(program, path, [image], tmp_path) == outputs_in_cpp(path, [image])


@pytest.mark.full
def test_smollm2_writes_what_the_runner_writes(program: Command, tmp_path: Path) -> None:
    from executorch.examples.demo import smollm2
    from executorch.extension.llm.runner import GenerationConfig, TextLLMRunner

    gguf = smollm2.fetch(tmp_path)
    path, tokenizer = smollm2.export(gguf, tmp_path, [smollm2.FLOAT]), tmp_path / "tokenizer.json"
    pieces: list[str] = []
    config = GenerationConfig(echo=False, temperature=0, max_new_tokens=40, ignore_eos=True)
    TextLLMRunner(path, tokenizer).generate(smollm2.PROMPTS[0], config, pieces.append)
    done = run(*program, "text", path, tokenizer, smollm2.PROMPTS[0])
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == "".join(pieces)
