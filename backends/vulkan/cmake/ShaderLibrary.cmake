# SPDX-License-Identifier: BSD-3-Clause
# Shaders to SPIR-V, embedded in C++.
#
# gen_vulkan_shader_lib_cpp(folder): all *.glsl of the folder; sets generated_spv_cpp, a source file with their table.
include_guard(GLOBAL)
find_program(GLSLC_PATH glslc HINTS "$ENV{VULKAN_SDK}/bin" "$ENV{VULKAN_SDK}/Bin" DOC "Shader compiler of the Vulkan backend")
if(NOT GLSLC_PATH)
  message(FATAL_ERROR "EXECUTORCH_BUILD_VULKAN: glslc is not found in PATH or $VULKAN_SDK/bin. Install glslc (Debian, Ubuntu) or the "
    "Vulkan SDK (https://vulkan.lunarg.com/sdk/home) and set VULKAN_SDK, or give -DGLSLC_PATH")
endif()
set(ET_VULKAN_GENERATOR "${CMAKE_CURRENT_LIST_DIR}/../runtime/gen_vulkan_spv.py" CACHE INTERNAL "")

function(gen_vulkan_shader_lib_cpp folder)
  get_filename_component(name "${folder}" NAME)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/vulkan_${name}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.glsl" "${folder}/*.glslh")
  add_custom_command(
    OUTPUT "${out}/spv.cpp"
    COMMAND "${PYTHON_EXECUTABLE}" "${ET_VULKAN_GENERATOR}" --glsl-path "${folder}" --output-path "${out}"
            --glslc-path "${GLSLC_PATH}" --tmp-dir-path "${out}/tmp" --optimize
    DEPENDS ${sources} "${ET_VULKAN_GENERATOR}"
    COMMENT "glslc ${name}" VERBATIM)
  set(generated_spv_cpp "${out}/spv.cpp" PARENT_SCOPE)
endfunction()
