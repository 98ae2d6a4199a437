#include "check_variant.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "execute.hpp"
#include "manifest.hpp"
#include "test_images.hpp"

namespace kiln::test {
namespace {

using builder::Image;
using builder::Parameters;
using builder::Role;
using builder::Storage;
using nlohmann::json;

constexpr std::size_t kMismatchesTold = 5;
constexpr std::uint8_t kPoison = 0xa5;
constexpr std::size_t kGuard = 64;  // bytes behind a buffer that no kernel may write
bool is_poison(std::uint8_t byte) { return byte == kPoison; }

using LocalSize = std::array<std::size_t, 2>;

// Local sizes to launch with; {0, 0} lets the runtime choose. Few: some drivers compile a
// kernel anew for each. 7x3 divides no size from which it could hide its padding.
const std::array<LocalSize, 3> kLocalSizes = {LocalSize{8, 4}, LocalSize{7, 3}, LocalSize{1, 1}};

// A failure that ends the check of a variant.
struct Failure {
  std::string text;
};

template <typename T>
T take(Result<T> result) {
  if (!result) throw Failure{result.error().message};
  return std::move(*result);
}

void require(const Outcome &outcome) {
  if (!outcome) throw Failure{outcome.message};
}

// Memory of an argument, mapped by the host on both sides so that it can be poisoned.
struct Plane {
  bool is_output = false;
  bool is_image = false;
  kiln::Buffer buffer;
  kiln::Image image;
};

class Checker {
 public:
  Checker(const packs::Program &program, const packs::Variant &variant, const CheckPlan &plan)
      : program_(program), variant_(variant), plan_(plan) {}

  json run(const std::string &pack_path, std::size_t index) {
    auto opencl = take(kiln::OpenCL::open());
    auto device = take(opencl.device(index));
    auto pack = take(kiln::Pack::open_file(pack_path));
    loader_ = take(kiln::Loader::create(device, pack));
    auto loaded = loader_.load(program_.name, variant_.name);
    if (!loaded.program) {
      const kiln_error &error = loaded.program.error();
      if (error.status == KILN_ERROR_REQUIREMENT) return {{"skipped", error.message}};
      throw Failure{error.message};
    }
    kernel_ = take(kiln::Kernel::create(*loaded.program));
    queue_ = take(kiln::Queue::create(loader_));
    check_sizes();
    return {{"launches", launches_},
            {"failed", failed_},
            {"mismatches", told_},
            {"rung", json::parse(loaded.report.json())["rung"]}};
  }

 private:
  // Buffers are made once, for the largest size, and images for each size. A light check
  // makes buffers for each size as well, without a byte to spare: the device looks at that.
  void check_sizes() {
    if (!plan_.light) make_planes(plan_.to, plan_.to, false, kGuard);
    for (std::uint32_t height = plan_.from; height <= plan_.to; ++height) {
      for (std::uint32_t width = plan_.from; width <= plan_.to; ++width) {
        if (plan_.light) make_planes(width, height, false, 0);
        make_planes(width, height, true, 0);
        check_size(width, height);
      }
    }
  }

  void check_size(std::uint32_t width, std::uint32_t height) {
    std::size_t local = width + height;  // each size gets another one, and each pattern of it
    for (const Pattern pattern : kPatterns) {
      if (plan_.light && pattern != Pattern::random) break;
      const Image input = make_image(pattern, width, height, builder::input_channels(variant_));
      for (const Parameters &parameters : parameter_sets(pattern)) {
        check_launch(input, pattern, parameters,
                     kLocalSizes[plan_.light ? 0 : local++ % kLocalSizes.size()]);
      }
    }
  }

  std::vector<Parameters> parameter_sets(Pattern pattern) const {
    std::string unknown;
    std::vector<Parameters> sets{builder::all_parameters(variant_, {}, &unknown)};
    if (plan_.light || !sets[0].contains("threshold")) return sets;
    if (pattern != Pattern::random && pattern != Pattern::steps) return sets;
    for (const std::int64_t threshold : {0, 1, 255}) {
      sets.push_back(sets[0]);
      sets.back()["threshold"] = threshold;
    }
    return sets;
  }

  void make_planes(std::uint32_t width, std::uint32_t height, bool images, std::size_t guard) {
    guard_ = images ? guard_ : guard;
    for (const packs::Argument &argument : variant_.arguments) {
      const auto role = static_cast<Role>(argument.role);
      if (role != Role::input && role != Role::output) continue;
      const bool is_image = static_cast<Storage>(argument.storage) == Storage::image;
      if (is_image != images) continue;
      Plane &plane = planes_[&argument];
      plane.is_output = role == Role::output;
      plane.is_image = is_image;
      const std::size_t bytes = std::size_t{width} * height * argument.channels;
      if (is_image) {
        plane.image =
            take(kiln::Image::create(loader_, width, height, argument.channels, KILN_ACCESS_BOTH));
      } else {
        plane.buffer = take(kiln::Buffer::create(loader_, bytes + guard, KILN_ACCESS_BOTH));
      }
    }
  }

  // Gives `use` every row of the mapped plane, and `guard` what lies behind a buffer's last.
  template <typename Use, typename Guard>
  void with_rows(Plane &plane, std::size_t row, std::size_t height, Use use, Guard guard) {
    std::uint8_t *address = nullptr;
    std::size_t pitch = row;
    if (plane.is_image) {
      const auto mapping = take(plane.image.map(queue_));
      address = static_cast<std::uint8_t *>(mapping.address);
      pitch = mapping.row_pitch;
    } else {
      address = static_cast<std::uint8_t *>(take(plane.buffer.map(queue_)));
    }
    for (std::size_t y = 0; y < height; ++y) use(y, address + y * pitch);
    if (!plane.is_image) guard(address + height * pitch);
    require(plane.is_image ? plane.image.unmap(queue_) : plane.buffer.unmap(queue_));
  }

