// SPDX-License-Identifier: BSD-3-Clause
// Names that users of XnnpackBackend need: of the backend and of its options, which are given when
// a method is loaded (LoadBackendOptionsMap) or as defaults (set_option()).
#pragma once

namespace executorch::backends::xnnpack {

constexpr char xnnpack_backend_key[] = "XnnpackBackend";

/// int, a WorkspaceSharingMode: which delegates use the same memory for intermediate values. Those
/// that do run one after the other, whatever thread they are called on.
constexpr char workspace_sharing_mode_option_key[] = "workspace_sharing_mode";
/// bool: whether equal weights are packed once for all delegates of the process.
constexpr char weight_cache_option_key[] = "weight_cache_enabled";
/// bool, false unless set: whether large float matrices are packed when a method is loaded, so that
/// its first and second runs take as long as later ones, instead of by the second run.
constexpr char pack_at_load_option_key[] = "pack_at_load";
/// Text, "float32" unless set: what products of linear layers, and of convolutions by one pixel, of
/// floats are computed in. "bfloat16" rounds both operands to 8 bits of mantissa and adds in
/// float32: faster on a processor that has such products (AVX512-BF16, Arm's BF16), as "float32" on
/// others and in builds without EXECUTORCH_XNNPACK_TUNING; an output is off by about 1/256 of its
/// size times the square root of the layers it comes through. Other nodes stay in float32. With it
/// matrices are packed when a method is loaded. "float16" computes all of a delegate in half
/// precision on a processor that has its arithmetic (Arm from v8.2 on), as "float32" on others and
/// where one of its nodes is quantized or has no such kernel: values beyond 65504 are infinite, and
/// an output is off by about 1/2048 of its size times that square root. Its weights are packed by
/// one thread and neither shared nor in a file.
constexpr char compute_precision_option_key[] = "compute_precision";
/// bool, true unless set: whether kernels of this runtime compute layers of floats (linear ones,
/// convolutions but for transposed ones, products of two values), with the
/// elementwise nodes behind them. False: all is XNNPACK's.
constexpr char own_kernels_option_key[] = "own_kernels_enabled";
/// bool, true unless set: whether convolutions of floats by 3 x 3 pixels may be computed with 2.25
/// times fewer multiplications (Winograd's algorithm, where it is faster). False: as sums of
/// products, slower and with the rounding of those; and an infinite pixel, or one beyond 1e38, then
/// spoils only the outputs whose window it is in.
constexpr char winograd_option_key[] = "winograd_enabled";
/// Path of a file of packed weights, "" for none: what it holds is mapped instead of packed, by
/// methods that are loaded with it. A file of another build or processor, or a corrupted one,
/// counts as empty. Needs weight_cache_enabled; nothing waits then for the second run to be packed.
constexpr char packed_cache_path_option_key[] = "packed_cache_path";
/// bool, for set_option() alone, once all methods are loaded: true writes the weights of each path
/// that is in use to its file, those that the file had included. AccessFailed when it cannot.
constexpr char save_weight_cache_on_disk_option_key[] = "save_weight_cache_on_disk";
/// int, 0 unless set: nodes after which a delegate may be cut into another part that runs by
/// itself, with memory between the parts; 0 runs it as one. The numbers are the same.
constexpr char segment_nodes_option_key[] = "segment_nodes";

enum class ComputePrecision { Float32 = 0, BFloat16 = 1, Float16 = 2 };

enum class WorkspaceSharingMode {
  Disabled = 0,
  /// The delegates of one method. The default.
  PerModel = 1,
  Global = 2,
  Count = 3,
};

}  // namespace executorch::backends::xnnpack
