// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Operators of rows: softmax, norms, reductions.

#include "Subject.h"

namespace tilejit::sweep {

namespace {

/// A shape that is swept along some of its dimensions.
struct Form {
  std::string_view name, shape, leading, normalised;
  int axis;
  bool isFixed = false;
  std::string_view strides = "";
};

constexpr Form forms[] = {{"rows", "[#m, #n]", "[#m]", "[#n]", 1},
                          {"fixed-rows", "[#m, #n]", "[#m]", "[#n]", 1, true},
                          {"cube", "[#p, #m, #n]", "[#p, #m]", "[#n]", 2},
                          {"two-axes", "[#p, #m, #n]", "[#p]", "[#m, #n]", 1},
                          {"fixed-two-axes", "[#p, #m, #n]", "[#p]", "[#m, #n]", 1, true},
                          {"columns", "[#m, #n]", "[]", "[#m, #n]", 0},
                          {"strided", "[#m, #n]", "[#m]", "[#n]", 1, false, ", 'strides': ['any', 'any']"},
                          {"strided-columns", "[#m, #n]", "[]", "[#m, #n]", 0, false, ", 'strides': ['any', 'any']"}};

std::vector<Axis> axesOf(const Form &form) {
  std::vector<Axis> axes{{"m", 1, 70, false}, {"n", 1, 70, form.isFixed}};
  if (form.shape.find("#p") != std::string_view::npos)
    axes.push_back({"p", 1, 7, false});
  return axes;
}

void add(std::vector<Subject> &subjects, const std::string &name, const Form &form, const std::string &text) {
  Subject subject;
  subject.name = name + "/" + std::string(form.name);
  subject.text = text;
  subject.axes = axesOf(form);
  addOnTargets(subjects, subject);
}

/// 'op': ..., and members; what is swept is x.
std::string wholeText(std::string_view op, const std::string &inputs, const std::string &outputs,
                      const std::string &attributes) {
  return "'op': '" + std::string(op) + "', 'inputs': {" + inputs + "}, 'outputs': {" + outputs + "}, 'attributes': {" +
         attributes + "}";
}

void addNormalising(std::vector<Subject> &subjects, const Form &form, std::string_view dtype, std::string_view out) {
  std::string x = operandText("x", dtype, form.shape, form.strides),
              y = operandText("y", out, form.shape, form.strides);
  std::string types = "/" + std::string(dtype) + "-" + std::string(out), axis = "'axis': " + std::to_string(form.axis);
  for (std::string_view op : {"softmax", "log_softmax"})
    for (std::string_view accuracy : {"full", "fast"})
      add(subjects, std::string(op) + types + "-" + std::string(accuracy), form,
          wholeText(op, x, y, axis + ", 'accuracy': '" + std::string(accuracy) + "'"));
  for (std::string_view op : {"layernorm", "rmsnorm"}) {
    add(subjects, std::string(op) + types, form, wholeText(op, x, y, axis));
    std::string_view other = dtype == "f64" ? "f64" : "f32";
    std::string inputs = x + ", " + operandText("weight", dtype, form.normalised);
    std::string outputs = y + ", " + operandText("rstd", other, form.leading);
    if (op == "layernorm") {
      inputs += ", " + operandText("bias", other, form.normalised);
      outputs += ", " + operandText("mean", other, form.leading);
    }
    add(subjects, std::string(op) + "-weighted" + types, form, wholeText(op, inputs, outputs, axis));
  }
}

struct Reduction {
  std::string_view name, shape, result, axes;
};
constexpr Reduction reductions[] = {{"rows", "[#m, #n]", "[#m]", "[1]"},
                                    {"columns", "[#m, #n]", "[#n]", "[0]"},
                                    {"whole", "[#m, #n]", "[]", "[0, 1]"},
                                    {"middle", "[#p, #m, #n]", "[#p, #n]", "[1]"},
                                    {"outer", "[#p, #m, #n]", "[#m]", "[0, 2]"}};

void addReductions(std::vector<Subject> &subjects, std::string_view kind, std::string_view dtype) {
  bool isArg = kind.starts_with("arg"), isReal = dtype[0] == 'f' || dtype == "bf16";
  std::string_view y = isArg                       ? "i64"
                       : kind == "mean" && !isReal ? "f32"
                       : isReal                    ? dtype
                       : dtype == "i64"            ? "i64"
                                                   : "i32";
  for (const Reduction &reduction : reductions)
    for (const Way &way : ways) {
      std::string strides = stridesText(reduction.shape, way.isStrided);
      Form form{reduction.name, reduction.shape, "", "", 0, way.isFixed};
      std::string name = "reduce/" + std::string(kind) + "/" + std::string(dtype) + "/" + std::string(way.name);
      add(subjects, name, form,
          wholeText("reduce", operandText("x", dtype, reduction.shape, strides), operandText("y", y, reduction.result),
                    "'kind': '" + std::string(kind) + "', 'axes': " + std::string(reduction.axes)));
    }
}

} // namespace

std::vector<Subject> rowSubjects() {
  std::vector<Subject> subjects;
  for (const Form &form : forms)
    for (auto [dtype, out] : {std::pair("f32", "f32"),
                              {"f64", "f64"},
                              {"f16", "f16"},
                              {"bf16", "bf16"},
                              {"f32", "bf16"},
                              {"bf16", "f32"},
                              {"f8e4m3fn", "f8e4m3fn"},
                              {"f8e5m2", "f16"}})
      addNormalising(subjects, form, dtype, out);
  for (std::string_view kind : {"sum", "mean", "max", "min", "prod", "argmax", "argmin"})
    for (std::string_view dtype :
         {"f32", "f64", "f16", "bf16", "f8e4m3fn", "i64", "i32", "i16", "i8", "u8", "i4", "u4", "bool"})
      addReductions(subjects, kind, dtype);
  return subjects;
}

} // namespace tilejit::sweep
