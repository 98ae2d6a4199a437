// SPDX-License-Identifier: Apache-2.0
// Before it is built: kiln-0.1.0.aar in libs/ (docs/use/android.md), and
//   kiln compile saxpy.cl --build-options -cl-std=CL1.2 -o base.kiln
//   kiln pack slice base.kiln --compress none -o src/main/assets/app.kiln  # the AAR has no zstd
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
