# SPDX-License-Identifier: BSD-3-Clause
"""Archives for Android and jars for desktops, of the classes in extension/android and the libraries that CMake built."""
