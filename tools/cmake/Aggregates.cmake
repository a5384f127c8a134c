# SPDX-License-Identifier: BSD-3-Clause
# executorch::extensions, executorch::backends, executorch::kernels: all that this configuration builds of each.
get_property(_libraries GLOBAL PROPERTY ET_INSTALLED_LIBRARIES)
set(_extensions ${_libraries})
list(FILTER _extensions INCLUDE REGEX "^extension_")
if(extension_module_static IN_LIST _extensions)
  list(REMOVE_ITEM _extensions extension_module)
endif()
set(_backends ${_libraries})
list(FILTER _backends INCLUDE REGEX "_backend$")

foreach(_group extensions backends kernels)
  if(NOT TARGET executorch_${_group})
    et_library(executorch_${_group} INTERFACE DEPS ${_${_group}})
  endif()
  if(NOT TARGET executorch::${_group})
    add_library(executorch::${_group} ALIAS executorch_${_group})
  endif()
endforeach()
