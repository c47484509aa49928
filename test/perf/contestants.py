# Part of tilejit, under the Apache License v2.0. See LICENSE for details.
"""Who can compute a case of peers.py: tilejit through its C interface, and the libraries that are on the machine.

A contestant has a `name`, an `about` (version and the kernels that it runs) and methods named after kinds of operators.
Each takes a Case and gives pairs of a label and a function without arguments that computes the case into its output, or
whose value is the output. A library that is not there raises Missing when it is made. Nothing here measures.
"""

import ctypes
import importlib
import json
import os
import pathlib

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Missing(Exception):
    """The machine does not have the library."""


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def modules(*names):
    """Python modules, in the order of their names."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        raise Missing(str(error)) from error


def open_library(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reason = str(error)
    raise Missing(reason)


def text_of(library, function):
    call = getattr(library, function, None)
    if call is None:
        return "?"
    call.restype = ctypes.c_char_p
    return call().decode()


# --- tilejit ---------------------------------------------------------------------------------------------------------


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int32)]


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class Setting(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint32), ("executor_threads", ctypes.c_uint32),
                ("settings", ctypes.POINTER(Setting)), ("setting_count", ctypes.c_size_t),
                ("rest", ctypes.c_uint64 * 8)]


CODES = {"f": 2, "bf": 4, "i": 0, "u": 1}


def dlpack_type(dtype):
    letters = dtype.rstrip("0123456789")
    return CODES[letters], int(dtype[len(letters):])


class Tilejit:
    name = "tilejit"

    def __init__(self, threads):
        path = os.environ.get("TILEJIT_LIBRARY", ROOT / "build/lib/libtilejit.so")
        self.library = open_library(str(path))
        for function in ("tilejit_status_message", "tilejit_status_hint"):
            getattr(self.library, function).restype = ctypes.c_char_p
            getattr(self.library, function).argtypes = [ctypes.c_void_p]
        self.library.tilejit_kernel_launch.restype = ctypes.c_void_p
        settings = (Setting * 1)((b"num_threads", str(threads).encode()))
        options = ContextOptions(struct_size=ctypes.sizeof(ContextOptions), settings=settings, setting_count=1)
        self.context = ctypes.c_void_p()
        self.call("tilejit_context_create", ctypes.byref(options), ctypes.byref(self.context))
        self.about = text_of(self.library, "tilejit_version") + ", generated code"
        self.keep = []

    def call(self, function, *arguments):
        call = getattr(self.library, function)
        call.restype = ctypes.c_void_p
        status = call(*arguments)
        if status:
            raise RuntimeError(self.library.tilejit_status_message(status).decode())

    def prepare(self, description):
        source = json.dumps(description).encode()
        kernel = ctypes.c_void_p()
        self.call("tilejit_kernel_prepare", self.context, source, ctypes.c_size_t(len(source)), None,
                  ctypes.byref(kernel))
        return kernel

    def tensor(self, dtype, array):
        code, bits = dlpack_type(dtype)
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.keep += [shape, array]
        return Tensor(array.ctypes.data, Device(1, 0), array.ndim, code, bits, 1, shape, None, 0)

    def packed(self, kernel, operand, tensor):
        """The operand in the form that the kernel wants, or None where that is the one it has."""
        size = ctypes.c_size_t()
        self.call("tilejit_kernel_packed_size", kernel, ctypes.c_size_t(operand), ctypes.byref(size))
        if size.value == 0:
            return None
        memory = numpy.zeros(size.value + 64, numpy.uint8)
        memory = memory[-memory.ctypes.data % 64:][:size.value]
        packed = self.tensor("u8", memory)
        self.call("tilejit_kernel_pack", kernel, ctypes.c_size_t(operand), ctypes.byref(tensor), ctypes.byref(packed))
        return packed

    def launch(self, kernel, tensors):
        pointers = (ctypes.POINTER(Tensor) * len(tensors))(*map(ctypes.pointer, tensors))
        self.keep += [pointers, tensors]
        function, count = self.library.tilejit_kernel_launch, ctypes.c_size_t(len(tensors))

        def run():
            status = function(kernel, pointers, count, None)
            if status:
                raise RuntimeError(self.library.tilejit_status_message(ctypes.c_void_p(status)).decode())

        run()
        return run

    def run(self, case):
        description = case.description
        names = [*description["inputs"], *description["outputs"]]
        facts = {**description["inputs"], **description["outputs"]}
        tensors = [self.tensor(facts[name]["dtype"], case.arrays[name]) for name in names]
        yield "tilejit", self.launch(self.prepare(description), tensors)
        if case.constant:
            constant = json.loads(json.dumps(description))
            constant["inputs"][case.constant]["constant"] = True
            kernel, at = self.prepare(constant), names.index(case.constant)
            packed = self.packed(kernel, at, tensors[at])
            if packed:
                yield "tilejit pre", self.launch(kernel, [*tensors[:at], packed, *tensors[at + 1:]])


# --- libraries of products -------------------------------------------------------------------------------------------

ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112


class OpenBlas:
    """NumPy's own copy where there is one, which is newer than what systems have; else the system's."""

    name = "openblas"

    def __init__(self, threads):
        bundled = sorted(pathlib.Path(numpy.__file__).parent.parent.glob("numpy.libs/libscipy_openblas64_*.so"))
        self.library = open_library(*map(str, bundled), "libopenblas.so.0", "libopenblas.so")
        self.is_bundled = hasattr(self.library, "scipy_openblas_get_corename64_")
        self.function("openblas_set_num_threads")(threads)
        texts = [self.function(name) for name in ("openblas_get_config", "openblas_get_corename")]
        for text in texts:
            text.restype = ctypes.c_char_p
        self.about = ", kernels ".join(text().decode() for text in texts)

    def function(self, name):
        return getattr(self.library, f"scipy_{name}64_" if self.is_bundled else name)

    def run(self, case):
        if case.kind != "matmul" or case.dtype != "f32" or case.gelu:
            return
        a, b, c = (case.arrays[name] for name in "abc")
        one, zero, number = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_int64 if self.is_bundled else ctypes.c_int
        (m, k), n = a.shape, b.shape[1]
        product, vector = self.function("cblas_sgemm"), self.function("cblas_sgemv")
        plain = [ROW_MAJOR, PLAIN, PLAIN, number(m), number(n), number(k), one, pointer(a), number(k), pointer(b),
                 number(n), zero, pointer(c), number(n)]
        yield "openblas", lambda: product(*plain)
        if m == 1:
            rest = [ROW_MAJOR, TRANSPOSED, number(k), number(n), one, pointer(b), number(n), pointer(a), number(1), zero,
                    pointer(c), number(1)]
            yield "openblas gemv", lambda: vector(*rest)


class Blis:
    name = "blis"

    def __init__(self, threads):
        self.library = open_library("libblis.so.4", "libblis.so")
        self.library.bli_thread_set_num_threads(ctypes.c_int64(threads))
        self.library.bli_arch_string.restype = ctypes.c_char_p
        core = self.library.bli_arch_string(self.library.bli_arch_query_id()).decode()
        self.about = f"{text_of(self.library, 'bli_info_get_version_str')}, {core}"

    def run(self, case):
        if case.kind != "matmul" or case.dtype != "f32" or case.gelu:
            return
        a, b, c = (case.arrays[name] for name in "abc")
        (m, k), n = a.shape, b.shape[1]
        as_is, one, zero = ctypes.c_char(b"N"), ctypes.c_float(1), ctypes.c_float(0)
        numbers = [ctypes.byref(ctypes.c_int(value)) for value in (n, m, k)]
        # By columns the arrays are transposed, so the product is b a.
        rest = [ctypes.byref(as_is), ctypes.byref(as_is), *numbers, ctypes.byref(one), pointer(b), numbers[0], pointer(a),
                numbers[2], ctypes.byref(zero), pointer(c), numbers[0]]
        yield "blis", lambda: self.library.sgemm_(*rest)
        if m == 1:
            step = ctypes.byref(ctypes.c_int(1))
            vector = [ctypes.byref(as_is), numbers[0], numbers[2], ctypes.byref(one), pointer(b), numbers[0], pointer(a),
                      step, ctypes.byref(zero), pointer(c), step]
            yield "blis gemv", lambda: self.library.sgemv_(*vector)


class OneDnnVersion(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int)]


class OneDnn:
    name = "onednn"

    def __init__(self, threads):
        self.library = open_library("libdnnl.so.3", "libdnnl.so.2", "libdnnl.so")
        self.library.dnnl_version.restype = ctypes.POINTER(OneDnnVersion)
        version = self.library.dnnl_version().contents
        isa = self.library.dnnl_get_effective_cpu_isa()
        self.about = f"{version.major}.{version.minor}.{version.patch}, instruction set {isa:#x}"

    def run(self, case):
        if case.kind != "matmul" or case.gelu or case.dtype not in ("f32", "int8"):
            return
        a, b, c = (case.arrays[name] for name in "abc")
        (m, k), n = a.shape, b.shape[1]
        as_is, size = ctypes.c_char(b"N"), ctypes.c_int64
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        if case.dtype == "f32":
            plain = [as_is, as_is, size(m), size(n), size(k), one, pointer(a), size(k), pointer(b), size(n), zero,
                     pointer(c), size(n)]
            yield "onednn", lambda: self.library.dnnl_sgemm(*plain)
            return
        is_signed = case.description["inputs"]["a"]["dtype"] == "i8"
        call = self.library.dnnl_gemm_s8s8s32 if is_signed else self.library.dnnl_gemm_u8s8s32
        offset = (ctypes.c_int32 * 1)(0)
        no_offset = ctypes.c_int8(0)
        plain = [as_is, as_is, ctypes.c_char(b"F"), size(m), size(n), size(k), one, pointer(a), size(k), no_offset,
                 pointer(b), size(n), no_offset, zero, pointer(c), size(n), offset]
        yield "onednn", lambda: call(*plain)
