// SPDX-License-Identifier: Apache-2.0
// Flattens and compiles each variant of a manifest, and checks its kernels against the manifest.
#include "builder/compile/base_pack.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "builder/compile/host_compile.hpp"
#include "builder/compile/host_options.hpp"
#include "builder/compile/spirv.hpp"
#include "runtime/source/flatten.hpp"

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

  Result<Sources> flatten_source(const ManifestProgram &program, const ManifestVariant &variant);
  Status compile(const ManifestProgram &program, const ManifestVariant &in, const Sources &sources,
                 packs::Variant *out, std::vector<std::string> *warnings);

 private:
  Status compile_il(const ManifestProgram &program, const ManifestVariant &in,
                    const Sources &sources, std::uint32_t bits, packs::Variant *out,
                    std::vector<std::string> *warnings);

  const Manifest &manifest_;
  std::filesystem::path folder_;
  const Toolchain &toolchain_;
};

Result<Sources> HostStep::flatten_source(const ManifestProgram &program,
                                         const ManifestVariant &variant) {
  Sources sources;
  for (const bool packed : {true, false}) {
    source::FlattenRequest request;
    request.source = variant.source;
    request.include_dirs = program.include_dirs;
    request.read = source::read_from_disk();
    request.name = packed ? source::names_below(folder_) : source::names_as_opened();
    auto result = source::flatten(request);
    if (!result.ok()) return result.status();
    (packed ? sources.packed : sources.as_opened) = std::move(result->text);
  }
  return sources;
}

// Finds the variant's kernels in the module, all if it names none, and sets their numbers of
// arguments, which must be those that the manifest lists.
Status check_kernels(const std::filesystem::path &source, const SpirvModule &module,
                     packs::Variant *variant) {
  if (variant->kernels.empty()) {
    for (const SpirvKernel &kernel : module.kernels)
      variant->kernels.push_back({kernel.name, 0, ""});
    std::sort(variant->kernels.begin(), variant->kernels.end(),
              [](const auto &one, const auto &other) { return one.name < other.name; });
  }
  if (variant->kernels.empty()) {
    return {Code::bad_input, fmt::format("{}: error: no kernel is in it\n", source.string())};
  }
  for (std::size_t stage = 0; stage < variant->kernels.size(); ++stage) {
    packs::Kernel &wanted = variant->kernels[stage];
    const auto kernel = std::find_if(module.kernels.begin(), module.kernels.end(),
                                     [&](const SpirvKernel &k) { return k.name == wanted.name; });
    if (kernel == module.kernels.end()) {
      std::string names;
      for (const SpirvKernel &k : module.kernels) names += " " + k.name;
      return {Code::bad_input,
              fmt::format("{}: error: no kernel named {}; there are:{}\n", source.string(),
                          wanted.name, names.empty() ? " none" : names)};
    }
    const auto &arguments = variant->arguments;
    const auto listed = static_cast<std::size_t>(
        std::count_if(arguments.begin(), arguments.end(),
                      [&](const packs::Argument &a) { return a.stage == stage; }));
    if (!arguments.empty() && listed != kernel->argument_count) {
      return {Code::bad_input,
              fmt::format("{}: error: kernel {} takes {}, the manifest lists {} arguments\n",
                          source.string(), wanted.name, kernel->argument_count, listed)};
    }
    wanted.arguments = kernel->argument_count;
  }
  return {};
}

Status HostStep::compile_il(const ManifestProgram &program, const ManifestVariant &in,
                            const Sources &sources, std::uint32_t bits, packs::Variant *out,
                            std::vector<std::string> *warnings) {
  HostCompileRequest request;
  request.name = program.record.name + "/" + in.record.name;
  request.source = sources.packed;
  request.diagnostics_source = sources.as_opened;
  request.options = in.record.options;
  request.fp64 = is_about_doubles(sources.packed, in.record.options, in.record.requirements);
  request.check_only = !in.il;
  if (!in.prelude.empty()) request.prelude = source::read_from_disk()(in.prelude).value_or("");
  request.address_bits = bits;
  request.spirv_version = manifest_.spirv_version;
  request.spirv_extensions = spirv_extensions(in.record.requirements);
  auto compiled = compile_to_spirv(toolchain_, request);
  if (!compiled.ok()) return compiled.status();
  if (!compiled->warnings.empty() && bits == manifest_.address_bits.front()) {
    warnings->push_back(compiled->warnings);
  }
  if (Status s = check_kernels(in.source, compiled->module, out); !s.ok()) return s;
  if (!in.il) return {};
  out->il_version = std::max(out->il_version, compiled->module.version);
  (bits == 32 ? out->il32 : out->il64).emplace(std::move(compiled->spirv));
  return {};
}

Status HostStep::compile(const ManifestProgram &program, const ManifestVariant &in,
                         const Sources &sources, packs::Variant *out,
                         std::vector<std::string> *warnings) {
  *out = in.record;
  for (const std::uint32_t bits : manifest_.address_bits) {
    if (!in.il && bits != manifest_.address_bits.front()) break;
    Status status = compile_il(program, in, sources, bits, out, warnings);
    if (!status.ok()) return status;
  }
  std::vector<std::string> names;
  for (const packs::Kernel &kernel : out->kernels) names.push_back(kernel.name);
  out->hash = packs::variant_hash(sources.packed, out->options, names);
  out->source.emplace(to_bytes(sources.packed));
  return {};
}

// Of every variant, in the manifest's order; what fails goes to the base pack.
std::vector<Sources> flatten_all(const Manifest &manifest, HostStep *step, BasePack *base) {
  std::vector<Sources> all;
  for (const ManifestProgram &program : manifest.programs) {
    for (const ManifestVariant &variant : program.variants) {
      Status status = step->flatten_source(program, variant).move_to(&all.emplace_back());
      if (status.ok()) continue;
      base->failures.push_back({program.record.name, variant.record.name, std::move(status)});
      base->bad_sources = true;
    }
  }
  return all;
}

}  // namespace

BasePack make_base_pack(const Manifest &manifest, const std::filesystem::path &manifest_path,
                        const Toolchain &toolchain, const Progress &progress) {
  BasePack base;
  base.contents.producer =
      fmt::format("{}; llvm-spirv of {}", toolchain.clang_version, toolchain.llvm_spirv_version);
  std::size_t done = 0;
  HostStep step(manifest, manifest_path, toolchain);
  const std::vector<Sources> sources = flatten_all(manifest, &step, &base);
  if (base.bad_sources) return base;
  for (const ManifestProgram &program : manifest.programs) {
    packs::Program out = program.record;
    for (const ManifestVariant &variant : program.variants) {
      if (progress) progress(program.record.name + "/" + variant.record.name, done, sources.size());
      packs::Variant compiled;
      Status status = step.compile(program, variant, sources[done++], &compiled, &base.warnings);
      if (status.ok()) {
        out.variants.push_back(std::move(compiled));
      } else {
        base.failures.push_back({program.record.name, variant.record.name, std::move(status)});
      }
    }
    if (!out.variants.empty()) base.contents.programs.push_back(std::move(out));
  }
  return base;
}

}  // namespace kiln::builder
