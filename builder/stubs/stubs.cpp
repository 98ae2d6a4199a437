// SPDX-License-Identifier: Apache-2.0
// Decides which kernels a header has, and writes them parameter by parameter.
#include "builder/stubs/stubs.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/stubs/identifiers.hpp"
#include "kiln/packs/find_rows.hpp"

namespace kiln::builder {
namespace {

// A kernel of a program that all its variants declare alike, or why it is left out.
struct StubKernel {
  const packs::Kernel *kernel;
  std::string why_not{};  // a sentence without its subject; empty: it is in the header
};

struct StubProgram {
  const packs::Program *program;
  std::vector<StubKernel> kernels;  // by name
  // The first kernel, if the variants name it differently and all declare it alike; else null.
  const packs::Kernel *first = nullptr;
};

// What decides how a parameter is passed. Names and restrict do not.
auto passing(const packs::Parameter &p) {
  const unsigned qualifiers = p.qualifiers & (packs::kConst | packs::kPipe);
  return std::tuple(std::tie(p.type, p.size, p.address_space, p.access), qualifiers);
}

bool pass_alike(const packs::Kernel &a, const packs::Kernel &b) {
  return std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(),
                    b.parameters.end(), [](const packs::Parameter &x, const packs::Parameter &y) {
                      return passing(x) == passing(y);
                    });
}

bool is_known(const packs::Kernel &kernel) { return kernel.parameters.size() == kernel.arguments; }

bool takes_pipe(const packs::Kernel &kernel) {
  return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                     [](const packs::Parameter &p) { return (p.qualifiers & packs::kPipe) != 0; });
}

// Returns the variants, the preferred ones first.
std::vector<const packs::Variant *> by_preference(const packs::Program &program) {
  std::vector<const packs::Variant *> variants;
  for (const packs::Variant &variant : program.variants) variants.push_back(&variant);
  std::stable_sort(variants.begin(), variants.end(), [&](const auto *a, const auto *b) {
    return packs::preference(program, *a) < packs::preference(program, *b);
  });
  return variants;
}

const packs::Kernel *common_first_kernel(const std::vector<const packs::Variant *> &variants) {
  if (variants.empty()) return nullptr;
  const packs::Kernel &first = variants[0]->kernels[0];
  bool is_named_differently = false;
  for (const packs::Variant *variant : variants) {
    const packs::Kernel &other = variant->kernels[0];
    if (!is_known(other) || takes_pipe(other) || !pass_alike(first, other)) return nullptr;
    is_named_differently = is_named_differently || other.name != first.name;
  }
  return is_named_differently ? &first : nullptr;
}

StubProgram choose_kernels(const packs::Program &program) {
  const auto variants = by_preference(program);
  std::map<std::string, StubKernel> kernels;
  std::map<std::string, std::string> seen_in;  // the variant, by the kernel's name
  for (const packs::Variant *variant : variants) {
    for (const packs::Kernel &kernel : variant->kernels) {
      const auto [place, is_new] = kernels.try_emplace(kernel.name, StubKernel{&kernel});
      StubKernel &stub = place->second;
      if (is_new) seen_in[kernel.name] = variant->name;
      if (!is_known(kernel)) {
        stub.why_not = fmt::format("the parameters of variant {} are not known", variant->name);
      } else if (stub.why_not.empty() && !pass_alike(*stub.kernel, kernel)) {
        stub.why_not = fmt::format("variants {} and {} declare other parameters",
                                   seen_in[kernel.name], variant->name);
      }
      if (takes_pipe(kernel)) stub.why_not = "it takes a pipe";
    }
  }
  StubProgram chosen{&program, {}, common_first_kernel(variants)};
  for (auto &[name, kernel] : kernels) chosen.kernels.push_back(std::move(kernel));
  return chosen;
}

// Returns a literal of C and C++.
std::string literal(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '?';
    out += plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return out + "\"";
}

// Returns a text that neither ends a comment nor goes on in the next line.
std::string comment(std::string text) {
  text = printable_line(text);
  std::replace(text.begin(), text.end(), '\\', '|');
  for (const char *end : {"*/", "/*"}) {
    for (std::size_t at; (at = text.find(end)) != std::string::npos;) text.insert(at + 1, " ");
  }
  return text;
}

