# SPDX-License-Identifier: BSD-3-Clause
"""usage: python -m executorch.examples.llm_server --model-path MODEL.pte --tokenizer-path tokenizer.json"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m executorch.examples.llm_server",
        description="Serves a language model with OpenAI's routes.",
    )
    made.add_argument("--model-path", type=Path, required=True, help="the program (.pte)")
    made.add_argument("--tokenizer-path", type=Path, required=True, help="the tokenizer's file")
    made.add_argument(
        "--worker-bin",
        help="not used, and said so: runners are part of this process; for command lines that have it",
    )
    made.add_argument(
        "--hf-tokenizer",
        type=Path,
        help="folder with the chat template (tokenizer_config.json); default: that of --tokenizer-path",
    )
    made.add_argument(
        "--allow-chatml-fallback", action="store_true", help="ChatML where no template is found"
    )
    made.add_argument("--model-id", default="executorch", help="the model's name for clients")
    made.add_argument(
        "--no-think", action="store_true", help="tells the template to leave thinking out"
    )
    made.add_argument("--max-context", type=int, help="tokens of prompt and answer together")
    made.add_argument(
        "--num-runners",
        type=int,
        help="answers at the same time; default: the sessions of the program (export.max_sessions), else 1",
    )
    made.add_argument("--max-waiting", type=int, default=64, help="requests in the queue")
    made.add_argument("--host", default="127.0.0.1")
    made.add_argument("--port", type=int, default=8000)
    return made


def make_service(options: argparse.Namespace):
    from executorch.examples.llm_server.app import Service
    from executorch.examples.llm_server.pool import Pool
    from executorch.extension.llm.chat import check_program
    from executorch.extension.llm.runner import TextLLMRunner
    from executorch.extension.llm.runner.chat_template import ChatTemplate

    for name, least in (("num_runners", 1), ("max_waiting", 0)):
        found = getattr(options, name)
        if found is not None and found < least:
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag}: expected {least} or more, found {found}")
    check_program(options.model_path)
    if options.worker_bin is not None:
        print("note: --worker-bin is not used: runners are part of this process", file=sys.stderr)
    template = ChatTemplate.beside(
        options.hf_tokenizer or options.tokenizer_path, options.allow_chatml_fallback
    )
    paths = (options.model_path, options.tokenizer_path)
    runners = TextLLMRunner.several(*paths, options.num_runners or 1)
    sessions = runners[0].metadata["get_max_sessions"]
    if options.num_runners is None and sessions > 1:
        runners = TextLLMRunner.several(*paths, sessions)
    for runner in runners:
        runner.load()
    length = runners[0].metadata["get_max_context_len"]
    pool = Pool(runners, options.max_waiting, min(options.max_context or length, length))
    thinking = {"enable_thinking": False} if options.no_think else {}
    return Service(pool, template, options.model_id, thinking)


def main() -> None:
    options = parser().parse_args()
    try:
        import uvicorn

        from executorch.examples.llm_server.app import make_app
    except ImportError as error:
        sys.exit(
            f"error: the server needs starlette and uvicorn: pip install 'executorch[llm-server]' ({error})"
        )
    try:
        app = make_app(make_service(options))
    except (RuntimeError, OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    uvicorn.run(app, host=options.host, port=options.port, log_level="info")


if __name__ == "__main__":
    main()
