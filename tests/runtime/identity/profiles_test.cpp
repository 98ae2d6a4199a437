// SPDX-License-Identifier: Apache-2.0
// What each vendor profile makes of the strings that real drivers report.
#include "runtime/identity/identity.hpp"

#include <string>
#include <utility>

#include "kiln/packs/text.hpp"
#include "runtime/identity/requirements.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/identities.hpp"

using namespace kiln::runtime;
using namespace kiln::test;

TEST_CASE("each driver's strings give its profile, family, model and compiler", "[profiles]") {
  for (const Row &row : kRows) {
    CAPTURE(row.name, row.version);
    const Description description = describe(identity_of(row));
    CHECK(std::string(description.profile) == row.profile);
    CHECK(description.family == row.family);
    CHECK(description.model == row.model);
    CHECK(description.compiler == row.compiler);
  }
}

TEST_CASE("a key starts with its profile and tells every row from every other", "[profiles]") {
  for (const Row &a : kRows) {
    const BinaryKey key = describe(identity_of(a)).key;
    CHECK(key.facts().at(0) == std::make_pair(std::string("profile"), std::string(a.profile)));
    for (const Row &b : kRows) {
      const bool equal = key.text() == key_text_of(identity_of(b));
      CHECK(equal == (&a == &b));
    }
  }
}

TEST_CASE("PoCL's compiler is in the platform version and its processor in the HSTR",
          "[profiles]") {
  const Description pocl = describe(make(
      {{Field::platform_name, "Portable Computing Language"},
       {Field::platform_version, "OpenCL 3.0 PoCL 3.1+debian  Linux, RELOC, LLVM 15.0.6, SLEEF"},
       {Field::device_name, "pthread-skylake-avx512-AMD EPYC"},
       {Field::device_vendor, "AuthenticAMD"},
       {Field::device_vendor_id, "0x8086"},  // really
       {Field::device_version, "OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-skylake-avx512"},
       {Field::driver_version, "3.1+debian"}}));
  CHECK(std::string(pocl.profile) == "pocl");
  CHECK(pocl.family == "PoCL x86_64");
  CHECK(pocl.model == "skylake-avx512");
  CHECK(pocl.compiler == "LLVM 15.0.6");
}

TEST_CASE("PoCL's code needs the processor's instructions, and rusticl's cache knows them",
          "[profiles]") {
  const auto has = [](const char *platform, const char *level) {
    const Identity identity = make({{Field::platform_name, platform},
                                    {Field::device_name, "a processor"},
                                    {Field::instruction_set, level}});
    return kiln::packs::concat({"\n", describe(identity).key.text()})
               .find(kiln::packs::concat({"\ninstruction_set=", level, "\n"})) != std::string::npos;
  };
  CHECK(has("Portable Computing Language", "x86-64-v3"));
  CHECK(has("some other", "x86-64-v4"));
  CHECK_FALSE(has("rusticl", "x86-64-v3"));
}

TEST_CASE("rusticl's model ends at the bracket, whatever hardware it drives", "[profiles]") {
  const Description llvmpipe =
      describe(make({{Field::platform_name, "rusticl"},
                     {Field::device_name, "llvmpipe (LLVM 15.0.6, 256 bits)"},
                     {Field::driver_version, "22.3.6"}}));
  CHECK(std::string(llvmpipe.profile) == "rusticl");
  CHECK(llvmpipe.family == "llvmpipe");
  CHECK(llvmpipe.model == "llvmpipe");
  CHECK(llvmpipe.compiler == "LLVM 15.0.6");
  const Description amd = describe(
      make({{Field::platform_name, "rusticl"},
            {Field::device_vendor, "AMD"},
            {Field::device_name, "AMD Radeon RX 6600 (radeonsi, navi23, LLVM 19.1.7, DRM 3.59)"},
            {Field::driver_version, "25.0.7"}}));
  CHECK(std::string(amd.profile) == "rusticl");
  CHECK(amd.family == "radeonsi");
  CHECK(amd.model == "AMD Radeon RX 6600");
  CHECK(amd.compiler == "LLVM 19.1.7");
}

