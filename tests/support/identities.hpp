// SPDX-License-Identifier: Apache-2.0
// Identities as real drivers report them, for tests.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "runtime/identity/identity.hpp"

namespace kiln::test {

using runtime::Facts;
using runtime::Field;
using runtime::Identity;

inline Identity make(std::initializer_list<std::pair<Field, std::string>> facts) {
  Identity identity;
  for (const auto &fact : facts) identity.set(fact.first, fact.second);
  return identity;
}

// One driver, and what its profile must make of it.
struct Row {
  const char *vendor;
  const char *name;
  const char *version;
  const char *driver;
  const char *profile;
  const char *family;
  const char *model;
  const char *compiler;
};

inline const Row kRows[] = {
    {"QUALCOMM", "QUALCOMM Adreno(TM)", "OpenCL 2.0 Adreno(TM) 540",
     "OpenCL 2.0 QUALCOMM build: commit #dd296bd changeid #I0c Compiler E031.32.00.01", "adreno",
     "Adreno 5xx", "540", "E031.32.00.01"},
    {"QUALCOMM", "QUALCOMM Adreno(TM)", "OpenCL 2.0 Adreno(TM) 642L", "", "adreno", "Adreno 6xx",
     "642L", ""},
    {"QUALCOMM", "QUALCOMM Adreno(TM) 750", "OpenCL 3.0 Adreno(TM) 750",
     "OpenCL 3.0 QUALCOMM build: commit unknown Compiler E031.45.02.06", "adreno", "Adreno 7xx",
     "750", "E031.45.02.06"},
    {"QUALCOMM", "QUALCOMM Adreno(TM) 840", "OpenCL 3.0 Adreno(TM) 840",
     "OpenCL 3.0 QUALCOMM build: 0842.27.1 Compiler E031.50.19.18", "adreno", "Adreno 8xx", "840",
     "E031.50.19.18"},
    {"", "Qualcomm(R) Adreno(TM) X1-85 GPU", "", "DX.17.75.00", "adreno", "Adreno X1", "X1-85", ""},
    {"ARM", "Mali-T628", "OpenCL 1.2 v1.r12p0-04rel0.0123456789abcdef0123456789abcdef", "1.2",
     "mali", "Mali Midgard", "Mali-T628", "r12p0-04rel0"},
    {"ARM", "Mali-G710 r0p0", "OpenCL 3.0 v1.r51p0-00eac0.0123456789abcdef0123456789abcdef", "3.0",
     "mali", "Mali Valhall", "Mali-G710", "r51p0-00eac0"},
    {"Imagination Technologies", "PowerVR B-Series BXE-4-32", "OpenCL 3.0 ", "1.19@6345021",
     "powervr", "PowerVR B-Series", "BXE-4-32", "1.19@6345021"},
    {"Intel(R) Corporation", "Intel(R) Graphics [0xa780]", "OpenCL 3.0 NEO ", "22.43.24595",
     "intel", "", "Intel(R) Graphics [0xa780]", "22.43.24595"},
    {"NVIDIA Corporation", "NVIDIA H200", "OpenCL 3.0 CUDA", "580.159.04", "nvidia", "",
     "NVIDIA H200", "580.159.04"},
    {"Advanced Micro Devices, Inc.", "gfx908:sramecc+:xnack-", "OpenCL 2.0 ", "3452.0 (HSA1.1,LC)",
     "amd", "gfx9", "gfx908", "3452.0"},
    {"Vivante Corporation", "Vivante OpenCL Device GC7000L.6214.0000", "OpenCL 1.2 ",
     "OpenCL 1.2 V6.2.4.p1.150331", "vivante", "Vivante GC7000L", "GC7000L.6214.0000",
     "V6.2.4.p1.150331"},
    {"Apple", "Apple M1", "OpenCL 1.2 ", "1.2 1.0", "apple", "Apple M1", "Apple M1", ""},
    {"Somebody", "Something", "OpenCL 1.2 x", "7", "generic", "", "Something", "7"},
};

inline Identity identity_of(const Row &row) {
  return make({{Field::device_name, row.name},
               {Field::device_vendor, row.vendor},
               {Field::device_version, row.version},
               {Field::driver_version, row.driver},
               {Field::address_bits, "64"}});
}

inline Identity mali(const char *name, const char *vendor_id, const std::string &driver) {
  return make({{Field::platform_name, "ARM Platform"},
               {Field::device_name, name},
               {Field::device_vendor, "ARM"},
               {Field::device_vendor_id, vendor_id},
               {Field::device_version, "OpenCL 3.0 v1." + driver},
               {Field::address_bits, "64"},
               {Field::driver_version, "3.0"}});
}

inline Identity neo_22(const char *ip, const char *driver) {
  return make({{Field::platform_name, "Intel(R) OpenCL HD Graphics"},
               {Field::device_name, "Intel(R) Graphics [0x1902]"},
               {Field::device_vendor, "Intel(R) Corporation"},
               {Field::device_version, "OpenCL 3.0 NEO "},
               {Field::address_bits, "64"},
               {Field::driver_version, driver},
               {Field::device_uuid, "86800000021900000000000000000000"},
               {Field::ip_version, ip}});
}

// What NEO 20.44 says of any GPU of a generation.
inline Identity neo_20(const char *generation) {
  return make({{Field::platform_name, "Intel(R) OpenCL HD Graphics"},
               {Field::device_name, std::string("Intel(R) Graphics ") + generation + " [0x0000]"},
               {Field::device_vendor, "Intel(R) Corporation"},
               {Field::device_version, "OpenCL 3.0 NEO "},
               {Field::address_bits, "64"},
               {Field::driver_version, "1.0.0"}});
}

inline Facts key_of(const Identity &identity) { return runtime::describe(identity).key.facts(); }

inline std::string key_text_of(const Identity &identity) {
  return runtime::describe(identity).key.text();
}

inline std::optional<std::string> value(const Facts &key, const std::string &name) {
  for (const auto &pair : key) {
    if (pair.first == name) return pair.second;
  }
  return std::nullopt;
}

}  // namespace kiln::test
