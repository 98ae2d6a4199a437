// SPDX-License-Identifier: Apache-2.0
// Walks over the instructions of a module to find entry points, their parameters, and functions
// without a body. In LLVM IR, reads the lines that define kernels, `define ... spir_kernel void
// @NAME(TYPE %0, ...) ... {`, and the lines that declare functions, `declare ... @NAME(TYPE ...)`.
#include "builder/compile/spirv.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace kiln::builder {

namespace {

constexpr std::uint32_t kMagic = 0x07230203;
constexpr std::uint32_t kSwappedMagic = 0x03022307;
constexpr std::size_t kHeaderWords = 5;

// Opcodes and enumerants of the SPIR-V specification, sections 3.32 and 3.2 to 3.20.
constexpr std::uint32_t kOpMemoryModel = 14;
constexpr std::uint32_t kOpEntryPoint = 15;
constexpr std::uint32_t kOpFunction = 54;
constexpr std::uint32_t kOpFunctionParameter = 55;
constexpr std::uint32_t kOpDecorate = 71;
constexpr std::uint32_t kOpControlBarrier = 224;
constexpr std::uint32_t kExecutionModelKernel = 6;
constexpr std::uint32_t kDecorationLinkageAttributes = 41;
constexpr std::uint32_t kLinkageImport = 1;

// The words of a module, or of one instruction.
class Words {
 public:
  explicit Words(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size() / 4; }
  std::uint32_t operator[](std::size_t index) const {
    const std::uint8_t *p = bytes_.data() + index * 4;
    return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8u |
           static_cast<std::uint32_t>(p[2]) << 16u | static_cast<std::uint32_t>(p[3]) << 24u;
  }
  Words part(std::size_t first, std::size_t count) const {
    return Words(bytes_.subspan(first * 4, count * 4));
  }
  // Returns the literal string that starts at a word, and the index of the word after it.
  std::optional<std::pair<std::string, std::size_t>> text(std::size_t first) const {
    if (first >= size()) return std::nullopt;
    const auto rest = bytes_.subspan(first * 4);
    const auto end = std::find(rest.begin(), rest.end(), std::uint8_t{0});
    if (end == rest.end()) return std::nullopt;
    const auto length = static_cast<std::size_t>(end - rest.begin());
    return std::pair{std::string(rest.begin(), end), first + length / 4 + 1};
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

struct EntryPoint {
  std::string name;
  std::uint32_t function;
};

class Reader {
 public:
  explicit Reader(Words words) : words_(words) {}

  Result<SpirvModule> run() {
    module_.version = words_[1];
    for (std::size_t at = kHeaderWords; at < words_.size();) {
      const std::size_t count = words_[at] >> 16u;
      if (count == 0) return fault(at, "an empty instruction");
      if (count > words_.size() - at) return fault(at, "an instruction that runs over the end");
      const Status status = read(words_[at] & 0xFFFFu, words_.part(at, count));
      if (!status.ok()) return fault(at, status.message);
      at += count;
    }
    return finish();
  }

 private:
  static Status fault(std::size_t word, const std::string &what) {
    return {Code::bad_input, fmt::format("word {}: {}", word, what)};
  }

  static Status bad(const char *what) { return {Code::bad_input, what}; }

  Status read(std::uint32_t opcode, Words words) {
    switch (opcode) {
      case kOpMemoryModel: return read_memory_model(words);
      case kOpEntryPoint: return read_entry_point(words);
      case kOpDecorate: return read_decoration(words);
      case kOpControlBarrier: module_.has_barrier = true; return {};
      case kOpFunction:
        if (words.size() < 5) return bad("OpFunction is too short");
        function_ = words[2];
        parameters_[function_] = 0;
        return {};
      case kOpFunctionParameter:
        if (parameters_.empty()) return bad("OpFunctionParameter outside a function");
        ++parameters_[function_];
        return {};
      default: return {};
    }
  }

  Status read_memory_model(Words words) {
    if (words.size() < 3) return bad("OpMemoryModel is too short");
    if (words[1] > 2) return bad("OpMemoryModel with an unknown addressing model");
    has_memory_model_ = true;
    module_.address_bits = words[1] * 32;
    return {};
  }

  Status read_entry_point(Words words) {
    if (words.size() < 4) return bad("OpEntryPoint is too short");
    auto name = words.text(3);
    if (!name) return bad("OpEntryPoint with a name without an end");
    if (words[1] == kExecutionModelKernel) {
      entry_points_.push_back({std::move(name->first), words[2]});
    }
    return {};
  }

  Status read_decoration(Words words) {
    if (words.size() < 3) return bad("OpDecorate is too short");
    if (words[2] != kDecorationLinkageAttributes) return {};
    auto name = words.text(3);
    if (!name || name->second >= words.size()) return bad("OpDecorate with a name without an end");
    if (words[name->second] == kLinkageImport) {
      imports_.emplace_back(words[1], std::move(name->first));
    }
    return {};
  }

  Result<SpirvModule> finish() {
    if (!has_memory_model_) return Status(Code::bad_input, "no memory model");
    for (const EntryPoint &entry : entry_points_) {
      const auto function = parameters_.find(entry.function);
      if (function == parameters_.end()) {
        return Status(Code::bad_input, fmt::format("kernel {} has no function", entry.name));
      }
      module_.kernels.push_back({entry.name, function->second});
    }
    std::sort(module_.kernels.begin(), module_.kernels.end(),
              [](const auto &a, const auto &b) { return a.name < b.name; });
    const auto duplicate = std::adjacent_find(
        module_.kernels.begin(), module_.kernels.end(),
        [](const SpirvKernel &a, const SpirvKernel &b) { return a.name == b.name; });
    if (duplicate != module_.kernels.end()) {
      return Status(Code::bad_input, fmt::format("two kernels are called {}", duplicate->name));
    }
    // Built-in variables are imported too, but are not functions.
    for (auto &[id, name] : imports_) {
      if (parameters_.contains(id)) module_.unresolved.push_back(std::move(name));
    }
    std::sort(module_.unresolved.begin(), module_.unresolved.end());
    return std::move(module_);
  }

  Words words_;
  SpirvModule module_;
  bool has_memory_model_ = false;
  std::uint32_t function_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> parameters_;  // count, by function
  std::vector<EntryPoint> entry_points_;
  std::vector<std::pair<std::uint32_t, std::string>> imports_;
};

constexpr std::string_view kKernel = " spir_kernel void @";

// Counts the parameters in a list after its opening parenthesis. A type may have commas in
// brackets.
std::uint32_t count_parameters(std::string_view list) {
  std::uint32_t commas = 0;
  bool empty = true;
  std::size_t depth = 1;
  for (const char c : list) {
    if (std::string_view("([{<").find(c) != std::string_view::npos) ++depth;
    if (std::string_view(")]}>").find(c) != std::string_view::npos && --depth == 0) break;
    if (c == ',' && depth == 1) ++commas;
    empty = false;
  }
  return empty ? 0 : commas + 1;
}

// Cuts the first line off.
std::string_view next_line(std::string_view *text) {
  const std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(line.size() + 1, text->size()));
  return line;
}

}  // namespace

Result<SpirvModule> read_spirv(std::span<const std::uint8_t> bytes) {
  if (bytes.size() % 4 != 0 || bytes.size() < kHeaderWords * 4) {
    return Status(Code::bad_input, fmt::format("{} bytes are no SPIR-V module", bytes.size()));
  }
  const Words words(bytes);
  if (words[0] == kSwappedMagic) return Status(Code::bad_input, "a big-endian module");
  if (words[0] != kMagic) {
    return Status(Code::bad_input, fmt::format("bad magic 0x{:08x}", words[0]));
  }
  return Reader(words).run();
}

std::vector<SpirvKernel> kernels_of_llvm_ir(std::string_view text) {
  std::vector<SpirvKernel> kernels;
  while (!text.empty()) {
    const std::string_view line = next_line(&text);
    const std::size_t at = line.find(kKernel);
    if (!line.starts_with("define ") || at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + kKernel.size());
    const std::size_t name = rest.find('(');
    if (name == std::string_view::npos) continue;
    kernels.push_back({std::string(rest.substr(0, name)), count_parameters(rest.substr(name + 1))});
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const SpirvKernel &one, const SpirvKernel &other) { return one.name < other.name; });
  return kernels;
}

std::string_view plain_name(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return mangled;
  std::size_t length = 0;
  std::size_t at = 2;
  for (; at < mangled.size() && mangled[at] >= '0' && mangled[at] <= '9'; ++at) {
    length = 10 * length + static_cast<std::size_t>(mangled[at] - '0');
    if (length > mangled.size()) return mangled;
  }
  return mangled.substr(at, length);
}

bool has_barrier_in_llvm_ir(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = next_line(&text);
    const std::size_t at = line.find('@');
    if (!line.starts_with("declare ") || at == std::string_view::npos) continue;
    const std::string_view name = plain_name(line.substr(at + 1, line.find('(', at) - at - 1));
    if (name == "barrier" || name == "work_group_barrier" || name == "sub_group_barrier") {
      return true;
    }
  }
  return false;
}

}  // namespace kiln::builder
