// A pendulum's length from the times it takes to swing through the bottom: an ordinary differential equation integrated
// by a loop that stops at another step for every release angle, and differentiated through.
//
// Each pendulum is released at rest and integrated until its angle changes sign; the moment is found within the last
// step by linear interpolation, so that it depends smoothly on the length. The length is then fitted by Newton's method
// on one number, with derivatives from grad and hessian. Ends with a non-zero exit when the length is not found, or
// when the gradient differs from a central finite difference.
#include <cmath>
#include <cstdio>
#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

namespace {

constexpr double gravity = 9.81;
constexpr double step = 0.01;

struct Swing {
  Tensor angle, speed, time, last_angle;
};

/// When a pendulum of that length, released at that angle, first hangs straight down.
Tensor time_to_bottom(const Tensor& length, const Tensor& release) {
  const Swing end = while_loop([](const Swing& s) { return s.angle > 0.0; },
                               [&](const Swing& s) {
                                 const Tensor speed = s.speed - step * gravity / length * sin(s.angle);
                                 return Swing{s.angle + step * speed, speed, s.time + step, s.angle};
                               },
                               Swing{release, zeros_like(release), zeros_like(release), release});
  // The angle was last_angle a step ago and is `angle`, at or below 0, now.
  return end.time + step * end.angle / (end.last_angle - end.angle);
}

}  // namespace

int main() {
  const Axis swing{"swing"};
  const Tensor releases = tensor<double>({0.2, 0.5, 1.0, 1.5, 2.5}, {swing});
  const auto times = vmap(time_to_bottom, swing);
  const Tensor measured = times(tensor<double>(0.75), releases);
  std::printf("times to the bottom: ");
  for (const double t : measured.to_vector<double>()) std::printf("%.4f ", t);
  std::printf("s\n");

  const auto misfit = [&](const Tensor& length) { return sum(square(times(length, releases) - measured)); };
  const Tensor guess = tensor<double>(0.5);
  const double slope = grad(misfit)(guess).item<double>();
  const double h = 1e-6;
  const double difference =
      (misfit(tensor<double>(0.5 + h)).item<double>() - misfit(tensor<double>(0.5 - h)).item<double>()) / (2 * h);
  std::printf("gradient at 0.5 m: %.8f, finite difference %.8f\n", slope, difference);

  Tensor length = guess;
  for (int i = 0; i < 12; ++i) {
    length = length - grad(misfit)(length) / hessian(misfit)(length);
    std::printf("length %.9f m\n", length.item<double>());
  }
  const bool right = std::abs(length.item<double>() - 0.75) < 1e-6 && std::abs(slope - difference) < 1e-5;
  std::printf(right ? "the length is found\n" : "the length is not found\n");
  return right ? 0 : 1;
}
