// SPDX-License-Identifier: Apache-2.0
// Flattens and compiles each variant of a manifest, and checks its kernels against the manifest.
#include "builder/compile/base_pack.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "builder/compile/host_compile.hpp"
#include "builder/compile/prove_text.hpp"
#include "builder/compile/spirv.hpp"
#include "builder/manifest/variant.hpp"
#include "runtime/source/flatten.hpp"

namespace kiln::builder {
namespace {

packs::Bytes to_bytes(const std::string &text) { return {text.begin(), text.end()}; }

struct Sources {
  std::string packed;     // names relative to the manifest
  std::string as_opened;  // names for diagnostics
  bool has_includes = false;
  std::vector<std::string> files;  // that were read
};

struct VariantJob {
  const ManifestProgram &program;
  const ManifestVariant &variant;
  const Sources &sources;

  VariantFailure failed(Status status) const {
    return {program.record.name, variant.record.name, std::move(status)};
  }
};

class HostStep {
 public:
  HostStep(const Manifest &manifest, const std::filesystem::path &manifest_path,
           const Toolchain &toolchain)
      : manifest_(manifest), folder_(manifest_path.parent_path()), toolchain_(toolchain) {}

  Result<Sources> flatten_source(const ManifestProgram &program, const ManifestVariant &variant);
  // Compiles a variant. Warnings, and variants without IL, go to the base pack.
  Status compile(const VariantJob &job, packs::Variant *out, BasePack *base);

 private:
  // Proves each source once for all its variants, with the options of the first: this tries each
  // macro that conditions ask for, and proving with all options would take half as long as
  // compiling them.
  Status prove(const VariantJob &job);
  HostCompileRequest request(const VariantJob &job, std::uint32_t bits) const;
  // Without `il`, only checks the kernels.
  Status compile_for(const VariantJob &job, std::uint32_t bits, bool il, packs::Variant *out,
                     BasePack *base, HostStage *stage);
  Status make_il(const VariantJob &job, packs::Variant *out, BasePack *base, HostStage *stage);

  const Manifest &manifest_;
  std::filesystem::path folder_;
  const Toolchain &toolchain_;
  std::map<std::string, Status> proofs_;  // by flattened text
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
    sources.has_includes = !result->files.empty();
    if (!packed) {
      sources.files.push_back(variant.source.string());
      for (const source::IncludedFile &file : result->files) sources.files.push_back(file.path);
    }
    (packed ? sources.packed : sources.as_opened) = std::move(result->text);
  }
  return sources;
}

// Finds the variant's kernels in the module, or all kernels if the variant names none, and sets
// their argument counts, which must match the manifest.
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
    wanted.parameters = kernel->parameters;
  }
  return {};
}

Status HostStep::prove(const VariantJob &job) {
  if (!job.sources.has_includes) return {};
  const auto [place, is_new] = proofs_.try_emplace(job.sources.packed);
  if (is_new) {
    place->second =
        prove_source(toolchain_.clang, {job.variant.source, job.program.include_dirs,
                                        job.variant.record.options, job.sources.packed});
  }
  return place->second;
}

HostCompileRequest HostStep::request(const VariantJob &job, std::uint32_t bits) const {
  const packs::Variant &record = job.variant.record;
  HostCompileRequest request;
  request.name = job.program.record.name + "/" + record.name;
  request.source = job.sources.packed;
  request.diagnostics_source = job.sources.as_opened;
  request.options = record.options;
  if (const auto merged = merged_items(record.options); merged.ok()) {
    request.no_barriers = merged->option;
  }
  request.requirements = record.requirements;
  const std::filesystem::path &prelude = job.variant.prelude;
  if (!prelude.empty()) request.prelude = source::read_from_disk()(prelude).text;
  request.address_bits = bits;
  request.spirv_version = manifest_.spirv_version;
  return request;
}

Status HostStep::compile_for(const VariantJob &job, std::uint32_t bits, bool il,
                             packs::Variant *out, BasePack *base, HostStage *stage) {
  HostCompileRequest request = this->request(job, bits);
  request.check_only = !il;
  auto compiled = compile_to_spirv(toolchain_, request, stage);
  if (!compiled.ok()) return compiled.status();
  if (!compiled->warnings.empty() && bits == manifest_.address_bits.front()) {
    base->warnings.push_back(compiled->warnings);
  }
  if (Status s = check_kernels(job.variant.source, compiled->module, out); !s.ok()) return s;
  if (!il) return {};
  out->il_version = std::max(out->il_version, compiled->module.version);
  (bits == 32 ? out->il32 : out->il64).emplace(std::move(compiled->spirv));
  return {};
}

Status HostStep::make_il(const VariantJob &job, packs::Variant *out, BasePack *base,
                         HostStage *stage) {
  for (const std::uint32_t bits : manifest_.address_bits) {
    Status status = compile_for(job, bits, true, out, base, stage);
    if (!status.ok()) return status;
  }
  return {};
}

Status HostStep::compile(const VariantJob &job, packs::Variant *out, BasePack *base) {
  if (Status s = prove(job); !s.ok()) return s;
  *out = job.variant.record;
  HostStage stage = HostStage::options;
  bool il = job.variant.il;
  if (il) {
    Status status = make_il(job, out, base, &stage);
    il = status.ok();
    if (!il && stage != HostStage::translate && stage != HostStage::validate) return status;
    // The program is correct nevertheless, and a driver may accept it.
    if (!il) {
      base->without_il.push_back(job.failed(std::move(status)));
      *out = job.variant.record;
    }
  }
  if (!il) {
    const std::uint32_t bits = manifest_.address_bits.front();
    Status status = compile_for(job, bits, false, out, base, &stage);
    if (!status.ok()) return status;
  }
  std::vector<std::string> names;
  for (const packs::Kernel &kernel : out->kernels) names.push_back(kernel.name);
  out->hash = packs::variant_hash(job.sources.packed, out->options, names);
  out->source.emplace(to_bytes(job.sources.packed));
  return {};
}

// Flattens every variant, in the manifest's order; failures go to the base pack.
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
  for (const Sources &each : sources) base.files.insert(each.files.begin(), each.files.end());
  for (const ManifestProgram &program : manifest.programs) {
    packs::Program out = program.record;
    for (const ManifestVariant &variant : program.variants) {
      if (progress) progress(program.record.name + "/" + variant.record.name, done, sources.size());
      const VariantJob job{program, variant, sources[done++]};
      packs::Variant compiled;
      Status status = step.compile(job, &compiled, &base);
      if (status.ok()) {
        out.variants.push_back(std::move(compiled));
      } else {
        base.failures.push_back(job.failed(std::move(status)));
      }
    }
    if (!out.variants.empty()) base.contents.programs.push_back(std::move(out));
  }
  return base;
}

}  // namespace kiln::builder