  void bind(const Image &input, const Parameters &parameters) {
    for (unsigned i = 0; i < variant_.arguments.size(); ++i) {
      const packs::Argument &argument = variant_.arguments[i];
      switch (static_cast<Role>(argument.role)) {
        case Role::width: require(kernel_.set(i, input.width)); break;
        case Role::height: require(kernel_.set(i, input.height)); break;
        case Role::parameter:
          require(kernel_.set(i, static_cast<cl_uint>(parameters.at(argument.name))));
          break;
        case Role::input:
        case Role::output: {
          const Plane &plane = planes_.at(&argument);
          require(plane.is_image ? kernel_.set(i, plane.image) : kernel_.set(i, plane.buffer));
        }
      }
    }
  }

  void fill(const Image &input) {
    for (auto &[argument, plane] : planes_) {
      const std::size_t bytes = std::size_t{input.width} * argument->channels;
      const bool is_output = plane.is_output;
      with_rows(
          plane, bytes, input.height,
          [&](std::size_t y, std::uint8_t *row) {
            if (is_output) {
              std::memset(row, kPoison, bytes);
            } else {
              std::memcpy(row, input.pixels.data() + y * bytes, bytes);
            }
          },
          [&](std::uint8_t *guard) { std::memset(guard, kPoison, guard_); });
    }
  }

  void check_launch(const Image &input, Pattern pattern, const Parameters &parameters,
                    const LocalSize &local) {
    bind(input, parameters);
    fill(input);
    const std::size_t px = std::max<std::uint32_t>(variant_.pixels[0], 1);
    const std::size_t py = std::max<std::uint32_t>(variant_.pixels[1], 1);
    const kiln_ndrange range{
        2, {(input.width + px - 1) / px, (input.height + py - 1) / py, 1}, {local[0], local[1], 1}};
    require(take(kernel_.launch(queue_, range)).wait());
    ++launches_;
    const auto expected = builder::run_reference(program_.reference, input, parameters);
    auto plane = expected.begin();
    const std::string where =
        fmt::format("{}x{}, {}, local {}x{}{}", input.width, input.height, pattern_name(pattern),
                    local[0], local[1], parameter_text(parameters));
    for (const packs::Argument &argument : variant_.arguments) {
      if (static_cast<Role>(argument.role) != Role::output) continue;
      if (plane == expected.end()) throw std::runtime_error("the reference gives fewer planes");
      compare(argument, *plane++, where);
    }
  }

  static std::string parameter_text(const Parameters &parameters) {
    std::string text;
    for (const auto &[name, value] : parameters) text += fmt::format(", {} {}", name, value);
    return text;
  }

  void compare(const packs::Argument &argument, const Image &expected, const std::string &where) {
    const unsigned tolerance =
        builder::reference_tolerance(program_.reference, builder::input_is_image(variant_));
    const std::size_t bytes = std::size_t{expected.width} * argument.channels;
    bool good = true;
    with_rows(
        planes_.at(&argument), bytes, expected.height,
        [&](std::size_t y, const std::uint8_t *row) {
          const std::uint8_t *truth = expected.pixels.data() + y * bytes;
          if (!good || (tolerance == 0 && std::memcmp(row, truth, bytes) == 0)) return;
          for (std::size_t i = 0; i < bytes && good; ++i) {
            good = static_cast<unsigned>(std::abs(row[i] - truth[i])) <= tolerance;
            if (!good) tell(expected, where, y, i, truth[i], row[i]);
          }
        },
        [&](const std::uint8_t *guard) {
          if (!good || std::all_of(guard, guard + guard_, is_poison)) return;
          good = false;
          if (told_.size() < kMismatchesTold) told_.push_back(where + ": wrote behind the buffer");
        });
    if (!good) ++failed_;
  }

  void tell(const Image &expected, const std::string &where, std::size_t y, std::size_t byte,
            unsigned wanted, unsigned got) {
    if (told_.size() >= kMismatchesTold) return;
    told_.push_back(
        fmt::format("{}: plane \"{}\", pixel ({}, {}), channel {}: expected {}, got {}{}", where,
                    expected.name, byte / expected.channels, y, byte % expected.channels, wanted,
                    got, got == kPoison ? " (perhaps never written)" : ""));
  }

  const packs::Program &program_;
  const packs::Variant &variant_;
  const CheckPlan &plan_;
  kiln::Loader loader_;
  kiln::Kernel kernel_;
  kiln::Queue queue_;
  std::map<const packs::Argument *, Plane> planes_;
  std::size_t guard_ = 0;
  long launches_ = 0;
  long failed_ = 0;
  std::vector<std::string> told_;
};

}  // namespace

json check_variant(const std::string &pack_path, std::size_t index, const packs::Program &program,
                   const packs::Variant &variant, const CheckPlan &plan) {
  const auto start = std::chrono::steady_clock::now();
  json answer;
  try {
    answer = Checker(program, variant, plan).run(pack_path, index);
  } catch (const Failure &failure) {
    answer = {{"launches", 0}, {"failed", 1}, {"mismatches", {failure.text}}, {"rung", "error"}};
  }
  answer["seconds"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

}  // namespace kiln::test
