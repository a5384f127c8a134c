// SPDX-License-Identifier: BSD-3-Clause
// Profiles of the stand-in's libQnnHtp.so: what operators of the last run took.
#include <executorch/backends/qualcomm/stand_in/htp.h>

#include <algorithm>

namespace executorch::backends::qualcomm::stand_in {

namespace {

std::vector<Profile*>& profiles() {
  static std::vector<Profile*> all;
  return all;
}
Qnn_ErrorHandle_t profile_create(Qnn_BackendHandle_t, QnnProfile_Level_t level,
                                 Qnn_ProfileHandle_t* out) {
  const std::lock_guard<std::mutex> lock(common_mutex());
  profiles().push_back(new Profile{level, {}, {}, {}});
  *out = profiles().back();
  return QNN_SUCCESS;
}
/// One event for the run; its parts, operators, are there in detail only. An event is the address
/// of its timing; that of the run is the profile's own.
Qnn_ErrorHandle_t profile_events(Qnn_ProfileHandle_t handle, const QnnProfile_EventId_t** out,
                                 uint32_t* out_count) {
  auto& profile = *static_cast<Profile*>(handle);
  profile.whole.assign(profile.timings.empty() ? 0 : 1,
                       reinterpret_cast<QnnProfile_EventId_t>(handle));
  *out = profile.whole.data();
  *out_count = static_cast<uint32_t>(profile.whole.size());
  return QNN_SUCCESS;
}
Profile* profile_of(QnnProfile_EventId_t event) {
  const std::lock_guard<std::mutex> lock(common_mutex());
  const auto found = std::find_if(profiles().begin(), profiles().end(), [&](Profile* each) {
    return reinterpret_cast<QnnProfile_EventId_t>(each) == event;
  });
  return found == profiles().end() ? nullptr : *found;
}
Qnn_ErrorHandle_t profile_sub_events(QnnProfile_EventId_t event, const QnnProfile_EventId_t** out,
                                     uint32_t* out_count) {
  Profile* profile = profile_of(event);
  *out_count = 0;
  if (profile != nullptr && profile->level == QNN_PROFILE_LEVEL_DETAILED) {
    profile->operators.clear();
    for (const Timing& timing : profile->timings) {
      profile->operators.push_back(reinterpret_cast<QnnProfile_EventId_t>(&timing));
    }
    *out = profile->operators.data();
    *out_count = static_cast<uint32_t>(profile->operators.size());
  }
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t profile_event_data(QnnProfile_EventId_t event, QnnProfile_EventData_t* out) {
  out->unit = QNN_PROFILE_EVENTUNIT_MICROSEC;
  out->type = 0;
  if (const Profile* profile = profile_of(event)) {
    out->identifier = "execute";
    out->value = 0;
    for (const Timing& timing : profile->timings) {
      out->value += timing.microseconds;
    }
    return QNN_SUCCESS;
  }
  const auto& timing = *reinterpret_cast<const Timing*>(event);
  out->identifier = timing.name.c_str();
  out->value = timing.microseconds;
  return QNN_SUCCESS;
}
Qnn_ErrorHandle_t profile_free(Qnn_ProfileHandle_t profile) {
  const std::lock_guard<std::mutex> lock(common_mutex());
  auto& all = profiles();
  all.erase(std::remove(all.begin(), all.end(), static_cast<Profile*>(profile)), all.end());
  delete static_cast<Profile*>(profile);
  return QNN_SUCCESS;
}

}  // namespace

void add_profiles(StandInInterface& out) {
  out.profileCreate = profile_create;
  out.profileGetEvents = profile_events;
  out.profileGetSubEvents = profile_sub_events;
  out.profileGetEventData = profile_event_data;
  out.profileFree = profile_free;
}

}  // namespace executorch::backends::qualcomm::stand_in
