// SPDX-License-Identifier: Apache-2.0
// Walks over the instructions of a module to find entry points, their parameters, and functions
// without a body. In LLVM IR, reads the lines that define kernels, `define ... spir_kernel void
// @NAME(TYPE %0, ...) ... {`, and the lines that declare functions, `declare ... @NAME(TYPE ...)`.
#include "builder/compile/spirv.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "runtime/identity/il_needs.hpp"

namespace kiln::builder {

namespace {

using Words = runtime::SpirvWords;

constexpr std::uint32_t kSwappedMagic = 0x03022307;
constexpr std::size_t kHeaderWords = Words::kHeaderWords;

// Opcodes and enumerants of the SPIR-V specification, sections 3.32 and 3.2 to 3.20.
constexpr std::uint32_t kOpName = 5;
constexpr std::uint32_t kOpString = 7;
constexpr std::uint32_t kOpMemoryModel = 14;
constexpr std::uint32_t kOpEntryPoint = 15;
constexpr std::uint32_t kOpTypeInt = 21;
constexpr std::uint32_t kOpTypeFloat = 22;
constexpr std::uint32_t kOpTypeVector = 23;
constexpr std::uint32_t kOpTypeImage = 25;
constexpr std::uint32_t kOpTypeSampler = 26;
constexpr std::uint32_t kOpTypeArray = 28;
constexpr std::uint32_t kOpTypeStruct = 30;
constexpr std::uint32_t kOpTypePointer = 32;
constexpr std::uint32_t kOpTypePipe = 38;
constexpr std::uint32_t kOpConstant = 43;
constexpr std::uint32_t kOpFunction = 54;
constexpr std::uint32_t kOpFunctionParameter = 55;
constexpr std::uint32_t kOpDecorate = 71;
constexpr std::uint32_t kOpControlBarrier = 224;
constexpr std::uint32_t kExecutionModelKernel = 6;
constexpr std::uint32_t kDecorationCPacked = 10;
constexpr std::uint32_t kDecorationLinkageAttributes = 41;
constexpr std::uint32_t kLinkageImport = 1;

struct EntryPoint {
  std::string name;
  std::uint32_t function;
};

struct FunctionParameter {
  std::uint32_t id;
  std::uint32_t type;
};

// What a type says about a parameter, and its layout in OpenCL C.
struct Type {
  packs::Parameter parameter{};  // without a name
  std::uint64_t size = 0;        // bytes; 0: not known
  std::uint64_t alignment = 1;
};

// Returns "image2d_array_t" for the operands of OpTypeImage; empty for an unknown image.
std::string image_name(std::uint32_t dimension, bool is_depth, bool is_array,
                       bool is_multisampled) {
  std::string name;
  switch (dimension) {
    case 0: name = "image1d"; break;
    case 1: name = "image2d"; break;
    case 2: name = "image3d"; break;
    case 5: return "image1d_buffer_t";
    default: return {};
  }
  return name + (is_array ? "_array" : "") + (is_multisampled ? "_msaa" : "") +
         (is_depth ? "_depth" : "") + "_t";
}

// The types of a module. Each type is declared after those that it is made of, so its layout is
// known at once.
class Types {
 public:
  void set_address_bits(std::uint32_t bits) { address_bytes_ = bits / 8; }
  void set_packed(std::uint32_t id) { packed_.insert(id); }
  void add_constant(std::uint32_t id, std::uint32_t value) { constants_[id] = value; }

  // Reads an instruction that declares a type; skips a malformed one, whose type stays unknown.
  void add(std::uint32_t opcode, Words words) {
    const std::size_t least = opcode == kOpTypeImage     ? 9
                              : opcode == kOpTypePointer ? 4
                              : opcode == kOpTypeVector  ? 4
                              : opcode == kOpTypeArray   ? 4
                              : opcode == kOpTypeInt     ? 4
                              : opcode == kOpTypeFloat   ? 3
                                                         : 2;
    if (words.size() < least) return;
    Type type;
    switch (opcode) {
      case kOpTypeInt: set_size(words[2] / 8, &type); break;
      case kOpTypeFloat:
        set_size(words[2] / 8, &type);
        type.parameter.type = words[2] == 16 ? "half" : words[2] == 32 ? "float" : "double";
        break;
      case kOpTypeVector: add_vector(words, &type); break;
      case kOpTypeArray: add_array(words, &type); break;
      case kOpTypeStruct: add_struct(words, &type); break;
      case kOpTypePointer: add_pointer(words, &type); break;
      case kOpTypeImage: add_image(words, &type); break;
      case kOpTypeSampler: type.parameter.type = "sampler_t"; break;
      default: type.parameter.qualifiers = packs::kPipe; break;
    }
    types_[words[1]] = std::move(type);
  }