TEST_CASE("an update of the kernel does not change an AMD GPU's key", "[profiles]") {
  const auto key = [](const char *name, const char *driver) {
    return key_text_of(make({{Field::platform_name, "rusticl"},
                             {Field::device_vendor, "AMD"},
                             {Field::device_name, name},
                             {Field::driver_version, driver}}));
  };
  constexpr char kName[] =
      "AMD Custom GPU 0405 (radeonsi, vangogh, LLVM 19.1.7, DRM 3.49, 6.18.44)";
  CHECK(key("AMD Custom GPU 0405 (radeonsi, vangogh, LLVM 19.1.7, DRM 3.61, 6.19.2-1-arch)",
            "25.0.7") == key(kName, "25.0.7"));
  CHECK(key(kName, "25.0.8") != key(kName, "25.0.7"));
  CHECK(key("AMD Custom GPU 0405 (radeonsi, vangogh, LLVM 20.1.0, DRM 3.49, 6.18.44)", "25.0.7") !=
        key(kName, "25.0.7"));
  // The chip decides, not the product.
  CHECK(key("AMD Custom GPU 0932 (radeonsi, vangogh, LLVM 19.1.7, DRM 3.49, 6.18.44)", "25.0.7") ==
        key(kName, "25.0.7"));
  CHECK(key("AMD Custom GPU 0405 (radeonsi, renoir, LLVM 19.1.7, DRM 3.49, 6.18.44)", "25.0.7") !=
        key(kName, "25.0.7"));
  CHECK(key("AMD Ryzen 7 4750U (radeonsi, renoir, ACO, DRM 3.54, 6.18.44)", "26.2.6") ==
        key("AMD EPYC (radeonsi, renoir, ACO, DRM 3.61, 6.12.0)", "26.2.6"));
  // llvmpipe's name has no kernel.
  CHECK(key("llvmpipe (LLVM 15.0.6, 256 bits)", "22.3.6") !=
        key("llvmpipe (LLVM 15.0.6, 128 bits)", "22.3.6"));
}

// The identities of Mesa's drivers in Debian 13, testing and sid as a Steam Deck, kernel included.
TEST_CASE("an update of Mesa changes an AMD GPU's key in what the new Mesa says", "[profiles]") {
  struct Mesa {
    const char *version, *compiler, *kernel, *opencl, *il, *extensions;
  };
  constexpr char kOldIl[] = "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 SPIR-V_1.4";
  constexpr char kNewIl[] =
      "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 SPIR-V_1.4 SPIR-V_1.5 SPIR-V_1.6";
  const auto key = [](const Mesa &mesa) {
    return describe(
               make({{Field::platform_name, "rusticl"},
                     {Field::platform_vendor, "Mesa/X.org"},
                     {Field::platform_version, mesa.opencl},
                     {Field::device_name, std::string("AMD Custom GPU 0405 (radeonsi, vangogh, ") +
                                              mesa.compiler + ", " + mesa.kernel + ")"},
                     {Field::device_vendor, "AMD"},
                     {Field::device_vendor_id, "0x1002"},
                     {Field::device_version, mesa.opencl},
                     {Field::driver_version, mesa.version},
                     {Field::driver_uuid, "414d442d4d4553412d44525600000000"},
                     {Field::il_version, mesa.il},
                     {Field::extensions_hash, mesa.extensions}}))
        .key;
  };
  const Mesa trixie{"25.0.7-2+deb13u1", "LLVM 19.1.7", "DRM 3.49, 6.18.44",
                    "OpenCL 3.0 ",      kOldIl,        "bc2af2f5a4cd172e"};
  const Mesa testing{"26.1.6-1",    "ACO",  "DRM 3.54, 6.18.44",
                     "OpenCL 3.0 ", kNewIl, "5733ddc3efd6a5b8"};
  const Mesa sid{"26.2.6-1", "ACO", "DRM 3.54, 6.18.44", "OpenCL 3.1 ", kNewIl, "c8266485d5a7ee41"};
  const auto changed = [&](const Mesa &from, const Mesa &to) {
    std::string fields;
    for (const auto &difference : differences(key(from).facts(), key(to).facts())) {
      fields += difference.field + " ";
    }
    return fields;
  };
  CHECK(changed(trixie, testing) ==
        "device_name driver_version il_version extensions_hash compiler ");
  CHECK(changed(testing, sid) == "platform_version device_version driver_version extensions_hash ");
  for (Mesa mesa : {trixie, testing, sid}) {
    const Mesa before = mesa;
    for (const char *kernel : {"DRM 3.64, 6.19.2-1-arch", "DRM 3.42, 6.1.0-38-amd64", "DRM 3.54"}) {
      mesa.kernel = kernel;
      CHECK(changed(before, mesa) == "");
    }
  }
  Mesa rebuilt = trixie;  // the same version, with a fix of the distribution
  rebuilt.version = "25.0.7-2+deb13u2";
  CHECK(changed(trixie, rebuilt) == "driver_version ");
}

