// SPDX-License-Identifier: BSD-3-Clause
// What Foundation of other systems than Apple's lacks, for tests.
#undef NS_UNAVAILABLE
#define NS_UNAVAILABLE __attribute__((unavailable))
#ifndef NS_NOESCAPE
#define NS_NOESCAPE __attribute__((noescape))
#endif
#if !__has_feature(objc_arc)
#define __bridge_retained
#define __bridge_transfer
#endif