std::string upper(std::string text) {
  for (char &c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// A scalar or a vector of OpenCL C.
struct ValueType {
  std::string name;  // "float"
  unsigned components = 1;
  std::string cl() const {
    return "cl_" + name + (components == 1 ? "" : std::to_string(components));
  }
};

// Reads "float4".
std::optional<ValueType> value_type(std::string_view text) {
  static constexpr std::string_view kScalars[] = {"char",  "uchar", "short", "ushort",
                                                  "half",  "int",   "uint",  "long",
                                                  "ulong", "float", "double"};
  const std::size_t digits = std::min(text.find_first_of("0123456789"), text.size());
  ValueType type{std::string(text.substr(0, digits))};
  if (std::find(std::begin(kScalars), std::end(kScalars), type.name) == std::end(kScalars)) {
    return std::nullopt;
  }
  if (digits == text.size()) return type;
  for (const unsigned components : {2u, 3u, 4u, 8u, 16u}) {
    if (text.substr(digits) != std::to_string(components)) continue;
    type.components = components;
    return type;
  }
  return std::nullopt;
}

// How C++ passes a parameter.
struct CppParameter {
  std::string type;           // "::kiln::Value<cl_uint> "
  std::string set;            // "kernel_.set(0, src.get())", for a parameter of this name
  std::string of_template{};  // the name of a type parameter; empty: none
};

// Returns the name of the type parameter that stands for a parameter's type.
std::string own_type(std::size_t index) { return "T" + std::to_string(index); }

CppParameter value_parameter(const packs::Parameter &parameter, std::size_t index,
                             const std::string &name) {
  if (parameter.type == "sampler_t") {
    return {"cl_sampler ", fmt::format("kernel_.set({}, {})", index, name)};
  }
  const auto type = value_type(parameter.type);
  if (!type) {
    const std::string own = own_type(index);
    return {
        "const " + own + " &",
        fmt::format("::kiln::detail::set_struct<{}>(kernel_, {}, {})", parameter.size, index, name),
        own};
  }
  std::string cpp = "const " + type->cl() + " &";
  std::string address = "&" + name;
  if (type->components == 1) {
    cpp = fmt::format("::kiln::Value<{}> ", type->cl());
    address += ".get()";
  } else if (type->name == "half") {  // not every CL/cl_platform.h has its vectors
    cpp = fmt::format("const std::array<cl_half, {}> &", type->components);
    address = name + ".data()";
  }
  return {cpp, fmt::format("kernel_.set_typed({}, KILN_TYPE_{}, {}, {})", index, upper(type->name),
                           type->components, address)};
}

CppParameter cpp_parameter(const packs::Parameter &parameter, std::size_t index,
                           const std::string &name) {
  if (parameter.access != packs::ImageAccess::none) {
    // Its kind is checked at run time: only the driver knows that of an application's cl_mem.
    return {"const ::kiln::Image &", fmt::format("kernel_.set({}, {})", index, name)};
  }
  if (parameter.address_space == packs::AddressSpace::private_) {
    return value_parameter(parameter, index, name);
  }
  if (parameter.address_space == packs::AddressSpace::local) {
    return {"::kiln::Local ", fmt::format("kernel_.set({}, {})", index, name)};
  }
  std::string_view pointee = parameter.type;
  pointee.remove_suffix(pointee.ends_with('*') ? 1 : pointee.size());  // else a pointer's own name
  const auto type = value_type(pointee);
  const bool is_const = (parameter.qualifiers & packs::kConst) != 0 ||
                        parameter.address_space == packs::AddressSpace::constant;
  std::string element = "void";
  if (type && (type->name != "half" || type->components == 1)) {
    element = (is_const ? "const " : "") + type->cl();
  }
  return {fmt::format("::kiln::BufferRef<{}> ", element),
          fmt::format("{}.set(kernel_, {})", name, index)};
}

std::string joined(const std::vector<std::string> &items, const std::string &between) {
  std::string text;
  for (const std::string &item : items) text += (text.empty() ? "" : between) + item;
  return text;
}

// Returns the parameters' identifiers.
std::vector<std::string> parameter_names(const packs::Kernel &kernel, std::set<std::string> taken) {
  Scope scope(std::move(taken));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const std::string &name = kernel.parameters[i].name;
    names.push_back(scope.add(name.empty() ? "argument" + std::to_string(i) : name));
  }
  return names;
}

// `entry` is the name by which Kiln finds the kernel; empty: the first one of the loaded variant.
std::string cpp_kernel(const packs::Kernel &kernel, const std::string &name,
                       const std::string &entry) {
  std::set<std::string> taken{"queue", "range", "status", "kernel", "set", "create", "kName", name};
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) taken.insert(own_type(i));
  const auto names = parameter_names(kernel, std::move(taken));
  std::vector<std::string> declared;
  std::vector<std::string> types;
  std::string sets;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const CppParameter p = cpp_parameter(kernel.parameters[i], i, names[i]);
    declared.push_back(p.type + names[i]);
    if (!p.of_template.empty()) types.push_back("typename " + p.of_template);
    sets += fmt::format("    {} = {};\n", i == 0 ? "::kiln::Status status" : "if (status) status",
                        p.set);
  }
  const std::string list = joined(declared, ",\n      ");
  const std::string of = types.empty() ? "" : fmt::format("  template <{}>\n", joined(types, ", "));
  sets += names.empty() ? "    return {};\n" : "    return status;\n";
  return fmt::format(
      R"(// {0}
class {1} {{
 public:
  static constexpr char kName[] = {2};

  {1}() = default;
  static ::kiln::Result<{1}> create(const ::kiln::Program &program) {{
    auto made = ::kiln::Kernel::create(program, kName);
    if (!made) return made.error();
    return {1}(std::move(*made));
  }}
  // Sets the arguments.
{3}  ::kiln::Status set({6}{4}) const {{
{5}  }}
  // Sets the arguments and launches.
{3}  ::kiln::Result<::kiln::Event> operator()(
      const ::kiln::Queue &queue,
      const kiln_ndrange &range{7}{6}{4}) const {{
    if (::kiln::Status status = set({8}); !status) return status;
    return kernel_.launch(queue, range);
  }}
  // The kernel, for launches with a wait list and for sequences.
  const ::kiln::Kernel &kernel() const {{ return kernel_; }}

 private:
  explicit {1}(::kiln::Kernel kernel) : kernel_(std::move(kernel)) {{}}

  ::kiln::Kernel kernel_;
}};
)",
      comment(kernel_text(kernel)), name, literal(entry), of, list, sets,
      list.empty() ? "" : "\n      ", list.empty() ? "" : ",", joined(names, ", "));
}

