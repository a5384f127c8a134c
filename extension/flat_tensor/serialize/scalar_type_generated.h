// SPDX-License-Identifier: BSD-3-Clause
// The scalar types of data files are those of programs.
#pragma once

#include <executorch/schema/scalar_type_generated.h>
