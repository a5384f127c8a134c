// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/runtime/power.h>

#include <iterator>

namespace executorch::backends::qualcomm {

using runtime::Error;
using runtime::Result;

namespace {

using Corner = QnnHtpPerfInfrastructure_VoltageCorner_t;

/// Voltages between which the bus and the cores run, and the microseconds that waking may take, by
/// QnnExecuTorchHtpPerformanceMode.
struct Mode {
  Corner least, most;
  uint32_t latency;
  bool is_scaled;  // the NPU may go lower by itself
};
constexpr Mode kModes[] = {
    {DCVS_VOLTAGE_VCORNER_SVS2, DCVS_VOLTAGE_VCORNER_SVS, 1000, true},  // default, and after a run
    {DCVS_VOLTAGE_VCORNER_TURBO, DCVS_VOLTAGE_VCORNER_TURBO, 100, false},
    {DCVS_VOLTAGE_VCORNER_MAX_VOLTAGE_CORNER, DCVS_VOLTAGE_VCORNER_MAX_VOLTAGE_CORNER, 40, false},
    {DCVS_VOLTAGE_VCORNER_TURBO, DCVS_VOLTAGE_VCORNER_TURBO, 100, false},
    {DCVS_VOLTAGE_VCORNER_SVS, DCVS_VOLTAGE_VCORNER_SVS, 1000, true},
    {DCVS_VOLTAGE_VCORNER_SVS2, DCVS_VOLTAGE_VCORNER_SVS2, 1000, true},
    {DCVS_VOLTAGE_VCORNER_SVS_PLUS, DCVS_VOLTAGE_VCORNER_SVS_PLUS, 1000, true},
    {DCVS_VOLTAGE_VCORNER_NOM, DCVS_VOLTAGE_VCORNER_NOM, 1000, true},
    {DCVS_VOLTAGE_VCORNER_NOM_PLUS, DCVS_VOLTAGE_VCORNER_NOM_PLUS, 1000, true},
};
constexpr int32_t kDefault = 0;

}  // namespace

Result<std::unique_ptr<PowerVote>> PowerVote::create(std::shared_ptr<Session> session,
                                                     const Options& options) {
  std::unique_ptr<PowerVote> made(
      new PowerVote(std::move(session), options.is_htp() ? options.performance_mode : kDefault));
  if (made->mode_ <= kDefault || made->mode_ >= static_cast<int32_t>(std::size(kModes))) {
    made->mode_ = kDefault;
    return made;
  }
  QnnDevice_Infrastructure_t found = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(made->session_->check(
      made->session_->functions().deviceGetInfrastructure(&found), "QnnDevice_getInfrastructure"));
  ET_CHECK_OR_RETURN_ERROR(found != nullptr, Internal,
                           "QnnBackend: the device has no infrastructure to vote with");
  made->infrastructure_ = static_cast<QnnHtpDevice_Infrastructure_t*>(found)->perfInfra;
  ET_CHECK_OK_OR_RETURN_ERROR(made->session_->check(
      made->infrastructure_.createPowerConfigId(0, 0, &made->id_), "createPowerConfigId"));
  made->has_id_ = true;
  return made;
}

PowerVote::~PowerVote() {
  if (has_id_) {
    infrastructure_.destroyPowerConfigId(id_);
  }
}

Error PowerVote::raise() const {
  return has_id_ ? set(mode_) : Error::Ok;
}

Error PowerVote::release() const {
  return has_id_ ? set(kDefault) : Error::Ok;
}

Error PowerVote::set(int32_t mode) const {
  const Mode& wanted = kModes[mode];
  QnnHtpPerfInfrastructure_PowerConfig_t config{};
  config.option = QNN_HTP_PERF_INFRASTRUCTURE_POWER_CONFIGOPTION_DCVS_V3;
  QnnHtpPerfInfrastructure_DcvsV3_t& vote = config.dcvsV3Config;
  vote.contextId = id_;
  vote.setDcvsEnable = 1;
  vote.dcvsEnable = wanted.is_scaled ? 1 : 0;
  vote.powerMode = wanted.is_scaled ? QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_POWER_SAVER_MODE
                                    : QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_PERFORMANCE_MODE;
  vote.setSleepLatency = 1;
  vote.sleepLatency = wanted.latency;
  vote.setBusParams = vote.setCoreParams = 1;
  vote.busVoltageCornerMin = vote.coreVoltageCornerMin = wanted.least;
  vote.busVoltageCornerTarget = vote.coreVoltageCornerTarget = wanted.most;
  vote.busVoltageCornerMax = vote.coreVoltageCornerMax = wanted.most;
  const QnnHtpPerfInfrastructure_PowerConfig_t* configs[] = {&config, nullptr};
  return session_->check(infrastructure_.setPowerConfig(id_, configs), "setPowerConfig");
}

}  // namespace executorch::backends::qualcomm
