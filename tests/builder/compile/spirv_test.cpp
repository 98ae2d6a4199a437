// SPDX-License-Identifier: Apache-2.0
#include "builder/compile/spirv.hpp"

#include <utility>

#include "tests/support/catch.hpp"

using kiln::builder::Code;
using kiln::builder::read_spirv;
using kiln::builder::SpirvModule;
using kiln::builder::without_argument_info;

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

TEST_CASE("Without clang's texts, parameters have SPIR-V's types, and no signs and names") {
  Module module;
  module.memory_model(2).kernel(10, "k");
  module.instruction(71, {36, 10});                      // a packed struct
  module.instruction(21, {20, 8, 0});                    // uchar or char
  module.instruction(21, {21, 32, 0});                   // uint or int
  module.instruction(22, {22, 32});                      // float
  module.instruction(23, {23, 22, 3});                   // float3
  module.instruction(32, {24, 5, 23});                   // global float3*
  module.instruction(32, {25, 4, 21});                   // local int*
  module.instruction(32, {26, 0, 22});                   // constant float*
  module.instruction(25, {27, 2, 1, 0, 1, 0, 0, 0, 1});  // write_only image2d_array_t
  module.instruction(26, {28});                          // sampler_t
  module.instruction(43, {21, 29, 5});                   // 5
  module.instruction(28, {30, 20, 29});                  // char[5]
  module.instruction(30, {31, 30, 21, 22});              // { char[5]; int; float; }
  module.instruction(32, {32, 7, 31});                   // the struct by value
  module.instruction(30, {36, 30, 21});                  // { char[5]; int; }, packed
  module.instruction(38, {37, 0});                       // a pipe
  module.instruction(54, {1, 10, 0, 2});
  for (const std::uint32_t type : {21u, 23u, 24u, 25u, 26u, 27u, 28u, 32u, 36u, 37u, 99u}) {
    module.instruction(55, {type, 100 + type});
  }
  const auto result = read_spirv(module.bytes());
  REQUIRE(result.ok());
  using kiln::packs::AddressSpace;
  using kiln::packs::ImageAccess;
  const auto none = ImageAccess::none;
  const std::vector<kiln::packs::Parameter> expected = {
      {"", "", 4},
      {"", "float3", 16},
      {"", "float3*", 0, AddressSpace::global},
      {"", "", 0, AddressSpace::local},
      {"", "float*", 0, AddressSpace::constant},
      {"", "image2d_array_t", 0, AddressSpace::global, ImageAccess::write_only},
      {"", "sampler_t", 0},
      {"", "", 16},
      {"", "", 9},
      {"", "", 0, AddressSpace::private_, none, kiln::packs::kPipe},
      {"", "", 0}};
  CHECK(result->kernels[0].parameters == expected);
}

TEST_CASE("Clang's texts of parameters are read and taken out, and the rest stays as it is") {
  const auto made = [](bool described) {
    Module module;
    if (described) {
      module.instruction(7, {98}, "kernel_arg_type.k.uint,struct size,");
      module.instruction(7, {99}, "kernel_arg_type_qual.k.,volatile const,");
    }
    module.memory_model(2).kernel(10, "k");
    module.instruction(5, {31}, "struct.size");
    if (described) module.instruction(5, {12}, "sizes");
    module.instruction(21, {21, 32, 0}).instruction(54, {1, 10, 0, 2});
    module.instruction(55, {21, 11}).instruction(55, {21, 12});
    Bytes bytes = module.bytes();
    if (!described) bytes[12] = 98;  // the bound
    return bytes;
  };
  const auto result = read_spirv(made(true));
  REQUIRE(result.ok());
  const std::vector<kiln::packs::Parameter> expected = {
      {"", "uint", 4},
      {"sizes", "struct size", 4, kiln::packs::AddressSpace::private_,
       kiln::packs::ImageAccess::none, kiln::packs::kConst | kiln::packs::kVolatile}};
  CHECK(result->kernels[0].parameters == expected);
  CHECK(*without_argument_info(made(true), false) == made(false));
  CHECK(*without_argument_info(made(false), false) == made(false));
  const auto named = read_spirv(*without_argument_info(made(true), true));
  CHECK(named->kernels[0].parameters[1].name == "sizes");
  CHECK(named->kernels[0].parameters[1].type.empty());
  CHECK_FALSE(without_argument_info({}, false).ok());
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
    (void)without_argument_info(std::span(good).first(size), false);
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned value : {0x00u, 0x01u, 0x7Fu, 0xFFu}) {
      Bytes bad = good;
      bad[at] = static_cast<std::uint8_t>(value);
      (void)read_spirv(bad);
      (void)without_argument_info(bad, false);
    }
  }
  SUCCEED();
}
