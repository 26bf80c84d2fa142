// Random programs by seed: a number of them, or one again, as environment variables say; a failure becomes a sentence.
#pragma once

#include <cstdlib>
#include <exception>
#include <string>

namespace harness {

inline int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

/// The result of fault(), or the text that it throws.
template <class F>
std::string fault_or_what_is_thrown(const F& fault) {
  try {
    return fault();
  } catch (const char* sentence) {
    return std::string("thrown: ") + sentence;
  } catch (const std::exception& e) {
    return std::string("thrown: ") + e.what();
  }
}

/// Calls f(seed) for DRX_RANDOM_PROGRAMS seeds (by default `programs`), or only for DRX_RANDOM_SEED if that is set.
template <class F>
void for_random_seeds(int programs, const F& f) {
  const int only = number_from("DRX_RANDOM_SEED", -1), n = only >= 0 ? 1 : number_from("DRX_RANDOM_PROGRAMS", programs);
  for (int i = 0; i < n; ++i) f(static_cast<unsigned>(only >= 0 ? only : i));
}

}  // namespace harness
