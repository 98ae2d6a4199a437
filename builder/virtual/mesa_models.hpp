// SPDX-License-Identifier: Apache-2.0
// The GPUs that Mesa's drivers can be told to be. A table; pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::builder {

// A Gallium driver, and its shim.
struct MesaDriver {
  std::string_view gallium;   // as in RUSTICL_ENABLE
  std::string_view shim;      // the shim's file
  std::string_view variable;  // environment variable that names the GPU to the shim
  std::string_view packages;  // which packages of Debian have the shim, for a message
  bool lists_names;           // the shim has the names of its GPUs as strings
};

struct MesaModel {
  std::string_view name;  // "vangogh", as --virtual takes it
  const MesaDriver *driver;
  std::string_view value;      // of the driver's variable
  std::string_view marketing;  // products and SoC: "Steam Deck"; may be empty
};

// Returns the models that Kiln knows; a Mesa knows some of them.
const std::vector<MesaModel> &mesa_models();
// Returns the model of that name; null if there is none.
const MesaModel *find_mesa_model(std::string_view name);
// Returns the models' names.
std::vector<std::string> mesa_model_names();

}  // namespace kiln::builder
