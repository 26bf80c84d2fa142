// drx/primitives/pad.hpp
#pragma once
