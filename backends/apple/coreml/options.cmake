# SPDX-License-Identifier: BSD-3-Clause
# The backend's option. Core ML is on Apple's systems alone: elsewhere it stays refused by name (RefusedOptions.cmake), and
# what is plain C++ is built with the tests.
if(APPLE)
  define_backend_option(EXECUTORCH_BUILD_COREML "Core ML delegate (coremldelegate)" PRESETS ios macos)
endif()
