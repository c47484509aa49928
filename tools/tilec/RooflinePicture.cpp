// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A roofline: operations a second over operations a byte, both logarithmic. What the memory allows rises, what the
// arithmetic allows is level; a kernel stands below where both meet or left of it. After Williams, Waterman and
// Patterson, "Roofline: an insightful visual performance model for multicore architectures", CACM 52(4), 2009.

#include "Explanation.h"

#include "Reports.h"

#include <algorithm>
#include <cmath>

namespace tilejit::tilec {

namespace {

constexpr double width = 560, height = 260, left = 64, bottom = 40, top = 18, right = 16;

/// From decades to places on the picture.
class Axes {
public:
  Axes(double lowX, double highX, double lowY, double highY)
      : lowX_(std::floor(lowX)), highX_(std::ceil(highX)), lowY_(std::floor(lowY)), highY_(std::ceil(highY)) {}

  double x(double value) const {
    return left + (std::log10(value) - lowX_) / (highX_ - lowX_) * (width - left - right);
  }
  double y(double value) const {
    return height - bottom - (std::log10(value) - lowY_) / (highY_ - lowY_) * (height - bottom - top);
  }
  double lowestX() const { return std::pow(10, lowX_); }
  double highestX() const { return std::pow(10, highX_); }

  /// A line and a number for each decade.
  std::string grid() const {
    std::string svg;
    for (double decade = lowX_; decade <= highX_; ++decade) {
      double at = x(std::pow(10, decade));
      svg += formatText("<line class=grid x1=%.1f x2=%.1f y1=%.1f y2=%.1f />", at, at, top, height - bottom);
      svg += formatText("<text x=%.1f y=%.1f text-anchor=middle>%g</text>", at, height - bottom + 14,
                        std::pow(10, decade));
    }
    for (double decade = lowY_; decade <= highY_; ++decade) {
      double at = y(std::pow(10, decade));
      svg += formatText("<line class=grid x1=%.1f x2=%.1f y1=%.1f y2=%.1f />", left, width - right, at, at);
      svg += formatText("<text x=%.1f y=%.1f text-anchor=end>%g</text>", left - 6, at + 4, std::pow(10, decade));
    }
    return svg;
  }

private:
  double lowX_, highX_, lowY_, highY_;
};

/// A kernel of that intensity, on the roof.
std::string point(const Axes &axes, const Roofline &roofline, double intensity, const char *style, const char *name) {
  double rate = std::min(roofline.gflops, intensity * roofline.gbytesPerS);
  return formatText(
      "<circle class=%s cx=%.1f cy=%.1f r=5><title>%s: %.3g operations a byte, at most %.3g GFLOP/s</title>"
      "</circle>",
      style, axes.x(intensity), axes.y(rate), name, intensity, rate);
}

} // namespace

std::string rooflinePicture(const Roofline &roofline) {
  double least = roofline.intensity();
  double moved = roofline.movedBytes > 0 ? roofline.flops / static_cast<double>(roofline.movedBytes) : least;
  if (!(least > 0) || !(moved > 0))
    return "";
  double low = std::min({least, moved, roofline.ridge()}) / 3, high = std::max({least, moved, roofline.ridge()}) * 3;
  Axes axes(std::log10(low), std::log10(high), std::log10(low * roofline.gbytesPerS), std::log10(roofline.gflops));
  std::string svg = formatText("<svg class=roofline viewBox=\"0 0 %g %g\" width=%g role=img>", width, height, width);
  svg += axes.grid();
  svg += formatText("<polyline class=roof points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\" />", axes.x(axes.lowestX()),
                    axes.y(axes.lowestX() * roofline.gbytesPerS), axes.x(roofline.ridge()), axes.y(roofline.gflops),
                    axes.x(axes.highestX()), axes.y(roofline.gflops));
  if (moved != least)
    svg += point(axes, roofline, moved, "moved", "with every sector that was touched");
  svg += point(axes, roofline, least, "least", "with each operand moved once");
  svg += formatText("<text x=%.1f y=%.1f text-anchor=middle>operations a byte</text>", (left + width - right) / 2,
                    height - 6);
  return svg + formatText("<text x=%.1f y=%.1f>GFLOP/s</text></svg>\n", 4.0, top - 6);
}

} // namespace tilejit::tilec
