// SPDX-License-Identifier: Apache-2.0
// Reads the description of a compiler, runs the compiler, and checks its output.
#include "builder/virtual/described_compiler.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/compile/toolchain.hpp"
#include "builder/manifest/toml_reader.hpp"
#include "builder/virtual/tool_files.hpp"
#include "kiln/packs/contents.hpp"
#include "runtime/source/build_options.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kMaxSaid = std::size_t{1} << 20;  // limit in bytes for each output stream
constexpr std::chrono::milliseconds kAnswerTimeout{20'000};
constexpr const char *kPlaceholders[] = {"{input}", "{output}", "{option_text}"};

constexpr std::pair<const char *, bool runtime::Capabilities::*> kFlags[] = {
    {"fp16", &runtime::Capabilities::fp16},
    {"fp64", &runtime::Capabilities::fp64},
    {"images", &runtime::Capabilities::images},
    {"integer_dot_product", &runtime::Capabilities::integer_dot_product},
    {"non_uniform_work_groups", &runtime::Capabilities::non_uniform_work_groups},
    {"opencl_3", &runtime::Capabilities::opencl_3},
    {"opencl_3_1", &runtime::Capabilities::opencl_3_1},
    {"subgroups", &runtime::Capabilities::subgroups},
    {"unified_memory", &runtime::Capabilities::unified_memory},
};

std::string needed_string(const TableReader &table, const std::string &key) {
  const auto value = table.string(key);
  if (!value || value->value.empty()) table.missing(key, "expected a text");
  return value->value;
}

// Reads the command; a model's arguments replace {arguments}.
void read_command(const TableReader &root, const std::vector<std::string> &arguments,
                  CompilerDescription *out) {
  const auto begins = [](std::string_view rest) {
    return [rest](const char *one) { return rest.starts_with(one); };
  };
  for (const auto &word : root.strings("command")) {
    if (word.value == "{arguments}") {
      out->command.insert(out->command.end(), arguments.begin(), arguments.end());
      continue;
    }
    for (std::size_t open = word.value.find('{'); open != std::string::npos;
         open = word.value.find('{', open + 1)) {
      const std::string_view rest = std::string_view(word.value).substr(open);
      if (word.value == "{options}" || std::ranges::any_of(kPlaceholders, begins(rest))) continue;
      root.fail(word.at, "unknown placeholder in " + in_quotes(word.value),
                "expected {input}, {output}, {option_text}, {model}, {folder}, a name of [ask], or "
                "{options} or {arguments} as an argument of its own");
    }
    out->command.push_back(word.value);
  }
  for (const char *needed : {"{input}", "{output}"}) {
    const auto has = [&](const std::string &word) { return word.find(needed) != word.npos; };
    if (std::ranges::any_of(out->command, has)) continue;
    root.missing("command", fmt::format("expected the program and its arguments, with {}", needed));
  }
}

void read_environment(const TableReader &table, const toml::table &values,
                      CompilerDescription *out) {
  for (const auto &[key, node] : values) {
    const auto value = table.string(std::string(key.str()));
    if (value) out->environment.emplace_back(key.str(), value->value);
  }
}

void read_identity(const TableReader &table, const toml::table &values, DeviceInfo *info) {
  for (const auto &[key, node] : values) {
    const std::string name(key.str());
    const auto field = runtime::field_from_name(name);
    if (!field) {
      table.fail(position_of(key), "unknown fact " + in_quotes(name) + " in [identity]",
                 "expected facts as `kiln devices --json` has them in \"identity\"");
    }
    if (const auto value = table.string(name)) info->identity.set(*field, value->value);
  }
}

// Reads the capabilities. Extensions add up; other values of a later table replace earlier ones.
void read_capabilities(const std::vector<TableReader> &tables, runtime::Capabilities *can) {
  can->max_work_group_size = 256;
  can->local_memory = 32 << 10;
  for (const TableReader &table : tables) {
    for (const auto &item : table.strings("extensions")) {
      std::istringstream words(item.value);
      for (std::string word; words >> word;) {
        if (word.starts_with("__opencl_c_")) {
          can->features += can->features.empty() ? " " + word + " " : word + " ";
        } else {
          can->extensions.push_back(word);
        }
      }
    }
  }
  std::vector<std::string> &all = can->extensions;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());  // Clang 15 takes no ranges::unique
  std::vector<std::string> keys = {"extensions", "local_memory", "max_work_group_size"};
  for (const auto &[key, member] : kFlags) keys.emplace_back(key);
  for (const TableReader &table : tables) {
    table.allow_only(keys);
    for (const auto &[key, member] : kFlags) {
      const toml::node *node = table.find(key);
      if (node == nullptr) continue;
      can->*member =
          node->is_string() ? can->has_extension(table.string(key)->value) : *table.boolean(key);
    }
    const auto most = table.integer("max_work_group_size", 1, 65536);
    if (most) can->max_work_group_size = static_cast<std::size_t>(*most);
    const auto local = table.integer("local_memory", 0, std::int64_t{1} << 32);
    if (local) can->local_memory = static_cast<std::uint64_t>(*local);
  }
  for (std::size_t &size : can->max_work_item_sizes) size = can->max_work_group_size;
}

