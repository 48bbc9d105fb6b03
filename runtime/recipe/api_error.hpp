// Where api_error.hpp has moved to.
#pragma once

#include "runtime/recipe/text/api_error.hpp"
