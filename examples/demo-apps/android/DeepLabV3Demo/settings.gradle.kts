// SPDX-License-Identifier: BSD-3-Clause
pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
}
dependencyResolutionManagement {
    repositories {
        google()
        mavenCentral()
    }
}
rootProject.name = "DeepLabV3Demo"
include(":app")
