// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reading .npy files: size checks before memory, data straight into the tensor, Fortran order turned on the way.

#include "NpyFile.h"
#include "tilejit/Base/Float.h"
#include "tilejit/Reference/Npy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>

namespace tilejit {

using reference::errorText;
using reference::FileHandle;

ssize_t FileHandle::readAt(void *to, size_t size, int64_t offset) const {
  size_t done = 0;
  while (done < size) {
    ssize_t got = ::pread(descriptor_, static_cast<char *>(to) + done, size - done, offset + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

bool FileHandle::writeAll(const void *from, size_t size) const {
  size_t done = 0;
  while (done < size) {
    ssize_t put = ::write(descriptor_, static_cast<const char *>(from) + done, size - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return false;
    done += static_cast<size_t>(put);
  }
  return true;
}

std::string reference::errorText(int error) { return std::generic_category().message(error); }

namespace {

struct OpenedFile {
  NpyHeader header;
  int64_t size = 0;
};

Status failed(const std::string &path, int error) {
  bool missing = error == ENOENT || error == ENOTDIR;
  return {missing ? StatusCode::NotFound : StatusCode::InvalidArgument, "can't read " + path + ": " + errorText(error)};
}

Expected<OpenedFile> open(const std::string &path, const FileHandle &file) {
  struct stat info;
  if (!file.isOpen() || ::fstat(file.get(), &info) != 0)
    return failed(path, errno);
  if (!S_ISREG(info.st_mode))
    return Status(StatusCode::InvalidArgument, "can't read " + path + ": it is no regular file");
  constexpr size_t headerBytes = 64 * 1024 + 12;
  std::string start(std::min(static_cast<size_t>(info.st_size), headerBytes), '\0');
  ssize_t got = file.readAt(start.data(), start.size(), 0);
  if (got < 0)
    return failed(path, errno);
  start.resize(static_cast<size_t>(got));
  Expected<NpyHeader> header = parseNpyHeader(start);
  if (!header)
    return header.status().inContext(path);
  return OpenedFile{*std::move(header), info.st_size};
}

FileHandle openForReading(const std::string &path) {
  // Without O_NONBLOCK a named pipe would wait for a writer.
  return FileHandle(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

Status check(const std::string &path, const OpenedFile &file, DType dtype,
             std::optional<std::span<const int64_t>> shape) {
  const NpyHeader &header = file.header;
  auto refuse = [&](const std::string &why) { return Status(StatusCode::InvalidArgument, path + ": " + why); };
  std::string_view descr = std::string_view(header.descr).substr(0, 20);
  if (shape && !std::ranges::equal(*shape, header.shape))
    return refuse("it has shape " + tensorShapeText(header.shape) + " and dtype '" + std::string(descr) +
                  "', expected shape " + tensorShapeText(*shape) + " and dtype " + std::string(dtypeName(dtype)));
  if (!npySpellingFits(header.descr, dtype))
    return refuse("it has dtype '" + std::string(descr) + "' and shape " + tensorShapeText(header.shape) +
                  ", expected dtype " + std::string(dtypeName(dtype)) + " ('" + std::string(npySpelling(dtype)) + "')" +
                  (shape ? " and shape " + tensorShapeText(*shape) : ""));
  std::optional<int64_t> bytes = denseBytes(dtype, header.shape);
  if (!bytes)
    return refuse("its shape " + tensorShapeText(header.shape) + " means more than 2^46 bytes");
  int64_t present = file.size - header.dataOffset;
  if (present != *bytes)
    return refuse("it has " + std::to_string(present) + " bytes of data, expected " + std::to_string(*bytes) +
                  " for shape " + tensorShapeText(header.shape) + " and dtype " + std::string(dtypeName(dtype)));
  return Status::ok();
}

/// Copies column-major `from` to row-major `to`. Blocks of the first and last dimension keep both sides in the cache.
template <typename T> void turnOrder(const T *from, T *to, const std::vector<int64_t> &shape) {
  size_t rank = shape.size();
  int64_t rows = shape[0], columns = shape[rank - 1], total = elementCount(shape);
  int64_t middle = total / rows / columns;
  int64_t fromColumn = rows * middle, toRow = middle * columns;
  std::vector<int64_t> middleShape(shape.begin() + 1, shape.end() - 1);
  std::vector<int64_t> strides = denseStrides(middleShape);
  constexpr int64_t block = 32;
  for (int64_t m = 0; m < middle; ++m) {
    // The place `m` in column-major order of the dimensions between, as an offset in row-major order.
    int64_t rest = m, toMiddle = 0;
    for (size_t i = 0; i < middleShape.size(); ++i) {
      toMiddle += rest % middleShape[i] * strides[i];
      rest /= middleShape[i];
    }
    for (int64_t i0 = 0; i0 < rows; i0 += block)
      for (int64_t j0 = 0; j0 < columns; j0 += block)
        for (int64_t i = i0; i < std::min(i0 + block, rows); ++i)
          for (int64_t j = j0; j < std::min(j0 + block, columns); ++j)
            to[i * toRow + toMiddle * columns + j] = from[i + m * rows + j * fromColumn];
  }
}

void turnOrder(const HostTensor &from, HostTensor &to) {
  switch (storageBytes(from.dtype())) {
  case 1:
    return turnOrder(static_cast<const uint8_t *>(from.data()), static_cast<uint8_t *>(to.data()), from.shape());
  case 2:
    return turnOrder(static_cast<const uint16_t *>(from.data()), static_cast<uint16_t *>(to.data()), from.shape());
  case 4:
    return turnOrder(static_cast<const uint32_t *>(from.data()), static_cast<uint32_t *>(to.data()), from.shape());
  default:
    return turnOrder(static_cast<const uint64_t *>(from.data()), static_cast<uint64_t *>(to.data()), from.shape());
  }
}

/// Gives every element its one spelling: bool 0 or 1, four-bit types without the upper half.
Status normalise(const std::string &path, std::string_view descr, HostTensor &tensor) {
  DType dtype = tensor.dtype();
  if (dtype != DType::Bool && bitWidth(dtype) != 4)
    return Status::ok();
  bool isNumber = descr.ends_with("i1") || descr.ends_with("u1");
  auto *bytes = static_cast<uint8_t *>(tensor.data());
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    auto value = dtype == DType::F4E2M1 ? static_cast<uint8_t>(bytes[i] & 15)
                                        : static_cast<uint8_t>(wrapInteger(bytes[i], dtype));
    if (isNumber && isInteger(dtype) && value != bytes[i])
      return {StatusCode::InvalidArgument,
              path + ": element " + std::to_string(i) + " is " +
                  std::to_string(dtype == DType::I4 ? int{static_cast<int8_t>(bytes[i])} : int{bytes[i]}) +
                  ", expected " + std::to_string(minValue(dtype)) + " to " + std::to_string(maxValue(dtype)) +
                  " for dtype " + std::string(dtypeName(dtype))};
    bytes[i] = value;
  }
  return Status::ok();
}

Expected<HostTensor> readData(const std::string &path, const FileHandle &file, const NpyHeader &header, DType dtype) {
  TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::allocate(dtype, header.shape));
  ssize_t got = file.readAt(tensor.data(), tensor.sizeInBytes(), header.dataOffset);
  if (got < 0)
    return failed(path, errno);
  if (static_cast<size_t>(got) != tensor.sizeInBytes())
    return Status(StatusCode::InvalidArgument, path + ": it became shorter while it was read");
  if (header.fortranOrder && tensor.rank() > 1 && tensor.elements() > 0) {
    TILEJIT_ASSIGN_OR_RETURN(HostTensor turned, HostTensor::allocate(dtype, header.shape));
    turnOrder(tensor, turned);
    tensor = std::move(turned);
  }
  TILEJIT_RETURN_IF_ERROR(normalise(path, header.descr, tensor));
  return tensor;
}

} // namespace

Expected<NpyHeader> readNpyHeader(const std::string &path) {
  FileHandle file = openForReading(path);
  TILEJIT_ASSIGN_OR_RETURN(OpenedFile opened, open(path, file));
  return std::move(opened.header);
}

Expected<HostTensor> readNpy(const std::string &path, DType dtype, std::optional<std::span<const int64_t>> shape) {
  FileHandle file = openForReading(path);
  TILEJIT_ASSIGN_OR_RETURN(OpenedFile opened, open(path, file));
  TILEJIT_RETURN_IF_ERROR(check(path, opened, dtype, shape));
  return readData(path, file, opened.header, dtype);
}

} // namespace tilejit
