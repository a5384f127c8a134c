# SPDX-License-Identifier: BSD-3-Clause
# cmake -DFROM=<file> -DTO=<file> -P PlaceFile.cmake: puts a copy of FROM at TO unless they are equal. TO is replaced, never
# written to: a process that has mapped the old file keeps the old file.
if(NOT EXISTS "${FROM}")
  message(FATAL_ERROR "PlaceFile: expected a file to place, found none at '${FROM}'")
endif()
if(EXISTS "${TO}")
  file(SHA256 "${FROM}" _from)
  file(SHA256 "${TO}" _to)
  if(_from STREQUAL _to)
    return()
  endif()
endif()
configure_file("${FROM}" "${TO}.new" COPYONLY)
file(RENAME "${TO}.new" "${TO}")
