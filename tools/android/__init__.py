# SPDX-License-Identifier: BSD-3-Clause
"""Archives for Android and jars for desktops: classes of extension/android, libraries that CMake built."""
