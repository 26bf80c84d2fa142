// drx/primitives/slice.hpp
#pragma once
