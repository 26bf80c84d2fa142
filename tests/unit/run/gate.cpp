#include <drx/run/call/gate.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <utility>

using drx::run::call_gate;

TEST_CASE("a call while another is under way is refused, one after it is not") {
  call_gate gate;
  {
    const auto passage = gate.enter("a call");
    CHECK_THROWS_WITH_AS(
        (void)gate.enter("a call of program 7"),
        "drx: a call of program 7 while another thread is in one: compile a program for each thread, or let them take turns",
        std::logic_error);
  }
  CHECK_NOTHROW((void)gate.enter("a call"));
}

TEST_CASE("a call that ends by an exception leaves the gate open") {
  call_gate gate;
  try {
    const auto passage = gate.enter("a call");
    throw std::runtime_error("the call fails");
  } catch (const std::runtime_error&) {
  }
  CHECK_NOTHROW((void)gate.enter("a call"));
}

TEST_CASE("a gate moves with its program, and what is left says so") {
  call_gate first;
  call_gate second(std::move(first));
  CHECK_THROWS_WITH_AS((void)first.enter("a call"), "drx: a call of a compiled program that was moved from",
                       std::logic_error);
  CHECK_NOTHROW((void)second.enter("a call"));
  first = std::move(second);
  CHECK_NOTHROW((void)first.enter("a call"));
  CHECK_THROWS_AS((void)second.enter("a call"), std::logic_error);
}
