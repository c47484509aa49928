# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""IREE as a contestant of peers.py, see contestants.py.

Each case is written in its input language, linalg on tensors, and compiled for this processor by iree-base-compiler;
iree-base-runtime runs it, in the caller's thread or with a pool of the given size. Its functions return new buffers, so
that an allocation is part of every call. Weights are arguments: IREE has no form of a module that packs them ahead.
"""

import importlib.metadata

import numpy

from contestants import Missing, modules

ELEMENTS = {"f32": "f32", "bf16": "bf16", "i8": "i8", "u8": "i8", "i32": "i32"}


def tensor(facts):
    return f"tensor<{'x'.join(map(str, facts['shape']))}x{ELEMENTS[facts['dtype']]}>"


class Text:
    """A function in the making: lines, and a number for each value."""

    def __init__(self):
        self.lines, self.count = [], 0

    def value(self, line):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {line}")
        return f"%v{self.count}"

    def filled(self, number, shape, element="f32"):
        kind = f"tensor<{'x'.join(map(str, shape))}x{element}>"
        constant = self.value(f"arith.constant {number} : {element}")
        empty = self.value(f"tensor.empty() : {kind}")
        return self.value(f"linalg.fill ins({constant} : {element}) outs({empty} : {kind}) -> {kind}"), kind

    def map(self, inputs, shape, body, element="f32", reduces=False):
        """`inputs`: pairs of a value and its type; those of one dimension run along the last one. `body`: lines from
        %in, %in_1, ... (and %out) to %result."""
        dims = [f"d{i}" for i in range(len(shape))]
        whole = f"affine_map<({', '.join(dims)}) -> ({', '.join(dims)})>"
        last = f"affine_map<({', '.join(dims)}) -> ({dims[-1]})>"
        first = f"affine_map<({', '.join(dims)}) -> ({dims[0]})>"
        maps, names = [], []
        for i, (_, kind) in enumerate(inputs):
            sizes = kind[7:-1].split("x")[:-1]
            is_row = len(sizes) < len(shape) and sizes[-1] == str(shape[-1])
            maps.append(whole if len(sizes) == len(shape) else last if is_row else first)
            names.append(f"%in{f'_{i}' if i else ''}: {kind[7:-1].split('x')[-1]}")
        result = shape[:1] if reduces else shape
        out, kind = self.filled("0.0", result, element)
        maps.append(first if reduces else whole)
        iterators = ['"parallel"'] * (len(shape) - 1) + ['"reduction"' if reduces else '"parallel"']
        lines = "\n".join(f"    {line}" for line in body)
        made = self.value(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(iterators)}]}}"
            f" ins({', '.join(v for v, _ in inputs)} : {', '.join(k for _, k in inputs)}) outs({out} : {kind}) {{\n"
            f"  ^bb0({', '.join(names)}, %out: {element}):\n{lines}\n    linalg.yield %result : {element}\n"
            f"  }} -> {kind}")
        return made, kind


GELU = """%half = arith.constant 0.5 : f32
%one = arith.constant 1.0 : f32
%scale = arith.constant 0.7978845608 : f32
%cubic = arith.constant 0.044715 : f32
%at = arith.addf %in, %in_1 : f32
%square = arith.mulf %at, %at : f32
%inner = arith.mulf %square, %cubic : f32
%sum = arith.addf %inner, %one : f32
%scaled = arith.mulf %at, %scale : f32
%argument = arith.mulf %scaled, %sum : f32
%tanh = math.tanh %argument : f32
%more = arith.addf %tanh, %one : f32
%of = arith.mulf %at, %half : f32
%result = arith.mulf %of, %more : f32""".splitlines()


class Iree:
    name = "iree"

    def __init__(self, threads):
        self.compiler, self.runtime = modules("iree.compiler", "iree.runtime")
        if threads > 1:
            self.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        self.config = self.runtime.Config("local-sync" if threads == 1 else "local-task")
        self.about = f"{importlib.metadata.version('iree-base-compiler')}, llvm-cpu"

    def run(self, case):
        inputs, outputs = case.description["inputs"], case.description["outputs"]
        made, text = next(iter(outputs.values())), Text()
        result = getattr(self, case.kind)(case, text, inputs, made)
        arguments = ", ".join(f"%{name}: {tensor(facts)}" for name, facts in inputs.items())
        source = (f"func.func @case({arguments}) -> {tensor(made)} {{\n" + "\n".join(text.lines) +
                  f"\n  return {result} : {tensor(made)}\n}}\n")
        function = self.compiled(source)
        given = [self.argument(case.arrays[name], facts["dtype"]) for name, facts in inputs.items()]
        yield "iree", lambda: function(*given)

    def argument(self, array, dtype):
        device = self.config.device
        if dtype == "bf16":
            kind = self.runtime.HalElementType.BFLOAT_16
            view = device.allocator.allocate_buffer_copy(
                memory_type=self.runtime.MemoryType.DEVICE_LOCAL, allowed_usage=self.runtime.BufferUsage.DEFAULT,
                device=device, buffer=array, element_type=kind)
            return self.runtime.DeviceArray(device, view)
        return self.runtime.asdevicearray(device, array.view(numpy.int8) if dtype == "u8" else array)

    def compiled(self, source):
        flags = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"]
        binary = self.compiler.compile_str(source, target_backends=["llvm-cpu"], extra_args=flags)
        context = self.runtime.SystemContext(config=self.config)
        context.add_vm_module(self.runtime.VmModule.copy_buffer(context.instance, binary))
        return context.modules.module["case"]

    def matmul(self, case, text, inputs, made):
        a, b = tensor(inputs["a"]), tensor(inputs["b"])
        (m, k), n = inputs["a"]["shape"], made["shape"][1]
        sums = "i32" if case.dtype == "int8" else "f32"
        zero, kind = text.filled("0" if sums == "i32" else "0.0", [m, n], sums)
        if inputs["a"]["dtype"] == "u8":
            maps = ", ".join(f"affine_map<(m, n, k) -> ({of})>" for of in ("m, k", "k, n", "m, n"))
            return text.value(
                f'linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}'
                f" ins(%a, %b : {a}, {b}) outs({zero} : {kind}) {{\n  ^bb0(%x: i8, %y: i8, %out: i32):\n"
                "    %p = arith.extui %x : i8 to i32\n    %q = arith.extsi %y : i8 to i32\n"
                "    %r = arith.muli %p, %q : i32\n    %s = arith.addi %out, %r : i32\n    linalg.yield %s : i32\n"
                f"  }} -> {kind}")
        product = text.value(f"linalg.matmul ins(%a, %b : {a}, {b}) outs({zero} : {kind}) -> {kind}")
        if case.gelu:
            product, kind = text.map([(product, kind), ("%bias", tensor(inputs["bias"]))], [m, n], GELU)
        if made["dtype"] == "bf16":
            product, kind = text.map([(product, kind)], [m, n], ["%result = arith.truncf %in : f32 to bf16"], "bf16")
        return product

    def softmax(self, case, text, inputs, made):
        kind = tensor(made)
        empty = text.value(f"tensor.empty() : {kind}")
        return text.value(f"linalg.softmax dimension(1) ins(%x : {kind}) outs({empty} : {kind}) -> {kind}")

    def elementwise(self, case, text, inputs, made):
        operands = [("%x", tensor(inputs["x"])), ("%bias", tensor(inputs["bias"]))]
        return text.map(operands, made["shape"], GELU)[0]

    def normalise(self, text, values, inputs, shape, epsilon):
        """Rows over the root of the mean of their squares, times the weight."""
        squares = text.map([values], shape, ["%p = arith.mulf %in, %in : f32", "%result = arith.addf %p, %out : f32"],
                           reduces=True)
        body = [f"%n = arith.constant {float(shape[-1])} : f32", f"%e = arith.constant {epsilon} : f32",
                "%mean = arith.divf %in_1, %n : f32", "%more = arith.addf %mean, %e : f32",
                "%root = math.rsqrt %more : f32", "%unit = arith.mulf %in, %root : f32",
                "%result = arith.mulf %unit, %in_2 : f32"]
        return text.map([values, squares, ("%weight", tensor(inputs["weight"]))], shape, body)

    def rmsnorm(self, case, text, inputs, made):
        return self.normalise(text, ("%x", tensor(made)), inputs, made["shape"], "1.0e-06")[0]

    def layernorm(self, case, text, inputs, made):
        shape, x = made["shape"], ("%x", tensor(made))
        total = text.map([x], shape, ["%result = arith.addf %in, %out : f32"], reduces=True)
        body = [f"%n = arith.constant {float(shape[-1])} : f32", "%mean = arith.divf %in_1, %n : f32",
                "%result = arith.subf %in, %mean : f32"]
        scaled = self.normalise(text, text.map([x, total], shape, body), inputs, shape, "1.0e-05")
        return text.map([scaled, ("%bias", tensor(inputs["bias"]))], shape,
                        ["%result = arith.addf %in, %in_1 : f32"])[0]

    def attention(self, case, text, inputs, made):
        if case.causal:
            raise Missing("its attention takes a mask of all queries and keys")
        q, k, kind = tensor(inputs["q"]), tensor(inputs["k"]), tensor(made)
        scale = text.value(f"arith.constant {made['shape'][-1] ** -0.5!r} : f32")
        empty = text.value(f"tensor.empty() : {kind}")
        dims = "affine_map<(b, h, m, n, k1, k2) -> ({})>".format
        maps = [dims(of) for of in ("b, h, m, k1", "b, h, k2, k1", "b, h, k2, n", "", "b, h, m, n")]
        return text.value(
            f"iree_linalg_ext.attention <{{indexing_maps = [{', '.join(maps)}]}}>"
            f" ins(%q, %k, %v, {scale} : {q}, {k}, {k}, f32) outs({empty} : {kind}) {{\n  ^bb0(%score: f32):\n"
            f"    iree_linalg_ext.yield %score : f32\n  }} -> {kind}")
