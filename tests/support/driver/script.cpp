// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/script.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

#include <unistd.h>

#include "tests/support/cuda/shapes.hpp"
#include "tests/support/driver/dispatch.hpp"
#include "tests/support/driver/info_table.hpp"
#include "tests/support/driver/script_reader.hpp"

namespace kiln::driver {
namespace {

constexpr Word<Form> kForms[] = {{"source", Form::source},
                                 {"binary", Form::binary},
                                 {"il", Form::il},
                                 {"ptx", Form::ptx},
                                 {"cubin", Form::cubin}};
constexpr Word<Shape> kShapes[] = {
    {"own", Shape::own}, {"nvidia", Shape::nvidia}, {"intel", Shape::intel}};
constexpr Word<Stage> kStages[] = {
    {"create", Stage::create}, {"build", Stage::build}, {"kernel", Stage::kernel}};
constexpr Word<Response> kResponses[] = {
    {"accept", Response::accept}, {"recompile", Response::recompile},
    {"wrong", Response::wrong},   {"refuse", Response::refuse},
    {"segv", Response::segv},     {"abort", Response::abort},
    {"exit", Response::exit},     {"hang", Response::hang}};
constexpr Word<cl_device_type> kTypes[] = {{"gpu", CL_DEVICE_TYPE_GPU},
                                           {"cpu", CL_DEVICE_TYPE_CPU},
                                           {"accelerator", CL_DEVICE_TYPE_ACCELERATOR}};

struct ActionRow {
  const char *word;
  Action action;
  const char *at;  // the functions it can happen in, as a list; null: any
};

#define KILN_CREATE " clCreateProgramWithSource clCreateProgramWithBinary clCreateProgramWithIL "
constexpr ActionRow kActions[] = {
    {"segv", Action::segv, nullptr},
    {"abort", Action::abort, nullptr},
    {"exit", Action::exit, nullptr},
    {"hang", Action::hang, nullptr},
    {"hoard", Action::hoard, nullptr},
    {"slow", Action::slow, nullptr},
    {"error", Action::error, nullptr},
    {"null", Action::null, nullptr},
    {"program_with_error", Action::program_with_error, KILN_CREATE},
    {"status_failed", Action::status_failed, " clCreateProgramWithBinary "},
    {"recompile", Action::recompile, " clCreateProgramWithBinary "},
    {"empty", Action::empty, KILN_CREATE},
    {"lie", Action::lie, " clBuildProgram "},
    {"wrong_arguments", Action::wrong_arguments, " clGetKernelInfo "},
    {"wrong_size", Action::wrong_size, " clGetProgramInfo "},
    {"skip", Action::skip, " clEnqueueNDRangeKernel "},
};
#undef KILN_CREATE

bool read_numbers(Reader &reader, const char *key, Kind kind, std::string *out) {
  const toml::node *node = reader.take(key);
  if (node == nullptr) return false;
  const toml::array *array = node->as_array();
  if (array == nullptr) reader.fail(key, "an array of integers");
  for (const toml::node &item : *array) {
    const auto *value = item.as_integer();
    if (value == nullptr || value->get() < 0) reader.fail(key, "an array of integers");
    *out += number_bytes(kind, static_cast<unsigned long long>(value->get()));
  }
  return true;
}

bool read_answer(Reader &reader, const InfoRow &row, std::string *out) {
  switch (row.kind) {
    case Kind::text:
      if (!reader.text(row.key, out)) return false;
      out->push_back('\0');
      return true;
    case Kind::uuid: {
      std::string hex;
      if (!reader.text(row.key, &hex)) return false;
      if (!Reader::parse_hex(hex, out) || out->size() != CL_UUID_SIZE_KHR) {
        reader.fail(row.key, "32 hexadecimal digits");
      }
      return true;
    }
    case Kind::flag: {
      bool value = false;
      if (!reader.flag(row.key, &value)) return false;
      *out = number_bytes(row.kind, value ? 1 : 0);
      return true;
    }
    case Kind::sizes: return read_numbers(reader, row.key, Kind::size, out);
    case Kind::numbers: return read_numbers(reader, row.key, Kind::numbers, out);
    case Kind::texts: {
      static std::deque<std::string> kept;  // the answer has the driver's pointers
      std::vector<std::string> texts;
      reader.texts(row.key, &texts);
      for (std::string &text : texts) {
        const char *pointer = kept.emplace_back(std::move(text)).c_str();
        out->append(reinterpret_cast<const char *>(&pointer), sizeof(pointer));
      }
      return !texts.empty();
    }
    default: {
      long long value = 0;
      if (!reader.number(row.key, &value)) return false;
      *out = number_bytes(row.kind, static_cast<unsigned long long>(value));
      return true;
    }
  }
}

void read_answers(Reader &reader, InfoTable table, Answers *out) {
  std::vector<std::string> failing;
  reader.texts("fails", &failing);
  for (const InfoRow &row : table) {
    std::string bytes;
    if (read_answer(reader, row, &bytes)) out->values[row.query] = bytes;
    for (std::string &key : failing) {
      if (key != row.key) continue;
      out->failing.insert(row.query);
      key.clear();
    }
  }
  for (const std::string &key : failing) {
    if (!key.empty()) stop(reader.where() + ".fails: unknown key " + key);
  }
}

void read_binary(Reader &reader, BinaryRules *out) {
  reader.text("model", &out->model);
  reader.text("driver_version", &out->driver_version);
  reader.texts("accepts", &out->accepts);
  reader.number("revision", &out->revision);
  reader.flag("source", &out->source);
  reader.flag("late", &out->late);
  reader.number("refusal", &out->refusal);
  reader.word("at", kStages, &out->at);
  reader.word("other_model", kResponses, &out->other_model);
  reader.word("other_driver", kResponses, &out->other_driver);
  reader.word("other_revision", kResponses, &out->other_revision);
  reader.word("corrupt", kResponses, &out->corrupt);
  reader.word("shape", kShapes, &out->shape);
  reader.text("ptx_version", &out->ptx_version);
  reader.word("cubin", kResponses, &out->cubin);
  reader.word("without_spirv", kResponses, &out->without_spirv);
  if (shapes::parse_ptx_version(out->ptx_version) == 0) {
    reader.fail("ptx_version", "a version such as \"8.8\"");
  }
  if (out->shape == Shape::nvidia && out->compute_capability == 0) {
    reader.fail("shape", "\"own\" where the device has no compute capability");
  }
}

// What a scripted text answers, or nothing.
std::string text_of(const Answers &answers, cl_uint query, const char *otherwise) {
  const auto found = answers.values.find(query);
  return found == answers.values.end() ? otherwise : found->second.c_str();
}

unsigned number_of(const Answers &answers, cl_uint query) {
  const auto found = answers.values.find(query);
  cl_uint value = 0;
  if (found != answers.values.end()) std::memcpy(&value, found->second.data(), sizeof(value));
  return value;
}

void read_device(Reader &reader, DeviceScript *out) {
  reader.flag("forward", &out->forward);
  reader.number("real_device", &out->real_device);
  reader.word("type", kTypes, &out->type);
  read_answers(reader, device_table(), &out->answers);
  out->name = text_of(out->answers, CL_DEVICE_NAME, "Scripted device");
  out->il.versions = text_of(out->answers, CL_DEVICE_IL_VERSION, "");
  constexpr std::size_t kSides = 3;
  if (read_numbers(reader, "suggested_local_size", Kind::size, &out->suggested) &&
      out->suggested.size() != kSides * sizeof(std::size_t)) {
    reader.fail("suggested_local_size", "three integers");
  }
  reader.text("prints", &out->prints);
  reader.texts("il_source", &out->il.sources);
  reader.text("il_options", &out->il.options);
  out->binary.model = out->name;
  out->binary.driver_version = text_of(out->answers, CL_DRIVER_VERSION, "");
  out->binary.compute_capability =
      number_of(out->answers, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV) * 10 +
      number_of(out->answers, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV);
  reader.table("binary", [&](Reader &inner) { read_binary(inner, &out->binary); });
}

void read_action(Reader &reader, Fault *out) {
  std::string word;
  if (!reader.text("do", &word)) stop(reader.where() + " has no do");
  for (const ActionRow &row : kActions) {
    if (word != row.word) continue;
    if (row.at != nullptr && std::string(row.at).find(" " + out->at + " ") == std::string::npos) {
      stop(reader.where() + ": " + word + " cannot happen in " + out->at);
    }
    out->action = row.action;
    return;
  }
  stop(reader.where() + ".do: unknown word " + word);
}

void read_fault(Reader &reader, Fault *out) {
  if (!reader.text("at", &out->at)) stop(reader.where() + " has no at");
  if (!is_entry_point(out->at)) stop(reader.where() + ".at: unknown function " + out->at);
  read_action(reader, out);
  if (out->action == Action::exit) out->code = 1;
  Form form{};
  if (reader.word("form", kForms, &form)) out->form = form;
  reader.text("kernel", &out->kernel);
  reader.text("text", &out->text);
  reader.text("option", &out->option);
  reader.text("without_option", &out->without_option);
  reader.text("device", &out->device);
  std::string query;
  if (reader.text("query", &query)) {
    out->query = query_by_name(query);
    if (*out->query == 0) stop(reader.where() + ".query: unknown query " + query);
  }
  reader.flag("unbuilt", &out->unbuilt);
  reader.number("nth", &out->nth);
  reader.text("once", &out->once);
  reader.number("code", &out->code);
  reader.number("milliseconds", &out->milliseconds);
  reader.number("size", &out->size);
  reader.text("log", &out->log);
}

Script read_script() {
  const char *path = std::getenv("KILN_TEST_DRIVER");
  if (path == nullptr) stop("KILN_TEST_DRIVER names no script");
  Script script;
  try {
    const toml::table table = toml::parse_file(path);
    Reader reader(table, path);
    reader.text("real", &script.real);
    reader.text("log", &script.log);
    std::vector<std::string> absent;
    reader.texts("absent", &absent);
    for (const std::string &name : absent) {
      if (!is_entry_point(name)) stop("absent: unknown function " + name);
      script.absent.insert(name);
    }
    reader.each("platform", [&](Reader &platform) {
      PlatformScript &out = script.platforms.emplace_back();
      read_answers(platform, platform_table(), &out.answers);
      platform.each("device",
                    [&](Reader &device) { read_device(device, &out.devices.emplace_back()); });
    });
    reader.each("fault", [&](Reader &fault) { read_fault(fault, &script.faults.emplace_back()); });
    reader.finish();
  } catch (const toml::parse_error &error) {
    stop(std::string(path) + ":" + std::to_string(error.source().begin.line) + ": " +
         std::string(error.description()));
  }
  return script;
}

}  // namespace

const Script &script() {
  static const Script read = read_script();
  return read;
}

void stop(const std::string &message) {
  std::fprintf(stderr, "kiln test driver: %s\n", message.c_str());
  _exit(120);
}

}  // namespace kiln::driver
