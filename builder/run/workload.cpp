// SPDX-License-Identifier: Apache-2.0
// Evaluates the manifest's terms for a problem's size, within limits, and makes input data.
#include "builder/run/workload.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "builder/problem/parameter_value.hpp"
#include "builder/problem/plane.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::builder {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 36;  // limit for one buffer or image

PlaneShape shape_of(const packs::Argument &a) {
  return {a.name, a.type, a.channels, a.extent.empty() ? "width height" : a.extent};
}

template <typename T>
void append(std::vector<std::uint8_t> *bytes, T value) {
  const auto *first = reinterpret_cast<const std::uint8_t *>(&value);
  bytes->insert(bytes->end(), first, first + sizeof(value));
}

std::vector<double> default_values(const packs::Argument &a) {
  if (a.values.empty()) return {static_cast<double>(a.value)};
  return a.values;
}

class Planner {
 public:
  Planner(const packs::Program &program, const packs::Variant &variant, const ProblemSize &size,
          Parameters parameters)
      : shape_(program_shape(program)), variant_(variant), parameters_(std::move(parameters)) {
    workload_.size = size;
  }

  Result<Workload> plan() {
    for (std::size_t i = 0; i < variant_.kernels.size(); ++i) {
      if (Status s = add_stage(i); !s.ok()) return s;
    }
    return std::move(workload_);
  }

 private:
  Status add_stage(std::size_t index) {
    const packs::Kernel &kernel = variant_.kernels[index];
    Stage stage;
    stage.kernel = kernel.name;
    for (const packs::Argument &a : variant_.arguments) {
      if (a.stage != index) continue;
      Binding binding;
      if (Status s = bind(a, &binding); !s.ok()) return s;
      stage.bindings.push_back(std::move(binding));
    }
    if (stage.bindings.size() != kernel.arguments) {
      return {Code::bad_input, fmt::format("kernel {} takes {} arguments, the pack lists {}",
                                           kernel.name, kernel.arguments, stage.bindings.size())};
    }
    Status status = set_range(kernel, index, &stage);
    workload_.stages.push_back(std::move(stage));
    return status;
  }

  Status set_range(const packs::Kernel &kernel, std::size_t index, Stage *stage) {
    const ProblemSize &size = workload_.size;
    if (kernel.range.empty()) {
      // The variant's `pixels` apply to its first kernel only.
      const std::uint32_t px = index == 0 ? std::max(variant_.pixels[0], 1u) : 1;
      const std::uint32_t py = index == 0 ? std::max(variant_.pixels[1], 1u) : 1;
      stage->global = {(size.width + px - 1) / px, (size.height + py - 1) / py, 1};
      return {};
    }
    const auto terms = parse_terms(kernel.range);
    if (!terms) {
      return {Code::bad_input,
              fmt::format("range \"{}\" of kernel {}: {}", kernel.range, kernel.name, kTermRule)};
    }
    const auto sides = evaluate(*terms, size);
    stage->dimensions = static_cast<unsigned>(terms->size());
    stage->global = {sides[0], sides[1], sides[2]};
    return {};
  }

  Status bind(const packs::Argument &a, Binding *out) {
    const ProblemSize &size = workload_.size;
    switch (a.role) {
      case Role::width: append(&out->bytes, size.width); return {};
      case Role::height: append(&out->bytes, size.height); return {};
      case Role::depth: append(&out->bytes, size.depth); return {};
      case Role::parameter: return bind_value(a, out);
      case Role::sampler: out->sampler = packs::ArgumentSampler::of(a.value); return {};
      case Role::input:
      case Role::output:
      case Role::scratch: break;
    }
    return a.storage == Storage::local ? bind_local(a, out) : bind_memory(a, out);
  }

  // A pack may hold other defaults than a manifest can say.
  Status bind_value(const packs::Argument &a, Binding *out) const {
    const std::vector<double> &values = parameters_.at(a.name);
    if (Status s = check_values(fields_of(a), values); !s.ok()) {
      return {Code::bad_input, fmt::format("parameter {} {}", a.name, s.message)};
    }
    out->bytes = value_bytes(fields_of(a), values);
    return {};
  }

  Status bind_memory(const packs::Argument &a, Binding *out) {
    auto &memories = workload_.memories;
    const auto known = std::find_if(memories.begin(), memories.end(), [&](const Memory &m) {
      return m.role == a.role && m.shape.name == a.name;
    });
    out->memory = static_cast<std::size_t>(known - memories.begin());
    return known == memories.end() ? add_memory(a) : Status();
  }

