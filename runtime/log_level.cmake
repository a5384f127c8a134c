# SPDX-License-Identifier: BSD-3-Clause
# et_min_log_level(out level is_logging): the enumerator for ET_MIN_LOG_LEVEL from a level spelled in any case. When
# logging is off errors still speak; Debug and Info are out.
function(et_min_log_level out level is_logging)
  string(TOLOWER "${level}" lower)
  if(NOT lower MATCHES "^(debug|info|error|fatal)$")
    message(FATAL_ERROR "EXECUTORCH_LOG_LEVEL '${level}' is none of Debug, Info, Error, Fatal")
  endif()
  if(NOT is_logging AND lower MATCHES "^(debug|info)$")
    set(lower error)
  endif()
  string(SUBSTRING "${lower}" 0 1 initial)
  string(SUBSTRING "${lower}" 1 -1 rest)
  string(TOUPPER "${initial}" initial)
  set(${out} "${initial}${rest}" PARENT_SCOPE)
endfunction()
