// SPDX-License-Identifier: BSD-3-Clause
// The tables of a VGF file as Arm's library reads them, each in memory of its own.
#pragma once

#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/log.h>

#include <vgf/decoder.h>

#include <cstddef>
#include <memory>
#include <new>

namespace executorch::backends::arm::vgf {

constexpr char kName[] = "VgfBackend";

/// One decoder of the library's, which takes memory and gives none back.
template <typename T>
class Decoder final {
 public:
  T* get() const { return decoder_; }

  /// `create` (void* memory) makes it, in as many bytes as `num_bytes`; null from it is Internal.
  template <typename Create>
  static runtime::Result<Decoder> make(const char* what, size_t num_bytes, Create create) {
    Decoder out;
    out.memory_.reset(new (std::nothrow)
                          std::max_align_t[num_bytes / sizeof(std::max_align_t) + 1]);
    ET_CHECK_OR_RETURN_ERROR(out.memory_ != nullptr, MemoryAllocationFailed, "%s: no memory",
                             kName);
    out.decoder_ = create(static_cast<void*>(out.memory_.get()));
    ET_CHECK_OR_RETURN_ERROR(out.decoder_ != nullptr, Internal,
                             "%s: the VGF file's %s is not valid", kName, what);
    return out;
  }

 private:
  std::unique_ptr<std::max_align_t[]> memory_;
  T* decoder_ = nullptr;
};

/// All of a file.
struct Decoders {
  Decoder<mlsdk_decoder_module_table_decoder> modules;
  Decoder<mlsdk_decoder_model_sequence_decoder> sequence;
  Decoder<mlsdk_decoder_model_resource_table_decoder> resources;
  Decoder<mlsdk_decoder_constant_table_decoder> constants;
};

/// `bytes` are aligned to 8, and outlive it.
runtime::Result<Decoders> open_decoders(runtime::Span<const uint8_t> bytes);

}  // namespace executorch::backends::arm::vgf
