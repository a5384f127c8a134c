# SPDX-License-Identifier: BSD-3-Clause
"""Qualcomm's AI Engine Direct (QNN): compilation for the NPUs and GPUs of Snapdragon. Importing does nothing else: no
download, no file, no process."""
