// SPDX-License-Identifier: Apache-2.0
// Flattens and compiles each variant of a manifest, and checks its kernels against the manifest:
// several variants at once, and none whose answer is in the store.
#include "builder/compile/base_pack.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "builder/compile/check_text.hpp"
#include "builder/compile/host_compile.hpp"
#include "builder/compile/host_store.hpp"
#include "builder/compile/spirv.hpp"
#include "builder/manifest/variant.hpp"
#include "builder/problem/parameter_value.hpp"
#include "runtime/launch/parameter_type.hpp"
#include "runtime/source/build_options.hpp"
#include "runtime/source/flatten.hpp"

namespace kiln::builder {
namespace {

packs::Bytes to_bytes(const std::string &text) { return {text.begin(), text.end()}; }

std::string hash_of(const std::string &text) {
  return packs::hex(
      packs::blake2b({reinterpret_cast<const std::uint8_t *>(text.data()), text.size()}));
}

struct Sources {
  std::string packed;     // names relative to the manifest
  std::string as_opened;  // names for diagnostics
  bool has_includes = false;
  std::vector<std::string> files;   // that were read
  std::vector<std::string> hashes;  // of the included files' contents
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
  // Returns everything that decides the answer of compile() but the tools.
  nlohmann::json inputs_of(const VariantJob &job) const;
  // Chooses the variants that sources are proven with. Call it once, before compile(), with all
  // jobs.
  void choose_proofs(const std::vector<VariantJob> &jobs) {
    for (const VariantJob &job : jobs) {
      Proof &proof = proofs_[job.sources.packed];
      if (proof.job == nullptr) proof.job = &job;
    }
  }
  // Compiles a variant. Safe to call from several threads at once.
  Status compile(const VariantJob &job, HostAnswer *out);

 private:
  struct Proof {
    const VariantJob *job = nullptr;
    std::once_flag once;
    Status status;
  };

  // Proves each source once for all its variants, with the options of the first in the manifest.
  // This tries each macro that conditions ask for, and proving with all options would take half as
  // long as compiling them.
  Status prove(const VariantJob &job);
  HostCompileRequest request(const VariantJob &job, std::uint32_t bits) const;
  // Without `il`, only checks the kernels.
  Status compile_for(const VariantJob &job, std::uint32_t bits, bool il, HostAnswer *out,
                     HostStage *stage) const;
  Status make_il(const VariantJob &job, HostAnswer *out, HostStage *stage) const;

