// SPDX-License-Identifier: Apache-2.0
// In this folder, with DIST of a release that was made with --ndk; never run (docs/use/android.md):
//   mkdir -p libs src/main/assets && cp DIST/maven/kiln/kiln/0.1.0/kiln-0.1.0.aar libs/
//   kiln compile saxpy.cl --build-options -cl-std=CL1.2 -o base.kiln
//   kiln pack slice base.kiln --compress none -o src/main/assets/app.kiln  # the AAR has no zstd
//   gradle assembleDebug  # 8.7 or newer, JDK 17, ANDROID_HOME with SDK 34, an NDK and CMake
plugins { id("com.android.application") version "8.5.0" }

android {
  namespace = "kiln.sample"
  compileSdk = 34
  defaultConfig {
    minSdk = 24
    targetSdk = 34
  }
  androidResources { noCompress += "kiln" } // Kiln reads the pack in the APK
  buildFeatures { prefab = true } // kiln::runtime, for native code
  externalNativeBuild { cmake { path = file("src/main/cpp/CMakeLists.txt") } }
  compileOptions { sourceCompatibility = JavaVersion.VERSION_1_8 }
}

dependencies { implementation(files("libs/kiln-0.1.0.aar")) }