TEST_CASE("a system's build in Apple's platform version is part of the key", "[profiles]") {
  const auto apple = [](const char *platform_version) {
    return describe(make({{Field::platform_name, "Apple"},
                          {Field::platform_version, platform_version},
                          {Field::device_name, "Apple M1"},
                          {Field::device_vendor, "Apple"},
                          {Field::device_vendor_id, "0x1027f00"},
                          {Field::driver_version, "1.2 1.0"},
                          {Field::address_bits, "64"}}));
  };
  const Description old_build = apple("OpenCL 1.2 (Jun  8 2020 17:36:15)");
  const Description new_build = apple("OpenCL 1.2 (Aug 30 2022 21:57:34)");
  CHECK(old_build.compiler == "Jun  8 2020 17:36:15");
  const auto differs = differences(old_build.key.facts(), new_build.key.facts());
  REQUIRE(differs.size() == 1);
  CHECK(differs[0].field == "platform_version");
}

TEST_CASE("a portable driver on a vendor's hardware keeps its own profile", "[profiles]") {
  const Identity layered = make({{Field::platform_name, "clvk"},
                                 {Field::device_name, "Adreno (TM) 740"},
                                 {Field::device_vendor, "Qualcomm"}});
  CHECK(std::string(describe(layered).profile) == "generic");
  const Identity angle = make({{Field::platform_name, "ANGLE Vulkan"},
                               {Field::device_name, "Mali-G715"},
                               {Field::device_vendor_id, "0x13b5"}});
  CHECK(std::string(describe(angle).profile) == "generic");
  const Identity pocl_on_arm = make({{Field::platform_name, "Portable Computing Language"},
                                     {Field::device_name, "cpu-cortex-a57"},
                                     {Field::device_vendor, "ARM"}});
  CHECK(std::string(describe(pocl_on_arm).profile) == "pocl");
}

TEST_CASE("one GPU id is one Mali model, whatever the device calls itself", "[profiles]") {
  const Identity three[] = {mali("Mali-G610 MC6 r0p0", "0xa8670000", "r32p1-01eac0.junk"),
                            mali("Mali-G610 r0p0", "0xa8670000", "g13p0-01eac0.junk"),
                            mali("Mali-LODX r0p0", "0xa8670000", "g6p0-01eac0.junk")};
  const char *compilers[] = {"r32p1-01eac0", "g13p0-01eac0", "g6p0-01eac0"};
  for (int i = 0; i < 3; ++i) {
    const Description description = describe(three[i]);
    CHECK(description.model == "Mali-G610");
    CHECK(description.family == "Mali Valhall");
    CHECK(description.compiler == compilers[i]);
    const auto differs = differences(key_of(three[i]), key_of(three[(i + 1) % 3]));
    REQUIRE(differs.size() == 1);
    CHECK(differs[0].field == "compiler");
  }
}

TEST_CASE("an unknown Mali id is still one model, and no id leaves the name", "[profiles]") {
  const Description unknown = describe(mali("Mali-NEWX r0p0", "0xf8890000", "r60p0-00eac0"));
  CHECK(unknown.model == "Mali 0xf8890000");
  const Description nameless = describe(mali("Mali-LODX r0p0", "0x13b5", "r60p0-00eac0"));
  CHECK(nameless.model == "Mali-LODX");
  CHECK(value(nameless.key.facts(), "device_name") == std::string("Mali-LODX r0p0"));
}

TEST_CASE("Arm's adjacent threads are known of the models that it lists", "[profiles]") {
  const struct {
    const char *name;
    const char *id;
    unsigned threads;
  } rows[] = {{"Mali-G31", "0x70030000", 4},  {"Mali-G51", "0x70000000", 4},
              {"Mali-G52", "0x74020000", 8},  {"Mali-G57", "0x90010000", 16},
              {"Mali-G71", "0x60000000", 4},  {"Mali-G72", "0x62010000", 4},
              {"Mali-G76", "0x72010000", 8},  {"Mali-G77", "0x90000000", 16},
              {"Mali-G78", "0x92020010", 16}, {"Mali-G610", "0xa8670000", 0}};
  for (const auto &row : rows) {
    CAPTURE(row.name);
    CHECK(describe(mali(row.name, "", "r32p1-01eac0")).adjacent_threads == row.threads);
    const Description by_id = describe(mali("Mali-LODX r0p0", row.id, "r32p1-01eac0"));
    CHECK(by_id.model == row.name);
    CHECK(by_id.adjacent_threads == row.threads);
  }
  CHECK(describe(mali("Mali-T628", "", "r12p0-04rel0")).adjacent_threads == 0);
  CHECK(describe(mali("Mali-NEWX r0p0", "0xf8890000", "r60p0")).adjacent_threads == 0);
  CHECK(describe(Identity()).adjacent_threads == 0);
}

