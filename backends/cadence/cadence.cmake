# SPDX-License-Identifier: BSD-3-Clause
# Tool chain file of Cadence's Xtensa compiler: XTENSA_TOOLCHAIN, the folder that it was installed into, TOOLCHAIN_VER, one
# of the versions there, and XTENSA_CORE are read from the environment.
set(XTENSA_TOOLCHAIN_PATH "$ENV{XTENSA_TOOLCHAIN}")
if(NOT XTENSA_TOOLCHAIN_PATH OR NOT EXISTS "${XTENSA_TOOLCHAIN_PATH}")
  message(FATAL_ERROR "Nothing found at XTENSA_TOOLCHAIN_PATH: '${XTENSA_TOOLCHAIN_PATH}'. Set XTENSA_TOOLCHAIN to the "
    "folder of Cadence's tools, TOOLCHAIN_VER to a version in it such as RI-2023.11-linux, and XTENSA_CORE to a core such "
    "as VANILLA_HIFI")
endif()
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR xtensa)
set(_xtensa_bin "${XTENSA_TOOLCHAIN_PATH}/$ENV{TOOLCHAIN_VER}/XtensaTools/bin")
set(CMAKE_C_COMPILER "${_xtensa_bin}/xt-clang")
set(CMAKE_CXX_COMPILER "${_xtensa_bin}/xt-clang++")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(_xtensa_flags "-stdlib=libc++ -mtext-section-literals -mlongcalls -DET_ENABLE_ENUM_STRINGS=0")
set(CMAKE_C_FLAGS_INIT "${_xtensa_flags}")
set(CMAKE_CXX_FLAGS_INIT "${_xtensa_flags} -fno-strict-aliasing")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
