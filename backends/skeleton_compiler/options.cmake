# SPDX-License-Identifier: BSD-3-Clause
# The backend's options. Take DEFAULT out, and name the presets that have it: PRESETS linux pybind.
define_backend_option(EXECUTORCH_BUILD_SKELETON_COMPILER "The compiler's backend to copy, for tests"
  DEFAULT ${EXECUTORCH_BUILD_TESTS})