std::string left_out(const StubKernel &kernel) {
  return comment(fmt::format("{} is left out: {}", kernel.kernel->name, kernel.why_not));
}

std::string cpp_program(const StubProgram &stub, std::uint64_t hash, const std::string &name) {
  std::string text = fmt::format(
      R"(
namespace {0} {{

inline constexpr char kProgram[] = {1};
// Of the program's sources and build options; see kiln_loader_program_hash().
inline constexpr std::uint64_t kHash = 0x{2:016x};

// Loads the program.
inline ::kiln::TypedLoad load(const ::kiln::Loader &loader,
                              ::kiln::IfStale if_stale = ::kiln::IfStale::tell,
                              const std::string &variant = {{}}, unsigned flags = 0) {{
  return ::kiln::load_typed(loader, kProgram, kHash, if_stale, variant, flags);
}}
)",
      name, literal(stub.program->name), hash);
  Scope scope({"kProgram", "kHash", "load", "kName", "create", "set", "kernel", "kernel_"});
  for (const StubKernel &kernel : stub.kernels) {
    text += "\n";
    if (kernel.why_not.empty()) {
      const packs::Kernel &known = *kernel.kernel;
      text += cpp_kernel(known, scope.add(known.name), known.name);
    } else {
      text += "// " + left_out(kernel) + ".\n";
    }
  }
  if (stub.first != nullptr) {
    text += "\n// The first kernel of the loaded variant, for example\n";
    text += cpp_kernel(*stub.first, scope.add("first"), "");
  }
  return text + fmt::format("\n}}  // namespace {}\n", name);
}

// Returns constants for the indices of a kernel's arguments. `names` are all names of the header.
std::string c_indices(const packs::Kernel &kernel, const std::string &name, Scope *names) {
  std::vector<std::string> constants;
  for (const std::string &parameter : parameter_names(kernel, {})) {
    constants.push_back(
        fmt::format("  {} = {}", names->add(name + "_" + upper(parameter)), constants.size()));
  }
  return constants.empty() ? "" : fmt::format("enum {{\n{}\n}};\n", joined(constants, ",\n"));
}

std::string c_program(const StubProgram &stub, std::uint64_t hash, const std::string &prefix,
                      Scope *names) {
  const std::string program = names->add(prefix + "_PROGRAM");
  std::string text = fmt::format(
      "\n#define {} {}\n"
      "/* Of the program's sources and build options; see kiln_loader_program_hash(). */\n"
      "#define {} UINT64_C(0x{:016x})\n",
      program, literal(stub.program->name), names->add(prefix + "_HASH"), hash);
  for (const StubKernel &kernel : stub.kernels) {
    if (!kernel.why_not.empty()) {
      text += "\n/* " + left_out(kernel) + ". */\n";
      continue;
    }
    const std::string name = names->add(prefix + "_" + upper(to_identifier(kernel.kernel->name)));
    text += fmt::format("\n/* {} */\n#define {} {}\n", comment(kernel_text(*kernel.kernel)), name,
                        literal(kernel.kernel->name));
    text += c_indices(*kernel.kernel, name, names);
  }
  if (stub.first != nullptr) {
    text += fmt::format(
        "\n/* The first kernel of the loaded variant, with NULL for its name, for example\n   {} "
        "*/\n",
        comment(kernel_text(*stub.first)));
    text += c_indices(*stub.first, prefix + "_FIRST", names);
  }
  return text;
}

std::string cpp_header(const std::string &programs, const std::string &name) {
  return fmt::format(
      R"(// Made by `kiln stubs` from a pack; do not edit.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include {2}

namespace {0} {{
{1}
}}  // namespace {0}
)",
      name, programs, "<kiln/typed.hpp>");
}

