// SPDX-License-Identifier: BSD-3-Clause
// print_event_table(): a first look at an ETDump on the machine that made it.
#pragma once

#include <iosfwd>

#include <executorch/devtools/etdump/etdump_flatcc.h>

namespace executorch::etdump {

/// One line for each name of events, the longest time first: how often, milliseconds in all, on
/// average, least and most, and the share of all executions. Events lie inside each other: an
/// operator's time is part of OPERATOR_CALL's. Nothing for an empty result; InvalidArgument for
/// bytes that are no ETDump.
runtime::Error print_event_table(const ETDumpResult& result, std::ostream& out);

}  // namespace executorch::etdump
