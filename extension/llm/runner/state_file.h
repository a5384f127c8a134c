// SPDX-License-Identifier: BSD-3-Clause
// A conversation in a file: the tokens of its context and the memory that the decoder keeps for
// them.
//
// Layout, little-endian, 64 bits each: magic, version, fingerprint of the program, count of tokens,
// the tokens, count of the plan's buffers; of each buffer its size, its count of runs, and each
// run: offset, size, bytes. Memory that is in no run is zero. The last number is a checksum of all
// before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// Of the files' sizes and samples of their bytes: another program, or other weights in its place,
// have another one. 0 if a file cannot be read.
int64_t file_fingerprint(const std::vector<std::string>& paths);

// Loads the method. AccessFailed if the file cannot be written; errors of Module::planned_memory().
runtime::Error write_state_file(const std::string& path, Module& module, const std::string& method,
                                int64_t fingerprint, const std::vector<uint64_t>& context);

// The context. The method's memory is as it was then; after an error it is as it was before.
// AccessFailed if the file cannot be read, InvalidExternalData if it is corrupted, InvalidArgument
// if it is another program's; errors of Module::planned_memory().
runtime::Result<std::vector<uint64_t>> read_state_file(const std::string& path, Module& module,
                                                       const std::string& method,
                                                       int64_t fingerprint);

}  // namespace executorch::extension::llm
