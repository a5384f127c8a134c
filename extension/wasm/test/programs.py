# SPDX-License-Identifier: BSD-3-Clause
"""Small programs that tests in JavaScript run: one value of each kind, several methods, all dtypes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower

DTYPES = {
    "Byte": torch.uint8, "Char": torch.int8, "Short": torch.int16, "Int": torch.int32, "Long": torch.int64,
    "Half": torch.float16, "Float": torch.float32, "Double": torch.float64, "Bool": torch.bool,
    "BFloat16": torch.bfloat16,
}  # fmt: skip


class Add(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


class AddMul(torch.nn.Module):
    def forward(self, a: torch.Tensor, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.mm(a, x) + b


class AddAll(torch.nn.Module):
    """A number and a tensor with dynamic rows; values that are no tensors come back, too."""

    def forward(self, x: torch.Tensor, n: int, f: float, flag: bool) -> tuple[Any, ...]:
        return x + n + f, x.shape[0], 2.5, flag, None


class AllTypes(torch.nn.Module):
    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(torch.cat([each, each]) for each in tensors)


class Scaled(torch.nn.Module):
    """Its weight is in a data file."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([2.0, 3.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight


class Image(torch.nn.Module):
    """Channels last in and out."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def write(folder: Path) -> None:
    def save(name: str, methods: dict[str, torch.export.ExportedProgram], **options: Any) -> None:
        program = to_edge_transform_and_lower(methods, **options).to_executorch()
        (folder / f"{name}.pte").write_bytes(program.buffer)

    ones = (torch.ones(2, 2), torch.ones(2, 2))
    add = torch.export.export(Add(), ones)
    save("add", {"forward": add})
    save("add_mul", {"forward": torch.export.export(AddMul(), (*ones, torch.ones(2, 2)))})
    rows = torch.export.Dim("rows", min=1, max=8)
    add_all = torch.export.export(
        AddAll(), (torch.ones(3, 2), 7, 0.5, True), dynamic_shapes=({0: rows}, None, None, None)
    )
    save("test", {"forward": add, "add_all": add_all})
    tensors = tuple(torch.ones(3).to(dtype) for dtype in DTYPES.values())
    save("dtypes", {"forward": torch.export.export(AllTypes(), tensors)})
    image = torch.ones(1, 3, 2, 2).to(memory_format=torch.channels_last)
    save("image", {"forward": torch.export.export(Image(), (image,))})
    scaled = to_edge_transform_and_lower(torch.export.export(Scaled(), (torch.ones(2),)))
    program = scaled.to_executorch(ExecutorchBackendConfig(external_constants=True))
    (folder / "scaled.pte").write_bytes(program.buffer)
    program.write_tensor_data_to_file(str(folder))


if __name__ == "__main__":
    import sys

    write(Path(sys.argv[1]))
