# SPDX-License-Identifier: BSD-3-Clause
"""The C++ runtime in Python: programs, methods and what is registered. `executorch.runtime` is the friendlier form."""

from executorch.extension.pybindings._portable_lib import (
    ExecuTorchError,
    ExecuTorchMethod,
    ExecuTorchModule,
    ExecuTorchProgram,
    MethodMeta,
    TensorInfo,
    Verification,
    _get_operator_names,
    _get_registered_backend_names,
    _is_available,
    _load_bundled_program_from_buffer,
    _load_for_executorch,
    _load_for_executorch_from_buffer,
    _load_for_executorch_from_bundled_program,
    _load_for_executorch_from_data_loader,
    _load_program,
    _load_program_from_buffer,
    _set_backend_options,
)

__all__ = [
    "ExecuTorchError",
    "ExecuTorchMethod",
    "ExecuTorchModule",
    "ExecuTorchProgram",
    "MethodMeta",
    "TensorInfo",
    "Verification",
    "_get_operator_names",
    "_get_registered_backend_names",
    "_is_available",
    "_load_bundled_program_from_buffer",
    "_load_for_executorch",
    "_load_for_executorch_from_buffer",
    "_load_for_executorch_from_bundled_program",
    "_load_for_executorch_from_data_loader",
    "_load_program",
    "_load_program_from_buffer",
    "_set_backend_options",
]

try:  # in builds with developer tools
    from executorch.extension.pybindings._portable_lib import BundledModule
except ImportError:
    pass
else:
    __all__ += ["BundledModule"]

try:  # in builds with a thread pool
    from executorch.extension.pybindings._portable_lib import (
        _threadpool_get_thread_count,
        _unsafe_reset_threadpool,
    )
except ImportError:
    pass
else:
    __all__ += ["_threadpool_get_thread_count", "_unsafe_reset_threadpool"]

from executorch.extension.pybindings import libraries

libraries.name_vendors()
libraries.load_installed()
