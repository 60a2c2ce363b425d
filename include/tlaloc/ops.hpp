// The operations on tensors, by family.
#pragma once

#include <tlaloc/contract.hpp>
#include <tlaloc/elementwise.hpp>
#include <tlaloc/loss.hpp>
#include <tlaloc/reduce.hpp>
#include <tlaloc/structure.hpp>
