#include "execute.hpp"

#include <cstring>
#include <list>

#include <fmt/format.h>

#include "manifest.hpp"

namespace kiln::builder {
namespace {

Role role_of(const packs::Argument &a) { return static_cast<Role>(a.role); }
bool is_image(const packs::Argument &a) {
  return static_cast<Storage>(a.storage) == Storage::image;
}

void copy_rows(std::uint8_t *to, std::size_t to_pitch, const std::uint8_t *from,
               std::size_t from_pitch, std::size_t row, std::size_t rows) {
  for (std::size_t y = 0; y < rows; ++y) std::memcpy(to + y * to_pitch, from + y * from_pitch, row);
}

// An input or output of the launch, as buffer or image object.
struct Bound {
  kiln::Buffer buffer;
  kiln::Image image;
  bool is_image = false;
  bool is_output = false;
  Image plane;
};

// Binds and launches; every step returns an empty text or the error's message.
class Launch {
 public:
  Launch(const kiln::Loader &loader, const kiln::Queue &queue, const kiln::Kernel &kernel)
      : loader_(loader), queue_(queue), kernel_(kernel) {}

  std::string bind(const packs::Variant &variant, const Image &input,
                   const Parameters &parameters) {
    unsigned index = 0;
    for (const packs::Argument &argument : variant.arguments) {
      std::string error = bind_one(index++, argument, input, parameters);
      if (!error.empty()) return error;
    }
    return {};
  }

  std::string run(const kiln_ndrange &range, Execution *out) {
    auto planned = kernel_.plan(range);
    if (!planned) return planned.error().message;
    out->range = *planned;
    auto event = kernel_.launch(queue_, range);
    if (!event) return event.error().message;
    auto times = event->times();
    if (!times) return times.error().message;
    out->times = *times;
    for (Bound &bound : bound_) {
      if (!bound.is_output) continue;
      if (std::string error = transfer(&bound); !error.empty()) return error;
      out->outputs.push_back(std::move(bound.plane));
    }
    return {};
  }

 private:
  std::string bind_one(unsigned index, const packs::Argument &argument, const Image &input,
                       const Parameters &parameters) {
    switch (role_of(argument)) {
      case Role::width: return set(index, input.width);
      case Role::height: return set(index, input.height);
      case Role::parameter: return set(index, static_cast<cl_uint>(parameters.at(argument.name)));
      case Role::input:
      case Role::output: break;
    }
    return bind_memory(index, argument, input);
  }

  std::string set(unsigned index, cl_uint value) {
    const kiln::Outcome outcome = kernel_.set(index, value);
    return outcome ? std::string() : outcome.message;
  }

  std::string bind_memory(unsigned index, const packs::Argument &argument, const Image &input) {
    Bound &bound = bound_.emplace_back();
    bound.is_image = is_image(argument);
    bound.is_output = role_of(argument) == Role::output;
    bound.plane = input;
    bound.plane.channels = argument.channels;
    bound.plane.name = argument.name;
    bound.plane.pixels.resize(bound.plane.row_bytes() * input.height);
    if (std::string error = create(&bound); !error.empty()) return error;
    const kiln::Outcome outcome =
        bound.is_image ? kernel_.set(index, bound.image) : kernel_.set(index, bound.buffer);
    if (!outcome) return outcome.message;
    return bound.is_output ? std::string() : transfer(&bound);
  }

  std::string create(Bound *bound) {
    const kiln_access access = bound->is_output ? KILN_ACCESS_WRITE : KILN_ACCESS_READ;
    const Image &plane = bound->plane;
    if (bound->is_image) {
      auto made = kiln::Image::create(loader_, plane.width, plane.height, plane.channels, access);
      if (!made) return made.error().message;
      bound->image = std::move(*made);
    } else {
      auto made = kiln::Buffer::create(loader_, plane.pixels.size(), access);
      if (!made) return made.error().message;
      bound->buffer = std::move(*made);
    }
    return {};
  }

  // Maps, copies between host plane and device memory, unmaps.
  std::string transfer(Bound *bound) {
    Image &plane = bound->plane;
    kiln::Image::Mapping mapping;
    if (bound->is_image) {
      auto mapped = bound->image.map(queue_);
      if (!mapped) return mapped.error().message;
      mapping = *mapped;
    } else {
      auto mapped = bound->buffer.map(queue_);
      if (!mapped) return mapped.error().message;
      mapping = {*mapped, plane.row_bytes()};
    }
    auto *device = static_cast<std::uint8_t *>(mapping.address);
    const std::size_t row = plane.row_bytes();
    if (bound->is_output) {
      copy_rows(plane.pixels.data(), row, device, mapping.row_pitch, row, plane.height);
    } else {
      copy_rows(device, mapping.row_pitch, plane.pixels.data(), row, row, plane.height);
    }
    const kiln::Outcome outcome =
        bound->is_image ? bound->image.unmap(queue_) : bound->buffer.unmap(queue_);
    return outcome ? std::string() : outcome.message;
  }

  const kiln::Loader &loader_;
  const kiln::Queue &queue_;
  const kiln::Kernel &kernel_;
  std::list<Bound> bound_;
};

const packs::Argument *input_argument(const packs::Variant &variant) {
  for (const packs::Argument &argument : variant.arguments) {
    if (role_of(argument) == Role::input) return &argument;
  }
  return nullptr;
}

}  // namespace

std::uint32_t input_channels(const packs::Variant &variant) {
  const packs::Argument *input = input_argument(variant);
  return input == nullptr ? 0 : input->channels;
}

bool input_is_image(const packs::Variant &variant) {
  const packs::Argument *input = input_argument(variant);
  return input != nullptr && is_image(*input);
}

Parameters all_parameters(const packs::Variant &variant, const Parameters &given,
                          std::string *unknown) {
  Parameters all;
  for (const packs::Argument &argument : variant.arguments) {
    if (role_of(argument) == Role::parameter) all[argument.name] = argument.value;
  }
  for (const auto &[name, value] : given) {
    const auto known = all.find(name);
    if (known == all.end()) {
      *unknown = name;
    } else {
      known->second = value;
    }
  }
  return all;
}

std::string execute(const kiln::Loader &loader, const kiln::Queue &queue,
                    const kiln::Kernel &kernel, const packs::Variant &variant, const Image &input,
                    const Parameters &parameters, const std::array<std::size_t, 3> &local,
                    Execution *out) {
  if (input_channels(variant) == 0) {
    return fmt::format("variant {} has no input argument in its manifest", variant.name);
  }
  std::string unknown;
  const Parameters all = all_parameters(variant, parameters, &unknown);
  if (!unknown.empty()) return fmt::format("variant {} has no parameter {}", variant.name, unknown);
  Launch launch(loader, queue, kernel);
  if (std::string error = launch.bind(variant, input, all); !error.empty()) return error;
  const std::size_t px = std::max<std::uint32_t>(variant.pixels[0], 1);
  const std::size_t py = std::max<std::uint32_t>(variant.pixels[1], 1);
  const kiln_ndrange range{2,
                           {(input.width + px - 1) / px, (input.height + py - 1) / py, 1},
                           {local[0], local[1], local[2]}};
  return launch.run(range, out);
}

}  // namespace kiln::builder
