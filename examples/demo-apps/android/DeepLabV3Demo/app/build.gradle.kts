// SPDX-License-Identifier: BSD-3-Clause
plugins {
    id("com.android.application")
    id("org.jetbrains.kotlin.android")
}

// -PuseLocalAar=true: app/libs/executorch.aar, which scripts/build_android_library.sh writes, instead of a release.
val useLocalAar = (findProperty("useLocalAar") as String?) == "true"
val executorchVersion = findProperty("executorchVersion") as String? ?: "1.0.0"

android {
    namespace = "org.pytorch.executorch.deeplabv3demo"
    compileSdk = 34
    defaultConfig {
        applicationId = "org.pytorch.executorch.deeplabv3demo"
        minSdk = 28
        targetSdk = 34
        versionCode = 1
        versionName = "1.0"
    }
    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_11
        targetCompatibility = JavaVersion.VERSION_11
    }
    kotlinOptions.jvmTarget = "11"
}

dependencies {
    if (useLocalAar) {
        implementation(files("libs/executorch.aar"))
    } else {
        implementation("org.pytorch:executorch-android:$executorchVersion")
    }
    implementation("com.facebook.soloader:soloader:0.10.5")
    implementation("com.facebook.fbjni:fbjni:0.7.0")
}
