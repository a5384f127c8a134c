# SPDX-License-Identifier: BSD-3-Clause
# The backend's option. It is built against the SDK's headers; with tests and without an SDK, for the tests' stand-ins.
define_backend_option(EXECUTORCH_BUILD_QNN "Qualcomm's backend, for the SDK at QNN_SDK_ROOT; with tests and without it, for stand-ins"
  DEFAULT ${EXECUTORCH_BUILD_TESTS})
set(QNN_SDK_ROOT "$ENV{QNN_SDK_ROOT}" CACHE PATH "The folder of Qualcomm's AI Engine Direct SDK")
if(EXECUTORCH_BUILD_QNN AND NOT EXISTS "${QNN_SDK_ROOT}/include/QNN/QnnInterface.h")
  if(QNN_SDK_ROOT OR NOT EXECUTORCH_BUILD_TESTS)
    message(FATAL_ERROR "EXECUTORCH_BUILD_QNN=ON: expected the headers of Qualcomm's AI Engine Direct SDK, but "
      "QNN_SDK_ROOT is '${QNN_SDK_ROOT}', where include/QNN/QnnInterface.h is not. Set it to the SDK's folder (2.37 is "
      "recommended), which has QNN_README.txt")
  endif()
endif()
