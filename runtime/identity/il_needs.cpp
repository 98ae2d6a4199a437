// SPDX-License-Identifier: Apache-2.0
// Reads the first instructions of a module.
#include "runtime/identity/il_needs.hpp"

#include <string_view>

namespace kiln::runtime {
namespace {

using packs::Code;
using packs::concat;
using packs::Status;

constexpr std::uint32_t kOpExtension = 10;
constexpr std::uint32_t kOpExtInstImport = 11;
constexpr std::uint32_t kOpCapability = 17;

// Capabilities that a device may lack, with their numbers; others are told by number.
constexpr std::string_view kCapabilityNames =
    " 6 Kernel 8 Float16Buffer 9 Float16 10 Float64 11 Int64 12 Int64Atomics 13 ImageBasic"
    " 14 ImageReadWrite 15 ImageMipmap 17 Pipes 18 Groups 19 DeviceEnqueue 38 GenericPointer"
    " 58 SubgroupDispatch 61 GroupNonUniform 62 GroupNonUniformVote 63 GroupNonUniformArithmetic"
    " 64 GroupNonUniformBallot 65 GroupNonUniformShuffle 66 GroupNonUniformShuffleRelative"
    " 67 GroupNonUniformClustered 6016 DotProductInputAll 6017 DotProductInput4x8Bit"
    " 6018 DotProductInput4x8BitPacked 6019 DotProduct ";

}  // namespace

Status check_il(packs::View module, const Capabilities &device) {
  const SpirvWords words(module);
  if (device.il_support.empty() || words.size() < SpirvWords::kHeaderWords ||
      words[0] != SpirvWords::kMagic) {
    return {};
  }
  std::size_t count = 0;
  for (std::size_t at = SpirvWords::kHeaderWords; at < words.size(); at += count) {
    count = words[at] >> 16u;
    if (count < 2 || count > words.size() - at) break;
    const char *what = "capability";
    std::size_t name = 0;  // index of the word at which the name begins
    switch (words[at] & 0xFFFFu) {
      case kOpCapability: break;
      case kOpExtension: what = "extension", name = 1; break;
      case kOpExtInstImport: what = "instruction set", name = 2; break;
      default: return {};  // a module declares its needs first
    }
    std::string need = packs::decimal(words[at + 1]);
    if (name != 0) {
      const auto text = words.part(at, count).text(name);
      need = text ? text->first : std::string_view();
    }
    // Every device takes the first; instructions of the others only describe.
    if (need == "OpenCL.std" || need.rfind("NonSemantic.", 0) == 0) continue;
    const std::string word = concat({" ", need, " "});
    if (device.il_support.find(word) != std::string::npos) continue;
    if (const std::size_t known = kCapabilityNames.find(word); known != std::string_view::npos) {
      const std::string_view rest = kCapabilityNames.substr(known + word.size());
      need = rest.substr(0, rest.find(' '));
    }
    return Status::error(Code::requirement, {"needs the SPIR-V ", what, " ", need});
  }
  return {};
}

}  // namespace kiln::runtime
