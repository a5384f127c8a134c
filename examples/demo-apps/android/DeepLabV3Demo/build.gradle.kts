// SPDX-License-Identifier: BSD-3-Clause
plugins {
    id("com.android.application") version "8.9.0" apply false
    id("org.jetbrains.kotlin.android") version "1.9.23" apply false
}
