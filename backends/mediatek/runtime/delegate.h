// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method: a compiled network that MediaTek's library has loaded.
#pragma once

#include <executorch/backends/mediatek/runtime/library.h>
#include <executorch/backends/mediatek/runtime/options.h>
#include <executorch/runtime/backend/ports/byte_arguments.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/named_data_map.h>

#include <memory>
#include <string>
#include <vector>

namespace executorch::backends::neuron {

/// Of a payload, version 1: little-endian, without padding.
struct Header {
  static constexpr size_t kNumBytes = 13;
  uint32_t num_inputs = 0;
  uint32_t num_outputs = 0;
  runtime::Span<const uint8_t> model;

  /// InvalidProgram for bytes that are none, with what was expected.
  static runtime::Result<Header> read(runtime::Span<const uint8_t> payload);
};

/// Any thread may run it, one at a time. It refers to the payload.
class Delegate final {
 public:
  /// Errors: InvalidProgram for a payload that is none, or that the library does not load; Internal
  /// where `named_data` has no shared weights. Delegates of one map share these.
  static runtime::Result<std::unique_ptr<Delegate>> create(const Api& api,
                                                           runtime::Span<const uint8_t> payload,
                                                           const runtime::NamedDataMap* named_data,
                                                           const NeuronOptions& options = {});
  ~Delegate();
  Delegate(const Delegate&) = delete;
  Delegate& operator=(const Delegate&) = delete;

  /// `args`: inputs, then outputs. InvalidArgument when they are not what was compiled for,
  /// InvalidState when the NPU fails.
  runtime::Error execute(runtime::Span<runtime::EValue*> args);

 private:
  explicit Delegate(const Api& api) : api_(api) {}
  runtime::Error load(const Header& header, const NeuronOptions& options);
  runtime::Error build(const Header& header);
  runtime::Error compile(const std::string& options);
  runtime::Error find_sizes(const Header& header);

  const Api& api_;
  NeuronModel* model_ = nullptr;
  NeuronCompilation* compilation_ = nullptr;
  NeuronExecution* execution_ = nullptr;
  std::shared_ptr<runtime::FreeableBuffer> shared_weights_;
  std::vector<runtime::BytePort> inputs_, outputs_;
};

}  // namespace executorch::backends::neuron
