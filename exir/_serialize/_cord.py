# SPDX-License-Identifier: BSD-3-Clause
"""`Cord`: a file's content as a list of pieces that are never joined unless asked for;
`write_atomically` for paths."""

import os
import tempfile
from io import BufferedIOBase

from executorch.exir._native import Blob

Piece = bytes | bytearray | memoryview | Blob


class Cord:
    """Bytes in pieces. Pieces are kept by reference: what they view must not change while the cord
    is in use."""

    def __init__(self, data: "Piece | Cord | None" = None) -> None:
        self._buffers: list[Piece] = []
        self._byte_size = 0
        if data is not None:
            self.append(data)

    def __len__(self) -> int:
        return self._byte_size

    def __bytes__(self) -> bytes:
        return b"".join(self._buffers)

    def append(self, data: "Piece | Cord") -> "Cord":
        if isinstance(data, Cord):
            self._buffers.extend(data._buffers)
            self._byte_size += data._byte_size
        elif isinstance(data, Piece):
            self._buffers.append(data)
            self._byte_size += memoryview(data).nbytes
        else:
            raise TypeError(f"Can only append bytes or Cords, received {type(data)}")
        return self

    def pad_to(self, size: int) -> "Cord":
        """Zero bytes up to `size`."""
        if size > self._byte_size:
            self.append(bytes(size - self._byte_size))
        return self

    def write_to_file(self, outfile: BufferedIOBase) -> None:
        for piece in self._buffers:
            outfile.write(piece)


def write_atomically(path: str | os.PathLike[str], cord: Cord) -> None:
    """Writes a file that is complete or not there: to a temporary name in the same folder, then renamed."""
    path = os.fspath(path)
    try:
        _write_and_rename(path, cord)
    except OSError as error:  # about the temporary file, which the caller does not know
        folder = os.path.dirname(path) or "."
        hint = "" if os.path.isdir(folder) else f" (there is no folder {folder})"
        raise OSError(error.errno, f"{error.strerror or error}{hint}", path) from error


def _write_and_rename(path: str, cord: Cord) -> None:
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as outfile:
            cord.write_to_file(outfile)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
