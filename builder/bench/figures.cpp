// SPDX-License-Identifier: Apache-2.0
// Prints figures beside their goals.
#include "builder/bench/figures.hpp"

#include <fmt/format.h>

namespace kiln::builder {

std::string figures_text(const Figures &figures) {
  std::string text;
  for (const Figure &figure : figures) {
    const std::string goal = figure.most    ? fmt::format("at most {:g}", *figure.most)
                             : figure.least ? fmt::format("at least {:g}", *figure.least)
                                            : std::string();
    text +=
        fmt::format("{:52} {:12.3f} {:6} {:14}{}\n", figure.what, figure.value, figure.unit, goal,
                    goal.empty()   ? ""
                    : figure.met() ? " met"
                                   : " missed");
  }
  return text;
}

nlohmann::json to_json(const Figures &figures) {
  nlohmann::json all = nlohmann::json::array();
  for (const Figure &figure : figures) {
    nlohmann::json each{{"what", figure.what}, {"value", figure.value}, {"unit", figure.unit}};
    if (figure.most) each["most"] = *figure.most;
    if (figure.least) each["least"] = *figure.least;
    if (figure.most || figure.least) each["met"] = figure.met();
    all.push_back(std::move(each));
  }
  return all;
}

}  // namespace kiln::builder
