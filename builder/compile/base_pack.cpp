// SPDX-License-Identifier: Apache-2.0
#include "builder/compile/base_pack.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "builder/compile/flatten.hpp"
#include "builder/compile/host_compile.hpp"
#include "builder/compile/host_options.hpp"
#include "builder/compile/spirv.hpp"

namespace kiln::builder {
namespace {

packs::Bytes to_bytes(const std::string &text) { return {text.begin(), text.end()}; }

struct Sources {
  std::string packed;     // names relative to the manifest
  std::string as_opened;  // names for diagnostics
};

// Compiles one manifest; remembers what several variants share.
class HostStep {
 public:
  HostStep(const Manifest &manifest, const std::filesystem::path &manifest_path,
           const Toolchain &toolchain)
      : manifest_(manifest), folder_(manifest_path.parent_path()), toolchain_(toolchain) {}

  Result<Sources> flatten_source(const Program &program, const Variant &variant);
  Status compile(const Program &program, const Variant &in, const Sources &sources,
                 packs::Variant *out, std::vector<std::string> *warnings);

 private:
  Status compile_il(const Program &program, const Variant &in, const Sources &sources,
                    std::uint32_t bits, packs::Variant *out, std::vector<std::string> *warnings);

  const Manifest &manifest_;
  std::filesystem::path folder_;
  const Toolchain &toolchain_;
};

Result<Sources> HostStep::flatten_source(const Program &program, const Variant &variant) {
  Sources sources;
  for (const bool packed : {true, false}) {
    auto result = flatten({variant.source, program.include_dirs, read_from_disk(),
                           packed ? names_below(folder_) : names_as_opened()});
    if (!result.ok()) return result.status();
    (packed ? sources.packed : sources.as_opened) = std::move(result->text);
  }
  return sources;
}

// The variant's kernels, each of which must be in the module with as many parameters as the
// manifest lists.
Status check_kernels(const Variant &in, const SpirvModule &module,
                     std::vector<packs::Kernel> *out) {
  out->clear();
  for (const Kernel &wanted : in.kernels) {
    const auto kernel = std::find_if(module.kernels.begin(), module.kernels.end(),
                                     [&](const SpirvKernel &k) { return k.name == wanted.name; });
    if (kernel == module.kernels.end()) {
      std::string names;
      for (const SpirvKernel &k : module.kernels) names += " " + k.name;
      return {Code::bad_input,
              fmt::format("{}: error: no kernel named {}; there are:{}\n", in.source.string(),
                          wanted.name, names.empty() ? " none" : names)};
    }
    const auto listed = static_cast<std::size_t>(
        std::count_if(in.arguments.begin(), in.arguments.end(),
                      [&](const Argument &a) { return a.stage == out->size(); }));
    if (!in.arguments.empty() && listed != kernel->argument_count) {
      return {Code::bad_input,
              fmt::format("{}: error: kernel {} takes {}, the manifest lists {} arguments\n",
                          in.source.string(), wanted.name, kernel->argument_count, listed)};
    }
    out->push_back({wanted.name, kernel->argument_count, wanted.range});
  }
  return {};
}

Status HostStep::compile_il(const Program &program, const Variant &in, const Sources &sources,
                            std::uint32_t bits, packs::Variant *out,
                            std::vector<std::string> *warnings) {
  HostCompileRequest request;
  request.name = program.name + "/" + in.name;
  request.source = sources.packed;
  request.diagnostics_source = sources.as_opened;
  request.options = in.options;
  request.check_only = !in.il;
  if (!in.prelude.empty()) request.prelude = read_from_disk()(in.prelude).value_or("");
  request.address_bits = bits;
  request.spirv_version = manifest_.spirv_version;
  request.spirv_extensions = spirv_extensions(in.requirements);
  auto compiled = compile_to_spirv(toolchain_, request);
  if (!compiled.ok()) return compiled.status();
  if (!compiled->warnings.empty() && bits == manifest_.address_bits.front()) {
    warnings->push_back(compiled->warnings);
  }
  if (Status s = check_kernels(in, compiled->module, &out->kernels); !s.ok()) return s;
  if (!in.il) return {};
  out->il_version = std::max(out->il_version, compiled->module.version);
  (bits == 32 ? out->il32 : out->il64).emplace(std::move(compiled->spirv));
  return {};
}

Status HostStep::compile(const Program &program, const Variant &in, const Sources &sources,
                         packs::Variant *out, std::vector<std::string> *warnings) {
  for (const std::uint32_t bits : manifest_.address_bits) {
    if (!in.il && bits != manifest_.address_bits.front()) break;
    Status status = compile_il(program, in, sources, bits, out, warnings);
    if (!status.ok()) return status;
  }
  out->name = in.name;
  out->options = in.options;
  out->requirements = in.requirements;
  std::vector<std::string> names;
  for (const Kernel &kernel : in.kernels) names.push_back(kernel.name);
  out->hash = variant_hash(sources.packed, in.options, names);
  out->source.emplace(to_bytes(sources.packed));
  out->pixels = {in.pixels[0], in.pixels[1], 1};
  const bool sized = in.local_size[0] != 0;
  out->local_size = {in.local_size[0], in.local_size[1], sized ? 1u : 0u};
  out->arguments = in.arguments;
  out->tolerance = in.tolerance;
  return {};
}

// Of every variant, in the manifest's order; what fails goes to the base pack.
std::vector<Sources> flatten_all(const Manifest &manifest, HostStep *step, BasePack *base) {
  std::vector<Sources> all;
  for (const Program &program : manifest.programs) {
    for (const Variant &variant : program.variants) {
      Status status = step->flatten_source(program, variant).move_to(&all.emplace_back());
      if (status.ok()) continue;
      base->failures.push_back({program.name, variant.name, std::move(status)});
      base->bad_sources = true;
    }
  }
  return all;
}

}  // namespace

packs::Digest variant_hash(const std::string &source, const std::string &options,
                           const std::vector<std::string> &kernels) {
  std::string text =
      fmt::format("kiln variant 1\n{} {}\n{} {}\n", source.size(), source, options.size(), options);
  for (const std::string &kernel : kernels) text += kernel + "\n";
  return packs::blake2b({reinterpret_cast<const std::uint8_t *>(text.data()), text.size()});
}

BasePack make_base_pack(const Manifest &manifest, const std::filesystem::path &manifest_path,
                        const Toolchain &toolchain, const Progress &progress) {
  BasePack base;
  base.contents.producer =
      fmt::format("{}; llvm-spirv of {}", toolchain.clang_version, toolchain.llvm_spirv_version);
  std::size_t done = 0;
  HostStep step(manifest, manifest_path, toolchain);
  const std::vector<Sources> sources = flatten_all(manifest, &step, &base);
  if (base.bad_sources) return base;
  for (const Program &program : manifest.programs) {
    packs::Program out{program.name,      program.reference, {},
                       program.preferred, program.baseline,  {}};
    for (const ProblemSize &size : program.sizes) {
      out.sizes.push_back({size.width, size.height, size.depth});
    }
    for (const Variant &variant : program.variants) {
      if (progress) progress(program.name + "/" + variant.name, done, sources.size());
      packs::Variant compiled;
      Status status = step.compile(program, variant, sources[done++], &compiled, &base.warnings);
      if (status.ok()) {
        out.variants.push_back(std::move(compiled));
      } else {
        base.failures.push_back({program.name, variant.name, std::move(status)});
      }
    }
    if (!out.variants.empty()) base.contents.programs.push_back(std::move(out));
  }
  return base;
}

}  // namespace kiln::builder
