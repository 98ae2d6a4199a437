// SPDX-License-Identifier: Apache-2.0
// What of an overlay's entry goes into a pack: each value is compared, none is masked.
#include "builder/under_layer/overlay_folder.hpp"

#include <fstream>

#include <sys/stat.h>

#include "kiln/packs/bytes.hpp"
#include "runtime/overlay/entry.hpp"
#include "tests/packs/sample.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

// Writes an entry as the runtime does, with these facts.
void write_entry(const std::filesystem::path &overlay, const runtime::Facts &facts) {
  const std::string text = runtime::facts_text(facts);
  const Bytes binary = noise(70, 1);
  runtime::OverlayEntry entry;
  entry.variant = name_of("variant");
  entry.key = "profile=pocl\n";
  entry.facts = text;
  entry.binary = {binary.data(), binary.size()};
  entry.binary_xxh3 = packs::xxh3(binary.data(), binary.size());
  std::uint8_t header[runtime::kEntryHeaderSize];
  runtime::encode_entry_header(entry, header);
  const std::string name =
      runtime::entry_name(packs::xxh3(entry.key.data(), entry.key.size()), entry.variant);
  std::ofstream out(overlay / name, std::ios::binary);
  out.write(reinterpret_cast<const char *>(header), sizeof(header));
  out << entry.key << text;
  out.write(reinterpret_cast<const char *>(binary.data()),
            static_cast<std::streamsize>(binary.size()));
}

}  // namespace

TEST_CASE("a pack of an overlay has what the driver reported, and nothing else of the machine",
          "[overlay]") {
  const TemporaryFolder folder;
  REQUIRE(chmod(folder.path().c_str(), 0700) == 0);
  runtime::Facts reported;
  for (std::size_t i = 0; i < runtime::kFieldCount; ++i) {
    const char *name = runtime::field_name(static_cast<runtime::Field>(i));
    reported.emplace_back(name, "value of " + std::string(name));
  }
  runtime::Facts facts{{"profile", "pocl"}, {"family", "f"}, {"model", "m"}, {"compiler", "c"}};
  facts.insert(facts.end(), reported.begin(), reported.end());
  facts.insert(facts.end(), {{"program", "p"},
                             {"variant", "v"},
                             {"driver_number", "17"},
                             {"boot", "5f699268-21d7-4210-a177-181ee4152be2"},
                             {"final", "no"},
                             {"of_a_later_version", "x"}});
  write_entry(folder.path(), facts);

  const auto read = builder::read_overlay(folder.path().string());
  REQUIRE(read.ok());
  REQUIRE(read->binaries.size() == 1);
  CHECK(read->binaries[0].status.ok());
  CHECK(read->binaries[0].program == "p");
  CHECK(read->binaries[0].variant == "v");
  Contents expected;
  expected.producer = "overlay";
  expected.targets = {{"profile=pocl\n", "pocl", "f", "m", "c", reported, {}}};
  expected.targets[0].binaries = {{name_of("variant"), packs::BlobSource(noise(70, 1)), ""}};
  packs::Finish &finish = expected.targets[0].binaries[0].finish;
  finish.finality = packs::Finality::no;
  finish.why_not = "it was taken before it was finished";
  CHECK(builder::overlay_contents(*read) == expected);
}

TEST_CASE("a pack of an overlay has no paths of the machine on which programs were built",
          "[overlay]") {
  builder::OverlayFolder folder;
  Contents &cached = folder.cached.emplace_back();
  cached.producer = "driver 17";
  cached.targets = {target("A100")};
  cached.targets[0].binaries = {{name_of("variant"), packs::BlobSource(noise(70, 1)),
                                 "/home/me/.cache/x.cl:1: warning: unused"}};
  Contents expected = cached;
  expected.producer = "overlay";
  expected.targets[0].binaries[0].build_log = "<path>:1: warning: unused";
  CHECK(builder::overlay_contents(folder) == expected);
}
