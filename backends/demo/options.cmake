# SPDX-License-Identifier: BSD-3-Clause
# The option of the backends of the documents' examples.
define_overridable_option(EXECUTORCH_BUILD_DEMO_BACKENDS "Backends of the documents' examples, for tests" BOOL ${EXECUTORCH_BUILD_TESTS})
check_required_options_on(IF_ON EXECUTORCH_BUILD_DEMO_BACKENDS REQUIRES EXECUTORCH_BUILD_EXTENSION_MODULE)
