// SPDX-License-Identifier: BSD-3-Clause
// GNUstep asks for this file of another runtime where there are blocks.
#include <Block.h>
