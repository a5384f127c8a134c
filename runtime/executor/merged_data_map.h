// SPDX-License-Identifier: BSD-3-Clause
// internal::MergedDataMap, which stands beside PteDataMap here.
#pragma once

#include <executorch/runtime/executor/pte_data_map.h>
