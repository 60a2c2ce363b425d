// The operations on tensors, by family.
#pragma once

#include <tlaloc/contract.hpp>
#include <tlaloc/cumulative.hpp>
#include <tlaloc/elementwise.hpp>
#include <tlaloc/indexing.hpp>
#include <tlaloc/loss.hpp>
#include <tlaloc/reduce.hpp>
#include <tlaloc/sorting.hpp>
#include <tlaloc/structure.hpp>
#include <tlaloc/windows.hpp>
