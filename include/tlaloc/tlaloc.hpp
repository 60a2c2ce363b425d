// The whole library.
#pragma once

#include <tlaloc/axis.hpp>
#include <tlaloc/check.hpp>
#include <tlaloc/control.hpp>
#include <tlaloc/create.hpp>
#include <tlaloc/custom.hpp>
#include <tlaloc/debug.hpp>
#include <tlaloc/dtype.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/grad.hpp>
#include <tlaloc/jacobian.hpp>
#include <tlaloc/jvp.hpp>
#include <tlaloc/memory.hpp>
#include <tlaloc/ops.hpp>
#include <tlaloc/scalar.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tape.hpp>
#include <tlaloc/tensor.hpp>
#include <tlaloc/threads.hpp>
#include <tlaloc/tree.hpp>
#include <tlaloc/vmap.hpp>