void complete_capabilities(const CompilerDescription &description, runtime::Capabilities *can) {
  const runtime::Identity &identity = description.info.identity;
  can->profile = description.info.description.profile;
  can->compiler = !description.takes_il;
  can->address_bits = identity.text(runtime::Field::address_bits) == "32" ? 32 : 64;
  can->compute_capability =
      runtime::parse_compute_capability(identity.text(runtime::Field::compute_capability));
}

// Returns the tables of [[models]] that have the model; none for a file that describes one device.
std::vector<const toml::table *> find_model(const ManifestText &document, const TableReader &root,
                                            const std::string &model) {
  const toml::array *models = root.array("models", "tables [[models]]");
  if (models == nullptr && model.empty()) return {};
  if (models == nullptr) root.missing("models", "expected [[models]], since a model is named");
  std::vector<std::string> all;
  std::vector<const toml::table *> found;
  for (const toml::node &node : *models) {
    if (!node.is_table()) root.fail(position_of(node), "no table", "expected [[models]]");
    const TableReader table(document, *node.as_table(), "[[models]]");
    table.allow_only({"names", "arguments", "identity", "capabilities"});
    bool has_model = false;
    for (const auto &name : table.strings("names")) {
      has_model = has_model || (!model.empty() && glob_match(name.value, model));
      if (std::ranges::find(all, name.value) == all.end()) all.push_back(name.value);
    }
    if (has_model) found.push_back(node.as_table());
  }
  if (!found.empty()) return found;
  root.fail(position_of(*models),
            model.empty() ? "no model is named" : fmt::format("no model {}", in_quotes(model)),
            expected_one_of(model, all));
}

CompilerDescription read_description(const ManifestText &document, const toml::table &parsed,
                                     const std::string &model) {
  const TableReader root(document, parsed, "the file");
  root.allow_only({"schema", "name", "tools", "driver", "input", "command", "quiet", "ask",
                   "environment", "identity", "capabilities", "models"});
  if (!root.integer("schema", 1, 1)) root.missing("schema", "expected schema = 1");
  CompilerDescription out;
  const auto name = root.name("name");
  if (!name) root.missing("name", "expected the target's name");
  out.name = name->value + (model.empty() ? "" : ":" + model);
  out.finisher = "virtual-described 1, " + needed_string(root, "tools");
  if (const auto driver = root.string("driver")) out.driver = driver->value;
  out.takes_il = root.word("input", "input", {"source", "il"}).value_or("source") == "il";
  std::vector<std::string> arguments;
  std::vector<TableReader> capabilities;
  const auto read_device = [&](const TableReader &of) {
    if (const auto *table = of.table("identity", "expected a table of texts")) {
      read_identity({document, *table, "[identity]"}, *table, &out.info);
    }
    if (const auto *table = of.table("capabilities", "expected a table")) {
      capabilities.emplace_back(document, *table, "[capabilities]");
    }
  };
  read_device(root);
  for (const toml::table *table : find_model(document, root, model)) {
    const TableReader reader(document, *table, "[[models]]");
    for (const auto &word : reader.strings("arguments")) arguments.push_back(word.value);
    read_device(reader);
  }
  read_command(root, arguments, &out);
  for (const auto &word : root.strings("quiet")) out.quiet.push_back(word.value);
  if (const auto *table = root.table("environment", "expected a table of texts")) {
    read_environment({document, *table, "[environment]"}, *table, &out);
  }
  out.info.description = runtime::describe(out.info.identity);
  if (out.info.description.key.facts().size() < 2) {
    root.missing("identity",
                 "expected the device's facts, of which a binary key can be made, as "
                 "`kiln devices --json` has them in \"identity\"");
  }
  read_capabilities(capabilities, &out.info.capabilities);
  complete_capabilities(out, &out.info.capabilities);
  return out;
}

// Returns the commands of [ask], with their names.
std::vector<std::pair<std::string, std::vector<std::string>>> read_questions(
    const ManifestText &document, const toml::table &parsed) {
  std::vector<std::pair<std::string, std::vector<std::string>>> questions;
  const auto *asks = TableReader(document, parsed, "the file").table("ask", "a table of commands");
  if (asks == nullptr) return questions;
  const TableReader reader(document, *asks, "[ask]");
  for (const auto &[key, node] : *asks) {
    auto &[name, command] = questions.emplace_back(key.str(), std::vector<std::string>());
    for (const auto &word : reader.strings(name)) command.push_back(word.value);
    if (command.empty()) reader.missing(name, "expected a program and its arguments");
  }
  return questions;
}

