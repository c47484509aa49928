// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// What treats elements one by one: expressions with broadcasting, transpositions, conversions.

#include "Subject.h"

namespace tilejit::sweep {

namespace {

constexpr std::string_view allTypes[] = {"f64",        "f32",        "f16",    "bf16",   "f8e4m3fn", "f8e5m2",
                                         "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0", "f4e2m1", "i64",      "i32",
                                         "i16",        "i8",         "i4",     "u8",     "u4",       "bool"};

void add(std::vector<Subject> &subjects, std::string name, std::string text, std::vector<Axis> axes) {
  bool isFixed = axes.back().isConstant;
  addOnTargets(subjects, {std::move(name), "", std::move(text), std::move(axes), {}, isFixed ? 24 : 70});
}

/// Behind the name of a subject whose own says that sizes are any.
std::string suffixOf(const Way &way) { return way.isFixed || way.isStrided ? "-" + std::string(way.name) : ""; }

struct Broadcast {
  std::string_view name, a, b, y;
};
constexpr Broadcast broadcasts[] = {
    {"same", "[#m, #n]", "[#m, #n]", "[#m, #n]"},  {"row", "[#m, #n]", "[#n]", "[#m, #n]"},
    {"column", "[#m, #n]", "[#m, 1]", "[#m, #n]"}, {"cross", "[#m, 1]", "[1, #n]", "[#m, #n]"},
    {"scalar", "[#m, #n]", "[]", "[#m, #n]"},      {"cube", "[#p, 1, #n]", "[#m, 1]", "[#p, #m, #n]"}};

void addExpressions(std::vector<Subject> &subjects) {
  std::vector<std::pair<std::string_view, std::string_view>> texts;
  for (std::string_view text : {"a * 2 + b", "where(a < b, a, b)", "max(a, b) - min(a, 2)", "abs(a) + relu(b)"})
    texts.push_back({text, ""});
  for (std::string_view text : {"gelu(a + b)", "exp(a) / (abs(b) + 1)", "silu(a) * tanh(b)"})
    texts.push_back({text, "f"});
  for (const Broadcast &broadcast : broadcasts)
    for (std::string_view dtype : allTypes)
      for (const Way &way : ways)
        for (size_t i = 0; i < texts.size(); ++i) {
          bool isReal = dtype[0] == 'f' || dtype == "bf16";
          if ((!isReal && !texts[i].second.empty()) || dtype == "f8e8m0" || dtype == "f4e2m1")
            continue;
          std::string_view y = dtype == "f64" || dtype == "i64" || dtype == "f16" ? dtype : isReal ? "f32" : "i32";
          auto operand = [&](std::string_view name, std::string_view type, std::string_view shape) {
            return operandText(name, type, shape, stridesText(shape, way.isStrided));
          };
          std::string text = "'op': 'elementwise', 'inputs': {" + operand("a", dtype, broadcast.a) + ", " +
                             operand("b", dtype, broadcast.b) + "}, 'outputs': {" + operand("y", y, broadcast.y) +
                             "}, 'attributes': {'expression': {'y': '" + std::string(texts[i].first) + "'}}";
          std::vector<Axis> axes{{"p", 1, 5, way.isFixed}, {"m", 0, 70, way.isFixed}, {"n", 0, 70, way.isFixed}};
          if (broadcast.y.find("#p") == std::string_view::npos)
            axes.erase(axes.begin());
          add(subjects,
              "elementwise/" + std::string(dtype) + "/" + std::to_string(i) + "/" + std::string(broadcast.name) +
                  suffixOf(way),
              text, axes);
        }
}

struct Order {
  std::string_view name, x, y, permutation;
};
constexpr Order orders[] = {{"10", "[#m, #n]", "[#n, #m]", "[1, 0]"},
                            {"102", "[#p, #m, #n]", "[#m, #p, #n]", "[1, 0, 2]"},
                            {"021", "[#p, #m, #n]", "[#p, #n, #m]", "[0, 2, 1]"},
                            {"201", "[#p, #m, #n]", "[#n, #p, #m]", "[2, 0, 1]"},
                            {"210", "[#p, #m, #n]", "[#n, #m, #p]", "[2, 1, 0]"}};

void addMoves(std::vector<Subject> &subjects) {
  for (const Order &order : orders)
    for (std::string_view dtype : allTypes)
      for (const Way &way : ways) {
        std::vector<Axis> axes{{"p", 1, 5, way.isFixed}, {"m", 0, 70, way.isFixed}, {"n", 0, 70, way.isFixed}};
        if (order.x.find("#p") == std::string_view::npos)
          axes.erase(axes.begin());
        add(subjects, "transpose/" + std::string(dtype) + "/" + std::string(order.name) + suffixOf(way),
            "'op': 'transpose', 'inputs': {" + operandText("x", dtype, order.x, stridesText(order.x, way.isStrided)) +
                "}, 'outputs': {" + operandText("y", dtype, order.y, stridesText(order.y, way.isStrided)) +
                "}, 'attributes': {'permutation': " + std::string(order.permutation) + "}",
            axes);
      }
}

void addCasts(std::vector<Subject> &subjects) {
  for (std::string_view from : allTypes)
    for (std::string_view to : allTypes)
      for (const Way &way : ways) {
        bool isLine = !way.isFixed && !way.isStrided;
        std::string_view shape = isLine ? "[#n]" : "[#m, #n]";
        std::vector<Axis> axes{{"m", 0, 70, way.isFixed}, {"n", 0, isLine ? 300 : 70, way.isFixed}};
        if (isLine)
          axes.erase(axes.begin());
        add(subjects, "cast/" + std::string(from) + "-" + std::string(to) + "/" + std::string(way.name),
            "'op': 'cast', 'inputs': {" + operandText("x", from, shape, stridesText(shape, way.isStrided)) +
                "}, 'outputs': {" + operandText("y", to, shape, stridesText(shape, way.isStrided)) +
                "}, 'attributes': {}",
            axes);
      }
}

} // namespace

std::vector<Subject> elementSubjects() {
  std::vector<Subject> subjects;
  addExpressions(subjects);
  addMoves(subjects);
  addCasts(subjects);
  return subjects;
}

} // namespace tilejit::sweep