std::string c_header(const std::string &programs, const std::string &name) {
  return fmt::format(
      R"(/* Made by `kiln stubs` from a pack; do not edit. */
#ifndef {0}_STUBS_H
#define {0}_STUBS_H

#include <stdint.h>
{1}
#endif /* {0}_STUBS_H */
)",
      upper(name), programs);
}

}  // namespace

bool is_identifier(const std::string &text) { return to_identifier(text) == text; }

Result<std::string> make_stubs(const packs::Pack &pack, const packs::Contents &contents,
                               const StubRequest &request) {
  if (!is_identifier(request.name)) {
    return Status(Code::bad_argument,
                  fmt::format("{} is no name for a namespace; {} is", printable_line(request.name),
                              to_identifier(request.name)));
  }
  const bool is_c = request.language == StubLanguage::c;
  std::string programs;
  bool any = false;
  Scope scope({});
  for (const packs::Program &program : contents.programs) {
    const StubProgram stub = choose_kernels(program);
    const bool has_kernel =
        std::any_of(stub.kernels.begin(), stub.kernels.end(),
                    [](const StubKernel &kernel) { return kernel.why_not.empty(); });
    any = any || has_kernel;
    packs::ProgramRef found;
    if (Status s = pack.find_program(program.name, &found); !s.ok()) return s;
    const std::uint64_t hash = packs::program_hash(found);
    const std::string name = upper(request.name + "_" + to_identifier(program.name));
    programs += is_c ? c_program(stub, hash, name, &scope)
                     : cpp_program(stub, hash, scope.add(program.name));
  }
  if (!any) {
    return Status(
        Code::not_in_pack,
        "the pack knows no parameters of its kernels; packs of this version's kiln compile "
        "do");
  }
  return is_c ? c_header(programs, request.name) : cpp_header(programs, request.name);
}

}  // namespace kiln::builder
