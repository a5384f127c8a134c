// SPDX-License-Identifier: BSD-3-Clause
// Included ahead of pthreadpool's sources: how long a thread without work looks for some before it
// sleeps. To wake a thread takes 10 to 40 us, on virtual machines above all, and between two
// layers' matrix multiplies a program may compute as long on one thread: pthreadpool's own 1,000
// looks end just then. SmolLM2-135M, 2 threads, decoding: 180 tokens/s with 1,000 looks, 250 with
// 5,000 or more.
#pragma once

#include "threadpool-common.h"

#if !defined(__ANDROID__)  // which has 100,000
#undef PTHREADPOOL_SPIN_PAUSE_ITERATIONS
#define PTHREADPOOL_SPIN_PAUSE_ITERATIONS 10000
#endif
