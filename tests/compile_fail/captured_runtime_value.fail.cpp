// A traced lambda with a run-time value in it.
// expect: error::traced_lambda_captures_a_runtime_value
// expect: make it an input
#include <drx/drx.hpp>

int main(int argc, char**) {
  int k = argc;
  auto f = [k](auto x) { return x * k; };
  auto p = drx::define<float>(f);
  return p.tape().sizes.entries == 0;
}