  const Manifest &manifest_;
  std::filesystem::path folder_;
  const Toolchain &toolchain_;
  std::map<std::string, Proof> proofs_;  // by flattened text
};

// Returns the macros that options define. What has quotes drivers may read in different ways.
source::IncludeMacros macros_of(std::string_view options) {
  source::IncludeMacros macros;
  const auto words = source::option_words(options);
  for (std::size_t i = 0; words && i < words->size(); ++i) {
    const source::OptionWord *word = &(*words)[i];
    const bool defines = word->text.starts_with("-D");
    if (!defines && !word->text.starts_with("-U")) continue;
    std::string operand = word->text.substr(2);
    if (operand.empty() && i + 1 < words->size()) {
      word = &(*words)[++i];
      operand = word->text;
    }
    const bool is_quoted =
        options.substr(word->begin, word->end - word->begin).find('"') != std::string_view::npos;
    if (defines) macros.define_option(operand);
    if (!defines || is_quoted) macros.undefine(operand);
  }
  return macros;
}

// Returns names for packs: ROOT/PATH for files in a root, and relative to the manifest for others.
source::NameFile names_for_packs(const std::filesystem::path &folder, const Roots &roots) {
  return [below = source::names_below(folder), roots, folder](const std::filesystem::path &path) {
    std::string found;
    std::size_t shortest = 0;
    for (const auto &[name, root] : roots) {
      const auto relative = path.lexically_normal().lexically_relative(root.lexically_normal());
      if (relative.empty() || *relative.begin() == "..") continue;
      const std::size_t length = relative.native().size();
      if (!found.empty() && length >= shortest) continue;
      found = name + "/" + relative.generic_string();
      shortest = length;
    }
    if (!found.empty()) return found;
    if (!path.is_absolute()) return below(path);
    std::error_code error;  // it was included by a file in a root
    return source::names_below(std::filesystem::absolute(folder, error))(path);
  };
}

Result<Sources> HostStep::flatten_source(const ManifestProgram &program,
                                         const ManifestVariant &variant) {
  Sources sources;
  for (const bool packed : {true, false}) {
    source::FlattenRequest request;
    request.source = variant.source;
    request.include_dirs = program.include_dirs;
    request.read = source::read_from_disk();
    request.macros = macros_of(variant.record.options);
    request.name = packed ? names_for_packs(folder_, manifest_.roots) : source::names_as_opened();
    auto result = source::flatten(request);
    if (!result.ok()) return result.status();
    sources.has_includes = !result->files.empty();
    if (!packed) {
      sources.files.push_back(variant.source.string());
      for (const source::IncludedFile &file : result->files) {
        sources.files.push_back(file.path);
        sources.hashes.push_back(hash_of(file.text));
      }
    }
    (packed ? sources.packed : sources.as_opened) = std::move(result->text);
  }
  return sources;
}

// Returns OpenCL C's name of an image.
std::string image_name(packs::ArgumentStorage storage) {
  if (storage == packs::ArgumentStorage::image) return "image2d_t";
  return std::string(packs::kStorageNames[static_cast<std::size_t>(storage)]) + "_t";
}

runtime::KnownParameter known_parameter(const packs::Parameter &p) {
  return {true, p.name, p.type, p.size, p.address_space, p.access, p.qualifiers};
}

// Returns the bytes of a struct.
std::size_t struct_bytes(const std::vector<ParameterField> &fields) {
  return value_bytes(fields, std::vector<double>(component_count(fields))).size();
}

bool is_struct(const packs::Argument &argument) { return fields_of(argument).size() > 1; }

// Returns what the manifest lists; the first field of a struct.
runtime::Taken listed_by(const packs::Argument &argument) {
  if (!argument.fields.empty()) {
    const ParameterField field = fields_of(argument).front();
    return {static_cast<unsigned>(field.type), field.components};
  }
  return runtime::taken_by(argument.role, argument.storage, argument.type, argument.channels);
}

std::string listed_text(const packs::Argument &argument) {
  const auto index = [](auto value) { return static_cast<std::size_t>(value); };
  const runtime::Taken listed = listed_by(argument);
  std::string text = runtime::type_text(listed.type, listed.components);
  if (is_struct(argument)) {
    text = fmt::format("a struct of {} bytes", struct_bytes(fields_of(argument)));
  }
  if (packs::is_image(argument.storage)) text = "an " + image_name(argument.storage);
  if (argument.role == packs::Role::sampler) return text;
  return fmt::format("{}, {}", packs::kRoleNames[index(argument.role)], text);
}

// Whether a parameter takes what the manifest lists. Of integers of 32 bits it takes either.
bool takes(const packs::Parameter &declared, const packs::Argument &argument) {
  const runtime::KnownParameter known = known_parameter(declared);
  if (is_struct(argument)) {
    return runtime::taken_by(known).type == runtime::kTakesOther && !runtime::is_handle(known) &&
           (known.size == 0 || known.size == struct_bytes(fields_of(argument)));
  }
  const runtime::Taken listed = listed_by(argument);
  const unsigned either[] = {KILN_TYPE_UINT, KILN_TYPE_INT};
  const bool is_integer = listed.type == runtime::kTakesSide ||
                          std::find(either, either + 2, listed.type) != either + 2;
  if (is_integer) {
    return std::any_of(either, either + 2, [&](unsigned type) {
      return runtime::fits(known, type, listed.components);
    });
  }
  if (!runtime::fits(known, listed.type, listed.components)) return false;
  return listed.type != runtime::kTakesImage ||
         runtime::takes_image(known, image_name(argument.storage));
}

// Compares the manifest's arguments with the parameters that the source declares.
Status check_types(const std::filesystem::path &source, const packs::Variant &variant) {
  std::vector<std::size_t> next(variant.kernels.size());
  for (const packs::Argument &argument : variant.arguments) {
    const packs::Kernel &kernel = variant.kernels[argument.stage];
    const std::size_t index = next[argument.stage]++;
    if (index >= kernel.parameters.size()) continue;  // not known
    const packs::Parameter &declared = kernel.parameters[index];
    if (takes(declared, argument)) continue;
    return {Code::bad_input,
            fmt::format("{}: error: argument {} of kernel {} is {}, the manifest lists {}\n",
                        source.string(), index + 1, kernel.name,
                        runtime::declared_text(known_parameter(declared)), listed_text(argument))};
  }
  return {};
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

// Besides the text that is compiled, the files: the proof compares it with what a compiler reads.
nlohmann::json HostStep::inputs_of(const VariantJob &job) const {
  const packs::Variant &record = job.variant.record;
  nlohmann::json folders = nlohmann::json::array();
  for (const auto &folder : job.program.include_dirs) folders.push_back(folder.string());
  nlohmann::json kernels = nlohmann::json::array();
  for (const packs::Kernel &kernel : record.kernels) kernels.push_back(kernel.name);
  nlohmann::json stages = nlohmann::json::array();
  for (const packs::Argument &argument : record.arguments) stages.push_back(argument.stage);
  std::string prelude;
  if (!job.variant.prelude.empty()) prelude = source::read_from_disk()(job.variant.prelude).text;
  return {{"name", job.program.record.name + "/" + record.name},
          {"source", job.variant.source.string()},
          {"text", hash_of(job.sources.packed)},
          {"opened", hash_of(job.sources.as_opened)},
          {"files", job.sources.files},
          {"contents", job.sources.hashes},
          {"folders", std::move(folders)},
          {"options", record.options},
          {"requirements", record.requirements},
          {"kernels", std::move(kernels)},
          {"stages", std::move(stages)},
          {"prelude", hash_of(prelude)},
          {"il", job.variant.il},
          {"only_warn", job.variant.only_warn},
          {"address_bits", manifest_.address_bits},
          {"spirv_version", manifest_.spirv_version}};
}

Status HostStep::prove(const VariantJob &job) {
  if (!job.sources.has_includes) return {};
  Proof &proof = proofs_.at(job.sources.packed);
  std::call_once(proof.once, [&] {
    const VariantJob &first = *proof.job;
    proof.status =
        check_source_text(toolchain_.clang, {first.variant.source, first.program.include_dirs,
                                             first.variant.record.options, first.sources.packed});
  });
  return proof.status;
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

Status HostStep::compile_for(const VariantJob &job, std::uint32_t bits, bool il, HostAnswer *out,
                             HostStage *stage) const {
  HostCompileRequest request = this->request(job, bits);
  request.check_only = !il;
  request.only_warn = job.variant.only_warn;
  auto compiled = compile_to_spirv(toolchain_, request, stage);
  if (!compiled.ok()) return compiled.status();
  if (!compiled->warnings.empty() && bits == manifest_.address_bits.front()) {
    out->warnings.push_back(compiled->warnings);
  }
  packs::Variant &variant = out->variant;
  if (Status s = check_kernels(job.variant.source, compiled->module, &variant); !s.ok()) return s;
  if (!il) return {};
  variant.il_version = std::max(variant.il_version, compiled->module.version);
  (bits == 32 ? variant.il32 : variant.il64).emplace(std::move(compiled->spirv));
  return {};
}

Status HostStep::make_il(const VariantJob &job, HostAnswer *out, HostStage *stage) const {
  for (const std::uint32_t bits : manifest_.address_bits) {
    Status status = compile_for(job, bits, true, out, stage);
    if (!status.ok()) return status;
  }
  return {};
}

Status HostStep::compile(const VariantJob &job, HostAnswer *out) {
  if (Status s = prove(job); !s.ok()) return s;
  *out = {job.variant.record, {}, {}};
  HostStage stage = HostStage::options;
  bool il = job.variant.il;
  if (il) {
    Status status = make_il(job, out, &stage);
    il = status.ok();
    if (!il && stage != HostStage::translate && stage != HostStage::validate) return status;
    // The program is correct nevertheless, and a driver may accept it.
    if (!il) {
      out->without_il = std::move(status);
      out->variant = job.variant.record;
    }
  }
  if (il) return {};
  return compile_for(job, manifest_.address_bits.front(), false, out, &stage);
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

std::vector<VariantJob> jobs_of(const Manifest &manifest, const std::vector<Sources> &sources) {
  std::vector<VariantJob> jobs;
  for (const ManifestProgram &program : manifest.programs) {
    for (const ManifestVariant &variant : program.variants) {
      jobs.push_back({program, variant, sources[jobs.size()]});
    }
  }
  return jobs;
}

struct Outcome {
  Status status;
  HostAnswer answer;
};

// Runs the jobs, several at once, and returns their outcomes in the jobs' order.
std::vector<Outcome> compile_all(const std::vector<VariantJob> &jobs, HostStep *step,
                                 const HostStepOptions &options, HostStore *store,
                                 const Progress &progress, BasePack *base) {
  std::vector<Outcome> outcomes(jobs.size());
  std::mutex mutex;  // of the store and the progress
  std::size_t done = 0;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = 0; (i = next++) < jobs.size();) {
      const VariantJob &job = jobs[i];
      const packs::Variant &record = job.variant.record;
      const Action action = store->action_of(step->inputs_of(job));
      Outcome &outcome = outcomes[i];
      {
        const std::lock_guard<std::mutex> lock(mutex);
        if (progress) progress(job.program.record.name + "/" + record.name, done, jobs.size());
        auto found = store->find(action, record);
        if (found) {
          outcome.answer = *std::move(found);
          ++base->stored;
          ++done;
          continue;
        }
      }
      const auto start = std::chrono::steady_clock::now();
      outcome.status = step->compile(job, &outcome.answer);
      const std::lock_guard<std::mutex> lock(mutex);
      ++done;
      if (!outcome.status.ok()) continue;
      store->put(action, outcome.answer,
                 std::chrono::duration_cast<std::chrono::milliseconds>(
                     std::chrono::steady_clock::now() - start));
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < std::min(options.jobs, jobs.size()); ++i) {
    others.push_back(std::async(std::launch::async, work));
  }
  work();
  for (auto &other : others) other.get();
  return outcomes;
}

// Adds the outcome of a job to the base pack, and the variant to its program.
void take(const VariantJob &job, Outcome outcome, packs::Program *program, BasePack *base) {
  // The store's answers do not depend on the types of arguments.
  if (outcome.status.ok()) {
    outcome.status = check_types(job.variant.source, outcome.answer.variant);
  }
  if (!outcome.status.ok()) {
    base->failures.push_back(job.failed(std::move(outcome.status)));
    return;
  }
  HostAnswer &answer = outcome.answer;
  base->warnings.insert(base->warnings.end(), answer.warnings.begin(), answer.warnings.end());
  if (!answer.without_il.ok()) base->without_il.push_back(job.failed(std::move(answer.without_il)));
  packs::Variant &variant = answer.variant;
  std::vector<std::string> names;
  for (const packs::Kernel &kernel : variant.kernels) names.push_back(kernel.name);
  variant.hash = packs::variant_hash(job.sources.packed, variant.options, names);
  variant.source.emplace(to_bytes(job.sources.packed));
  program->variants.push_back(std::move(variant));
}

}  // namespace

BasePack make_base_pack(const Manifest &manifest, const std::filesystem::path &manifest_path,
                        const Toolchain &toolchain, const HostStepOptions &options,
                        const Progress &progress) {
  BasePack base;
  base.contents.producer = fmt::format("{}; {} of {}", toolchain.clang_version,
                                       translator_name(toolchain), toolchain.llvm_spirv_version);
  HostStep step(manifest, manifest_path, toolchain);
  const std::vector<Sources> sources = flatten_all(manifest, &step, &base);
  if (base.bad_sources) return base;
  for (const Sources &each : sources) base.files.insert(each.files.begin(), each.files.end());
  HostStore store(options.store, toolchain);
  const std::vector<VariantJob> jobs = jobs_of(manifest, sources);
  step.choose_proofs(jobs);
  std::vector<Outcome> outcomes = compile_all(jobs, &step, options, &store, progress, &base);
  base.store_status = store.status();
  std::size_t next = 0;
  for (const ManifestProgram &program : manifest.programs) {
    packs::Program out = program.record;
    for (std::size_t i = 0; i < program.variants.size(); ++i, ++next) {
      take(jobs[next], std::move(outcomes[next]), &out, &base);
    }
    if (!out.variants.empty()) base.contents.programs.push_back(std::move(out));
  }
  return base;
}

}  // namespace kiln::builder
