// SPDX-License-Identifier: BSD-3-Clause
// The earlier name of seq2seq_runner.h.
#pragma once

#include <executorch/extension/asr/runner/seq2seq_runner.h>
