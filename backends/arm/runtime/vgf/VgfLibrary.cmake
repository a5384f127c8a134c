# SPDX-License-Identifier: BSD-3-Clause
# vgf_library: Arm's reader of VGF files, of the package ai_ml_sdk_vgf_library in the backend's tools
# (tools-requirements.txt) or in the Python environment. Without the option EXECUTORCH_BUILD_VGF it need not be there.
set(_vgf_places "")
foreach(_vgf_prefix "$ENV{EXECUTORCH_TOOLS_ARM}" "$ENV{VIRTUAL_ENV}/tools/arm" "${EXECUTORCH_ROOT}/.venv/tools/arm" "$ENV{VIRTUAL_ENV}")
  file(GLOB _vgf_found "${_vgf_prefix}/lib/python3*/site-packages/vgf_lib/binaries")
  list(APPEND _vgf_places ${_vgf_found})
endforeach()
find_path(VGF_INCLUDE_DIR vgf/decoder.h HINTS ${_vgf_places} PATH_SUFFIXES include DOC "Headers of ai_ml_sdk_vgf_library")
find_library(VGF_LIBRARY vgf HINTS ${_vgf_places} PATH_SUFFIXES lib DOC "libvgf of ai_ml_sdk_vgf_library")
if(NOT VGF_INCLUDE_DIR OR NOT VGF_LIBRARY)
  if(NOT EXECUTORCH_BUILD_VGF)
    return()
  endif()
  message(FATAL_ERROR "EXECUTORCH_BUILD_VGF: Arm's VGF library is not found (vgf/decoder.h, libvgf.a). scripts/setup.sh installs it; "
    "or pip install ai_ml_sdk_vgf_library, in a virtual environment that is active or that EXECUTORCH_TOOLS_ARM names")
endif()

# Of an installed tree it is a file of it, too.
get_filename_component(_vgf_file "${VGF_LIBRARY}" NAME)
add_library(vgf_library INTERFACE)
target_include_directories(vgf_library SYSTEM INTERFACE $<BUILD_INTERFACE:${VGF_INCLUDE_DIR}>)
target_link_libraries(vgf_library INTERFACE $<BUILD_INTERFACE:${VGF_LIBRARY}>
  $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/${_vgf_file}>)
if(EXECUTORCH_BUILD_VGF)
  install(FILES "${VGF_LIBRARY}" DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS vgf_library EXPORT ExecuTorchTargets)
endif()
