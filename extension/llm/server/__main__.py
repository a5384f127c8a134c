# SPDX-License-Identifier: BSD-3-Clause
"""Serves a language model with OpenAI's routes, and a page to try it.

MODEL is a program (.pte), a GGUF file, or a folder of Hugging Face; what is no program yet is exported once and kept.

    executorch serve SmolLM2-135M-Instruct.Q4_1.gguf --port 8000
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

# Of a checkpoint: as many answers in one call, which reads the weights once.
SESSIONS = 8


def parser(prog: str = "python -m executorch.extension.llm.server") -> argparse.ArgumentParser:
    from executorch.extension.llm.chat import add_export_option

    made = argparse.ArgumentParser(
        prog=prog, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("model", nargs="?", type=Path, metavar="MODEL", help="see above")
    add_export_option(made)
    made.add_argument("--model-path", type=Path, help="the program (.pte), in place of MODEL")
    made.add_argument("--tokenizer-path", type=Path, help="default: that of MODEL")
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
    made.add_argument("--model-id", help="the model's name for clients; default: the file's")
    made.add_argument(
        "--no-think", action="store_true", help="tells the template to leave thinking out"
    )
    made.add_argument("--max-context", type=int, help="tokens of prompt and answer together")
    made.add_argument(
        "--num-runners",
        type=int,
        help="answers at the same time; default: the sessions of the program (export.max_sessions), of a checkpoint "
        f"{SESSIONS}, or as many as a quarter of the memory keeps contexts of; 1 where layers have windows or states",
    )
    made.add_argument("--max-waiting", type=int, default=64, help="requests in the queue")
    made.add_argument("--host", default="127.0.0.1")
    made.add_argument("--port", type=int, default=8000)
    made.add_argument(
        "--cors",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="whose pages may call from a browser, such as https://chat.example; *: everybody's; may be repeated",
    )
    return made


def _check(options: argparse.Namespace) -> None:
    """ValueError for flags that make no sense, before a model is looked at."""
    for name, least in (("num_runners", 1), ("max_waiting", 0)):
        found = getattr(options, name)
        if found is not None and found < least:
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag}: expected {least} or more, found {found}")
    for origin in options.cors:
        if origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\s]+", origin):
            raise ValueError(
                f"--cors: expected an origin such as https://chat.example, without a path, or *; found {origin}"
            )


def make_service(options: argparse.Namespace):
    from executorch.extension.llm.chat import checkpoint_sampling
    from executorch.extension.llm.export.program_cache import program_of
    from executorch.extension.llm.runner import TextLLMRunner
    from executorch.extension.llm.runner.chat_template import ChatTemplate
    from executorch.extension.llm.server.app import Service
    from executorch.extension.llm.server.embeddings import Embedder
    from executorch.extension.llm.server.pool import Pool

    _check(options)
    given = options.model_path or options.model
    if given is None:
        raise ValueError("expected a MODEL: a .pte or .gguf file, or a folder of Hugging Face")
    sessions = options.num_runners or SESSIONS
    program = program_of(
        given, options.export_option, tokenizer=options.tokenizer_path, sessions=sessions
    )
    if options.worker_bin is not None:
        print("note: --worker-bin is not used: runners are part of this process", file=sys.stderr)
    template = ChatTemplate.beside(
        options.hf_tokenizer or program.tokenizer, options.allow_chatml_fallback
    )
    paths = (program.path, program.tokenizer)
    runners = TextLLMRunner.several(*paths, options.num_runners or 1)
    sessions = runners[0].metadata["get_max_sessions"]
    if options.num_runners is None and sessions > 1:
        runners = TextLLMRunner.several(*paths, sessions)
    for runner in runners:
        runner.load()
    length = runners[0].metadata["get_max_context_len"]
    return Service(
        pool=Pool(runners, options.max_waiting, min(options.max_context or length, length)),
        template=template,
        embedder=Embedder(program.path),
        model_id=options.model_id or program.name,
        created=int(program.path.stat().st_mtime),
        template_options={"enable_thinking": False} if options.no_think else {},
        sampling=checkpoint_sampling(program.tokenizer),
    )


def run(options: argparse.Namespace) -> int:
    """ImportError, RuntimeError, OSError or ValueError, with a sentence, for what cannot be done."""
    try:
        import uvicorn

        from executorch.extension.llm.server.app import make_app
    except ImportError as error:
        raise ImportError(
            f"the server needs starlette and uvicorn: pip install jinja2 starlette uvicorn ({error})"
        ) from error
    app = make_app(make_service(options), options.cors)
    uvicorn.run(app, host=options.host, port=options.port, log_level="info")
    return 0


def main(prog: str = "python -m executorch.extension.llm.server") -> None:
    try:
        run(parser(prog).parse_args())
    except (ImportError, RuntimeError, OSError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
