#include <drx/drx.hpp>

int main(int argc, char**) {
  static_cast<void>(argc);
  auto f = [](auto x, auto k) { return x * drx::cast<float>(k); };
  auto p = drx::define<float, int>(f);
  return p.tape().sizes.entries == 0;
}
