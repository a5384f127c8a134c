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
    except NotImplementedError:
        kinds = sorted({_kind(each) for each in _nodes(spec)} - {""})
        logging.getLogger(__name__).warning(
            "the %s container cannot be named in a program (%s); it is described as a flat tuple",
            role,
            ", ".join(kinds) or "a container of the model's own",
        )
        flat = pytree.tree_structure(tuple(range(spec.num_leaves)))
        return pytree.treespec_dumps(flat)


def _nodes(spec: pytree.TreeSpec) -> list[pytree.TreeSpec]:
    return [spec, *(inner for child in spec.children() for inner in _nodes(child))]


def _kind(spec: pytree.TreeSpec) -> str:
    """The class of a container that has no name in files."""
    if spec.is_leaf() or spec.type in (tuple, list, dict):
        return ""
    return f"{spec.type.__module__}.{spec.type.__qualname__}"
