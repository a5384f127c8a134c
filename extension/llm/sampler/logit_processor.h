// SPDX-License-Identifier: BSD-3-Clause
// The documented path of logit processors.
#pragma once

#include <executorch/extension/text/sampler/logit_processor.h>
