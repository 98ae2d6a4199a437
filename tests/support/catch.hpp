// Catch2, whichever of its major versions is installed.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as Catch2 2 has it
#else
#include <catch2/catch.hpp>
#endif
