# SPDX-License-Identifier: BSD-3-Clause
"""How a method's inputs and outputs nest, as the text that programs carry."""

import logging

import torch.utils._pytree as pytree
from torch.export import ExportedProgram

from executorch.exir.schema import ContainerMetadata


def container_metadata(program: ExportedProgram) -> ContainerMetadata:
    spec = program.call_spec
    return ContainerMetadata(_encode(spec.in_spec, "input"), _encode(spec.out_spec, "output"))


def _encode(spec: pytree.TreeSpec | None, role: str) -> str:
    if spec is None:
        return ""
    try:
        return pytree.treespec_dumps(spec)
    except NotImplementedError as error:
        logging.getLogger(__name__).warning(
            "the %s container cannot be named in a program (%s); it is described as a flat tuple",
            role,
            error,
        )
        flat = pytree.tree_structure(tuple(range(spec.num_leaves)))
        return pytree.treespec_dumps(flat)
