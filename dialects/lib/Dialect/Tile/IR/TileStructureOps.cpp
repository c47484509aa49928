// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Structure: syntax and checks of kernels, checks of assumptions and hints.

#include "tilejit/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace tilejit::tile;

//===--- kernel -------------------------------------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type, LaunchAttr launch) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  if (launch)
    state.addAttribute(getLaunchAttrName(state.name), launch);
  Region *body = state.addRegion();
  Block &entry = body->emplaceBlock();
  for (Type input : type.getInputs())
    entry.addArgument(input, state.location);
}

void KernelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    if (auto name = getArgAttrOfType<StringAttr>(argument.getArgNumber(), TileDialect::argNameAttrName))
      setName(argument, name);
}

/// Gives an argument the name of its value in the text, unless it has a name already or the value has just a number.
static void nameArgument(Builder &builder, OpAsmParser::Argument &argument) {
  StringRef name = argument.ssaName.name.drop_front();
  NamedAttrList attributes(argument.attrs);
  if (name.empty() || llvm::isDigit(name.front()) || attributes.get(TileDialect::argNameAttrName))
    return;
  attributes.append(TileDialect::argNameAttrName, builder.getStringAttr(name));
  argument.attrs = attributes.getDictionary(builder.getContext());
}

/// The argument attributes without the names that the printed values carry anyway.
static ArrayAttr dropPrintedNames(OpAsmPrinter &printer, KernelOp kernel) {
  ArrayAttr all = kernel.getArgAttrsAttr();
  if (!all)
    return all;
  SmallVector<Attribute> kept;
  for (auto [attributes, argument] : llvm::zip(all.getAsRange<DictionaryAttr>(), kernel.getArguments())) {
    NamedAttrList list(attributes);
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    printer.printOperand(argument, stream);
    auto name = dyn_cast_if_present<StringAttr>(list.get(TileDialect::argNameAttrName));
    if (name && StringRef(printed).drop_front() == name.getValue())
      list.erase(TileDialect::argNameAttrName);
    kept.push_back(list.getDictionary(kernel.getContext()));
  }
  return ArrayAttr::get(kernel.getContext(), kept);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;
  bool isVariadic = false;
  Builder &builder = parser.getBuilder();
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      function_interface_impl::parseFunctionSignatureWithArguments(parser, /*allowVariadic=*/false, arguments,
                                                                   isVariadic, resultTypes, resultAttrs))
    return failure();

  SmallVector<Type> argumentTypes;
  for (OpAsmParser::Argument &argument : arguments) {
    nameArgument(builder, argument);
    argumentTypes.push_back(argument.type);
  }
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(builder.getFunctionType(argumentTypes, resultTypes)));
  call_interface_impl::addArgAndResultAttrs(builder, result, arguments, resultAttrs, getArgAttrsAttrName(result.name),
                                            getResAttrsAttrName(result.name));
  if (succeeded(parser.parseOptionalKeyword("launch"))) {
    Attribute launch = LaunchAttr::parse(parser, {});
    if (!launch)
      return failure();
    result.addAttribute(getLaunchAttrName(result.name), launch);
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  call_interface_impl::printFunctionSignature(printer, getArgumentTypes(), dropPrintedNames(printer, *this),
                                              /*isVariadic=*/false, getResultTypes(), getResAttrsAttr(), &getBody(),
                                              /*printEmptyResult=*/false);
  if (LaunchAttr launch = getLaunchAttr()) {
    printer << " launch ";
    launch.print(printer);
  }
  function_interface_impl::printFunctionAttributes(
      printer, *this, {getFunctionTypeAttrName(), getLaunchAttrName(), getArgAttrsAttrName(), getResAttrsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Whether a type can be that of a kernel's argument.
static bool isKernelArgument(Type type) { return isa<ViewType, PtrType, IntegerType, FloatType, IndexType>(type); }

LogicalResult KernelOp::verify() {
  if (unsigned results = getFunctionType().getNumResults())
    return emitOpError("expected no results, got ") << results;
  ArrayRef<Type> types = getArgumentTypes();
  for (auto [index, type] : llvm::enumerate(types))
    if (!isKernelArgument(type))
      return emitOpError("expected a view, pointer, number or index as argument ") << index << ", got " << type;
  LaunchAttr launch = getLaunchAttr();
  if (!launch)
    return success();
  ArrayRef<int64_t> sizes = launch.getSizes();
  for (size_t i = 0; i < sizes.size(); i += 2) {
    if (sizes[i] >= int64_t(types.size()))
      return emitOpError("expected launch sizes of ") << types.size() << " arguments, got argument " << sizes[i];
    auto view = dyn_cast<ViewType>(types[sizes[i]]);
    if (!view)
      return emitOpError("expected launch sizes of views, got argument ") << sizes[i] << " of type " << types[sizes[i]];
    if (sizes[i + 1] >= view.getRank())
      return emitOpError("expected a launch size within rank ") << view.getRank() << ", got dimension " << sizes[i + 1];
  }
  if (int64_t packs = launch.getPacks(); packs >= 0 && (packs >= int64_t(types.size()) || !isa<ViewType>(types[packs])))
    return emitOpError("expected a view to pack, got argument ") << packs;
  if (launch.getWorkspace()) {
    Type expected = PtrType::get(getContext(), IntegerType::get(getContext(), 8));
    if (types.empty() || types.back() != expected)
      return emitOpError("expected the workspace as last argument of type ")
             << expected << ", got " << (types.empty() ? Type(NoneType::get(getContext())) : types.back());
  }
  return success();
}

//===--- assume, hint -------------------------------------------------------------------------------------------===//

LogicalResult AssumeOp::verify() {
  if (!getDivisible() && !getMin() && !getMax() && !getEqual())
    return emitOpError("expected at least one of 'divisible', 'min', 'max' and 'equal'");
  if (getDivisible() && int64_t(*getDivisible()) < 1)
    return emitOpError("expected 'divisible' of at least 1, got ") << int64_t(*getDivisible());
  if (isa<PtrType>(getValue().getType()) && (getMin() || getMax() || getEqual()))
    return emitOpError("expected only 'divisible' for a pointer");
  if (getMin() && getMax() && int64_t(*getMin()) > int64_t(*getMax()))
    return emitOpError("expected 'min' of at most 'max', got ") << int64_t(*getMin()) << " and " << int64_t(*getMax());
  return success();
}

LogicalResult HintOp::verify() {
  for (NamedAttribute target : getTargets())
    if (!isa<DictionaryAttr>(target.getValue()))
      return emitOpError("expected a dictionary for each back end, got ")
             << target.getValue() << " for '" << target.getName().strref() << "'";
  return success();
}