  packs::Parameter parameter(std::uint32_t id) const { return of(id).parameter; }

 private:
  static constexpr std::uint64_t kMaxSize = 1u << 30u;
  static constexpr std::size_t kMaxName = 64;  // no type of OpenCL C has a longer one

  const Type &of(std::uint32_t id) const {
    static const Type unknown;
    const auto found = types_.find(id);
    return found == types_.end() ? unknown : found->second;
  }

  // Sets the size of a value that is passed by value.
  static void set_size(std::uint64_t size, Type *type) {
    type->size = size > kMaxSize ? 0 : size;
    type->alignment = std::max<std::uint64_t>(type->size, 1);
    type->parameter.size = static_cast<std::uint32_t>(type->size);
  }

  void add_vector(Words words, Type *type) const {
    const Type &component = of(words[2]);
    const std::uint64_t count = words[3];
    if (count > 16) return;
    set_size(component.size * (count == 3 ? 4 : count), type);
    if (component.parameter.type.empty() || component.parameter.type.size() > kMaxName) return;
    type->parameter.type = component.parameter.type + std::to_string(count);
  }

  void add_array(Words words, Type *type) const {
    const Type &element = of(words[2]);
    const auto count = constants_.find(words[3]);
    if (count == constants_.end()) return;
    set_size(element.size * count->second, type);
    type->alignment = element.alignment;
  }

  void add_struct(Words words, Type *type) const {
    const bool packed = packed_.contains(words[1]);
    std::uint64_t size = 0;
    std::uint64_t alignment = 1;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const Type &member = of(words[i]);
      if (member.size == 0 || size > kMaxSize) return;
      const std::uint64_t step = packed ? 1 : member.alignment;
      size = (size + step - 1) / step * step + member.size;
      alignment = std::max(alignment, step);
    }
    set_size((size + alignment - 1) / alignment * alignment, type);
    type->alignment = alignment;
  }

  void add_pointer(Words words, Type *type) const {
    const Type &pointee = of(words[3]);
    switch (words[2]) {
      case 0: type->parameter.address_space = packs::AddressSpace::constant; break;
      case 4: type->parameter.address_space = packs::AddressSpace::local; break;
      case 5: type->parameter.address_space = packs::AddressSpace::global; break;
      default: type->parameter = pointee.parameter;  // a struct by value
    }
    type->size = type->alignment = address_bytes_;
    const bool is_pointer = type->parameter.address_space != packs::AddressSpace::private_;
    const std::string &name = pointee.parameter.type;
    if (is_pointer && !name.empty() && name.size() <= kMaxName) {
      type->parameter.type = name + "*";
    }
  }

  static void add_image(Words words, Type *type) {
    type->parameter.type = image_name(words[3], words[4] == 1, words[5] != 0, words[6] != 0);
    type->parameter.address_space = packs::AddressSpace::global;
    const std::uint32_t access = words.size() > 9 ? words[9] : 0;
    type->parameter.access = access == 1   ? packs::ImageAccess::write_only
                             : access == 2 ? packs::ImageAccess::read_write
                                           : packs::ImageAccess::read_only;
  }

  std::uint32_t address_bytes_ = 0;
  std::unordered_set<std::uint32_t> packed_;
  std::unordered_map<std::uint32_t, std::uint32_t> constants_;  // of arrays' lengths
  std::unordered_map<std::uint32_t, Type> types_;
};

constexpr std::string_view kArgumentTypes = "kernel_arg_type.";
constexpr std::string_view kArgumentQualifiers = "kernel_arg_type_qual.";

// Returns the words "restrict const" of a type's qualifiers as bits.
std::uint8_t qualifier_bits(std::string_view words) {
  std::uint8_t bits = 0;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    for (std::size_t i = 0; i < std::size(packs::kQualifierNames); ++i) {
      if (word == packs::kQualifierNames[i]) bits |= static_cast<std::uint8_t>(1u << i);
    }
  }
  return bits;
}

