// SPDX-License-Identifier: Apache-2.0
// Runs clang, llvm-spirv and spirv-val one after the other, and passes on their messages.
#include "builder/compile/host_compile.hpp"

#include "builder/compile/host_options.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "builder/compile/spirv.hpp"
#include "builder/compile/toolchain.hpp"

namespace kiln::builder {
namespace {

// SPIR-V versions as in a module's header.
constexpr std::uint32_t kOldestSpirv = 0x00010000;
constexpr std::uint32_t kNewestSpirv = 0x00010600;
constexpr std::uint32_t kNextSpirv = 0x00000100;

std::string version_text(std::uint32_t version) {
  return fmt::format("{}.{}", version >> 16u & 0xFFu, version >> 8u & 0xFFu);
}

std::vector<std::string> clang_arguments(const std::vector<std::string> &options,
                                         const HostExtensions &extensions,
                                         std::uint32_t address_bits) {
  std::vector<std::string> arguments = {"-x", "cl", "-cl-std=CL1.2"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back(address_bits == 32 ? "--target=spir" : "--target=spir64");
  for (const char *argument :
       {"-O1", "-Xclang", "-disable-llvm-passes", "-Xclang", "-finclude-default-header", "-Xclang",
        "-nostdsysteminc", "-Werror=date-time", "-Qunused-arguments", "-fno-color-diagnostics",
        // These pragmas name extensions that are not required or that clang does not know; a device
        // may know them.
        "-Wno-ignored-pragmas"}) {
    arguments.emplace_back(argument);
  }
  const bool is_cpp = std::any_of(options.begin(), options.end(), [](const std::string &option) {
    return option.starts_with("-cl-std=CLC++") || option.starts_with("-cl-std=clc++");
  });
  arguments.emplace_back("-cl-kernel-arg-info");  // names of parameters
  // In C99 a plain `inline` is only a declaration; drivers treat it as a definition.
  if (!is_cpp) arguments.emplace_back("-fgnu89-inline");
  // For SPIR clang's header defines all extensions; first_lines() defines the macro again.
  arguments.emplace_back("-U__SPIR__");
  for (const std::string &macro : extensions.macros) arguments.push_back("-D" + macro);
  arguments.insert(arguments.end(), {"-Xclang", "-cl-ext=" + extensions.switches});
  return arguments;
}

// Whether a function may be a built-in of an extension that a device with these requirements has.
bool is_built_in(std::string_view name, const std::vector<std::string> &requirements) {
  const auto of = requirements_of_name(plain_name(name));
  return std::any_of(of.begin(), of.end(), [&](const std::string &requirement) {
    return std::find(requirements.begin(), requirements.end(), requirement) != requirements.end();
  });
}

std::string joined(const std::vector<std::string> &names, const char *quote = "") {
  std::string text;
  for (const std::string &name : names) {
    text += (text.empty() ? "" : ", ") + (quote + name) + quote;
  }
  return text;
}

class HostCompiler {
 public:
  HostCompiler(const Toolchain &toolchain, const HostCompileRequest &request)
      : toolchain_(toolchain), request_(request), requirements_(request.requirements) {}

  Result<HostCompiled> run() {
    Status status = read_request();
    if (status.ok()) status = compile();
    if (status.ok() && !request_.check_only) status = make_spirv();
    if (status.ok() && result_.module.has_barrier && !request_.no_barriers.empty()) {
      status = fail(HostStage::compile, "a barrier in a program with " + request_.no_barriers, "");
    }
    if (!status.ok()) return status;
    return std::move(result_);
  }

  // The stage at which run() failed.
  HostStage stage() const { return stage_; }

 private:
  Status fail(HostStage stage, std::string text) {
    stage_ = stage;
    const bool of_tool = stage == HostStage::tool || stage == HostStage::validate;
    return {of_tool ? Code::process : Code::bad_input, std::move(text)};
  }

  // Fails with a message that has no line of its own, followed by the tool's message.
  Status fail(HostStage stage, const std::string &what, const std::string &message) {
    // If a correct program has no SPIR-V, the caller decides whether that is an error.
    const bool no_spirv = stage == HostStage::translate || stage == HostStage::validate;
    return fail(stage, fmt::format("{}: {}{}\n{}", request_.name, no_spirv ? "" : "error: ", what,
                                   message));
  }

  Status fail_tool(const char *tool, const ProcessResult &result) {
    return fail(HostStage::tool, fmt::format("{}: {}", tool, result.reason),
                compiler_message(result));
  }

  Status read_request() {
    if (request_.address_bits != 32 && request_.address_bits != 64) {
      return fail(HostStage::options, fmt::format("{} address bits", request_.address_bits), "");
    }
    if (request_.spirv_version < kOldestSpirv || request_.spirv_version > kNewestSpirv) {
      return fail(HostStage::options,
                  fmt::format("SPIR-V {} is not {} to {}", version_text(request_.spirv_version),
                              version_text(kOldestSpirv), version_text(kNewestSpirv)),
                  "");
    }
    auto options = host_options(request_.options);
    if (!options.ok()) return fail(HostStage::options, options.status().message, "");
    options_ = std::move(options->kept);
    for (std::string &one : requirements_of_language(opencl_c_version(options_))) {
      requirements_.push_back(std::move(one));
    }
    result_.left_out = std::move(options->left_out);
    return {};
  }

  ProcessResult run_clang(const std::string &source, std::initializer_list<const char *> last) {
    return run_clang(source, last, requirements_);
  }

  // Runs clang for a device that meets these requirements.
  ProcessResult run_clang(const std::string &source, std::initializer_list<const char *> last,
                          const std::vector<std::string> &requirements) {
    const HostExtensions known = host_extensions(requirements, opencl_c_version(options_));
    std::vector<std::string> arguments = clang_arguments(options_, known, request_.address_bits);
    if (is_3_1_as_3_0_) {
      arguments.insert(arguments.end(), {"-U__OPENCL_C_VERSION__", "-D__OPENCL_C_VERSION__=310",
                                         "-DCL_VERSION_3_1=310"});
    }
    arguments.insert(arguments.end(), last.begin(), last.end());
    return run_compiler(toolchain_.clang, std::move(arguments), first_lines(known) + source,
                        request_.timeout);
  }

  // Returns the text before the source. A variant with its own prelude gets no other declarations.
  std::string first_lines(const HostExtensions &known) const {
    return "#define __SPIR__ 1\n" +
           (request_.prelude.empty() ? known.declarations : request_.prelude + "\n");
  }

  // Returns clang's messages with file names that the author can open.
  std::string diagnostics(const ProcessResult &first) {
    if (first.err.empty() || request_.diagnostics_source.empty()) return compiler_message(first);
    const ProcessResult again = run_clang(request_.diagnostics_source, {"-fsyntax-only", "-"});
    const bool fits = again.end == first.end && again.code == first.code && !again.err.empty();
    return compiler_message(fits ? again : first);
  }

  Status compile() {
    ProcessResult clang = emit_llvm();
    if (clang.err.find("invalid value 'CL3.1' in '-cl-std=CL3.1'") != std::string::npos) {
      std::replace(options_.begin(), options_.end(), std::string("-cl-std=CL3.1"),
                   std::string("-cl-std=CL3.0"));
      is_3_1_as_3_0_ = true;
      clang = emit_llvm();
    }
    std::vector<std::string> missing;
    if (!clang.ok() && ended_by_itself(clang)) {
      missing = missing_from(clang);
      if (are_types(missing) || (request_.any_requirements && !missing.empty())) {
        requirements_.insert(requirements_.end(), missing.begin(), missing.end());
        clang = emit_llvm();
      }
    }
    if (clang.end == ProcessEnd::exited && clang.code == 0 && !clang.out.empty()) {
      result_.warnings = diagnostics(clang);
      if (!missing.empty()) result_.warnings += taken_as_met(missing);
      for (const std::string &option : result_.left_out) {
        const auto warning = warn_of_option(option);
        if (warning) result_.warnings += fmt::format("{}: warning: {}\n", request_.name, *warning);
      }
      if (request_.check_only) {
        result_.module.kernels = kernels_of_llvm_ir(clang.out);
        result_.module.has_barrier = has_barrier_in_llvm_ir(clang.out);
      }
      llvm_ir_ = clang.out;
      return {};
    }
    if (!ended_by_itself(clang) || clang.err.empty()) return fail_tool("clang", clang);
    std::string text = diagnostics(clang);
    if (!missing.empty()) {
      text += fmt::format("note: it compiles with requires = [{}]\n", joined(missing, "\""));
    }
    if (request_.check_only && request_.only_warn && list_despite_errors()) {
      result_.warnings = fmt::format(
          "{}{}: warning: it is shipped as it is: only a device's compiler can judge it\n", text,
          request_.name);
      return {};
    }
    return fail(HostStage::compile, std::move(text));
  }

  // Lists the kernels that clang finds in a program with errors. Returns whether there are any.
  bool list_despite_errors() {
    const ProcessResult dump =
        run_clang(request_.source, {"-fsyntax-only", "-Xclang", "-ast-dump", "-"});
    if (ended_by_itself(dump)) result_.module.kernels = kernels_of_syntax_tree(dump.out);
    return !result_.module.kernels.empty();
  }

  // The text of LLVM IR has what LLVM's SPIR-V back end does not write: parameters.
  ProcessResult emit_llvm() {
    const bool as_text = request_.check_only || toolchain_.llvm_spirv.empty();
    return run_clang(request_.source, {"-emit-llvm", as_text ? "-S" : "-c", "-o", "-", "-"});
  }

  // Returns the requirements that the variant lacks, if they are its only fault.
  std::vector<std::string> missing_from(const ProcessResult &refused) {
    return missing_requirements(
        requirements_, refused.err, request_.source,
        [&](const std::vector<std::string> &requirements) -> std::optional<std::string> {
          const ProcessResult clang =
              run_clang(request_.source, {"-fsyntax-only", "-"}, requirements);
          return clang.ok() ? std::nullopt : std::optional(clang.err);
        });
  }

  // Whether only half or double precision is missing. A program may use these types through its
  // options as well as in its text: one `requires` may cover programs of several types.
  static bool are_types(const std::vector<std::string> &missing) {
    return !missing.empty() &&
           std::all_of(missing.begin(), missing.end(),
                       [](const std::string &one) { return one == "fp16" || one == "fp64"; });
  }

  std::string taken_as_met(const std::vector<std::string> &missing) const {
    return fmt::format(
        "{}: warning: it needs requires = [{}], or devices without that fail on it\n",
        request_.name, joined(missing, "\""));
  }

  Status make_spirv() {
    Status status = translate();
    if (status.ok()) take_parameters();
    if (status.ok()) status = validate();
    if (status.ok()) status = inspect();
    return status;
  }

  // Lets clang write SPIR-V of the LLVM IR: its target has the version.
  ProcessResult run_back_end(std::uint32_t version) {
    std::vector<std::string> arguments = {
        "-x",
        "ir",
        "-O1",
        "-Xclang",
        "-disable-llvm-passes",
        "-Wno-override-module",
        fmt::format("--target=spirv{}v{}-unknown-unknown", request_.address_bits,
                    version_text(version))};
    for (const std::string &name : spirv_extensions(requirements_)) {
      arguments.insert(arguments.end(), {"-mllvm", "--spirv-ext=+" + name});
    }
    arguments.insert(arguments.end(), {"-c", "-o", "-", "-"});
    return run_compiler(toolchain_.clang, std::move(arguments), llvm_ir_, request_.timeout);
  }

  ProcessResult run_llvm_spirv(std::uint32_t version) {
    std::vector<std::string> arguments = {"--spirv-max-version=" + version_text(version),
                                          "--spirv-mem2reg"};
    if (describes_) {
      arguments.emplace_back("--preserve-ocl-kernel-arg-type-metadata-through-string");
    }
    std::string extensions;
    for (const std::string &name : spirv_extensions(requirements_)) {
      extensions += (extensions.empty() ? "--spirv-ext=+" : ",+") + name;
    }
    if (!extensions.empty()) arguments.push_back(extensions);
    arguments.insert(arguments.end(), {"-o", "-", "-"});
    return run_compiler(toolchain_.llvm_spirv, std::move(arguments), llvm_ir_, request_.timeout);
  }

  // Tries each version up to the cap, oldest first: more devices accept an older version.
  Status translate() {
    ProcessResult last;
    for (std::uint32_t version = kOldestSpirv; version <= kNewestSpirv; version += kNextSpirv) {
      ProcessResult spirv =
          toolchain_.llvm_spirv.empty() ? run_back_end(version) : run_llvm_spirv(version);
      if (describes_ && spirv.err.find("Unknown command line argument") != std::string::npos) {
        describes_ = false;  // parameters are known by SPIR-V's types alone
        spirv = run_llvm_spirv(version);
      }
      if (!ended_by_itself(spirv)) return fail_tool(translator_name(toolchain_), spirv);
      if (spirv.ok() && !spirv.out.empty()) {
        if (version > request_.spirv_version) return fail_below(version);
        result_.spirv.assign(spirv.out.begin(), spirv.out.end());
        return {};
      }
      // This llvm-spirv knows only older versions.
      if (spirv.err.find("Cannot find option named") != std::string::npos) break;
      // If the variant lacks a required extension, no later version helps.
      const bool extension = spirv.err.find("RequiresExtension") != std::string::npos;
      if (version <= request_.spirv_version) last = std::move(spirv);
      if (extension) break;
    }
    return fail(
        HostStage::translate,
        fmt::format("no SPIR-V {} for this program: {}: {}", version_text(request_.spirv_version),
                    translator_name(toolchain_), last.reason),
        compiler_message(last));
  }

  // Reads the parameters' names and types, and takes them out of the module, which drivers get as
  // it would be without them: a pack holds them once, and IL that does not change keeps its name.
  void take_parameters() {
    if (toolchain_.llvm_spirv.empty()) {
      described_ = kernels_of_llvm_ir(llvm_ir_);
      return;
    }
    const auto described = read_spirv(result_.spirv);
    const bool keep_names =
        std::find(options_.begin(), options_.end(), "-cl-kernel-arg-info") != options_.end();
    auto bare = without_argument_info(result_.spirv, keep_names);
    if (!described.ok() || !bare.ok()) return;  // validate() says what is wrong
    described_ = described->kernels;
    result_.spirv = *std::move(bare);
  }

  // Fails because the cap is below the first version that can express the program.
  Status fail_below(std::uint32_t version) {
    return fail(HostStage::translate,
                fmt::format("no SPIR-V {} for this program, but SPIR-V {}: [spirv] version = "
                            "\"{}\" allows it",
                            version_text(request_.spirv_version), version_text(version),
                            version_text(version)),
                "");
  }

  // Returns the target environment for spirv-val. spirv-val knows no OpenCL environment above
  // SPIR-V 1.2.
  std::string environment() const {
    if (request_.spirv_version == kOldestSpirv) return "opencl2.1";
    const auto module = read_spirv(result_.spirv);
    const std::uint32_t version = module.ok() ? module->version : kOldestSpirv;
    return version > 0x00010200 ? "spv" + version_text(version) : "opencl2.2";
  }

  Status validate() {
    const std::string_view bytes(reinterpret_cast<const char *>(result_.spirv.data()),
                                 result_.spirv.size());
    const ProcessResult checked = run_compiler(
        toolchain_.spirv_val, {"--target-env", environment(), "-"}, bytes, request_.timeout);
    if (checked.ok()) return {};
    if (!ended_by_itself(checked)) return fail_tool("spirv-val", checked);
    return fail(
        HostStage::validate,
        fmt::format("{} wrote a module that spirv-val refuses", translator_name(toolchain_)),
        compiler_message(checked));
  }

  Status inspect() {
    auto module = read_spirv(result_.spirv);
    if (!module.ok()) {
      return fail(HostStage::validate, "unreadable SPIR-V: " + module.status().message, "");
    }
    result_.module = *std::move(module);
    result_.module.kernels = std::move(described_);
    if (result_.module.version > request_.spirv_version) {
      return fail(
          HostStage::translate,
          fmt::format("the module is SPIR-V {}, the cap is {}",
                      version_text(result_.module.version), version_text(request_.spirv_version)),
          "");
    }
    if (result_.module.address_bits != request_.address_bits) {
      return fail(HostStage::validate,
                  fmt::format("the module has {}-bit addresses", result_.module.address_bits), "");
    }
    if (result_.module.unresolved.empty()) return {};
    return fail_unresolved();
  }

  // Fails for the functions that nothing in the module defines.
  Status fail_unresolved() {
    std::vector<std::string> strange;
    std::vector<std::string> built_in;
    for (const std::string &name : result_.module.unresolved) {
      const bool known = is_built_in(name, requirements_);
      (known ? built_in : strange).emplace_back(known ? plain_name(name) : name);
    }
    if (!strange.empty()) {
      return fail(HostStage::link, "functions that nothing defines: " + joined(strange), "");
    }
    std::sort(built_in.begin(), built_in.end());
    built_in.erase(std::unique(built_in.begin(), built_in.end()), built_in.end());
    return fail(
        HostStage::translate,
        fmt::format("{} has no SPIR-V for {}", translator_name(toolchain_), joined(built_in)), "");
  }

  const Toolchain &toolchain_;
  const HostCompileRequest &request_;
  std::vector<std::string> requirements_;  // the variant's, and those it should have for its types
  std::vector<std::string> options_;       // for clang
  std::string llvm_ir_;
  bool is_3_1_as_3_0_ = false;  // clang knows OpenCL C 3.0, but not 3.1, which adds no syntax
  bool describes_ = true;       // whether llvm-spirv takes the option for types
  std::vector<SpirvKernel> described_;  // with names and types
  HostCompiled result_;
  HostStage stage_ = HostStage::options;
};

}  // namespace

Result<HostCompiled> compile_to_spirv(const Toolchain &toolchain, const HostCompileRequest &request,
                                      HostStage *stage) {
  HostCompiler compiler(toolchain, request);
  auto result = compiler.run();
  if (stage != nullptr && !result.ok()) *stage = compiler.stage();
  return result;
}

}  // namespace kiln::builder
