// SPDX-License-Identifier: Apache-2.0
// What a finish says of a driver that was told to be another GPU.
#include "builder/device/virtual_device.hpp"

#include "tests/support/catch.hpp"

using kiln::builder::is_virtual;
using kiln::builder::mark_virtual;
using kiln::builder::unmark_virtual;
using kiln::packs::Finality;
using kiln::packs::Finish;

TEST_CASE("a mark names the driver and the product, and can be taken away again") {
  for (const char *before :
       {"", ", launches 0123456789abcdef", "maker 1", "maker 1, launches 0123456789abcdef"}) {
    Finish finish{Finality::not_launched, "the device does nothing"};
    finish.finisher = before;
    mark_virtual("neo:skl", &finish);
    CHECK(is_virtual(finish));
    CHECK(finish.finisher.starts_with("virtual-neo 1 as skl"));
    CHECK(finish.finisher.ends_with(before));
    CHECK(finish.why_not.starts_with("no device of this kind has launched it"));
    const Finish once = finish;
    mark_virtual("neo:kbl", &finish);
    CHECK(finish == once);
    unmark_virtual(&finish);
    CHECK(finish.finisher == before);
    unmark_virtual(&finish);
    CHECK(finish.finisher == before);
  }
}

TEST_CASE("what a device launched is not marked") {
  for (const Finality finality : {Finality::yes, Finality::no}) {
    Finish finish{finality, "a reason"};
    mark_virtual("neo:skl", &finish);
    CHECK(!is_virtual(finish));
    CHECK(finish.why_not == "a reason");
  }
}
