// SPDX-License-Identifier: Apache-2.0
#include "builder/compile/spirv.hpp"

#include <utility>

#include "tests/support/catch.hpp"

using kiln::builder::Code;
using kiln::builder::read_spirv;
using kiln::builder::SpirvModule;

namespace {

using Bytes = std::vector<std::uint8_t>;

// Writes modules word by word, little-endian.
class Module {
 public:
  explicit Module(std::uint32_t version = 0x00010000) {
    for (const std::uint32_t word : {0x07230203u, version, 0u, 100u, 0u}) put(word);
  }
  Module &instruction(std::uint32_t opcode, std::vector<std::uint32_t> operands,
                      const std::string &text = {}, std::vector<std::uint32_t> after = {}) {
    if (!text.empty()) {
      std::string padded = text;
      padded.append(4 - text.size() % 4, '\0');
      for (std::size_t i = 0; i < padded.size(); ++i) {
        if (i % 4 == 0) operands.push_back(0);
        operands.back() |= static_cast<std::uint32_t>(padded[i]) << (i % 4 * 8);
      }
    }
    operands.insert(operands.end(), after.begin(), after.end());
    put(static_cast<std::uint32_t>(operands.size() + 1) << 16u | opcode);
    for (const std::uint32_t word : operands) put(word);
    return *this;
  }
  Module &memory_model(std::uint32_t addressing) { return instruction(14, {addressing, 2}); }
  Module &kernel(std::uint32_t function, const std::string &name) {
    return instruction(15, {6, function}, name, {77, 78});
  }
  Module &function(std::uint32_t id, std::uint32_t parameters) {
    instruction(54, {1, id, 0, 2});
    for (std::uint32_t i = 0; i < parameters; ++i) instruction(55, {3, id + 1 + i});
    return instruction(56, {});
  }
  const Bytes &bytes() const { return bytes_; }

 private:
  void put(std::uint32_t word) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes_.push_back(static_cast<std::uint8_t>(word >> shift));
    }
  }
  Bytes bytes_;
};

std::string error_of(const Bytes &bytes) {
  const auto result = read_spirv(bytes);
  REQUIRE(result.status().code == Code::bad_input);
  return result.status().message;
}

Module two_kernels() {
  Module module(0x00010200);
  module.memory_model(2).kernel(40, "sobel_px1").kernel(10, "add");
  module.instruction(71, {60, 41}, "missing", {1});  // an imported function
  module.instruction(71, {70, 41}, "builtin", {1});  // an imported variable
  module.instruction(71, {10, 41}, "add", {0});      // an exported function
  module.function(10, 3).function(40, 5).function(60, 1);
  return module;
}

}  // namespace

TEST_CASE("A module gives its version, its addresses and its kernels, sorted, with arguments") {
  const auto result = read_spirv(two_kernels().bytes());
  REQUIRE(result.ok());
  const SpirvModule &module = *result;
  CHECK(module.version == 0x00010200);
  CHECK(module.address_bits == 64);
  REQUIRE(module.kernels.size() == 2);
  CHECK(module.kernels[0].name == "add");
  CHECK(module.kernels[0].argument_count == 3);
  CHECK(module.kernels[1].name == "sobel_px1");
  CHECK(module.kernels[1].argument_count == 5);
}

TEST_CASE("Imported functions are unresolved, imported variables are not") {
  const auto result = read_spirv(two_kernels().bytes());
  REQUIRE(result.ok());
  CHECK(result->unresolved == std::vector<std::string>{"missing"});
}

TEST_CASE("Entry points of other execution models are no kernels") {
  Module module;
  module.memory_model(1).instruction(15, {5, 10}, "main").function(10, 0);
  const auto result = read_spirv(module.bytes());
  REQUIRE(result.ok());
  CHECK(result->kernels.empty());
  CHECK(result->address_bits == 32);
}

TEST_CASE("Each malformed module has an error of its own") {
  CHECK(error_of({}) == "0 bytes are no SPIR-V module");
  CHECK(error_of(Bytes(21)) == "21 bytes are no SPIR-V module");
  CHECK(error_of(Bytes(20)) == "bad magic 0x00000000");
  CHECK(error_of(Module().bytes()) == "no memory model");
  Bytes swapped = two_kernels().bytes();
  for (std::size_t i = 0; i < swapped.size(); i += 4) {
    std::swap(swapped[i], swapped[i + 3]);
    std::swap(swapped[i + 1], swapped[i + 2]);
  }
  CHECK(error_of(swapped) == "a big-endian module");
  Bytes empty = Module().memory_model(2).bytes();
  empty[20] = empty[21] = empty[22] = empty[23] = 0;
  CHECK(error_of(empty) == "word 5: an empty instruction");
  Bytes cut = Module().memory_model(2).bytes();
  cut.resize(cut.size() - 4);
  CHECK(error_of(cut) == "word 5: an instruction that runs over the end");
}

TEST_CASE("Each malformed instruction has an error of its own") {
  CHECK(error_of(Module().instruction(14, {2}).bytes()) == "word 5: OpMemoryModel is too short");
  CHECK(error_of(Module().memory_model(9).bytes()) ==
        "word 5: OpMemoryModel with an unknown addressing model");
  CHECK(error_of(Module().instruction(15, {6, 1}).bytes()) == "word 5: OpEntryPoint is too short");
  CHECK(error_of(Module().instruction(15, {6, 1, 0x41414141}).bytes()) ==
        "word 5: OpEntryPoint with a name without an end");
  CHECK(error_of(Module().instruction(71, {1}).bytes()) == "word 5: OpDecorate is too short");
  CHECK(error_of(Module().instruction(71, {1, 41}, "abc").bytes()) ==
        "word 5: OpDecorate with a name without an end");
  CHECK(error_of(Module().instruction(54, {1, 2}).bytes()) == "word 5: OpFunction is too short");
  CHECK(error_of(Module().instruction(55, {1, 2}).bytes()) ==
        "word 5: OpFunctionParameter outside a function");
  CHECK(error_of(Module().memory_model(2).kernel(5, "k").bytes()) == "kernel k has no function");
  CHECK(error_of(Module().memory_model(2).kernel(5, "k").kernel(5, "k").function(5, 0).bytes()) ==
        "two kernels are called k");
}

TEST_CASE("No truncation and no changed byte of a module crashes the reader") {
  const Bytes good = two_kernels().bytes();
  for (std::size_t size = 0; size < good.size(); ++size) {
    (void)read_spirv(std::span(good).first(size));
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned value : {0x00u, 0x01u, 0x7Fu, 0xFFu}) {
      Bytes bad = good;
      bad[at] = static_cast<std::uint8_t>(value);
      (void)read_spirv(bad);
    }
  }
  SUCCEED();
}
