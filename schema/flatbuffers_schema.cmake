# SPDX-License-Identifier: BSD-3-Clause
# et_flatbuffers_schema(name FBS file.fbs): C++ header from a schema, made in the build.
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/../tools/cmake/BuildTools.cmake")

if(NOT TARGET flatbuffers_headers)
  add_library(flatbuffers_headers INTERFACE)
  target_include_directories(flatbuffers_headers SYSTEM INTERFACE $<BUILD_INTERFACE:${ET_BUILD_TOOLS}/include>)
  install(DIRECTORY "${ET_BUILD_TOOLS}/include/flatbuffers" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT headers)
  install(TARGETS flatbuffers_headers EXPORT ExecuTorchTargets)
endif()

# The header is included as <executorch/FOLDER/FILE_generated.h>, FOLDER being the schema's folder from the root.
function(et_flatbuffers_schema name)
  cmake_parse_arguments(ARG "" "FBS" "" ${ARGN})
  get_filename_component(source "${ARG_FBS}" ABSOLUTE)
  get_filename_component(stem "${ARG_FBS}" NAME_WE)
  file(RELATIVE_PATH folder "${EXECUTORCH_ROOT}" "${CMAKE_CURRENT_SOURCE_DIR}")
  set(out_dir "${EXECUTORCH_GENERATED_DIR}/executorch/${folder}")
  set(header "${out_dir}/${stem}_generated.h")
  add_custom_command(
    OUTPUT "${header}"
    COMMAND "${ET_FLATC}" --cpp --scoped-enums --gen-object-api --force-empty-vectors --no-warnings
            --include-prefix executorch/schema -I "${EXECUTORCH_ROOT}/schema" -o "${out_dir}" "${source}"
    DEPENDS "${source}" "${EXECUTORCH_ROOT}/schema/scalar_type.fbs" "${ET_FLATC}"
    COMMENT "flatc ${folder}/${stem}.fbs" VERBATIM)
  add_custom_target(${name}_header DEPENDS "${header}")
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_header)
  target_link_libraries(${name} INTERFACE flatbuffers_headers)
  install(TARGETS ${name} EXPORT ExecuTorchTargets)
endfunction()

# et_binary_schema(name FBS file.fbs): the schema in binary form (.bfbs), package data of the Python folder it stands in.
function(et_binary_schema name)
  cmake_parse_arguments(ARG "" "FBS" "" ${ARGN})
  get_filename_component(source "${ARG_FBS}" ABSOLUTE)
  get_filename_component(stem "${ARG_FBS}" NAME_WE)
  get_filename_component(source_folder "${source}" DIRECTORY)
  file(RELATIVE_PATH folder "${EXECUTORCH_ROOT}" "${source_folder}")
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${name}.stamp")
  add_custom_command(
    OUTPUT "${stamp}"
    COMMAND "${ET_FLATC}" --binary --schema --bfbs-builtins -I "${EXECUTORCH_ROOT}/schema"
            -o "${ET_PYTHON_TREE}/${folder}" "${source}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS "${source}" "${EXECUTORCH_ROOT}/schema/scalar_type.fbs"
    BYPRODUCTS "${ET_PYTHON_TREE}/${folder}/${stem}.bfbs"
    COMMENT "flatc ${folder}/${stem}.fbs (binary schema)" VERBATIM)
  add_custom_target(${name} ALL DEPENDS "${stamp}")
  add_dependencies(python_modules ${name})
  et_install_python(FILES "${ET_PYTHON_TREE}/${folder}/${stem}.bfbs" DESTINATION "${folder}")
endfunction()
