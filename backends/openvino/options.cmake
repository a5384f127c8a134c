# SPDX-License-Identifier: BSD-3-Clause
# The backend's option. OpenVINO's library is found when it is used: nothing of it is needed here.
define_backend_option(EXECUTORCH_BUILD_OPENVINO "OpenVINO backend; its library is found at run time"
  DEFAULT OFF PRESETS linux)
