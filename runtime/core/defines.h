// SPDX-License-Identifier: BSD-3-Clause
// Build switches of runtime/core with their defaults.
#pragma once

/// 1: names of enumerators are in the program (Tag). 0: they print as numbers.
#ifndef ET_ENABLE_ENUM_STRINGS
#define ET_ENABLE_ENUM_STRINGS 1
#endif