  Status add_memory(const packs::Argument &a) {
    const bool is_pixel = a.channels == 1 || a.channels == 2 || a.channels == 4;
    if (packs::is_image(a.storage) && (!is_pixel || size_of(a.type) > 4)) {
      return {Code::bad_input, fmt::format("no image has pixels like those of \"{}\"", a.name)};
    }
    Memory memory;
    memory.role = a.role;
    memory.storage = a.storage;
    memory.type = a.type;
    memory.channels = a.channels;
    memory.accumulates = a.accumulates;
    memory.is_normalized = a.value != packs::kNotNormalized;
    if (Status s = give_extent(a, &memory); !s.ok()) return s;
    if (Status s = give_host_shape(&memory); !s.ok()) return s;
    workload_.memories.push_back(std::move(memory));
    return {};
  }

  Status bind_local(const packs::Argument &a, Binding *out) const {
    Memory memory;
    memory.type = a.type;
    memory.channels = a.channels;
    Status status = give_extent(a, &memory);
    out->local = memory.bytes();
    return status;
  }

  // Sets the argument's shape in elements.
  Status give_extent(const packs::Argument &a, Memory *memory) const {
    memory->shape = shape_of(a);
    const auto terms = parse_terms(memory->shape.extent);
    if (!terms) {
      return {Code::bad_input, fmt::format("extent \"{}\": {}", memory->shape.extent, kTermRule)};
    }
    const auto sides = evaluate(*terms, workload_.size);
    memory->columns = sides[0];
    memory->rows = product({sides[1], sides[2]});
    if (a.storage == Storage::image1d_array) memory->slices = sides[1];
    if (a.storage == Storage::image2d_array || a.storage == Storage::image3d) {
      memory->slices = sides[2];
    }
    if (memory->rows > kMaxBytes || memory->columns > kMaxBytes ||
        memory->bytes() / memory->rows != memory->row_bytes() || memory->bytes() > kMaxBytes) {
      return {Code::over_limit,
              fmt::format("size {} needs memory of more than 64 GiB", size_text(workload_.size))};
    }
    return {};
  }

  // Sets the host's plane: the program's plane of that name, or the program's only plane.
  Status give_host_shape(Memory *memory) const {
    if (memory->role == Role::scratch) return {};
    const auto &shapes = memory->role == Role::input ? shape_.inputs : shape_.outputs;
    const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const PlaneShape &s) {
      return s.name == memory->shape.name || shapes.size() == 1;
    });
    if (found == shapes.end()) {
      return {Code::bad_input,
              fmt::format("the program has no {} called \"{}\"",
                          memory->role == Role::input ? "input" : "output", memory->shape.name)};
    }
    const auto sides = evaluate(parse_terms(found->extent).value(), workload_.size);
    const std::uint64_t row = product({sides[0], found->channels, size_of(found->type)});
    const std::uint64_t rows = product({sides[1], sides[2]});
    const bool fits = memory->storage == Storage::buffer
                          ? product({row, rows}) <= memory->bytes()
                          : row <= memory->row_bytes() && rows <= memory->rows;
    if (!fits) {
      return {Code::bad_input,
              fmt::format("memory \"{}\" is smaller than the program's plane", memory->shape.name)};
    }
    const std::string name = memory->shape.name;
    memory->shape = *found;
    memory->shape.name = name;
    return {};
  }

  ProgramShape shape_;
  const packs::Variant &variant_;
  Parameters parameters_;
  Workload workload_;
};

}  // namespace

Parameters all_parameters(const packs::Variant &variant, const Parameters &given) {
  Parameters all;
  for (const packs::Argument &a : variant.arguments) {
    if (a.role == Role::parameter) all[a.name] = default_values(a);
  }
  for (const auto &[name, values] : given) {
    const auto known = all.find(name);
    if (known != all.end() && known->second.size() == values.size()) known->second = values;
  }
  return all;
}

Status check_parameter(const packs::Variant &variant, const std::string &name,
                       const std::vector<double> &values) {
  for (const packs::Argument &a : variant.arguments) {
    if (a.role != Role::parameter || a.name != name) continue;
    Status status = check_values(fields_of(a), values);
    if (!status.ok()) status.message = fmt::format("parameter {} {}", name, status.message);
    return status;
  }
  return {};
}

