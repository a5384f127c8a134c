# SPDX-License-Identifier: BSD-3-Clause
# The backend's option under both of its names. Nothing of the SDK is needed: the library is found at run time.
define_backend_option(EXECUTORCH_BUILD_ENN "Samsung's Exynos backend; its library is found at run time"
  DEFAULT ${EXECUTORCH_BUILD_TESTS})
define_backend_option(EXECUTORCH_BUILD_EXYNOS "The same, as the guide names it" DEFAULT ${EXECUTORCH_BUILD_ENN})
