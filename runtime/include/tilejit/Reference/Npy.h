// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// NumPy's .npy files, versions 1 to 3, C and Fortran order, little endian. A file is input from outside: its header is
// parsed by hand against the few forms that NumPy writes, nothing is evaluated, and no memory is taken before the
// file's size has been found to fit what the header claims. Types that NumPy lacks have the spellings of ml_dtypes;
// i4 and u4 are one element per byte, written as '|i1' and '|u1', so that NumPy reads numbers.

#ifndef TILEJIT_REFERENCE_NPY_H
#define TILEJIT_REFERENCE_NPY_H

#include "tilejit/Base/DType.h"
#include "tilejit/Base/Status.h"
#include "tilejit/Reference/HostTensor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit {

/// What stands before the data of a file.
struct NpyHeader {
  std::string descr; ///< As spelled: "<f4", "|V1".
  bool fortranOrder = false;
  std::vector<int64_t> shape;
  int64_t dataOffset = 0; ///< Bytes before the first element.
};

/// Parses a header at the start of `bytes`. Errors say what was found; callers add the file's name.
Expected<NpyHeader> parseNpyHeader(std::string_view bytes);
/// Reads only the header of a file: enough to bind dimensions.
Expected<NpyHeader> readNpyHeader(const std::string &path);

/// Whether a spelling stands for a type: '<f4', '=f4' for f32; '<V2', '|V2', '<u2' for bf16; ...
bool npySpellingFits(std::string_view descr, DType dtype);
/// The spelling that files are written with.
std::string_view npySpelling(DType dtype);

/// Reads an array of a type. With `shape`, another shape is refused, and the message has both. Bytes after the data,
/// 4-bit integers out of range and missing data are refused; a bool is whatever is not zero.
Expected<HostTensor> readNpy(const std::string &path, DType dtype,
                             std::optional<std::span<const int64_t>> shape = std::nullopt);

/// What stands before the data of a version 1 file in C order.
std::string npyHeaderText(std::string_view descr, std::span<const int64_t> shape);
/// Writes header and data as they are, as writeNpy does.
Status writeNpyBytes(const std::string &path, std::string_view header, const void *data, size_t bytes);
/// Writes a version 1 file in C order: to a temporary file beside it, which then takes its name. A special file such as
/// /dev/null is written as it is.
Status writeNpy(const std::string &path, const HostTensor &tensor);
/// Whether writeNpy could work: the folder exists and can be written, and the path is no folder. For refusing before
/// anything is computed.
Status checkWritable(const std::string &path);

} // namespace tilejit

#endif // TILEJIT_REFERENCE_NPY_H
