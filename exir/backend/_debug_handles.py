# SPDX-License-Identifier: BSD-3-Clause
"""`DelegateMappingBuilder`: which nodes a backend's own identifiers stand for."""

from __future__ import annotations

from torch.fx import Node

Identifier = int | str


class DelegateMappingBuilder:
    """With generated identifiers, entries are numbered from 0; otherwise each entry brings an int or a str."""

    def __init__(self, generated_identifiers: bool = False) -> None:
        self._generated = generated_identifiers
        self._entries: dict[Identifier, tuple[int, ...]] = {}

    def get_delegate_mapping(self) -> dict[int, tuple[int, ...]] | dict[str, tuple[int, ...]]:
        """For PreprocessResult.debug_handle_map."""
        return dict(self._entries)  # type: ignore[return-value]

    def insert_delegate_mapping_entry(
        self,
        nodes: Node | list[Node] | None = None,
        handles: int | list[int | None] | None = None,
        identifier: Identifier | None = None,
    ) -> Identifier:
        """Adds an entry for nodes (by their debug handles) or for handles; gives its identifier. Nodes without a
        handle, and None, are left out."""
        identifier = self._identifier(identifier)
        found = self._handles(nodes, handles)
        self._entries[identifier] = tuple(sorted(set(found)))
        return identifier

    def _identifier(self, identifier: Identifier | None) -> Identifier:
        if self._generated:
            if identifier is not None:
                raise Exception(
                    f"Builders using generated identifiers can't manually add identifiers: {identifier!r}. Leave it "
                    "out, or build with generated_identifiers=False"
                )
            return len(self._entries)
        if identifier is None:
            raise Exception("No identifier provided; generated_identifiers=True numbers entries")
        if identifier in self._entries:
            raise Exception(f"identifier {identifier!r} was already inserted: one entry for each")
        kinds = {type(known).__name__ for known in (*self._entries, identifier)}
        if len(kinds) > 1:
            raise Exception(f"expected identifiers of one type, found {sorted(kinds)}")
        return identifier

    @staticmethod
    def _handles(
        nodes: Node | list[Node] | None, handles: int | list[int | None] | None
    ) -> list[int]:
        if (nodes is None) == (handles is None):
            raise Exception("Only one of nodes or handles must be provided: found both, or none")
        if nodes is not None:
            listed = nodes if isinstance(nodes, list | tuple) else [nodes]
            handles = [node.meta.get("debug_handle") for node in listed]
        found = [
            h
            for h in (handles if isinstance(handles, list | tuple) else [handles])
            if h is not None
        ]
        if not found:
            raise Exception(
                f"No valid debug handles found among {nodes if nodes is not None else handles}"
            )
        return found
