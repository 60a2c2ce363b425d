// expect: conversion from
//
// A number never turns into a tensor by itself.
#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

Tensor make() {
#ifdef TLALOC_TEST_CONTROL
  Tensor t = tensor<double>(1.0);
#else
  Tensor t = 1.0;
#endif
  return t;
}
