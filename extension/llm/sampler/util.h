// SPDX-License-Identifier: BSD-3-Clause
// The documented path of sample_from_logits.
#pragma once

#include <executorch/extension/text/sampler/sample_from_logits.h>
