# SPDX-License-Identifier: BSD-3-Clause
"""`ConstantStore`: the constants of a backend's payloads as named data of the program.

    constant = store.file(node, tensor)  # the bytes, under their digest, in the file that the data of the node goes to
    ... write constant.key and constant.num_bytes into the payload ...
    PreprocessResult(payload, data_store_output=store.output())

The runtime half reads them with NamedDataMap::get_data(key), aligned as the store was told."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import torch
from torch.fx import Node

from executorch.exir._serialize._named_data_store import NamedDataStore, NamedDataStoreOutput
from executorch.exir._serialize._tensor_bytes import tensor_bytes
from executorch.exir.passes.external_constants_pass import delegate_data_file


@dataclass(frozen=True)
class FiledConstant:
    """What a payload says of a constant."""

    key: str
    num_bytes: int


class ConstantStore:
    """`alignment`: of every constant, in bytes. `named_data`: where they go, a new store unless one is given."""

    def __init__(self, alignment: int, named_data: NamedDataStore | None = None) -> None:
        self.alignment = alignment
        self.named_data = NamedDataStore() if named_data is None else named_data

    def file(self, node: Node, tensor: torch.Tensor, prefix: str = "") -> FiledConstant:
        """`tensor`, in the order of its dimensions, made of the data of `node`: that node's tag says whether it goes to
        the program or to a data file beside it. Equal bytes are one constant, which stays where it was first filed;
        `prefix`: what they are, for bytes that are to be told from others."""
        return self.file_in(delegate_data_file(node), tensor, prefix)

    def file_in(
        self, data_file: str | None, tensor: torch.Tensor, prefix: str = ""
    ) -> FiledConstant:
        """The same for data of no node: `data_file` without `.ptd`, None for the program."""
        data = bytes(memoryview(tensor_bytes(tensor.detach().contiguous())))
        key = prefix + hashlib.sha256(data).hexdigest()
        self.named_data.add_named_data(key, data, self.alignment, external_tag=data_file)
        return FiledConstant(key, len(data))

    def output(self) -> NamedDataStoreOutput:
        """For PreprocessResult."""
        return self.named_data.get_named_data_store_output()
