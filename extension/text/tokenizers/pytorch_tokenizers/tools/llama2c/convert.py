# SPDX-License-Identifier: BSD-3-Clause
"""python -m pytorch_tokenizers.tools.llama2c.convert -t tokenizer.model -o tokenizer.bin [-p]"""

from __future__ import annotations

import argparse
import struct
from pathlib import Path

from pytorch_tokenizers.pytorch_tokenizers_cpp import SPTokenizer

PAD_SCORE = -1.0


def write(model: SPTokenizer, output_path: str, *, prepend_padding: bool = False) -> None:
    """Header (count, bos, eos, longest piece), then score, length and bytes of each piece; U+2581 as a space."""
    bos, eos = model.bos_tok(), model.eos_tok()
    rows = [(PAD_SCORE, b"<pad>")] if prepend_padding else []
    for token in range(model.vocab_size()):
        piece = model.id_to_piece(token)
        named = {bos: b"<s>", eos: b"</s>"}.get(token)
        rows.append((model.score(token), named or piece.replace("\u2581".encode(), b" ")))
    shift = int(prepend_padding)
    longest = max(len(piece) for _, piece in rows)
    with Path(output_path).open("wb") as out:
        out.write(struct.pack("<4i", len(rows), bos + shift, eos + shift, longest))
        for score, piece in rows:
            out.write(struct.pack("<fi", score, len(piece)) + piece)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-t", "--tokenizer-model", required=True, help="SentencePiece .model")
    parser.add_argument("-o", "--output-path", help="tokenizer.bin; default: beside the model")
    parser.add_argument("-p", "--prepend-padding", action="store_true", help="<pad> as id 0")
    args = parser.parse_args()
    model = SPTokenizer()
    model.load(args.tokenizer_model)
    output = args.output_path or str(Path(args.tokenizer_model).with_suffix(".bin"))
    write(model, output, prepend_padding=args.prepend_padding)


if __name__ == "__main__":
    main()
