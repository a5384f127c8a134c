// SPDX-License-Identifier: BSD-3-Clause
// What Foundation of other systems than Apple's lacks, for tests.
#include <stddef.h>
#ifndef NS_NOESCAPE
#define NS_NOESCAPE
#endif
#ifndef NS_UNAVAILABLE
#define NS_UNAVAILABLE __attribute__((unavailable))
#endif
#ifndef NS_DESIGNATED_INITIALIZER
#define NS_DESIGNATED_INITIALIZER
#endif
