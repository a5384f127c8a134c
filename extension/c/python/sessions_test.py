# SPDX-License-Identifier: BSD-3-Clause
"""Text, training and events by the C interface: what the runner, optimizers and Inspector say, and what is refused."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.export.experimental import _export_forward_backward

from executorch.devtools import Inspector
from executorch.exir import to_edge
from executorch.extension.c.python import (
    ExecuTorchError,
    Library,
    OutputTensor,
    TextSession,
    raw,
    structure,
)
from executorch.extension.llm.runner.chat_template import ChatTemplate
from executorch.extension.llm.runner.test import tiny_llama
from executorch.extension.llm.runner.test.tiny_llama import CONTEXT, VOCABULARY, TinyLlama
from executorch.test.e2e.build_tree import loadable
from executorch.test.e2e.program_store import ProgramStore

PROMPT = "The quick brown fox"
GREEDY = {"temperature": 0.0}


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(loadable("executorch_c"))


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory, program_store: ProgramStore) -> TinyLlama:
    return tiny_llama.kept(tmp_path_factory.mktemp("tiny_llama"), program_store)


@pytest.fixture
def session(library: Library, llama: TinyLlama) -> TextSession:
    return library.text(llama.program, llama.tokenizer)


def greedy(session: TextSession, prompt: str, count: int, **more: object) -> str:
    answer = session.generate(
        prompt, sampling=GREEDY, max_new_tokens=count, ignores_end=1, **more
    )  # fmt: skip
    return answer.text


def test_answers_go_behind_each_other_and_can_be_taken_back(
    session: TextSession, llama: TinyLlama, tmp_path: Path
) -> None:
    ids = llama.encode(PROMPT)
    answer = session.generate(PROMPT, sampling=GREEDY, max_new_tokens=12, ignores_end=1)
    expected = llama.greedy(ids, 24)
    assert answer.text == llama.decode(expected[:12])
    assert (answer.reason, answer.prompt_tokens, answer.new_tokens) == ("length", len(ids), 12)
    assert session.position == len(ids) + 11  # the last token is shown and not fed
    api, path = session.library.api, str(tmp_path / "state").encode()
    session.library.check(api.text_save(session.handle, path))
    assert greedy(session, "", 12) == llama.decode(expected[12:])
    session.rewind()
    assert session.position == 0
    assert greedy(session, PROMPT, 12) == answer.text
    session.rewind()
    session.library.check(api.text_restore(session.handle, path))
    assert session.position == len(ids) + 11


def test_stop_texts_end_an_answer_before_them(session: TextSession, llama: TinyLlama) -> None:
    whole = greedy(session, PROMPT, 40)
    stop = re.findall(r"[a-zA-Z]{2,}", whole[4:])[1]
    session.rewind()
    pieces: list[str] = []
    answer = session.generate(
        PROMPT, pieces.append, stops=["nowhere in it", stop], sampling=GREEDY, max_new_tokens=40,
        ignores_end=1,
    )  # fmt: skip
    assert answer.reason == "stop_text"
    assert answer.text == "".join(pieces) == whole[: whole.index(stop)]


def test_callbacks_end_an_answer_and_their_errors_are_raised(session: TextSession) -> None:
    def fail(text: str) -> None:
        raise KeyError(text)

    with pytest.raises(KeyError):
        session.generate(PROMPT, fail, sampling=GREEDY, ignores_end=1)
    session.rewind()
    answer = session.generate(
        PROMPT, lambda text: session.stop(), sampling=GREEDY, ignores_end=1
    )  # fmt: skip
    assert answer.reason == "stopped" and answer.new_tokens < 10


def test_a_session_serves_one_call_at_a_time(session: TextSession) -> None:
    codes: list[int] = []

    def from_inside(text: str) -> None:
        try:
            session.rewind()
        except ExecuTorchError as error:
            codes.append(error.code)

    def from_outside() -> None:
        with pytest.raises(ExecuTorchError) as found:
            greedy(session, PROMPT, 5)
        codes.append(found.value.code)

    def on_text(text: str) -> None:
        from_inside(text)
        thread = threading.Thread(target=from_outside)
        thread.start()
        thread.join()

    session.generate(PROMPT, on_text, sampling=GREEDY, max_new_tokens=2, ignores_end=1)
    assert codes and set(codes) == {raw.INVALID_STATE}


def test_a_seed_makes_the_same_answer_and_a_grammar_holds(session: TextSession) -> None:
    answers = set()
    for _ in range(2):
        session.rewind()
        sampling = {"temperature": 1.0, "top_p": 0.9}
        options = {"sampling": sampling, "max_new_tokens": 20, "ignores_end": 1}
        answers.add(session.generate(PROMPT, has_seed=1, seed=7, **options).text)
    assert len(answers) == 1
    session.rewind()
    grammar = {"grammar": b'root ::= "fox" | "dog"', "grammar_type": b"gbnf"}
    assert session.generate(PROMPT, sampling=GREEDY, **grammar).text in ("fox", "dog")


def test_ids_of_texts_and_texts_of_ids(session: TextSession, llama: TinyLlama) -> None:
    api, count = session.library.api, ctypes.c_size_t()
    ids = (ctypes.c_uint64 * 64)()
    session.library.check(
        api.text_encode(session.handle, PROMPT.encode(), ids, 64, ctypes.byref(count))
    )
    assert ids[: count.value] == llama.encode(PROMPT)
    text = ctypes.create_string_buffer(64)
    size = ctypes.c_size_t()
    session.library.check(
        api.text_decode(session.handle, ids, count.value, text, 3, ctypes.byref(size))
    )
    assert (text.value.decode(), size.value) == (PROMPT[:3], len(PROMPT))
    ids[0] = VOCABULARY
    with pytest.raises(ExecuTorchError, match=f"expected ids below {VOCABULARY}, found"):
        session.library.check(api.text_decode(session.handle, ids, 1, text, 64, ctypes.byref(size)))


# Templates of checkpoints, without what they say of tools and defaults.
TEMPLATES = {
    "chatml": tiny_llama.TEMPLATE,
    "llama3": "{{ bos_token }}{% for m in messages %}{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n'"
    " + m['content'] | trim + '<|eot_id|>' }}{% endfor %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}",
    "gemma": "{{ bos_token }}{% for m in messages %}{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}"
    "{{ '<start_of_turn>' + role + '\n' + m['content'] | trim + '<end_of_turn>\n' }}{% endfor %}"
    "{{ '<start_of_turn>model\n' }}",
}
# As long as the small model's context admits.
CONVERSATIONS = {
    "chatml": [("system", "S"), ("user", "Hi "), ("assistant", "Yes"), ("user", "a b")],
    "llama3": [("user", " a")],
    "gemma": [("assistant", "Yes "), ("user", "a")],
}
BOS = {"llama3": "<|begin_of_text|>", "gemma": "<bos>"}
SHORT = {"sampling": GREEDY, "max_new_tokens": 8, "ignores_end": 1}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_chat_is_what_the_template_makes_of_it(
    name: str, session: TextSession, llama: TinyLlama
) -> None:
    roles = CONVERSATIONS[name]
    template = ChatTemplate(TEMPLATES[name], {"bos_token": BOS.get(name, "")})
    prompt = template.render([{"role": role, "content": text} for role, text in roles])
    ids = llama.encode(prompt)
    expected = llama.decode(llama.greedy(ids, 8))
    answer = session.chat(roles, form=name, **SHORT)
    assert (answer.text, answer.prompt_tokens) == (expected, len(ids))
    # From the cache, and by the template beside the tokenizer.
    for form in (name, None) if name == "chatml" else (name,):
        assert session.chat(roles, form=form, **SHORT).text == expected


def test_a_conversation_goes_on_from_its_cache(session: TextSession, llama: TinyLlama) -> None:
    pieces: list[str] = []
    first = session.chat([("user", "one")], pieces.append, **SHORT)
    assert "".join(pieces) == first.text
    turns = [("user", "one"), ("assistant", "two"), ("user", "three")]
    again = session.chat(turns, **SHORT).text
    session.rewind()
    assert session.chat(turns, **SHORT).text == again


@pytest.mark.parametrize(
    "messages, form, message",
    [
        ([], None, "expected a message at least, found none"),
        ([("tool", "x")], None, "expected the role system, user or assistant, found tool"),
        ([("user", "x"), ("system", "y")], None, "expected the system message first"),
        ([("system", "x")], "gemma", "the chat format gemma has no system messages"),
        ([("user", "x")], "alpaca", "expected one of the chat formats chatml, llama3, gemma, found alpaca"),
    ],
)  # fmt: skip
def test_conversations_that_are_none(
    session: TextSession, messages: list[tuple[str, str]], form: str | None, message: str
) -> None:
    with pytest.raises(ExecuTorchError, match=message):
        session.chat(messages, form=form, **SHORT)


def test_a_model_without_a_chat_template_says_so(
    library: Library, llama: TinyLlama, tmp_path: Path
) -> None:
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_bytes(llama.tokenizer.read_bytes())
    session = library.text(llama.program, tokenizer)
    with pytest.raises(
        ExecuTorchError, match="expected a chat template in the program or"
    ) as found:
        session.chat([("user", "x")], **SHORT)
    assert found.value.code == raw.NOT_FOUND
    (tmp_path / "chat_template.jinja").write_text("{{ messages }}")
    with pytest.raises(ExecuTorchError, match="of none of the formats chatml, llama3, gemma"):
        session.chat([("user", "x")], **SHORT)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"sampling": {"heat": 1.0}}, "expected the name of a setting of sampling, found heat"),
        ({"sampling": {"temperature": 3.0}}, "temperature: expected a number from 0 to 2, found 3"),
        ({"sampling": {"top_k": 1.5}}, "top_k: expected an integer"),
        ({"max_new_tokens": -1}, "expected numbers of at least 0, found max_new_tokens -1"),
        (
            {"grammar": b"root = (", "grammar_type": b"gbnf"},
            "text_generate: Error::InvalidArgument",
        ),
        ({"grammar": b"a", "grammar_type": b"regex"}, "regex"),
    ],
)
def test_wrong_settings_are_named(
    session: TextSession, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ExecuTorchError, match=message):
        session.generate(PROMPT, **options)
    assert session.position == 0


def test_prompts_that_do_not_fit_and_files_that_are_none(
    library: Library, session: TextSession, llama: TinyLlama, tmp_path: Path
) -> None:
    with pytest.raises(ExecuTorchError):
        session.generate("x " * CONTEXT, sampling=GREEDY)
    with pytest.raises(ExecuTorchError):
        session.generate("", sampling=GREEDY)
    with pytest.raises(ExecuTorchError, match="/nowhere/model.pte"):
        library.text("/nowhere/model.pte", llama.tokenizer)
    with pytest.raises(ExecuTorchError, match="nothing.json"):
        library.text(llama.program, tmp_path / "nothing.json")
    with pytest.raises(ExecuTorchError, match="tokenizer"):
        library.text(llama.program)  # it carries none


def test_events_are_read_by_the_inspector(library: Library, tmp_path: Path) -> None:
    x = torch.randn(3)
    exported = torch.export.export(Twice(), (x,))
    program = bytes(to_edge(exported).to_executorch().buffer)
    with library.load(program, records_events=1) as module:
        assert module.take_events() == b""
        for _ in range(2):
            module.execute(x.numpy())
        (tmp_path / "events.etdp").write_bytes(module.take_events())
    blocks = Inspector(etdump_path=str(tmp_path / "events.etdp")).event_blocks
    events = [event for block in blocks for event in block.events]
    (call,) = [event for event in events if event.name == "native_call_mul.Scalar_out"]
    assert len(call.perf_data.raw) == 2


class Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Regression(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.net = torch.nn.Linear(3, 1)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.mse_loss(self.net(x), y)


RULES = {
    "sgd": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    "adamw": (torch.optim.AdamW, {"lr": 0.05}),
}


@pytest.mark.parametrize("kind", RULES)
def test_training_follows_eager_pytorch(kind: str, library: Library, tmp_path: Path) -> None:
    eager, x, y = Regression(), torch.randn(4, 3), torch.randn(4, 1)
    exported = _export_forward_backward(torch.export.export(Regression(), (x, y)))
    program = to_edge(exported).to_executorch().buffer
    make, settings = RULES[kind]
    optimizer = make(eager.parameters(), **settings)
    api, check = library.api, library.check
    with library.load(bytes(program), is_for_training=1) as module:
        rows = (raw.ExecuTorchSetting * len(settings))(
            *(raw.ExecuTorchSetting(name.encode(), value) for name, value in settings.items())
        )
        ours = raw.ExecuTorchOptimizer()
        check(
            api.optimizer_new(
                module.handle, None, kind.encode(), rows, len(rows), ctypes.byref(ours)
            )
        )
        inputs = (raw.ExecuTorchValue * 2)()
        tensors = [library.tensor(each.numpy()) for each in (x, y)]
        for slot, tensor in zip(inputs, tensors):
            slot.kind, slot.tensor = raw.TENSOR, tensor.handle
        for _ in range(3):
            loss = eager(x, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            output, count = raw.ExecuTorchValue(), ctypes.c_size_t()
            status = api.train_step(
                module.handle, None, inputs, 2, ctypes.byref(output), 1, ctypes.byref(count)
            )
            check(status)
            found = OutputTensor(library, output.tensor, module).view()
            assert count.value == 1 and found[()] == pytest.approx(loss.item(), rel=1e-5)
            check(api.optimizer_step(ours))
        path = str(tmp_path / "checkpoint.ptd").encode()
        check(api.checkpoint_save(ours, path))
        for index, (name, parameter) in enumerate(sorted(eager.named_parameters())):
            found_name, handle = ctypes.c_char_p(), raw.ExecuTorchTensor()
            status = api.trained_tensor(
                module.handle, None, raw.PARAMETERS, index, ctypes.byref(found_name),
                ctypes.byref(handle),
            )  # fmt: skip
            check(status)
            view = np.array(OutputTensor(library, handle.value, module).view())
            assert found_name.value.decode() == name
            torch.testing.assert_close(torch.from_numpy(view), parameter.detach())
            OutputTensor(library, handle.value, module).view().cast("B")[:] = bytes(view.nbytes)
        check(api.checkpoint_load(ours, path))
        again = np.array(OutputTensor(library, handle.value, module).view())
        assert (again == view).all() and view.any()
        check(api.unload_method(module.handle, None))
        with pytest.raises(ExecuTorchError, match="method forward of the optimizer was unloaded"):
            check(api.optimizer_step(ours))
    with pytest.raises(ExecuTorchError, match="the optimizer's module is not to be had"):
        check(api.optimizer_step(ours))
    check(api.release(ours))


def test_training_of_what_cannot_be_trained(library: Library) -> None:
    x, y = torch.randn(4, 3), torch.randn(4, 1)
    exported = torch.export.export(Regression(), (x, y))
    program = bytes(to_edge(exported).to_executorch().buffer)
    api, out = library.api, raw.ExecuTorchOptimizer()
    for options, message in (
        ({}, "loaded with is_for_training"),
        ({"is_for_training": 1}, "Method forward computes no gradients"),
    ):
        module = library.load(program, **options)
        with pytest.raises(ExecuTorchError, match=message):
            library.check(
                api.optimizer_new(module.handle, None, b"sgd", None, 0, ctypes.byref(out))
            )
    setting = raw.ExecuTorchSetting(b"speed", 1.0)
    with pytest.raises(
        ExecuTorchError, match="sgd: expected one of the settings lr, .*found speed"
    ):
        status = api.optimizer_new(
            module.handle, None, b"sgd", ctypes.byref(setting), 1, ctypes.byref(out)
        )
        library.check(status)
    assert structure(raw.ExecuTorchTextResult).struct_size == 48


FOUND = "from executorch.extension.c.python import Library; print(Library().version)"


def test_the_wheels_library_is_found(library: Library, tmp_path: Path) -> None:
    """Where a wheel has it, by the folder of Python's alone."""
    folder = tmp_path / "executorch" / "extension" / "c" / "python"
    folder.mkdir(parents=True)
    for parent in (folder.parent, folder.parents[1], folder.parents[2]):
        (parent / "__init__.py").touch()
    for name in ("__init__.py", "raw.py"):
        shutil.copy(Path(raw.__file__).with_name(name), folder)
    (tmp_path / "executorch" / "lib").mkdir()
    (tmp_path / "executorch" / "lib" / "libexecutorch_c.so").symlink_to(loadable("executorch_c"))
    done = subprocess.run(
        [sys.executable, "-c", FOUND], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == library.version
