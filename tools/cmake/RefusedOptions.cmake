# SPDX-License-Identifier: BSD-3-Clause
# Documented options that can be said and not had: each takes the one value under which nothing is missing, and any other
# is an error that names what is. A preset that ships with us asks for all that the documents have and leaves these out. A row
# leaves when its part arrives, and says nothing of an option that the folder of a backend defines.
set(_et_refused
  # name | type | value | what is missing
  "EXECUTORCH_BUILD_ARM_ETHOSU_LINUX|BOOL|OFF|Arm's ethos-u-linux-driver-stack (ethosu.hpp), which no package registry has"
  "EXECUTORCH_BUILD_CMSIS_NN_PYBINDS|BOOL|OFF|CMSIS-NN, the Cortex-M kernels are our own"
  "CORTEX_M_ENABLE_RUNTIME_CHECKS|BOOL|OFF|a build without checks, the Cortex-M kernels check their arguments in every one and use no scratch"
  "FETCH_ETHOS_U_CONTENT|BOOL|ON|nothing is fetched, the Ethos-U delegate declares what it calls of the driver, which firmware links"
  "EXECUTORCH_NNLIB_OPT|BOOL|OFF|Cadence's Xtensa tool chain and nnlib for HiFi, which no package registry has, the generic kernels build with any compiler"
  "EXECUTORCH_FUSION_G3_OPT|BOOL|OFF|Cadence's Xtensa tool chain and nnlib for Fusion G3, which no package registry has, the generic kernels build with any compiler"
  "EXECUTORCH_VISION_OPT|BOOL|OFF|Cadence's Xtensa tool chain and library for Vision DSPs, which no package registry has, the generic kernels build with any compiler"
  "EXECUTORCH_BUILD_COREML|BOOL|OFF|macOS with Xcode, models are exported and tried on other systems without"
  "EXECUTORCH_COREML_BUILD_EXECUTOR_RUNNER|BOOL|OFF|macOS with Xcode, the runner for Core ML is a later part"
  "EXECUTORCH_BUILD_MPS|BOOL|OFF|macOS with Xcode, the MPS delegate is a later part"
  "EXECUTORCH_BUILD_METAL|BOOL|OFF|macOS with Xcode, the Metal delegate is a later part"
  "EXECUTORCH_METAL_COLLECT_STATS|BOOL|OFF|macOS with Xcode, the Metal delegate is a later part"
  "EXECUTORCH_BUILD_MLX|BOOL|OFF|macOS with Xcode, the MLX delegate is a later part"
  "EXECUTORCH_MLX_ENABLE_SANITIZERS|BOOL|OFF|the MLX delegate is a later part"
  "ET_MLX_ENABLE_OP_LOGGING|BOOL|OFF|the MLX delegate is a later part"
  "ET_MLX_ALLOW_CUSTOM_KERNEL_EXECUTION|BOOL|ON|the MLX delegate is a later part"
  "EXECUTORCH_BUILD_EXTENSION_APPLE|BOOL|OFF|macOS with Xcode"
  "EXECUTORCH_BUILD_EXTENSION_LLM_APPLE|BOOL|OFF|macOS with Xcode"
  "EXECUTORCH_BUILD_EXTENSION_IMAGE|BOOL|OFF|the image extension is a later part"
  "EXECUTORCH_BUILD_KERNELS_CUSTOM_AOT|BOOL|OFF|a build against libtorch, torch.library defines operators from Python"
  "EXECUTORCH_BUILD_KERNELS_LLM_AOT|BOOL|OFF|a build against libtorch, executorch.extension.llm.custom_ops defines the operators from Python"
  "EXECUTORCH_BUILD_KERNELS_QUANTIZED_AOT|BOOL|OFF|a build against libtorch, executorch.kernels.quantized defines the operators from Python"
  "EXECUTORCH_BUILD_NXP_NEUTRON_RUNNER|BOOL|OFF|NXP's eIQ Neutron SDK"
  "ET_ENABLE_VGF_INPUT_DUMP|BOOL|OFF|flags of executor_runner for it, EXECUTORCH_VGF_DUMP_INPUTS_DIR and EXECUTORCH_VGF_DUMP_INPUTS_AND_EXIT in the environment do the same in every build"
  "EXECUTORCH_BUILD_WEBGPU|BOOL|OFF|the WebGPU delegate is a later part"
  "EXECUTORCH_BUILD_WEBGPU_TEST|BOOL|OFF|the WebGPU delegate is a later part"
  "EXECUTORCH_BUILD_WEBGPU_PROFILING|BOOL|OFF|the WebGPU delegate is a later part"
  "EXECUTORCH_BUILD_WHEEL_DO_NOT_USE|BOOL|OFF|the wheel is built by pip alone: pip wheel ."
  "EXECUTORCH_XNNPACK_ENABLE_KLEIDI|BOOL|OFF|KleidiAI, which no package registry has as sources"
  "EXECUTORCH_FLATBUFFERS_MAX_ALIGNMENT|STRING|1024|alignment is not limited by the build: any power of two is written and read")

# Those that the folder of a backend has by now are not missing any more (Options.cmake includes it later); inside of an
# if(APPLE), not on Apple's systems.
set(_et_start "^")
if(APPLE)
  set(_et_start "^ *")
  list(FILTER _et_refused EXCLUDE REGEX "^EXECUTORCH_BUILD_EXTENSION_(LLM_)?APPLE[|]")
endif()
foreach(_et_file IN LISTS ET_BACKEND_OPTIONS)
  file(STRINGS "${_et_file}" _et_lines REGEX "${_et_start}define_[a-z]+_option")
  foreach(_et_line IN LISTS _et_lines)
    string(REGEX MATCH "[A-Z][A-Z0-9_]+" _et_name "${_et_line}")
    list(FILTER _et_refused EXCLUDE REGEX "^${_et_name}[|]")
  endforeach()
endforeach()

# Whether `value` of the option `name` can be had: `missing` gets what is not there, or nothing.
function(_et_missing name value missing)
  set(${missing} "" PARENT_SCOPE)
  foreach(row IN LISTS _et_refused)
    string(REPLACE "|" ";" cells "${row}")
    list(GET cells 0 known)
    if(NOT known STREQUAL name)
      continue()
    endif()
    list(GET cells 1 type)
    list(GET cells 2 taken)
    list(GET cells 3 reason)
    if((type STREQUAL "BOOL" AND ((value AND NOT taken) OR (taken AND NOT value)))
       OR (type STREQUAL "STRING" AND NOT "${value}" STREQUAL taken))
      set(${missing} "${reason}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# What was asked for and cannot be had, in one error.
function(_et_refuse)
  set(wrong "")
  foreach(row IN LISTS _et_refused)
    string(REPLACE "|" ";" cells "${row}")
    list(GET cells 0 name)
    list(GET cells 1 type)
    list(GET cells 2 taken)
    list(GET cells 3 reason)
    if(NOT DEFINED ${name})
      set(${name} "${taken}" CACHE ${type} "${reason}")
    endif()
    _et_missing(${name} "${${name}}" missing)
    if(missing)
      string(APPEND wrong "\n  ${name}=${${name}}: ${missing}")
    endif()
  endforeach()
  if(wrong)
    message(FATAL_ERROR "This build cannot have all that was asked for; leave these options out:${wrong}")
  endif()
endfunction()