std::string replaced(std::string word, std::string_view placeholder, std::string_view by) {
  for (std::size_t at = word.find(placeholder); at != std::string::npos;
       at = word.find(placeholder, at + by.size())) {
    word.replace(at, placeholder.size(), by);
  }
  return word;
}

ProcessRequest described_call(std::filesystem::path program, std::vector<std::string> arguments,
                              const ToolFolder &folder) {
  ProcessRequest request;
  request.program = std::move(program);
  request.arguments = std::move(arguments);
  request.working_directory = folder.path();
  request.output_limit = kMaxSaid;
  request.environment = compiler_environment();
  return request;
}

// Runs a command of [ask] in an empty folder.
Result<std::string> ask_program(const std::vector<std::string> &command) {
  const auto program = find_executable({command.front()});
  if (!program) return Status(Code::not_found, "there is no program " + command.front());
  const auto folder = ToolFolder::make();
  if (!folder.ok()) return folder.status();
  ProcessRequest request = described_call(*program, {command.begin() + 1, command.end()}, *folder);
  request.limits = kAnswerTimeout;
  const ProcessResult result = run_tool(request);
  if (result.ok()) return result.out;
  return Status(Code::process, fmt::format("{}: {}\n{}{}", command.front(), result.reason,
                                           result.out, result.err));
}

class DescribedCompiler final : public VirtualDevice {
 public:
  DescribedCompiler(CompilerDescription description, std::filesystem::path program)
      : description_(std::move(description)), program_(std::move(program)) {}

  const std::string &name() const override { return description_.name; }
  const std::string &finisher() const override { return description_.finisher; }
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
    DescribedOptions given{{}, variant.options};
    for (const source::OptionWord &word : *options) given.words.push_back(word.text);
    auto arguments = described_arguments(description_.command, name, "program", given);
    ProcessResult result = run(arguments, *folder, limits);
    if (!result.ok() && result.end == ProcessEnd::exited && !description_.quiet.empty()) {
      std::erase_if(arguments, [&](const std::string &word) {
        return std::ranges::find(description_.quiet, word) != description_.quiet.end();
      });
      result = run(arguments, *folder, limits);
    }
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
    ProcessRequest request = described_call(program_, std::move(arguments), folder);
    for (const auto &[key, value] : description_.environment) {
      request.environment.emplace_back(key, value);
    }
    request.limits = limits;
    return run_tool(request);
  }

  Result<Made> outcome(const ProcessResult &result, const ToolFolder &folder) const {
    const std::string program = program_.filename().string();
    std::string said = result.out + result.err;
    if (!result.ok()) {
      // An exit code does not tell whether the compiler refuses the program or lacks a licence.
      const bool exited = result.end == ProcessEnd::exited;
      return Status(exited ? Code::failed : Code::process,
                    fmt::format("{}: {}\n{}", program, result.reason, said));
    }
    std::error_code ignored;  // ocloc adds ".bin"
    const bool longer = std::filesystem::exists(folder.path("program.bin"), ignored);
    const auto binary = folder.read(longer ? "program.bin" : "program");
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
                                             const DescribedOptions &options) {
  std::vector<std::string> arguments;
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "{options}") {
      arguments.insert(arguments.end(), options.words.begin(), options.words.end());
    } else {
      const std::string word = replaced(replaced(command[i], "{input}", input), "{output}", output);
      arguments.push_back(replaced(word, "{option_text}", options.text));
    }
  }
  return arguments;
}

Result<CompilerDescription> parse_description(std::string_view text,
                                              const std::filesystem::path &path,
                                              const std::string &model, const Ask &ask) {
  std::string filled = replaced(std::string(text), "{model}", model);
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(path, error);
  filled = replaced(std::move(filled), "{folder}", file.parent_path().generic_string());
  try {
    const ManifestText document{path.generic_string(), filled, path.parent_path()};
    for (const auto &[name, command] : read_questions(document, parse_toml(document))) {
      auto answer = ask(command);
      if (!answer.ok()) return Status(answer.status().code, answer.status().message);
      answer->erase(answer->find_last_not_of(std::string_view(" \n\0", 3)) + 1);
      filled = replaced(std::move(filled), "{" + name + "}", *answer);
    }
    const ManifestText whole{document.file, filled, document.folder};
    CompilerDescription out = read_description(whole, parse_toml(whole), model);
    const packs::View bytes{reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
    out.finisher += ", description " + packs::hex(packs::blake2b(bytes)).substr(0, 8);
    return out;
  } catch (const ManifestFault &fault) {
    return Status(Code::bad_input, fault.text);
  }
}

Result<DeviceInfo> described_device(const std::filesystem::path &path, const std::string &model) {
  const std::string text = read_whole_file(path).value_or("");
  if (text.empty()) {
    return Status(Code::not_found, "no such file, or an empty one");
  }
  auto description = parse_description(text, path, model, ask_program);
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
