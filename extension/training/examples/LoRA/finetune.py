# SPDX-License-Identifier: BSD-3-Clause
"""Trains the adapter on a text and writes it to adapter.ptd; runs where only the runtime is needed.

python -m executorch.extension.training.examples.LoRA.finetune --folder . --text README.md
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from executorch.extension.training import (
    _load_for_executorch_for_training,
    get_adamw_optimizer,
    save_checkpoint,
)


def finetune(program: Path, text: bytes, adapter: Path, steps: int = 100) -> list[float]:
    """Losses of all steps. `adapter` gets the names that the model has without its loss."""
    module = _load_for_executorch_for_training(str(program))
    length = module.model.method_meta("forward").input_tensor_meta(0).sizes()[1]
    tokens = np.frombuffer(text, dtype=np.uint8).astype(np.int64)
    windows = len(tokens) // length
    if windows == 0:
        raise ValueError(f"expected a text of {length} bytes or more, found {len(tokens)}")
    parameters = module.named_parameters("forward")
    optimizer = get_adamw_optimizer(parameters, lr=1e-2, weight_decay=0.0)
    losses = []
    for step in range(steps):
        start = step % windows * length
        (loss,) = module.forward_backward("forward", (tokens[None, start : start + length],))
        optimizer.step(module.named_gradients())
        losses.append(float(loss))
    save_checkpoint(adapter, {k.removeprefix("model."): v for k, v in parameters.items()})
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(), help="of lora_train.pte")
    parser.add_argument("--text", type=Path, required=True, help="what to learn")
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    folder = arguments.folder
    losses = finetune(
        folder / "lora_train.pte",
        arguments.text.read_bytes(),
        folder / "adapter.ptd",
        arguments.steps,
    )
    print(f"loss of the first step {losses[0]:.3f}, of the last {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
