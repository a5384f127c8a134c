# SPDX-License-Identifier: BSD-3-Clause
# The backend's options. Python's runtime has it.
define_backend_option(EXECUTORCH_BUILD_XNNPACK "XNNPACK backend; into the Python runtime, too"
  DEFAULT ${EXECUTORCH_BUILD_PYBIND} PRESETS linux cross pybind llm profiling android apple)
define_overridable_option(EXECUTORCH_XNNPACK_ROOT "Installed XNNPACK to use (include/, lib/) instead of compiling its sources" STRING "")
define_overridable_option(EXECUTORCH_XNNPACK_ENABLE_WEIGHT_CACHE "Delegates share packed weights unless told otherwise" BOOL ON)
define_overridable_option(EXECUTORCH_XNNPACK_SHARED_WORKSPACE "Delegates of a method share memory unless told otherwise" BOOL ON)
define_overridable_option(EXECUTORCH_XNNPACK_TUNING "Kernels of ours compute what they are faster at than XNNPACK's" BOOL ON)
define_overridable_option(EXECUTORCH_XNNPACK_LOG_LEVEL "XNNPACK's own log: 0 (none) to 5 (debug); empty = 5 in Debug, else 0" STRING "")
check_required_options_on(IF_ON EXECUTORCH_BUILD_XNNPACK REQUIRES EXECUTORCH_BUILD_PTHREADPOOL EXECUTORCH_BUILD_CPUINFO)
