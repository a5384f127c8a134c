// SPDX-License-Identifier: BSD-3-Clause
// Events of a Module, in builds that have them: etdump.cpp, otherwise no_etdump.cpp.
#pragma once

#include <memory>
#include <string>

#include <executorch/runtime/core/event_tracer.h>

namespace executorch::extension::jni {

// Null in a build without events.
std::unique_ptr<runtime::EventTracer> make_tracer();

// False if nothing was written; the log says why.
bool write_etdump(runtime::EventTracer* tracer, const std::string& path);

}  // namespace executorch::extension::jni
