# SPDX-License-Identifier: BSD-3-Clause
# Regular expressions (pcre2), Unicode's tables (utf8proc) and JSON (nlohmann_json), for tokenizers.
set(src "${fetched}/pcre2/src")
set(made "${CMAKE_CURRENT_BINARY_DIR}/pcre2")
foreach(pair pcre2.h.generic:pcre2.h config.h.generic:config.h pcre2_chartables.c.dist:pcre2_chartables.c)
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 from)
  list(GET pair 1 to)
  configure_file("${src}/${from}" "${made}/${to}" COPYONLY)
endforeach()
set(parts auto_possess chkdint compile compile_class config context convert dfa_match error extuni find_bracket jit_compile
  maketables match match_data newline ord2utf pattern_info script_run serialize string_utils study substitute substring
  tables ucd valid_utf xclass)
list(TRANSFORM parts REPLACE "(.+)" "${src}/pcre2_\\1.c")
et_third_party(pcre2 INCLUDE "${made}" SRCS ${parts} "${made}/pcre2_chartables.c")
target_include_directories(pcre2 PRIVATE "${src}")
target_compile_definitions(pcre2 PUBLIC PCRE2_STATIC PRIVATE HAVE_CONFIG_H SUPPORT_PCRE2_8 SUPPORT_UNICODE
  PCRE2_CODE_UNIT_WIDTH=8)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|i.86|aarch64|arm64|ARM64|arm.*|riscv.*)$")
  target_compile_definitions(pcre2 PRIVATE SUPPORT_JIT)  # else patterns are interpreted
endif()

et_third_party(utf8proc INCLUDE "${fetched}/utf8proc" SRCS "${fetched}/utf8proc/utf8proc.c")
target_compile_definitions(utf8proc PUBLIC UTF8PROC_STATIC)

add_library(nlohmann_json INTERFACE)
target_include_directories(nlohmann_json SYSTEM INTERFACE "${fetched}/json/include")
