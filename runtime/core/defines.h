// SPDX-License-Identifier: BSD-3-Clause
// Switches of the core.
#pragma once

// 1: names of enumerators are compiled in; 0: their numbers are printed.
#ifndef ET_ENABLE_ENUM_STRINGS
#define ET_ENABLE_ENUM_STRINGS 1
#endif
