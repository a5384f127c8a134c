// SPDX-License-Identifier: BSD-3-Clause
// The first case of a bundled program (ET_BUNDLE_IO): its inputs, and the outputs it expects.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/method.h>

using Bytes = executorch::runtime::Span<const uint8_t>;

/// In place. NotSupported for what is no bundled program.
executorch::runtime::Result<Bytes> program_in_bundle(Bytes file);
executorch::runtime::Error give_case_inputs(executorch::runtime::Method& method, Bytes file);
/// Says how far the outputs are from the expected ones; NotFound where they are not within
/// ET_ATOL + ET_RTOL * |output|.
executorch::runtime::Error verify_case(executorch::runtime::Method& method, Bytes file);
