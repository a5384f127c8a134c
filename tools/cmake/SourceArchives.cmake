# SPDX-License-Identifier: BSD-3-Clause
# What `python -m build --sdist` puts into the archive besides this tree: the third-party sources that the build compiles.
project(executorch VERSION ${ET_VERSION} LANGUAGES NONE)
execute_process(COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/scripts/fetch_sources.sh" --archives RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "third-party sources are missing; scripts/fetch_sources.sh says above what to do")
endif()
