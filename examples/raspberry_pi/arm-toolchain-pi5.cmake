# SPDX-License-Identifier: BSD-3-Clause
# Raspberry Pi 5. With an Arm GNU toolchain in TOOLCHAIN_PATH its libraries are linked; edit CMAKE_SYSROOT for those of your Pi,
# or give setup.sh --sysroot. Without one the compilers are the system's (g++-aarch64-linux-gnu).
set(PI_PROCESSOR cortex-a76)
set(CMAKE_SYSROOT "${TOOLCHAIN_PATH}/aarch64-none-linux-gnu/libc")
set(CMAKE_FIND_ROOT_PATH "${CMAKE_SYSROOT}")
include("${CMAKE_CURRENT_LIST_DIR}/arm-toolchain-pi.cmake")
