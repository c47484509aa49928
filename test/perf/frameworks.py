# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""PyTorch and ONNX Runtime as contestants of peers.py, see contestants.py.

Both share the case's arrays. Where an operator takes its output from the caller it gets the case's; what else PyTorch
allocates comes from the heap, which peers.py sets up to keep what is freed.
"""

import re

import numpy

from contestants import modules


class Torch:
    """PyTorch's own operators, its oneDNN's, and what its compiler makes of them."""

    name, compiles = "torch", True

    def __init__(self, threads):
        [torch] = modules("torch")
        self.torch, self.f = torch, torch.nn.functional
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        parts = re.findall(r"Math Kernel Library Version [\d.]+|MKL-DNN v[\d.]+", torch.__config__.show())
        self.about = ", ".join([torch.__version__, *parts, torch.backends.cpu.get_cpu_capability()])

    def tensor(self, case, name):
        facts = {**case.description["inputs"], **case.description["outputs"]}[name]
        tensor = self.torch.from_numpy(case.arrays[name])
        return tensor.view(self.torch.bfloat16) if facts["dtype"] == "bf16" else tensor

    def compiled(self, function, *arguments):
        """Nothing, or one pair."""
        if not self.compiles:
            return []
        made = self.torch.compile(function, dynamic=False)
        made(*arguments)
        return [("torch compiled", lambda: made(*arguments))]

    def run(self, case):
        tensors = {name: self.tensor(case, name) for name in case.arrays}
        yield from getattr(self, case.kind)(case, tensors)

    def matmul(self, case, t):
        a, b, c, torch = t["a"], t["b"], t["c"], self.torch
        if case.dtype == "int8":
            yield from self.integer_matmul(a, b)
            return
        linear = torch.ops.mkldnn._linear_pointwise
        packed = torch.ops.mkldnn._reorder_linear_weight(b.t().contiguous(), a.shape[0])
        turned = b.t()
        if case.gelu:
            extra = (t["bias"], "gelu", [], "tanh")

            def unfused(a, b, bias):
                return self.f.gelu(torch.addmm(bias, a, b), approximate="tanh")

            yield "torch", lambda: unfused(a, b, t["bias"])
            yield from self.compiled(unfused, a, b, t["bias"])
        else:
            extra = (None, "none", [], "")
            yield "torch", lambda: torch.mm(a, b, out=c)
        yield "torch onednn", lambda: linear(a, turned, *extra)
        yield "torch onednn pre", lambda: linear(a, packed, *extra)
        if a.shape[0] == 1 and not case.gelu:
            yield from self.compiled(torch.mm, a, b)

    def integer_matmul(self, a, b):
        torch = self.torch
        if a.dtype == torch.int8:
            yield "torch", lambda: torch._int_mm(a, b)
            return
        packed = torch.ops.onednn.qlinear_prepack(b.t().contiguous(), None)
        scale, zero = torch.ones(b.shape[1]), torch.zeros(b.shape[1], dtype=torch.int64)
        linear = torch.ops.onednn.qlinear_pointwise
        yield "torch onednn pre", lambda: linear(a, 1.0, 0, packed, scale, zero, None, 1.0, 0, torch.float32, "none", [],
                                                 "")

    def softmax(self, case, t):
        yield "torch", lambda: self.torch.softmax(t["x"], -1, out=t["y"])
        yield from self.compiled(lambda x: self.torch.softmax(x, -1), t["x"])

    def layernorm(self, case, t):
        x, weight, bias = t["x"], t["weight"], t["bias"]
        shape = x.shape[-1:]
        yield "torch", lambda: self.f.layer_norm(x, shape, weight, bias)
        yield from self.compiled(lambda x: self.f.layer_norm(x, shape, weight, bias), x)

    def rmsnorm(self, case, t):
        x, weight = t["x"], t["weight"]
        shape = x.shape[-1:]
        yield "torch", lambda: self.f.rms_norm(x, shape, weight, 1e-6)
        yield from self.compiled(lambda x: self.f.rms_norm(x, shape, weight, 1e-6), x)

    def elementwise(self, case, t):
        def bias_gelu(x, bias):
            return self.f.gelu(x + bias, approximate="tanh")

        yield "torch", lambda: bias_gelu(t["x"], t["bias"])
        yield from self.compiled(bias_gelu, t["x"], t["bias"])

    def attention(self, case, t):
        q, k, v = t["q"], t["k"], t["v"]
        attend, causal = self.f.scaled_dot_product_attention, case.causal

        def composed(q, k, v):
            scores = self.torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1)
            return scores @ v

        yield "torch", lambda: attend(q, k, v, is_causal=causal)
        if q.shape[2] == 1:
            yield "torch composed", lambda: composed(q, k, v)
            yield from self.compiled(composed, q, k, v)


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, threads):
        (self.onnx, self.runtime), self.threads = modules("onnx", "onnxruntime"), threads
        self.about = f"{self.runtime.__version__}, CPU provider"

    def session(self, case, nodes, inputs, outputs, constants=()):
        """A function that runs nodes from the case's input arrays to its output arrays."""
        helper, mapping = self.onnx.helper, self.onnx.helper.np_dtype_to_tensor_dtype
        value = lambda name: helper.make_tensor_value_info(name, mapping(case.arrays[name].dtype), case.arrays[name].shape)
        given = [self.onnx.numpy_helper.from_array(case.arrays[name], name) for name in constants]
        graph = helper.make_graph(nodes, "case", [value(name) for name in inputs if name not in constants],
                                  [value(name) for name in outputs], given)
        opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = self.runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        binding = session.io_binding()
        for name in inputs:
            if name not in constants:
                binding.bind_ortvalue_input(name, self.runtime.OrtValue.ortvalue_from_numpy(case.arrays[name]))
        for name in outputs:
            array = case.arrays[name]
            binding.bind_output(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
        return lambda: session.run_with_iobinding(binding)

    def run(self, case):
        node = self.onnx.helper.make_node
        if case.dtype == "bf16":
            return
        if case.kind == "matmul":
            if case.gelu:
                nodes = [node("MatMul", ["a", "b"], ["product"]), node("Add", ["product", "bias"], ["sum"]),
                         node("Gelu", ["sum"], ["c"], approximate="tanh")]
                inputs, weights = ["a", "b", "bias"], ["b", "bias"]
            else:
                nodes = [node("MatMulInteger" if case.dtype == "int8" else "MatMul", ["a", "b"], ["c"])]
                inputs, weights = ["a", "b"], ["b"]
            yield "onnxruntime", self.session(case, nodes, inputs, ["c"])
            if case.constant:
                yield "onnxruntime pre", self.session(case, nodes, inputs, ["c"], weights)
        elif case.kind == "softmax":
            yield "onnxruntime", self.session(case, [node("Softmax", ["x"], ["y"], axis=-1)], ["x"], ["y"])
        elif case.kind == "layernorm":
            made = node("LayerNormalization", ["x", "weight", "bias"], ["y"], axis=-1)
            yield "onnxruntime", self.session(case, [made], ["x", "weight", "bias"], ["y"])
        elif case.kind == "rmsnorm":
            made = node("SimplifiedLayerNormalization", ["x", "weight"], ["y"], axis=-1, epsilon=1e-6)
            yield "onnxruntime", self.session(case, [made], ["x", "weight"], ["y"])
        elif case.kind == "elementwise":
            nodes = [node("Add", ["x", "bias"], ["sum"]), node("Gelu", ["sum"], ["y"], approximate="tanh")]
            yield "onnxruntime", self.session(case, nodes, ["x", "bias"], ["y"])
        elif case.kind == "attention":
            made = node("Attention", ["q", "k", "v"], ["o"], is_causal=int(case.causal))
            yield "onnxruntime", self.session(case, [made], ["q", "k", "v"], ["o"])


def widen(bits):
    """bf16, held as u16, in f32."""
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)
