# SPDX-License-Identifier: BSD-3-Clause
"""Programs for NXP's eIQ Neutron NPUs. Importing reads no environment and wants no SDK."""
