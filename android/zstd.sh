#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the decoder that Kiln needs of zstd, for the four ABIs, by the NDK in ANDROID_NDK_HOME:
#   sh android/zstd.sh ZSTD-SOURCES DEPENDENCIES
set -eu
for abi in arm64-v8a armeabi-v7a x86_64 x86; do
  cmake -S "$1/build/cmake" -B "build/zstd-$abi" -DANDROID_ABI=$abi -DANDROID_PLATFORM=24 \
        --toolchain "$ANDROID_NDK_HOME/build/cmake/android.toolchain.cmake" \
        -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_LEGACY_SUPPORT=OFF \
        "-DCMAKE_C_FLAGS_RELEASE=-Oz -DNDEBUG -ffunction-sections -DHUF_FORCE_DECOMPRESS_X1 \
         -DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT -DZSTD_NO_INLINE"
  cmake --build "build/zstd-$abi"
  cmake --install "build/zstd-$abi" --prefix "$2/$abi"
done
