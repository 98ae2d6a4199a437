// SPDX-License-Identifier: Apache-2.0
// Programs from binaries: whose they are, and what the script does with those of others.
#include <algorithm>

#include "tests/support/cuda/shapes.hpp"
#include "tests/support/driver/binary.hpp"
#include "tests/support/driver/contexts.hpp"
#include "tests/support/driver/programs.hpp"

namespace kiln::driver {
namespace {

bool is_death(Response response) {
  return response == Response::segv || response == Response::abort || response == Response::exit ||
         response == Response::hang;
}

Response response_to_bad(const BinaryRules &rules, Decoded decoded) {
  const bool usable = decoded == Decoded::corrupt || is_death(rules.corrupt);
  return usable ? rules.corrupt : Response::refuse;
}

Response response_to(const BinaryRules &rules, const std::string &bytes, Binary *out) {
  const Decoded decoded = decode(bytes, out);
  if (decoded != Decoded::good) return response_to_bad(rules, decoded);
  const Binary &binary = *out;
  const bool own =
      binary.model == rules.model ||
      std::find(rules.accepts.begin(), rules.accepts.end(), binary.model) != rules.accepts.end();
  if (!own) return rules.other_model;
  if (binary.driver_version != rules.driver_version) return rules.other_driver;
  if (binary.revision != rules.revision) return rules.other_revision;
  return Response::accept;
}

// Intel's device takes its own binaries without their SPIR-V as the script says.
Response response_to_intel(const BinaryRules &rules, const std::string &bytes, Binary *out) {
  const IntelFile file = read_intel(bytes);
  const Response response = response_to(rules, file.bytes, out);
  return file.has_spirv || response != Response::accept ? response : rules.without_spirv;
}

// NVIDIA's rules ask for the device alone. PTX is compiled for any that is not older, and is
// refused where it is damaged; a cubin serves the same major number and a minor that is not less.
Response response_to_nvidia(const BinaryRules &rules, const std::string &bytes, Form *form,
                            Binary *out) {
  if (const auto ptx = shapes::read_ptx(bytes)) {
    *form = Form::ptx;
    const bool fits = ptx->version <= shapes::parse_ptx_version(rules.ptx_version) &&
                      ptx->target <= rules.compute_capability;
    const bool good = decode(ptx->payload, out) == Decoded::good;
    return fits && good ? Response::accept : Response::refuse;
  }
  const auto cubin = shapes::read_cubin(bytes);
  if (!cubin) return response_to_bad(rules, Decoded::foreign);
  *form = Form::cubin;
  const bool good = decode(cubin->payload, out) == Decoded::good && cubin->whole;
  if (!good) return response_to_bad(rules, Decoded::corrupt);
  const bool fits = cubin->target / 10 == rules.compute_capability / 10 &&
                    cubin->target <= rules.compute_capability;
  return fits ? rules.cubin : Response::refuse;
}

// The responses at creation; those of later stages are kept in the program.
cl_int respond_at_creation(const Program &program) {
  const BinaryRules &rules = program.devices.front()->script->binary;
  if (rules.at != Stage::create) return CL_SUCCESS;
  die(program.response);
  return program.response == Response::refuse ? rules.refusal : CL_SUCCESS;
}

cl_program real_from_binary(const Program &program, const std::vector<Binary> &binaries,
                            cl_int *code) {
  const auto raw = to_real(program.devices);
  std::vector<std::size_t> lengths;
  std::vector<const unsigned char *> places;
  for (cl_device_id id : raw) {
    for (std::size_t i = 0; i < program.devices.size(); ++i) {
      if (program.devices[i]->raw != id) continue;
      lengths.push_back(binaries[i].payload.size());
      places.push_back(reinterpret_cast<const unsigned char *>(binaries[i].payload.data()));
      break;
    }
  }
  std::vector<cl_int> statuses(raw.size());
  cl_program made = real_driver()->table->clCreateProgramWithBinary(
      program.context, static_cast<cl_uint>(raw.size()), raw.data(), lengths.data(), places.data(),
      statuses.data(), code);
  for (const cl_int status : statuses) {
    if (*code == CL_SUCCESS && status != CL_SUCCESS) *code = status;
  }
  return made;
}

// Decodes what was given for each device, and settles what becomes of it.
std::vector<Binary> examine(Program *program) {
  std::vector<Binary> binaries(program->given.size());
  for (std::size_t i = 0; i < binaries.size(); ++i) {
    const BinaryRules &rules = program->devices[i]->script->binary;
    const std::string &given = program->given[i];
    Form form = Form::binary;
    const Response response = rules.shape == Shape::own ? response_to(rules, given, &binaries[i])
                              : rules.shape == Shape::intel
                                  ? response_to_intel(rules, given, &binaries[i])
                                  : response_to_nvidia(rules, given, &form, &binaries[i]);
    if (i == 0) program->given_form = form;
    if (program->response == Response::accept) program->response = response;
    program->generation = binaries[i].generation;
    program->options = binaries[i].options;
    program->kernels = binaries[i].kernels;
    program->source = binaries[i].source;
  }
  return binaries;
}

// The real program: of the payload, or of the source inside.
cl_int realise(Program *program, const std::vector<Binary> &binaries) {
  cl_int code = CL_SUCCESS;
  const bool stub = !binaries.empty() && binaries.front().stub;
  const bool compile = program->response == Response::recompile || stub;
  if (compile && program->source.empty()) return CL_INVALID_BINARY;
  if (compile) {
    program->raw = real_from_source(program->context, program->source, &code);
    program->response = Response::recompile;
    return code;
  }
  program->raw = real_from_binary(*program, binaries, &code);
  program->native = true;
  program->wrong = program->response == Response::wrong;
  return code;
}

// A refusal or a death at a later stage needs an object until then, and the real driver must
// not see bytes that may be corrupt.
cl_int stand_in(Program *program) {
  cl_int code = CL_SUCCESS;
  const std::string nothing = "typedef int kiln_test_driver_nothing;\n";
  program->raw = real_from_source(program->context,
                                  program->source.empty() ? nothing : program->source, &code);
  return code;
}

void set_statuses(cl_uint count, cl_int status, cl_int *statuses) {
  for (cl_uint i = 0; statuses != nullptr && i < count; ++i) statuses[i] = status;
}

}  // namespace

cl_program CL_API_CALL create_with_binary(cl_context context, cl_uint count,
                                          const cl_device_id *ids, const std::size_t *lengths,
                                          const unsigned char **binaries, cl_int *statuses,
                                          cl_int *code_ret) {
  if (count == 0 || ids == nullptr || lengths == nullptr || binaries == nullptr) {
    return done<cl_program>(nullptr, CL_INVALID_VALUE, code_ret);
  }
  auto program = std::make_unique<Program>();
  program->context = context;
  program->form = Form::binary;
  for (cl_uint i = 0; i < count; ++i) {
    program->devices.push_back(device_of(ids[i]));
    program->given.emplace_back(reinterpret_cast<const char *>(binaries[i]), lengths[i]);
  }
  const std::vector<Binary> decoded = examine(program.get());
  const Fault *fault = enter(call_of("clCreateProgramWithBinary", *program));
  const Action action = fault == nullptr ? Action::slow : fault->action;
  set_statuses(count, action == Action::status_failed ? fault->code : CL_SUCCESS, statuses);
  if (action == Action::null) return done<cl_program>(nullptr, CL_SUCCESS, code_ret);
  if (action == Action::error) return done<cl_program>(nullptr, fault->code, code_ret);
  if (action == Action::recompile) program->response = Response::recompile;
  cl_int code = respond_at_creation(*program);
  if (code == CL_SUCCESS) {
    const bool later = program->response == Response::refuse || is_death(program->response);
    code = later ? stand_in(program.get()) : realise(program.get(), decoded);
  }
  if (code != CL_SUCCESS) set_statuses(count, code, statuses);
  return finish(std::move(program), code, fault, code_ret);
}

}  // namespace kiln::driver
