# SPDX-License-Identifier: BSD-3-Clause
# GoogleTest: the installed libraries, or its sources where the tests are for another machine than this one.
if(NOT CMAKE_CROSSCOMPILING)
  find_package(GTest CONFIG REQUIRED)
  return()
endif()

find_path(ET_GOOGLETEST_SOURCE googletest/include/gtest/gtest.h HINTS /usr/src/googletest NO_CMAKE_FIND_ROOT_PATH)
if(NOT ET_GOOGLETEST_SOURCE)
  message(FATAL_ERROR "the sources of GoogleTest are not at /usr/src/googletest: install them (Debian: googletest), "
    "name their folder with -DET_GOOGLETEST_SOURCE=, or set EXECUTORCH_BUILD_TESTS=OFF")
endif()
set(INSTALL_GTEST OFF CACHE BOOL "")
add_subdirectory("${ET_GOOGLETEST_SOURCE}" "${CMAKE_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL)
foreach(name gtest gtest_main gmock)
  if(NOT TARGET GTest::${name})
    add_library(GTest::${name} ALIAS ${name})
  endif()
endforeach()
