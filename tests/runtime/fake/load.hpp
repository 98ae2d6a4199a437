// SPDX-License-Identifier: Apache-2.0
// A pack for the fake driver, and loading from it through the C API.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/overlay.h"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/writer.hpp"
#include "kiln/prefetch.h"
#include "runtime/api/api.hpp"
#include "tests/runtime/fake/opencl.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace kiln::test {

inline packs::Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

inline kiln_device *fake_device() {
  kiln_opencl opencl{fake_table()};
  kiln_device *device = nullptr;
  kiln_error error{};
  CHECK(kiln_device_open(&opencl, 0, &device, &error) == KILN_OK);
  return device;
}

// Program p with variant v, which has a binary for the fake device, IL and source.
inline packs::Contents fake_contents() {
  packs::Variant variant;
  variant.name = "v";
  variant.hash[0] = 1;
  variant.options = "-cl-std=CL1.2 -DX=1 -cl-mad-enable";
  variant.kernels = {{"k", 2}};
  variant.source = packs::BlobSource(bytes_of("the source"));
  variant.il32 = packs::BlobSource(bytes_of("the IL for 32 bits"));
  variant.il64 = packs::BlobSource(bytes_of("the IL for 64 bits"));
  variant.il_version = 0x00010000;
  kiln_device *device = fake_device();
  packs::Target target;
  target.key = kiln_device_info(device, "key");
  target.identity = {{"device_name", "Fake device"}, {"driver_version", "7.1"}};
  kiln_device_release(device);
  target.binaries.push_back(
      {variant.hash, packs::BlobSource(bytes_of("the binary")), "a log", {{64, 1, 0, 0}}});
  packs::Contents contents;
  contents.programs = {{"p", "", {variant}}};
  contents.targets = {target};
  return contents;
}

inline packs::Bytes written(const packs::Contents &contents) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "p.kiln").string();
  const packs::Status status = packs::write_pack(contents, path);
  INFO(status.message);
  REQUIRE(status.ok());
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Everything that one load gives; released on destruction.
class FakeLoad {
 public:
  explicit FakeLoad(packs::Bytes pack_bytes, unsigned flags = 0, const char *program_name = "p",
                    const char *variant = nullptr, const kiln_loader_options *options = nullptr)
      : bytes(std::make_shared<packs::Bytes>(std::move(pack_bytes))) {
    kiln_device *device = fake_device();
    kiln_pack *pack = nullptr;
    CHECK(kiln_pack_open_memory(bytes->data(), bytes->size(), &pack, &error) == KILN_OK);
    CHECK(kiln_loader_create(device, pack, options, &loader, &error) == KILN_OK);
    kiln_device_release(device);
    kiln_pack_release(pack);
    status = kiln_load(loader, program_name, variant, flags, &program, &report, &error);
  }
  FakeLoad(const FakeLoad &) = delete;
  FakeLoad &operator=(const FakeLoad &) = delete;
  ~FakeLoad() {
    kiln_loader_release(loader);
    kiln_report_release(report);
    kiln_program_release(program);
  }

  kiln_rung rung() const { return kiln_report_rung(report); }
  // "failed: clBuildProgram returned ..."; "-" where the report has nothing of the rung.
  std::string reason(kiln_rung rung) const {
    static const char *const words[] = {"loaded", "skipped", "missed", "failed", "quarantined"};
    kiln_outcome outcome = KILN_OUTCOME_LOADED;
    const char *text = kiln_report_reason(report, rung, &outcome);
    if (text == nullptr) return "-";
    return std::string(words[outcome]) + (*text == '\0' ? "" : ": ") + text;
  }
  std::string json() const { return kiln_report_json(report); }

  kiln_status status = KILN_OK;
  kiln_error error{};
  kiln_loader *loader = nullptr;
  kiln_program *program = nullptr;
  kiln_report *report = nullptr;
  // The pack is read in place: whoever keeps a handle longer keeps this.
  std::shared_ptr<const packs::Bytes> bytes;
};

}  // namespace kiln::test
