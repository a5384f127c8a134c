// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/devtools/etdump/event_table.h>

#include <executorch/devtools/etdump/etdump_schema_flatcc_generated.h>

#include <algorithm>
#include <iomanip>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>

namespace executorch::etdump {

using runtime::Error;

namespace {

namespace fb = ::etdump;

struct Row {
  std::string name;
  size_t count = 0;
  double total = 0;  // ms
  double least = 0;
  double most = 0;
};

std::string name_of(const fb::ProfileEvent& event) {
  if (event.name() != nullptr) {
    return event.name()->str();
  }
  if (event.delegate_debug_id_str() != nullptr) {
    return "  " + event.delegate_debug_id_str()->str();
  }
  return "  delegated " + std::to_string(event.delegate_debug_id_int());
}

std::vector<const fb::ProfileEvent*> profile_events(const fb::ETDump& dump) {
  std::vector<const fb::ProfileEvent*> found;
  const auto* const blocks = dump.run_data();
  for (uint32_t i = 0; blocks != nullptr && i < blocks->size(); ++i) {
    const auto* const events = blocks->Get(i)->events();
    for (uint32_t k = 0; events != nullptr && k < events->size(); ++k) {
      if (events->Get(k)->profile_event() != nullptr) {
        found.push_back(events->Get(k)->profile_event());
      }
    }
  }
  return found;
}

std::vector<Row> rows_of(const fb::ETDump& dump, double ms_per_tick) {
  std::map<std::string, Row> rows;
  for (const fb::ProfileEvent* profile : profile_events(dump)) {
    Row& row = rows[name_of(*profile)];
    const double time =
        static_cast<double>(profile->end_time() - profile->start_time()) * ms_per_tick;
    row.least = row.count == 0 ? time : std::min(row.least, time);
    row.most = std::max(row.most, time);
    row.total += time;
    ++row.count;
  }
  std::vector<Row> ordered;
  for (auto& [name, row] : rows) {
    row.name = name;
    ordered.push_back(row);
  }
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Row& a, const Row& b) { return a.total > b.total; });
  return ordered;
}

}  // namespace

Error print_event_table(const ETDumpResult& result, std::ostream& out) {
  if (result.buf == nullptr) {
    return Error::Ok;
  }
  flatbuffers::Verifier verifier(static_cast<const uint8_t*>(result.buf), result.size);
  ET_CHECK_OR_RETURN_ERROR(fb::VerifySizePrefixedETDumpBuffer(verifier), InvalidArgument,
                           "expected an ETDump, found %zu bytes that are none", result.size);
  const et_tick_ratio_t ratio = et_pal_ticks_to_ns_multiplier();
  const double ms_per_tick =
      1e-6 * static_cast<double>(ratio.numerator) / static_cast<double>(ratio.denominator);
  const auto rows = rows_of(*fb::GetSizePrefixedETDump(result.buf), ms_per_tick);
  const auto execution = std::find_if(rows.begin(), rows.end(),
                                      [](const Row& row) { return row.name == "Method::execute"; });
  size_t width = 5;
  for (const Row& row : rows) {
    width = std::max(width, row.name.size());
  }
  const auto name_width = static_cast<int>(width);
  out << std::left << std::setw(name_width) << "event" << std::right << std::setw(8) << "count"
      << std::setw(12) << "total (ms)" << std::setw(10) << "avg" << std::setw(10) << "min"
      << std::setw(10) << "max" << std::setw(9) << "share" << "\n"
      << std::fixed;
  for (const Row& row : rows) {
    out << std::left << std::setw(name_width) << row.name << std::right << std::setw(8) << row.count
        << std::setprecision(4) << std::setw(12) << row.total << std::setw(10)
        << row.total / static_cast<double>(row.count) << std::setw(10) << row.least << std::setw(10)
        << row.most;
    if (execution != rows.end() && execution->total > 0) {
      out << std::setprecision(1) << std::setw(8) << 100 * row.total / execution->total << "%";
    }
    out << "\n";
  }
  out << std::defaultfloat;
  return Error::Ok;
}

}  // namespace executorch::etdump
