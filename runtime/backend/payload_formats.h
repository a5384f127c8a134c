// SPDX-License-Identifier: BSD-3-Clause
// The rows that payload_blocks.h reads by: the frames of backends whose payloads have one, the same
// as in exir/backend/lowering/payload/blocks.py, which a test compares. Constants; a program has
// those that it uses.
#pragma once

#include <executorch/runtime/backend/payload_blocks.h>

namespace executorch {
namespace runtime {

// Regions: offset, size, fixed offset, at least so many bytes, alignment of the offset, open end.

/// "XH00": a flatbuffer, and constants. A payload without the magic is a flatbuffer alone.
inline constexpr HeaderFormat kXnnpackHeader = {
    "XNNPACK",
    0x30304858,
    4,
    30,
    {8, 2},
    2,
    {{{10, 4}, {14, 4}, 0, 8, 4, false}, {{18, 4}, {22, 8}, 0, 0, 1, false}}};

/// "VH00": a flatbuffer, and constants, which reach to the end when their size is 0.
inline constexpr HeaderFormat kVulkanHeader = {
    "Vulkan",
    0x30304856,
    4,
    30,
    {8, 2},
    2,
    {{{10, 4}, {14, 4}, 0, 8, 4, false}, {{18, 4}, {22, 8}, 0, 0, 1, true}}};

/// A context binary. A payload without the magic is a DLC alone.
inline constexpr HeaderFormat kQualcommHeader = {
    "Qualcomm", 0x5678ABCD, 0, 20, {}, 1, {{{}, {12, 8}, 256, 1, 1, false}}};

/// "MP00": a flatbuffer behind the header, and constants behind that.
inline constexpr HeaderFormat kMpsHeader = {
    "MPS",
    0x3030504D,
    4,
    24,
    {},
    2,
    {{{}, {}, 24, 12, 1, false}, {{8, 8}, {16, 8}, 0, 0, 16, false}}};

inline constexpr BlocksFormat kEthosUBlocks = {
    "Ethos-U",
    "vela_bin_stream",
    "vela_end_stream",
    5,
    {"cmd_data", "weight_data", "scratch_size", "inputs", "outputs"}};

}  // namespace runtime
}  // namespace executorch
