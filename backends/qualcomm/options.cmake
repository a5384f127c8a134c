# SPDX-License-Identifier: BSD-3-Clause
# The backend's option. With QNN_SDK_ROOT it is built against the SDK's headers, without it for the tests' stand-ins.
define_backend_option(EXECUTORCH_BUILD_QNN "Qualcomm's backend: with QNN_SDK_ROOT for the SDK's libraries, else for stand-ins of tests"
  DEFAULT ${EXECUTORCH_BUILD_TESTS})
