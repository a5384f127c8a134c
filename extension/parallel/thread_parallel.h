// SPDX-License-Identifier: BSD-3-Clause
// The older include path of parallel_for. New code includes
// runtime/kernel/thread_parallel_interface.h.
#pragma once

#include <executorch/runtime/kernel/thread_parallel_interface.h>
