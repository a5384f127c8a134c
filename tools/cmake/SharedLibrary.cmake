# SPDX-License-Identifier: BSD-3-Clause
# EXECUTORCH_BUILD_SHARED: libexecutorch_shared.so, all that this configuration builds in one library. Programs link the target
# executorch_shared and none of the archives beside it: each has a runtime of its own.
get_property(_libraries GLOBAL PROPERTY ET_INSTALLED_LIBRARIES)
set(_whole executorch_core)
set(_registering)
foreach(_library IN LISTS _libraries)
  get_target_property(_type ${_library} TYPE)
  if(_library MATCHES "^extension_|^etdump$|^bundled_" AND _type STREQUAL "STATIC_LIBRARY")
    list(APPEND _whole ${_library})
  elseif(_library MATCHES "^(executorch|executorch_kernels|executorch_backends|quantized_ops_lib|torchao_ops_executorch|custom_ops)$")
    list(APPEND _registering ${_library})
  endif()
endforeach()
if(APPLE)
  list(TRANSFORM _whole REPLACE "(.+)" "LINKER:-force_load,$<TARGET_FILE:\\1>" OUTPUT_VARIABLE _archives)
else()
  list(TRANSFORM _whole REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE _archives)
  list(JOIN _archives " " _archives)
  set(_archives "SHELL:LINKER:--whole-archive ${_archives} LINKER:--no-whole-archive" LINKER:-z,defs)
endif()

# Sources are in the archives; CMake wants one of the library's own.
file(WRITE "${CMAKE_BINARY_DIR}/executorch_shared.cpp" "")
add_library(executorch_shared SHARED "${CMAKE_BINARY_DIR}/executorch_shared.cpp")
target_link_options(executorch_shared PRIVATE ${_archives})
target_link_libraries(executorch_shared PRIVATE ${_whole} ${_registering})
_et_target_defaults(executorch_shared INTERFACE)
target_compile_definitions(executorch_shared INTERFACE $<TARGET_PROPERTY:executorch_core,INTERFACE_COMPILE_DEFINITIONS>)
install(TARGETS executorch_shared EXPORT ExecuTorchTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
