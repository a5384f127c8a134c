// SPDX-License-Identifier: BSD-3-Clause
// A driver without an NPU, for tests: it checks what the backend hands over, compares inputs in the
// scratch, and writes outputs that were computed elsewhere. A C interface, so that Python calls it.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// Forgets all that was said before, and counts from 0.
void ethosu_stub_reset(void);
/// Run `call` (the first is 0) finds these bytes there, else the driver fails. The bytes stay the
/// caller's. At most 16 of both kinds; more are an abort.
void ethosu_stub_expect(int call, size_t offset, const void* bytes, size_t size);
/// Run `call` writes them.
void ethosu_stub_answer(int call, size_t offset, const void* bytes, size_t size);
/// How often the driver was run.
int ethosu_stub_calls(void);
/// What a reserved driver is not: released. 0 between executions.
int ethosu_stub_reserved(void);

}  // extern "C"
