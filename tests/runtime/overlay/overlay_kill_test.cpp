// SPDX-License-Identifier: Apache-2.0
// Processes that are killed while they write an overlay, 200 times two of them at once.
#include <csignal>
#include <random>

#include "runtime/overlay/overlay.hpp"
#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;
using runtime::Overlay;

namespace {

constexpr unsigned kRounds = 200;

// What a process that stores `number` writes: the bytes follow from the number.
packs::Bytes binary_of(std::uint32_t number) {
  std::mt19937 random(number);
  packs::Bytes bytes(1 + random() % 60'000);
  for (std::uint8_t &byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

packs::Digest variant_of(std::uint32_t number) {
  packs::Digest hash{};
  std::memcpy(hash.data(), &number, sizeof(number));
  return hash;
}

std::shared_ptr<Overlay> open_overlay(const std::string &path,
                                      std::vector<runtime::Death> *deaths) {
  kiln_device *device = fake_device();
  std::shared_ptr<Overlay> overlay;
  const packs::Status status =
      Overlay::open(path.c_str(), std::uint64_t{4} << 30, *device->device, {}, 0, &overlay, deaths);
  kiln_device_release(device);
  CHECK(status.message == "");
  return overlay;
}

// Stores one after the other until it is killed, and says through the pipe what is stored.
[[noreturn]] void store_for_ever(const std::string &path, std::uint32_t first, int acknowledge) {
  std::vector<runtime::Death> deaths;
  const auto overlay = open_overlay(path, &deaths);
  for (std::uint32_t number = first;; ++number) {
    const packs::Bytes bytes = binary_of(number);
    const packs::Status status =
        overlay->store_binary(variant_of(number), 0, {bytes.data(), bytes.size()}, "p", "v",
                              packs::Finality::not_launched);
    if (!status.ok()) _exit(1);
    if (write(acknowledge, &number, sizeof(number)) != sizeof(number)) _exit(2);
  }
}

bool is_whole(const Overlay &overlay, std::uint32_t number) {
  packs::Bytes file;
  Overlay::Stored stored;
  if (!overlay.find(variant_of(number), 0, &file, &stored).ok()) return false;
  const packs::Bytes wanted = binary_of(number);
  return stored.binary.size == wanted.size() &&
         std::memcmp(stored.binary.data, wanted.data(), wanted.size()) == 0;
}

}  // namespace

TEST_CASE("what was acknowledged survives a kill, and nothing is torn", "[overlay]") {
  reset_fake();
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "overlay").string();
  std::mt19937 random(1);
  std::vector<std::uint32_t> stored;
  for (unsigned round = 0; round < kRounds; ++round) {
    int pipes[2];
    REQUIRE(pipe(pipes) == 0);
    pid_t children[2];
    for (std::uint32_t i = 0; i < 2; ++i) {
      children[i] = fork();
      if (children[i] == 0) store_for_ever(path, (round * 2 + i) << 16, pipes[1]);
    }
    close(pipes[1]);
    // At least one each round is stored; the kill comes anywhere in what follows it.
    std::uint32_t number = 0;
    const unsigned before_kill = 1 + random() % 4;
    for (unsigned i = 0; i < before_kill; ++i) {
      REQUIRE(read(pipes[0], &number, sizeof(number)) == sizeof(number));
      stored.push_back(number);
    }
    for (auto spin = random() % 400'000; spin > 0; --spin) asm volatile("");
    for (const pid_t child : children) kill(child, SIGKILL);
    while (read(pipes[0], &number, sizeof(number)) == sizeof(number)) stored.push_back(number);
    close(pipes[0]);
    for (const pid_t child : children) {
      int status = 0;
      REQUIRE(waitpid(child, &status, 0) == child);
      CHECK(WIFSIGNALED(status));
    }
  }
  std::vector<runtime::Death> deaths;
  const auto overlay = open_overlay(path, &deaths);
  CHECK(deaths.empty());
  unsigned lost = 0;
  for (const std::uint32_t number : stored) lost += is_whole(*overlay, number) ? 0 : 1;
  CHECK(lost == 0);
  CHECK(stored.size() >= kRounds);
  unsigned torn = 0;
  for (const std::string &name : names_in(path, "e-")) {
    const std::string file = contents_of(std::filesystem::path(path) / name);
    runtime::OverlayEntry entry;
    const packs::View view{reinterpret_cast<const std::uint8_t *>(file.data()), file.size()};
    torn += runtime::parse_entry(view, &entry).ok() ? 0 : 1;
  }
  CHECK(torn == 0);
  // The kills did hit writers in the middle.
  CHECK_FALSE(names_in(path, runtime::kTemporaryPrefix).empty());
}
