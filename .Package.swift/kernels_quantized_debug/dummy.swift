// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package`. The linker takes kernels_quantized_debug for this symbol; nothing calls it.
@_silgen_name("_ZN10executorch7kernels26register_quantized_ops_libEv") private func symbol()
@_cdecl("executorch_links_kernels_quantized_debug") public func executorch_links_kernels_quantized_debug() { symbol() }
