// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package`. The linker takes kernels_torchao for this symbol; nothing calls it.
@_silgen_name("_ZN10executorch7kernels31register_torchao_ops_executorchEv") private func symbol()
@_cdecl("executorch_links_kernels_torchao") public func executorch_links_kernels_torchao() { symbol() }
