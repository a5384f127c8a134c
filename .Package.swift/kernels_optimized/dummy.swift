// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package`. The linker takes kernels_optimized for this symbol; nothing calls it.
@_silgen_name("_ZN10executorch7kernels37register_optimized_native_cpu_ops_libEv") private func symbol()
@_cdecl("executorch_links_kernels_optimized") public func executorch_links_kernels_optimized() { symbol() }