// Returns the items of a list such as "float*,uint,"; a comma ends each.
std::vector<std::string> items_of(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    items.emplace_back(item);
    list.remove_prefix(std::min(item.size() + 1, list.size()));
  }
  return items;
}

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
        parameters_[function_].clear();
        return {};
      case kOpFunctionParameter:
        if (parameters_.empty()) return bad("OpFunctionParameter outside a function");
        if (words.size() < 3) return bad("OpFunctionParameter is too short");
        parameters_[function_].push_back({words[2], words[1]});
        return {};
      case kOpName:
        if (auto name = words.text(2)) names_[words[1]] = name->first;
        return {};
      case kOpString:
        if (auto text = words.text(2)) texts_.emplace_back(text->first);
        return {};
      case kOpConstant:
        if (words.size() > 3) types_.add_constant(words[2], words[3]);
        return {};
      case kOpTypeInt:
      case kOpTypeFloat:
      case kOpTypeVector:
      case kOpTypeImage:
      case kOpTypeSampler:
      case kOpTypeArray:
      case kOpTypeStruct:
      case kOpTypePointer:
      case kOpTypePipe: types_.add(opcode, words); return {};
      default: return {};
    }
  }

  Status read_memory_model(Words words) {
    if (words.size() < 3) return bad("OpMemoryModel is too short");
    if (words[1] > 2) return bad("OpMemoryModel with an unknown addressing model");
    has_memory_model_ = true;
    module_.address_bits = words[1] * 32;
    types_.set_address_bits(module_.address_bits);
    return {};
  }

  Status read_entry_point(Words words) {
    if (words.size() < 4) return bad("OpEntryPoint is too short");
    auto name = words.text(3);
    if (!name) return bad("OpEntryPoint with a name without an end");
    if (words[1] == kExecutionModelKernel) {
      entry_points_.push_back({std::string(name->first), words[2]});
    }
    return {};
  }

  Status read_decoration(Words words) {
    if (words.size() < 3) return bad("OpDecorate is too short");
    if (words[2] == kDecorationCPacked) types_.set_packed(words[1]);
    if (words[2] != kDecorationLinkageAttributes) return {};
    auto name = words.text(3);
    if (!name || name->second >= words.size()) return bad("OpDecorate with a name without an end");
    if (words[name->second] == kLinkageImport) {
      imports_.emplace_back(words[1], name->first);
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
      const auto count = static_cast<std::uint32_t>(function->second.size());
      module_.kernels.push_back({entry.name, count, parameters_of(entry.name, function->second)});
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

  // Returns the items of the text that begins so, if they are as many as the parameters.
  std::optional<std::vector<std::string>> described(std::string_view what,
                                                    const std::string &kernel,
                                                    std::size_t count) const {
    const std::string start = std::string(what) + kernel + ".";
    for (const std::string &text : texts_) {
      if (!text.starts_with(start)) continue;
      auto items = items_of(std::string_view(text).substr(start.size()));
      if (items.size() == count) return items;
    }
    return std::nullopt;
  }

  std::vector<packs::Parameter> parameters_of(
      const std::string &kernel, const std::vector<FunctionParameter> &declared) const {
    const auto types = described(kArgumentTypes, kernel, declared.size());
    const auto qualifiers = described(kArgumentQualifiers, kernel, declared.size());
    std::vector<packs::Parameter> parameters;
    for (std::size_t i = 0; i < declared.size(); ++i) {
      packs::Parameter parameter = types_.parameter(declared[i].type);
      const auto name = names_.find(declared[i].id);
      if (name != names_.end()) parameter.name = name->second;
      if (types) parameter.type = (*types)[i];
      if (qualifiers) parameter.qualifiers |= qualifier_bits((*qualifiers)[i]);
      parameters.push_back(std::move(parameter));
    }
    return parameters;
  }

  Words words_;
  SpirvModule module_;
  bool has_memory_model_ = false;
  std::uint32_t function_ = 0;
  std::unordered_map<std::uint32_t, std::vector<FunctionParameter>> parameters_;  // by function
  std::unordered_map<std::uint32_t, std::string> names_;
  std::vector<std::string> texts_;
  Types types_;
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

// Returns the item of a node such as `!{!"float*", !"uint"}` or `!{i32 1, i32 0}` at its start, and
// cuts it off; none at the end.
std::optional<std::string> next_item(std::string_view *list) {
  const std::size_t at = list->find_first_not_of(", ");
  if (at == std::string_view::npos || (*list)[at] == '}') return std::nullopt;
  list->remove_prefix(at);
  const bool quoted = list->starts_with("!\"");
  const std::size_t end = quoted ? list->find('"', 2) : list->find_first_of(",}");
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t start = quoted ? 2 : list->find(' ') + 1;  // after "i32"
  std::string item(list->substr(start, end - start));
  list->remove_prefix(quoted ? end + 1 : end);
  return item;
}

// The nodes of metadata, by number.
class MetadataNodes {
 public:
  void add(std::string_view line) {
    const std::size_t open = line.find(" = !{");
    if (!line.starts_with("!") || open == std::string_view::npos) return;
    nodes_.emplace(line.substr(1, open - 1), line.substr(open + 5));
  }
  // Returns the items of the node that the end of a kernel's definition names.
  std::vector<std::string> items(std::string_view definition, std::string_view name) const {
    const std::size_t at = definition.find(fmt::format(" !{} !", name));
    if (at == std::string_view::npos) return {};
    std::string_view number = definition.substr(at + name.size() + 4);
    number = number.substr(0, number.find_first_not_of("0123456789"));
    const auto node = nodes_.find(std::string(number));
    std::vector<std::string> items;
    if (node == nodes_.end()) return items;
    std::string_view list = node->second;
    while (auto item = next_item(&list)) items.push_back(std::move(*item));
    return items;
  }

 private:
  std::unordered_map<std::string, std::string> nodes_;
};

// Returns the bytes of a scalar or a vector, which clang names
// "float __attribute__((ext_vector_type(4)))"; 0 for another type.
std::uint32_t size_of_base_type(std::string_view type) {
  constexpr std::string_view kVector = " __attribute__((ext_vector_type(";
  constexpr std::pair<std::string_view, std::uint32_t> kScalars[] = {
      {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"half", 2},  {"int", 4},
      {"uint", 4}, {"float", 4}, {"long", 8},  {"ulong", 8},  {"double", 8}};
  std::uint32_t count = 1;
  if (const std::size_t at = type.find(kVector); at != std::string_view::npos) {
    const std::string_view digits = type.substr(at + kVector.size());
    count = 0;
    for (std::size_t i = 0; i < 2 && digits[i] >= '0' && digits[i] <= '9'; ++i) {
      count = 10 * count + static_cast<std::uint32_t>(digits[i] - '0');
    }
    if (digits.substr(digits.find(')')) != ")))") return 0;
    if (count == 3) count = 4;
    type = type.substr(0, at);
  }
  for (const auto &[name, size] : kScalars) {
    if (type == name) return size * count;
  }
  return 0;
}

// Returns what clang says of a kernel's parameters; none if that does not fit their number.
std::vector<packs::Parameter> parameters_of_llvm_ir(std::string_view definition,
                                                    const MetadataNodes &nodes, std::size_t count) {
  const auto types = nodes.items(definition, "kernel_arg_type");
  const auto bases = nodes.items(definition, "kernel_arg_base_type");
  const auto spaces = nodes.items(definition, "kernel_arg_addr_space");
  const auto accesses = nodes.items(definition, "kernel_arg_access_qual");
  const auto qualifiers = nodes.items(definition, "kernel_arg_type_qual");
  const auto names = nodes.items(definition, "kernel_arg_name");
  for (const auto *list : {&types, &bases, &spaces, &accesses, &qualifiers}) {
    if (list->size() != count) return {};
  }
  std::vector<packs::Parameter> parameters(count);
  for (std::size_t i = 0; i < count; ++i) {
    packs::Parameter &parameter = parameters[i];
    if (names.size() == count) parameter.name = names[i];
    parameter.type = types[i];
    parameter.qualifiers = qualifier_bits(qualifiers[i]);
    for (std::size_t access = 0; access < std::size(packs::kImageAccessNames); ++access) {
      if (accesses[i] == packs::kImageAccessNames[access]) {
        parameter.access = static_cast<packs::ImageAccess>(access);
      }
    }
    // SPIR's numbers are those of FORMAT.md.
    const char space = spaces[i].empty() ? '0' : spaces[i][0];
    if (space >= '1' && space <= '3') {
      parameter.address_space = static_cast<packs::AddressSpace>(space - '0');
    } else if ((parameter.qualifiers & packs::kPipe) == 0) {
      parameter.size = size_of_base_type(bases[i]);
    }
  }
  return parameters;
}

}  // namespace

Result<SpirvModule> read_spirv(std::span<const std::uint8_t> bytes) {
  if (bytes.size() % 4 != 0 || bytes.size() < kHeaderWords * 4) {
    return Status(Code::bad_input, fmt::format("{} bytes are no SPIR-V module", bytes.size()));
  }
  const Words words({bytes.data(), bytes.size()});
  if (words[0] == kSwappedMagic) return Status(Code::bad_input, "a big-endian module");
  if (words[0] != Words::kMagic) {
    return Status(Code::bad_input, fmt::format("bad magic 0x{:08x}", words[0]));
  }
  return Reader(words).run();
}

Result<std::vector<std::uint8_t>> without_argument_info(std::span<const std::uint8_t> bytes,
                                                        bool keep_names) {
  if (auto checked = read_spirv(bytes); !checked.ok()) return checked.status();
  const Words words({bytes.data(), bytes.size()});
  std::unordered_set<std::uint32_t> entries;
  std::unordered_set<std::uint32_t> parameters;
  bool in_kernel = false;
  const auto each = [&](auto function) {
    for (std::size_t at = kHeaderWords; at < words.size(); at += words[at] >> 16u) {
      function(words[at] & 0xFFFFu, words.part(at, words[at] >> 16u), at);
    }
  };
  each([&](std::uint32_t opcode, Words instruction, std::size_t) {
    if (opcode == kOpEntryPoint) entries.insert(instruction[2]);
    if (opcode == kOpFunction) in_kernel = entries.contains(instruction[2]);
    if (opcode == kOpFunctionParameter && in_kernel) parameters.insert(instruction[2]);
  });
  std::vector<std::uint8_t> kept(bytes.begin(), bytes.begin() + kHeaderWords * 4);
  std::unordered_set<std::uint32_t> gone;
  each([&](std::uint32_t opcode, Words instruction, std::size_t at) {
    if (opcode == kOpName && !keep_names && instruction.size() > 1 &&
        parameters.contains(instruction[1])) {
      return;
    }
    if (opcode == kOpString && instruction.size() > 1) {
      const auto text = instruction.text(2);
      if (text && (text->first.starts_with(kArgumentTypes) ||
                   text->first.starts_with(kArgumentQualifiers))) {
        gone.insert(instruction[1]);
        return;
      }
    }
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at * 4);
    kept.insert(kept.end(), first, first + static_cast<std::ptrdiff_t>(instruction.size() * 4));
  });
  // llvm-spirv gives these texts the last ids, so the bound shrinks by their number.
  constexpr std::size_t kBoundWord = 3;
  std::uint32_t bound = words[kBoundWord];
  while (bound > 0 && gone.contains(bound - 1)) --bound;
  for (unsigned i = 0; i < 4; ++i) {
    kept[kBoundWord * 4 + i] = static_cast<std::uint8_t>(bound >> (8 * i));
  }
  return kept;
}

