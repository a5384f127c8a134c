// SPDX-License-Identifier: BSD-3-Clause
// Calls the runtime's verifier and turns what it logs into the text of an exception.
#include <executorch/exir/_native/program_verifier.h>

#include <executorch/exir/_native/file_layout.h>
#include <executorch/exir/_native/flatbuffer_reader.h>
#include <executorch/runtime/executor/program_validation.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/schema/program_generated.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace {
thread_local std::string last_message;
}  // namespace

// This module's runtime does not write to stderr: its messages become exceptions.
extern "C" void et_pal_emit_log_message(et_timestamp_t, et_pal_log_level_t, const char*,
                                        const char*, size_t, const char* message, size_t length) {
  last_message.assign(message, length);
}

namespace executorch::exir {
namespace {

void check(runtime::Error error) {
  if (error != runtime::Error::Ok) {
    throw FormatError(last_message.empty() ? "the program is corrupted" : last_message);
  }
}

}  // namespace

void verify_program_file(const uint8_t* data, uint64_t size) {
  const auto header = parse_program_header(data, size);
  runtime::ProgramExtent extent{static_cast<size_t>(size), 0, nullptr};
  if (header.has_value()) {
    extent.program_size = static_cast<size_t>(header->program_size);
    if (header->segment_base_offset != 0) {
      const uint64_t behind = size - header->segment_base_offset;
      extent.segment_data_size =
          header->segment_data_size != 0 ? header->segment_data_size : behind;
    }
  }
  // A copy, because the verifier wants alignment and Python's bytes have none.
  std::vector<std::max_align_t> program(extent.program_size / sizeof(std::max_align_t) + 1);
  std::memcpy(program.data(), data, extent.program_size);
  extent.data = program.data();
  last_message.clear();
  check(runtime::verify_flatbuffer(program.data(), extent.program_size));
  check(runtime::verify_program(executorch_flatbuffer::GetProgram(program.data()), extent));
}

}  // namespace executorch::exir