Status check_proven(const packs::Contents &contents, const std::string &key,
                    const packs::Variant &variant) {
  if (!runtime::requires_word(variant.requirements, runtime::kProof)) return {};
  for (const packs::Target &target : contents.targets) {
    if (target.key != key) continue;
    for (const packs::Binary &binary : target.binaries) {
      if (binary.variant == variant.hash && packs::is_proof(binary.finish.proof, true)) return {};
    }
  }
  return {Code::requirement, "needs a binary with a proof"};
}

Status check_launchable(const packs::Variant &variant) {
  for (const packs::Kernel &kernel : variant.kernels) {
    if (kernel.arguments != 0 && variant.arguments.empty()) {
      return {
          Code::bad_input,
          fmt::format("cannot launch variant {}: neither the manifest nor a recorded launch has "
                      "its arguments",
                      variant.name)};
    }
  }
  return {};
}

Result<Workload> plan_workload(const packs::Program &program, const packs::Variant &variant,
                               const ProblemSize &size, const Parameters &given) {
  if (Status s = check_launchable(variant); !s.ok()) return s;
  Parameters all = all_parameters(variant, given);
  for (const auto &[name, values] : given) {
    if (all.count(name) != 0) continue;
    return Status(Code::bad_argument,
                  fmt::format("variant {} has no parameter {}", variant.name, name));
  }
  auto plan = Planner(program, variant, size, std::move(all)).plan();
  if (plan.ok()) return plan;
  Status status = plan.status();
  status.message = fmt::format("{}/{}: {}", program.name, variant.name, status.message);
  return status;
}

ProgramShape program_shape(const packs::Program &program) {
  std::vector<ProgramShape> variants;
  for (const packs::Variant &variant : program.variants) {
    if (variant.arguments.empty()) continue;
    variants.push_back({memory_shapes(variant.arguments, Role::input),
                        memory_shapes(variant.arguments, Role::output)});
  }
  return common_shape(variants);
}

std::uint64_t bytes_moved(const packs::Program &program, const ProblemSize &size) {
  const ProgramShape shape = program_shape(program);
  std::uint64_t bytes = 0;
  for (const auto *planes : {&shape.inputs, &shape.outputs}) {
    for (const PlaneShape &plane : *planes) {
      if (__builtin_add_overflow(bytes, bytes_of(plane, size), &bytes)) return ~std::uint64_t{0};
    }
  }
  return bytes;
}

Plane make_input(const PlaneShape &shape, const ProblemSize &size, std::uint32_t seed) {
  Plane plane = blank_plane(shape, size);
  std::uint32_t random = seed * 2654435761u + 1;
  const auto next = [&random] {
    random = random * 1664525u + 1013904223u;
    return random >> 8;
  };
  if (plane.type == Type::uchar_) {
    std::size_t i = 0;
    for (std::uint32_t y = 0; y < plane.height; ++y) {
      for (std::uint32_t x = 0; x < plane.width * plane.channels; ++x, ++i) {
        const std::uint32_t slope = x / 5 + y / 3;
        const std::uint32_t edge = (x / 96 + y / 64) % 2 == 0 ? 0 : 90;
        plane.pixels[i] = static_cast<std::uint8_t>(slope % 128 + edge + next() % 24);
      }
    }
    return plane;
  }
  const std::size_t count = plane.pixels.size() / size_of(plane.type);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = next();
    const float number = static_cast<float>(value) / 8388608.0f - 1.0f;
    if (plane.type == Type::float_) {
      plane.as<float>()[i] = number;
    } else if (plane.type == Type::double_) {
      plane.as<double>()[i] = number;
    } else if (plane.type == Type::half_) {
      plane.as<std::uint16_t>()[i] = half_of_float(number);
    } else {
      std::memcpy(plane.pixels.data() + i * size_of(plane.type), &value, size_of(plane.type));
    }
  }
  return plane;
}

std::vector<Plane> make_inputs(const packs::Program &program, const ProblemSize &size) {
  std::vector<Plane> inputs;
  for (const PlaneShape &shape : program_shape(program).inputs) {
    inputs.push_back(make_input(shape, size, static_cast<std::uint32_t>(inputs.size() + 1)));
  }
  return inputs;
}

}  // namespace kiln::builder
