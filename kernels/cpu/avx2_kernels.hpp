// The AVX2 + FMA + F16C kernels by name, for the table in kernels.cpp; kernels.hpp says what each
// does. Nothing else calls them: the processor must be asked first.
#pragma once

#include "kernels/cpu/kernels.hpp"

namespace troupe::cpu::avx2 {

void expand_tile(const PackedMatrix& matrix, std::size_t tile, std::size_t k_begin,
                 std::size_t k_count, float* panel);
void multiply_tile(const PackedMatrix& matrix, std::size_t tile, const float* x, float* y);
void gemm(const Gemm& call);
void rms_norm(const float* x, const float* weight, float epsilon, std::size_t n, float* out);
void rotate_pairs(float* x, const float* cosine, const float* sine, std::size_t n);
void silu_multiply(float* gate, const float* up, std::size_t n);
float exponentials(float* x, float maximum, std::size_t n);
float maximum(const float* x, std::size_t n);
void add(float* x, const float* y, std::size_t n);
void scale(float* x, float factor, std::size_t n);

}  // namespace troupe::cpu::avx2
