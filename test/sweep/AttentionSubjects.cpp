// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Attention over keys in a row, in sequences and in pages.

#include "Subject.h"

namespace tilejit::sweep {

namespace {

struct Form {
  std::string_view name, attributes;
  std::string_view bias = "";
  int heads = 2, keyHeads = 1;
  bool areSequences = false, hasEpilogue = false, isStrided = false;
};

constexpr Form forms[] = {{"plain", ""},
                          {"causal", "'causal': true"},
                          {"window", "'causal': true, 'window': 7"},
                          {"window-40", "'causal': true, 'window': 40", "", 4, 2},
                          {"softcap", "'softcap': 2.5, 'scale': -0.3", "", 2, 2},
                          {"bias", "'causal': true", "[#s, #t]", 2, 2},
                          {"bias-of-keys", "", "[2, 1, 1, #t]"},
                          {"groups", "'causal': true", "", 6, 2},
                          {"epilogue", "'causal': true", "", 2, 1, false, true},
                          {"strided", "", "", 2, 1, false, false, true},
                          {"sequences", "'causal': true", "", 2, 1, true},
                          {"sequences-plain", "", "", 3, 3, true}};

std::string attentionText(const Form &form, std::string_view dtype, std::string_view out) {
  std::string batches = form.areSequences ? "[1, " : "[2, ", depth = ", #d]";
  std::string rows = batches + std::to_string(form.heads) + ", #s", q = rows + depth,
              k = batches + std::to_string(form.keyHeads) + ", #t" + depth;
  std::string strides = form.isStrided ? ", 'strides': ['any', 'any', 'any', 'any']" : "";
  std::string inputs = operandText("q", dtype, q, strides) + ", " + operandText("k", dtype, k, strides) + ", " +
                       operandText("v", dtype, k, strides);
  if (!form.bias.empty())
    inputs += ", " + operandText("bias", dtype, form.bias);
  if (form.areSequences)
    inputs += ", " + operandText("cu_seqlens_q", "i32", "[#c]") + ", " + operandText("cu_seqlens_k", "i32", "[#c]");
  std::string epilogue;
  if (form.hasEpilogue) {
    inputs += ", " + operandText("rest", dtype, q);
    epilogue = ", 'epilogue': [{'op': 'scale', 'value': 1.5}, {'op': 'add', 'input': 'rest'}, {'op': 'gelu'}]";
  }
  return "'op': 'attention', 'inputs': {" + inputs + "}, 'outputs': {" + operandText("o", out, q, strides) + ", " +
         operandText("lse", "f32", rows + "]") + "}, 'attributes': {" + std::string(form.attributes) + "}" + epilogue;
}

std::string decodeText(std::string_view dtype, int heads, int keyHeads, std::string_view attributes) {
  std::string rows = "[#b, " + std::to_string(heads) + ", #s", q = rows + ", #d]",
              cache = "[#n, #p, " + std::to_string(keyHeads) + ", #d]";
  return "'op': 'attention_decode', 'inputs': {" + operandText("q", dtype, q) + ", " +
         operandText("k_cache", dtype, cache) + ", " + operandText("v_cache", dtype, cache) + ", " +
         operandText("block_table", "i32", "[#b, #t]") + ", " + operandText("seq_lens", "i32", "[#b]") +
         "}, 'outputs': {" + operandText("o", dtype, q) + ", " + operandText("lse", "f32", rows + "]") +
         "}, 'attributes': {" + std::string(attributes) + "}";
}

/// Head sizes that are asked for, and any others.
constexpr int64_t depths[] = {32, 64, 80, 96, 128, 1};

} // namespace

std::vector<Subject> attentionSubjects() {
  std::vector<Subject> subjects;
  for (std::string_view dtype : {"f32", "f16", "bf16", "f64"})
    for (int64_t depth : depths) {
      Axis d{"d", depth, depth == 1 ? 70 : depth, true};
      std::string tail = "/" + std::string(dtype) + "/" + (depth == 1 ? "any" : std::to_string(depth)) + "/";
      for (const Form &form : forms)
        for (bool isFixed : {false, true}) {
          Subject subject;
          subject.name = "attention" + tail + std::string(form.name) + (isFixed ? "-fixed" : "");
          subject.text = attentionText(form, dtype, dtype);
          subject.axes = {{"s", 1, 70, isFixed}, {"t", 1, 70, isFixed}, d};
          if (form.areSequences)
            subject.axes.push_back({"c", 2, 9, false});
          subject.launches = isFixed ? 8 : 70;
          addOnTargets(subjects, subject, false, dtype == "bf16");
        }
      for (auto [name, heads, keyHeads, attributes] :
           {std::tuple("plain", 1, 1, ""),
            {"causal", 6, 2, "'causal': true"},
            {"window", 4, 4, "'causal': true, 'window': 7, 'softcap': 2.5"}}) {
        Subject subject;
        subject.name = "attention_decode" + tail + name;
        subject.text = decodeText(dtype, heads, keyHeads, attributes);
        subject.axes = {{"s", 1, 9, false},  {"b", 1, 4, false}, {"n", 1, 40, false},
                        {"t", 1, 20, false}, {"p", 1, 70, true}, d};
        subject.launches = 24;
        addOnTargets(subjects, subject, false, dtype == "bf16");
      }
    }
  return subjects;
}

} // namespace tilejit::sweep