TEST_CASE("a hash behind Mali's release counts, and junk there does not", "[profiles]") {
  const auto key = [](const std::string &tail) {
    return key_text_of(mali("Mali-G610 r0p0", "0xa8670000", "r32p1-01eac0" + tail));
  };
  const std::string bare = key("");
  CHECK(bare ==
        "profile=mali\ndevice_vendor_id=0xa8670000\ncompiler=r32p1-01eac0\n"
        "address_bits=64\n");
  CHECK(key(".") == bare);
  CHECK(key(".###other-sha0123456789ABCDEF0###") == bare);
  CHECK(key(".\xff\xfe\x01zz") == bare);
  CHECK(key(".abc") == bare);
  CHECK(key(".0123456789abcdef0123456789abcdef") != bare);
  CHECK(key(".0123456789abcdef0123456789abcdef") != key(".1123456789abcdef0123456789abcdef"));
}

TEST_CASE("a Mali without a readable release is matched by every string", "[profiles]") {
  const char *broken[] = {"", "x32p1", "r32", "rp1", "r32p", "r32p1z", "r"};
  for (const char *driver : broken) {
    CAPTURE(driver);
    const Description description = describe(mali("Mali-G610 r0p0", "0xa8670000", driver));
    CHECK(std::string(description.profile) == "mali");
    CHECK(description.compiler.empty());
    CHECK(value(description.key.facts(), "device_version"));
    CHECK(value(description.key.facts(), "driver_version"));
  }
}

TEST_CASE("Intel's key is the IP version, the driver and the address bits", "[profiles]") {
  CHECK(key_text_of(neo_22("0x00090000", "22.43.24595")) ==
        "profile=intel\nip_version=0x00090000\ndriver_version=22.43.24595\naddress_bits=64\n");
}

TEST_CASE("Intel's family follows both ways of counting the IP version", "[profiles]") {
  const std::pair<const char *, const char *> families[] = {
      {"0x00080000", "Gen8"},    {"0x00090000", "Gen9"},
      {"0x000b0000", "Gen11"},   {"0x000c0000", "Gen12LP"},
      {"0x000c0001", "Gen12LP"}, {"0x000c0701", "Xe-HPG"},
      {"0x000c0801", "Xe-HPC"},  {"0x02400009", "Gen9"},
      {"0x03000000", "Gen12LP"}, {"0x030dc008", "Xe-HPG"},
      {"0x030f0007", "Xe-HPC"},  {"0x03118004", "Xe-LPG"},
      {"0x05004000", "Xe2"},     {"0x07800000", "Xe3"},
      {"0x00000000", ""},        {"", ""},
      {"nonsense", ""}};
  for (const auto &family : families) {
    CAPTURE(family.first);
    CHECK(describe(neo_22(family.first, "1")).family == family.second);
  }
}

TEST_CASE("NEO 20.44 names a generation only, so that its models collide", "[profiles]") {
  const Description gen9 = describe(neo_20("Gen9"));
  CHECK(gen9.family == "Gen9");
  CHECK(value(gen9.key.facts(), "device_name") == std::string("Intel(R) Graphics Gen9 [0x0000]"));
  // Skylake and Broxton say the same, and only the self-check can tell: a real collision.
  CHECK(gen9.key.text() == key_text_of(neo_20("Gen9")));
  CHECK(gen9.key.text() != key_text_of(neo_20("Gen12LP")));
}

TEST_CASE("the board's UUID is in no key and the driver's is in the default key", "[profiles]") {
  Identity identity = identity_of(kRows[2]);
  const std::string before = key_text_of(identity);
  identity.set(Field::device_uuid, "00112233445566778899aabbccddeeff");
  CHECK(key_text_of(identity) == before);
  identity.set(Field::driver_uuid, "00112233445566778899aabbccddeeff");
  CHECK(key_text_of(identity) != before);
}

