// SPDX-License-Identifier: Apache-2.0
// Runs a described compiler, and distrusts it.
#include "builder/virtual/described_compiler.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "builder/process/run_tool.hpp"
#include "builder/virtual/tool_files.hpp"
#include "runtime/source/build_options.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kMostSaid = std::size_t{1} << 20;  // bytes of each output stream

std::string replaced(std::string word, std::string_view placeholder, std::string_view by) {
  for (std::size_t at = word.find(placeholder); at != std::string::npos;
       at = word.find(placeholder, at + by.size())) {
    word.replace(at, placeholder.size(), by);
  }
  return word;
}

class DescribedCompiler final : public VirtualDevice {
 public:
  DescribedCompiler(CompilerDescription description, std::filesystem::path program)
      : description_(std::move(description)), program_(std::move(program)) {}

  const std::string &name() const override { return description_.name; }
  const std::string &recipe() const override { return description_.recipe; }
  const std::string &driver() const override { return description_.driver; }

  Result<Made> compile(const packs::Variant &variant, const CallLimits &limits,
                       bool) const override {
    const packs::BlobSource *input = input_of(variant);
    if (input == nullptr) {
      return Status(Code::requirement, fmt::format("the pack has no {} of it",
                                                   description_.takes_il ? "IL" : "source"));
    }
    const auto options = source::option_words(variant.options);
    if (!options) return Status(Code::bad_input, "a quote is open in the build options");
    packs::Bytes bytes;
    if (Status s = input->read(&bytes); !s.ok()) return s;
    const auto folder = ToolFolder::make();
    if (!folder.ok()) return folder.status();
    const std::string name = description_.takes_il ? "program.spv" : "program.cl";
    const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (Status s = folder->write(name, text); !s.ok()) return s;
    std::vector<std::string> words;
    for (const source::OptionWord &word : *options) words.push_back(word.text);
    const ProcessResult result =
        run(described_arguments(description_.command, name, "program.bin", words), *folder, limits);
    return outcome(result, *folder);
  }

 private:
  const packs::BlobSource *input_of(const packs::Variant &variant) const {
    const auto &il =
        description_.info.capabilities.address_bits == 32 ? variant.il32 : variant.il64;
    const auto &input = description_.takes_il ? il : variant.source;
    return input ? &*input : nullptr;
  }

  ProcessResult run(std::vector<std::string> arguments, const ToolFolder &folder,
                    const CallLimits &limits) const {
    ProcessRequest request;
    request.program = program_;
    request.arguments = std::move(arguments);
    request.working_directory = folder.path();
    for (const auto &[key, value] : description_.environment) {
      request.environment.emplace_back(key, value);
    }
    request.limits = limits;
    request.output_limit = kMostSaid;
    return run_tool(request);
  }

  Result<Made> outcome(const ProcessResult &result, const ToolFolder &folder) const {
    const std::string program = program_.filename().string();
    std::string said = result.out + result.err;
    if (!result.ok()) {
      // An exit code does not tell whether it refuses the program or lacks a licence.
      const bool exited = result.end == ProcessEnd::exited;
      return Status(exited ? Code::failed : Code::process,
                    fmt::format("{}: {}\n{}", program, result.reason, said));
    }
    const auto binary = folder.read("program.bin");
    if (!binary.ok()) {
      return Status(Code::process, fmt::format("{} says that all went well, but {}\n{}", program,
                                               binary.status().message, said));
    }
    return Made{packs::Bytes(binary->begin(), binary->end()), std::move(said)};
  }

  CompilerDescription description_;
  std::filesystem::path program_;
};

}  // namespace

std::vector<std::string> described_arguments(const std::vector<std::string> &command,
                                             std::string_view input, std::string_view output,
                                             const std::vector<std::string> &options) {
  std::vector<std::string> arguments;
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "{options}") {
      arguments.insert(arguments.end(), options.begin(), options.end());
    } else {
      arguments.push_back(replaced(replaced(command[i], "{input}", input), "{output}", output));
    }
  }
  return arguments;
}

Result<DeviceInfo> described_device(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || text.empty()) {
    return Status(Code::not_found, "no such file, or an empty one");
  }
  auto description = parse_description(text, path);
  if (!description.ok()) return description.status();
  const std::string name = description->command.front();
  const auto program = find_executable({name});
  if (!program) {
    return Status(Code::not_found, fmt::format("there is no program {}", name));
  }
  DeviceInfo info = description->info;
  std::error_code error;
  info.virtual_device = std::make_shared<DescribedCompiler>(
      *std::move(description), std::filesystem::absolute(*program, error));
  return info;
}

}  // namespace kiln::builder
