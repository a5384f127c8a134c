# SPDX-License-Identifier: BSD-3-Clause
include("${CMAKE_CURRENT_LIST_DIR}/apple.cmake")
set_preset_option(EXECUTORCH_BUILD_EXECUTOR_RUNNER OFF)