std::vector<SpirvKernel> kernels_of_llvm_ir(std::string_view text) {
  std::vector<std::pair<SpirvKernel, std::string_view>> found;  // and the rest of the definition
  MetadataNodes nodes;
  while (!text.empty()) {
    const std::string_view line = next_line(&text);
    nodes.add(line);
    const std::size_t at = line.find(kKernel);
    if (!line.starts_with("define ") || at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + kKernel.size());
    const std::size_t name = rest.find('(');
    if (name == std::string_view::npos) continue;
    found.push_back(
        {{std::string(rest.substr(0, name)), count_parameters(rest.substr(name + 1))}, rest});
  }
  std::vector<SpirvKernel> kernels;
  for (auto &[kernel, definition] : found) {
    kernel.parameters = parameters_of_llvm_ir(definition, nodes, kernel.argument_count);
    kernels.push_back(std::move(kernel));
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const SpirvKernel &one, const SpirvKernel &other) { return one.name < other.name; });
  return kernels;
}

std::vector<SpirvKernel> kernels_of_syntax_tree(std::string_view text) {
  // "|-FunctionDecl 0x1 <line:1:1, col:9> col:13 used k 'void (...)'", then its parts, "| |-Part".
  std::vector<SpirvKernel> kernels;
  std::optional<SpirvKernel> function;
  while (!text.empty()) {
    std::string_view line = next_line(&text);
    const bool is_part = line.starts_with("| ") || line.starts_with("  ");
    if (!is_part) {
      function.reset();
      line = line.substr(0, line.find(" '"));
      if (line.find("-FunctionDecl ") == 1) {
        function = SpirvKernel{std::string(line.substr(line.rfind(' ') + 1))};
      }
    } else if (function && line.find("-ParmVarDecl ") == 3) {
      ++function->argument_count;
    } else if (function && line.find("-OpenCLKernelAttr ") == 3) {
      kernels.push_back(*function);
    }
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
