# SPDX-License-Identifier: BSD-3-Clause
"""Whether a device computes a backend's programs rightly, and how fast: a folder to carry there; nothing is installed.

usage: python -m executorch.backends.test.device_check vulkan FOLDER [--every 4] [--half] [part of a name ...]

It writes programs that carry inputs and what eager PyTorch makes of them (`executor_runner --self_test`): every row of
the corpus that the backend takes, whole networks, and a language model with its cache. On the device:

    sh FOLDER/check.sh ./executor_runner [part of a name]
"""
