# SPDX-License-Identifier: BSD-3-Clause
# The toolchain of the Android NDK that ANDROID_NDK names.
foreach(_variable ANDROID_NDK ANDROID_NDK_HOME ANDROID_NDK_ROOT)
  if(NOT _ndk)
    set(_ndk "$ENV{${_variable}}")
  endif()
endforeach()
if(NOT EXISTS "${_ndk}/build/cmake/android.toolchain.cmake")
  message(FATAL_ERROR "the presets for Android need the Android NDK: set ANDROID_NDK to its folder, which has "
    "build/cmake/android.toolchain.cmake; found '${_ndk}'")
endif()
include("${_ndk}/build/cmake/android.toolchain.cmake")
