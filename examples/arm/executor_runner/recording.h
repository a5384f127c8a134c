// SPDX-License-Identifier: BSD-3-Clause
// What a run leaves for the Inspector: etdump.bin, and with ET_DUMP_OUTPUTS or
// ET_DUMP_INTERMEDIATE_OUTPUTS debug_buffer.bin. Of builds with events.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/event_tracer.h>

/// For Program::load_method(). Lives as long as the firmware.
executorch::runtime::EventTracer* start_recording();
/// Gives the files to write_file(), after the last execution.
executorch::runtime::Error finish_recording();
