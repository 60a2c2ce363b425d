// The whole library.
#pragma once

#include <tlaloc/axis.hpp>
#include <tlaloc/control.hpp>
#include <tlaloc/create.hpp>
#include <tlaloc/dtype.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/grad.hpp>
#include <tlaloc/jacobian.hpp>
#include <tlaloc/jvp.hpp>
#include <tlaloc/memory.hpp>
#include <tlaloc/ops.hpp>
#include <tlaloc/scalar.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>
#include <tlaloc/threads.hpp>
#include <tlaloc/tree.hpp>
#include <tlaloc/vmap.hpp>
