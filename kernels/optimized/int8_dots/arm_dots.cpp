// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/kernels/optimized/int8_dots/arm_dots.h>

#include <algorithm>

#if defined(__aarch64__) && defined(__linux__)  // Android, too
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace executorch::kernels::optimized {

namespace {

#if defined(__aarch64__) && defined(__linux__)
ArmDots find_dots() {
  // HWCAP_ASIMDDP and HWCAP2_I8MM, which headers of old systems do not have.
  const bool dot = (getauxval(AT_HWCAP) & 1ul << 20) != 0;
  const bool matrix = (getauxval(AT_HWCAP2) & 1ul << 13) != 0;
  return !dot ? ArmDots::kNone : matrix ? ArmDots::kMatrix : ArmDots::kDot;
}
#elif defined(__aarch64__) && defined(__APPLE__)
bool has_feature(const char* name) {
  int value = 0;
  size_t size = sizeof value;
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}

ArmDots find_dots() {
  const bool dot = has_feature("hw.optional.arm.FEAT_DotProd");
  const bool matrix = has_feature("hw.optional.arm.FEAT_I8MM");
  return !dot ? ArmDots::kNone : matrix ? ArmDots::kMatrix : ArmDots::kDot;
}
#else
ArmDots find_dots() {
  return ArmDots::kNone;
}
#endif

ArmDots limit = ArmDots::kMatrix;

}  // namespace

ArmDots arm_dots() {
  static const ArmDots found = find_dots();
  return std::min(found, limit);
}

void limit_arm_dots(ArmDots most) {
  limit = most;
}

}  // namespace executorch::kernels::optimized
