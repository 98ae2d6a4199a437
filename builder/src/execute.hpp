// Launching a variant of a pack on an image, through the runtime's public interface.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "image.hpp"
#include "kiln/kiln.hpp"
#include "kiln/packs/contents.hpp"
#include "reference.hpp"

namespace kiln::builder {

struct Execution {
  std::vector<Image> outputs;  // in the order of the variant's output arguments
  kiln_times times{};
  kiln_ndrange range{};  // as it was launched: padded, with the local size
};

// Binds `input`, outputs, sizes and parameters as the variant's arguments say, launches
// one work-item for every variant.pixels, waits, and reads the outputs back. `input` must
// have the channels that the input argument names. Parameters not given take their
// defaults. local[0] 0: the runtime chooses. Empty on success, else what went wrong.
std::string execute(const kiln::Loader &loader, const kiln::Queue &queue,
                    const kiln::Kernel &kernel, const packs::Variant &variant, const Image &input,
                    const Parameters &parameters, const std::array<std::size_t, 3> &local,
                    Execution *out);

// The channels of the variant's input argument; 0 when it has none and Kiln cannot launch it.
std::uint32_t input_channels(const packs::Variant &variant);
// Whether the input is an image object and not a buffer.
bool input_is_image(const packs::Variant &variant);
// The defaults of the variant's parameters, replaced by those of `given` with their names.
// A name that the variant does not have is returned in `unknown`.
Parameters all_parameters(const packs::Variant &variant, const Parameters &given,
                          std::string *unknown);

}  // namespace kiln::builder
