// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Reading and writing of case folders.

#include "CaseFolder.h"

#include "tilejit/Base/File.h"
#include "tilejit/Base/Json.h"
#include "tilejit/Reference/Npy.h"

#include <algorithm>
#include <cstring>

namespace tilejit::e2e {
namespace {

constexpr std::string_view listName = "case.json";

std::string npyPath(const std::string &folder, const std::string &name) { return joinPath(folder, name + ".npy"); }

/// An operand as case.json has it.
struct Entry {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
};

json::Value toJson(const Entry &entry) {
  json::Value value = json::makeObject(), shape = json::makeArray();
  for (int64_t size : entry.shape)
    shape.items.push_back(json::makeInteger(size));
  value.add("name", json::makeText(entry.name));
  value.add("dtype", json::makeText(std::string(dtypeName(entry.dtype))));
  value.add("shape", std::move(shape));
  return value;
}

Expected<Entry> fromJson(const json::Value &value) {
  const json::Value *name = value.find("name"), *dtype = value.find("dtype"), *shape = value.find("shape");
  auto known = dtype ? parseDType(dtype->text) : std::nullopt;
  if (!name || !name->isText() || name->text.find('/') != std::string::npos || !known || !shape || !shape->isArray())
    return Status(StatusCode::InvalidArgument, "expected an operand with name, dtype and shape");
  Entry entry{name->text, *known, {}};
  for (const json::Value &size : shape->items)
    entry.shape.push_back(size.integer);
  return entry;
}

Expected<std::vector<Entry>> entriesOf(const json::Value &list, std::string_view key) {
  const json::Value *items = list.find(key);
  if (!items || !items->isArray())
    return Status(StatusCode::InvalidArgument, "expected a list of " + std::string(key));
  std::vector<Entry> entries;
  for (const json::Value &item : items->items) {
    TILEJIT_ASSIGN_OR_RETURN(Entry entry, fromJson(item));
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// Writes numbers of 64 bits as an array of an output's shape.
template <typename Number>
Status writeNumbers(const std::string &path, DType dtype, const std::vector<int64_t> &shape,
                    const std::vector<Number> &numbers) {
  return writeNpyBytes(path, npyHeaderText(npySpelling(dtype), shape), numbers.data(), sizeof(Number) * numbers.size());
}

template <typename Number>
Status readNumbers(const std::string &path, DType dtype, const std::vector<int64_t> &shape,
                   std::vector<Number> &numbers) {
  TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor, readNpy(path, dtype, shape));
  numbers.resize(static_cast<size_t>(tensor.elements()));
  if (!numbers.empty())
    std::memcpy(numbers.data(), tensor.data(), tensor.sizeInBytes());
  return Status::ok();
}

Expected<ReferenceTensor> readOutput(const std::string &folder, Entry entry) {
  ReferenceTensor output;
  output.name = std::move(entry.name);
  output.dtype = entry.dtype;
  output.shape = std::move(entry.shape);
  std::string values = npyPath(folder, output.name + ".value");
  TILEJIT_RETURN_IF_ERROR(isFloat(output.dtype) ? readNumbers(values, DType::F64, output.shape, output.values)
                                                : readNumbers(values, DType::I64, output.shape, output.integers));
  TILEJIT_RETURN_IF_ERROR(
      readNumbers(npyPath(folder, output.name + ".error"), DType::F64, output.shape, output.errors));
  return output;
}

} // namespace

std::string packagePath(const std::string &folder) { return joinPath(folder, "kernel.tjk"); }

Status writeCase(const std::string &folder, const Case &data) {
  json::Value inputs = json::makeArray(), outputs = json::makeArray();
  for (const CaseInput &input : data.inputs) {
    inputs.items.push_back(toJson({input.name, input.tensor.dtype(), input.tensor.shape()}));
    TILEJIT_RETURN_IF_ERROR(writeNpy(npyPath(folder, input.name), input.tensor));
  }
  for (const ReferenceTensor &output : data.outputs) {
    outputs.items.push_back(toJson({output.name, output.dtype, output.shape}));
    std::string values = npyPath(folder, output.name + ".value");
    TILEJIT_RETURN_IF_ERROR(isFloat(output.dtype) ? writeNumbers(values, DType::F64, output.shape, output.values)
                                                  : writeNumbers(values, DType::I64, output.shape, output.integers));
    TILEJIT_RETURN_IF_ERROR(
        writeNumbers(npyPath(folder, output.name + ".error"), DType::F64, output.shape, output.errors));
  }
  json::Value list = json::makeObject();
  list.add("inputs", std::move(inputs));
  list.add("outputs", std::move(outputs));
  return writeFileAtomically(realSystem(), joinPath(folder, listName), json::write(list) + "\n", 0644);
}

Expected<Case> readCase(const std::string &folder) {
  std::string path = joinPath(folder, listName);
  TILEJIT_ASSIGN_OR_RETURN(std::string text, readFile(realSystem(), path));
  TILEJIT_ASSIGN_OR_RETURN(json::Value list, json::parse(text, path, {}, StatusCode::InvalidArgument));
  auto inputs = entriesOf(list, "inputs"), outputs = entriesOf(list, "outputs");
  for (const Status &status : {inputs.status(), outputs.status()})
    if (!status)
      return Status(status).inContext(path);
  Case data;
  for (Entry &entry : *inputs) {
    TILEJIT_ASSIGN_OR_RETURN(HostTensor tensor, readNpy(npyPath(folder, entry.name), entry.dtype, entry.shape));
    data.inputs.push_back({std::move(entry.name), std::move(tensor)});
  }
  for (Entry &entry : *outputs) {
    TILEJIT_ASSIGN_OR_RETURN(ReferenceTensor output, readOutput(folder, std::move(entry)));
    data.outputs.push_back(std::move(output));
  }
  return data;
}

Expected<std::vector<std::string>> listCases(const std::string &folder) {
  std::vector<std::string> names, cases;
  if (int error = realSystem().list(folder, names))
    return fileError("list the cases in", folder, error);
  std::sort(names.begin(), names.end());
  for (std::string &name : names)
    if (FileInfo info; realSystem().stat(joinPath(joinPath(folder, name), listName), true, info) == 0)
      cases.push_back(std::move(name));
  if (cases.empty())
    return Status(StatusCode::NotFound, "there is no case in " + folder)
        .withHint("test/e2e/gpu/make_folder.py makes a folder of cases");
  return cases;
}

} // namespace tilejit::e2e
