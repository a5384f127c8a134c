# SPDX-License-Identifier: BSD-3-Clause
# The backend's options.
define_backend_option(EXECUTORCH_BUILD_CADENCE "Kernels of Cadence DSPs for this computer, for tests" DEFAULT ${EXECUTORCH_BUILD_TESTS})
define_backend_option(EXECUTORCH_CADENCE_CPU_RUNNER "cadence_runner: bundled programs with these kernels on this computer" DEFAULT ${EXECUTORCH_BUILD_TESTS})
