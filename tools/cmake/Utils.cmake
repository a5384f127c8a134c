# SPDX-License-Identifier: BSD-3-Clause
# The documented include name of the target functions.
include("${CMAKE_CURRENT_LIST_DIR}/executorch_targets.cmake")
