// SPDX-License-Identifier: BSD-3-Clause
// The documented path of the sampler.
#pragma once

#include <executorch/extension/text/sampler/sampler.h>
