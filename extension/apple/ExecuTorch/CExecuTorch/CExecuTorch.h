/* SPDX-License-Identifier: BSD-3-Clause
   The C interface for Swift: from the frameworks' headers, else from this tree. */
#if __has_include(<executorch/c/executorch.h>)
#include <executorch/c/executorch.h>
#else
#import "../../../c/executorch.h"
#endif
