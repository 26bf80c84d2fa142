// A name of drx::detail is found whatever was included before: a namespace of the library may have a `detail` of its
// own.
namespace drx {
namespace ad::detail {}
namespace emit::detail {}
namespace error::detail {}
namespace interpreter::detail {}
namespace math::detail {}
namespace plan::detail {}
namespace prim::detail {}
namespace rows::detail {}
namespace rules::detail {}
namespace run::detail {}
namespace transform::detail {}
}  // namespace drx
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>
#include <drx/run/check/check_grads.hpp>
