// SPDX-License-Identifier: BSD-3-Clause
// What the runner asks of the place where a program and its inputs are: in the firmware, elsewhere
// in memory, or in files of the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

/// The bytes of the program, aligned to 16. Called once, before anything else.
executorch::runtime::Result<executorch::runtime::Span<const uint8_t>> program_bytes();
/// Fills input `index`; NotFound where no data are given, for all inputs.
executorch::runtime::Error read_input(size_t index, executorch::runtime::Span<uint8_t> input);
/// Takes a file that the run leaves: the host's, or as text between the lines "#[RUN THIS]" and
/// "#[END]", which a shell makes the file of.
executorch::runtime::Error write_file(const char* name,
                                      executorch::runtime::Span<const uint8_t> bytes);
/// Takes output `index`.
executorch::runtime::Error write_output(size_t index,
                                        executorch::runtime::Span<const uint8_t> output);
