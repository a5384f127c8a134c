# SPDX-License-Identifier: BSD-3-Clause
# The backend's option. The driver is declared here: systems that load libraries find it, firmware links libNeutronDriver.a.
define_backend_option(EXECUTORCH_BUILD_NXP_NEUTRON "NXP's eIQ Neutron backend; its driver is found at run time, or linked by firmware"
  DEFAULT ${EXECUTORCH_BUILD_TESTS})
