# SPDX-License-Identifier: BSD-3-Clause
# The documents' name of the toolchain file for Arm processors without an operating system.
include("${CMAKE_CURRENT_LIST_DIR}/../../../tools/cmake/toolchains/arm-none-eabi.cmake")