TEST_CASE("every other string counts in the default key", "[profiles]") {
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const Field field = static_cast<Field>(i);
    if (field == Field::device_uuid) continue;
    CAPTURE(field_name(field));
    const Identity identity = make({{field, "x"}});
    CHECK(key_text_of(identity) == "profile=generic\n" + std::string(field_name(field)) + "=x\n");
  }
}

TEST_CASE("broken strings end as the vendor's profile with every string in the key", "[profiles]") {
  const char *names[] = {"QUALCOMM Adreno(TM)", "QUALCOMM Adreno(TM) ", "Adreno"};
  for (const char *name : names) {
    const Description description =
        describe(make({{Field::device_name, name}, {Field::driver_version, "Compiler "}}));
    CHECK(std::string(description.profile) == "adreno");
    CHECK(description.model.empty());
    CHECK(description.compiler.empty());
    CHECK(value(description.key.facts(), "device_name") == std::string(name));
    CHECK(value(description.key.facts(), "driver_version") == std::string("Compiler "));
  }
}

TEST_CASE("a Mali's release has whole numbers around its p", "[profiles]") {
  const auto compiler = [](const char *driver) {
    return describe(mali("Mali-G610 r0p0", "0xa8670000", driver)).compiler;
  };
  for (const char *release : {"r32p1", "r32p10", "r1p0-01eac0", "g13p0"}) {
    CAPTURE(release);
    CHECK(compiler(release) == release);
  }
  for (const char *other : {"r32x1", "r32p1x", "32p1", "r32p-1"}) {
    CAPTURE(other);
    CHECK(compiler(other).empty());
  }
}

TEST_CASE("a Mali's build is a hash of at least 16 digits", "[profiles]") {
  const auto build = [](const std::string &hash) {
    const Identity identity = mali("Mali-G610 r0p0", "0xa8670000", ("r32p1." + hash).c_str());
    return value(describe(identity).key.facts(), "build");
  };
  CHECK(build("0123456789abcdef") == std::string("0123456789abcdef"));
  CHECK_FALSE(build("0123456789abcde"));
  CHECK_FALSE(build("0123456789abcdeg"));
}

TEST_CASE("a Mali's id of 16 bits is its vendor's and names no model", "[profiles]") {
  CHECK(describe(mali("Mali-LODX r0p0", "0xffff", "r32p1")).model == "Mali-LODX");
  CHECK(describe(mali("Mali-LODX r0p0", "0x10000", "r32p1")).model == "Mali 0x10000");
}

TEST_CASE("NVIDIA's key is the compute capability, or names where there is none", "[profiles]") {
  const auto h200 = [](const char *capability) {
    return make({{Field::device_vendor, "NVIDIA Corporation"},
                 {Field::device_name, "NVIDIA H200"},
                 {Field::device_version, "OpenCL 3.0 CUDA"},
                 {Field::driver_version, "580.159.04"},
                 {Field::address_bits, "64"},
                 {Field::compute_capability, capability}});
  };
  const Description known = describe(h200("9.0"));
  CHECK(known.finishing == Finishing::linker);
  CHECK(known.key.text() == "profile=nvidia\ncompute_capability=9.0\naddress_bits=64\n");
  const Description unknown = describe(h200("x"));
  CHECK(unknown.finishing != Finishing::linker);
  CHECK(unknown.key.text() ==
        "profile=nvidia\ndevice_name=NVIDIA H200\ndevice_version=OpenCL 3.0 CUDA\n"
        "driver_version=580.159.04\naddress_bits=64\n");
}

TEST_CASE("NVIDIA's GPUs take cubins for their major version and a lower minor one", "[profiles]") {
  const Description device = describe(make({{Field::device_vendor, "NVIDIA Corporation"},
                                            {Field::address_bits, "64"},
                                            {Field::compute_capability, "8.6"}}));
  const auto takes = [&](const Facts &key) {
    return takes_lower_cubins(806, compute_capability_of(key, device));
  };
  const auto of = [](const char *capability) {
    return Facts{{"profile", "nvidia"}, {"compute_capability", capability}, {"address_bits", "64"}};
  };
  CHECK(takes(of("8.0")));
  CHECK(takes(of("8.5")));
  for (const char *other : {"8.6", "8.7", "9.0", "7.5", "8.0a", "8.0f", "x", ""}) {
    CAPTURE(other);
    CHECK_FALSE(takes(of(other)));
  }
  CHECK_FALSE(takes({{"compute_capability", "8.0"}, {"address_bits", "32"}}));
  CHECK_FALSE(takes({{"compute_capability", "8.0"}}));
  CHECK_FALSE(takes({{"address_bits", "64"}}));
}
