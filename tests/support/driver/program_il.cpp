// SPDX-License-Identifier: Apache-2.0
// Programs from SPIR-V: given to the real driver if it takes IL; else compiled from the file
// of the script that has the module's entry points.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tests/support/driver/contexts.hpp"
#include "tests/support/driver/programs.hpp"

namespace kiln::driver {
namespace {

constexpr std::uint32_t kSpirvMagic = 0x07230203;
constexpr std::uint32_t kOpEntryPoint = 15;
constexpr std::size_t kHeaderWords = 5;
constexpr std::size_t kNameWord = 3;

std::vector<std::uint32_t> words_of(const std::string &il) {
  std::vector<std::uint32_t> words(il.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), il.data(), words.size() * 4);
  return words;
}

// The names of the kernels.
std::vector<std::string> entry_points(const std::vector<std::uint32_t> &words) {
  std::vector<std::string> names;
  for (std::size_t at = kHeaderWords; at < words.size();) {
    const std::size_t length = words[at] >> 16;
    if (length == 0 || length > words.size() - at) break;
    if ((words[at] & 0xffff) == kOpEntryPoint && length > kNameWord) {
      const char *name = reinterpret_cast<const char *>(&words[at + kNameWord]);
      names.emplace_back(name, strnlen(name, (length - kNameWord) * 4));
    }
    at += length;
  }
  return names;
}

// "SPIR-V_1.2" takes modules up to that.
bool takes_version(const std::string &versions, std::uint32_t version) {
  std::istringstream stream(versions);
  for (std::string word; stream >> word;) {
    unsigned major = 0;
    unsigned minor = 0;
    if (std::sscanf(word.c_str(), "SPIR-V_%u.%u", &major, &minor) != 2) continue;
    if (version <= (major << 16 | minor << 8)) return true;
  }
  return false;
}

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) stop("il_source: " + path + " cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// True if `name` stands in the text as a word followed by a bracket.
bool defines(const std::string &text, const std::string &name) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const auto word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    if (at != 0 && word(text[at - 1])) continue;
    const auto next = text.find_first_not_of(" \t\n", at + name.size());
    if (next != std::string::npos && text[next] == '(') return true;
  }
  return false;
}

std::string find_source(const IlRules &rules, const std::vector<std::string> &kernels) {
  for (const std::string &path : rules.sources) {
    const std::string text = read_file(path);
    bool all = !kernels.empty();
    for (const std::string &kernel : kernels) all = all && defines(text, kernel);
    if (all) return text;
  }
  return {};
}

bool real_takes_il(const Device &device) {
  std::size_t size = 0;
  return real_driver()->table->clCreateProgramWithIL != nullptr &&
         real_driver()->table->clGetDeviceInfo(device.raw, CL_DEVICE_IL_VERSION, 0, nullptr,
                                               &size) == CL_SUCCESS &&
         size > 1;
}

cl_int realise(Program *program) {
  const Device &device = *program->devices.front();
  const IlRules &rules = device.script->il;
  if (rules.versions.empty() && !real_takes_il(device)) return CL_INVALID_OPERATION;
  const std::vector<std::uint32_t> words = words_of(program->il);
  if (words.size() < kHeaderWords || words[0] != kSpirvMagic) return CL_INVALID_VALUE;
  if (!rules.versions.empty() && !takes_version(rules.versions, words[1])) return CL_INVALID_VALUE;
  cl_int code = CL_SUCCESS;
  if (rules.sources.empty() && real_takes_il(device)) {
    program->raw = real_driver()->table->clCreateProgramWithIL(program->context, program->il.data(),
                                                               program->il.size(), &code);
    return code;
  }
  program->source = find_source(rules, entry_points(words));
  if (program->source.empty()) return CL_INVALID_VALUE;
  program->options = rules.options;
  program->raw = real_from_source(program->context, program->source, &code);
  return code;
}

}  // namespace

cl_program CL_API_CALL create_with_il(cl_context context, const void *il, std::size_t length,
                                      cl_int *code_ret) {
  if (il == nullptr || length == 0) return done<cl_program>(nullptr, CL_INVALID_VALUE, code_ret);
  auto program = std::make_unique<Program>();
  program->context = context;
  program->form = Form::il;
  program->devices = devices_of(context);
  program->il.assign(static_cast<const char *>(il), length);
  const Fault *fault = enter(call_of("clCreateProgramWithIL", *program));
  const Action action = fault == nullptr ? Action::slow : fault->action;
  if (action == Action::null) return done<cl_program>(nullptr, CL_SUCCESS, code_ret);
  if (action == Action::error) return done<cl_program>(nullptr, fault->code, code_ret);
  if (program->devices.empty()) return done<cl_program>(nullptr, CL_INVALID_CONTEXT, code_ret);
  const cl_int code = action == Action::empty ? CL_SUCCESS : realise(program.get());
  return finish(std::move(program), code, fault, code_ret);
}

}  // namespace kiln::driver
