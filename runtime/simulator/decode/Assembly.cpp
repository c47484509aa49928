// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// The text of PTX inline assembly. Read once, from front to back: every statement is emitted where it stands. Branches
// become operations that go to another place of the same basic block, so that loops need no blocks of their own.

#include "decode/Assembly.h"

#include "core/AssemblyBranch.h"
#include "nvidia/SpecialRegisters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"

#include <cctype>
#include <map>
#include <string>

namespace tilejit::sim {

namespace {

// Marks around the number of an operand, in place of the dollar sign, which names may contain.
constexpr char operandBegin = '\1', operandEnd = '\2';

/// Replaces $0, ${1:h}, $$, ${:uid}, $(a$|b$) and drops comments.
std::string withoutEscapes(llvm::StringRef text, unsigned unique) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '/' && next == '/') {
      i = std::min(text.find('\n', i), text.size());
      result += '\n';
    } else if (c == '/' && next == '*') {
      size_t end = text.find("*/", i + 2);
      i = end == llvm::StringRef::npos ? text.size() : end + 1;
      result += ' ';
    } else if (c != '$') {
      result += c;
    } else if (next == '$') {
      result += '$';
      ++i;
    } else if (next == '{') {
      size_t end = std::min(text.find('}', i), text.size());
      llvm::StringRef inside = text.slice(i + 2, end), number = inside.take_until([](char d) { return d == ':'; });
      if (number.empty())
        result += llvm::utostr(unique);
      else
        result += operandBegin + number.str() + operandEnd;
      i = end;
    } else if (next == '(') {
      ++i; // Variants of a dialect: the first one counts.
    } else if (next == '|') {
      size_t end = text.find("$)", i);
      i = end == llvm::StringRef::npos ? text.size() : end + 1;
    } else if (next == ')') {
      ++i;
    } else {
      llvm::StringRef number = text.drop_front(i + 1).take_while(llvm::isDigit);
      result += operandBegin + number.str() + operandEnd;
      i += number.size();
    }
  }
  return result;
}

bool isNameStart(char c) { return llvm::isAlpha(c) || c == '_' || c == '$' || c == '%'; }
bool isName(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '%'; }

/// Types of registers in `.reg` statements.
std::optional<Kind> kindOfType(llvm::StringRef type) {
  if (type == "pred")
    return Kind::I1;
  if (type == "f32")
    return Kind::F32;
  if (type == "f64")
    return Kind::F64;
  if (type == "f16x2" || type == "bf16x2")
    return Kind::I32;
  unsigned bits = 0;
  if (type.ltrim("busfx").getAsInteger(10, bits))
    return std::nullopt;
  switch (bits) {
  case 8:
    return Kind::I8;
  case 16:
    return Kind::I16;
  case 32:
    return Kind::I32;
  case 64:
  case 128:
    return Kind::I64;
  default:
    return std::nullopt;
  }
}

class AsmParser {
public:
  AsmParser(Decoder &decoder, const Rules &rules, llvm::CallBase &call, std::string text)
      : d_(decoder), rules_(rules), call_(call), bindings_(decoder, call), text_(std::move(text)) {}

  bool run();

private:
  struct Scope {
    std::map<std::string, AsmOperand, std::less<>> registers;
    std::map<std::string, size_t, std::less<>> labels; ///< Number of the operation behind the label.
    std::vector<std::pair<size_t, std::string>> branches;
  };

  // Text.
  void skipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
  }
  bool accept(char c) {
    skipSpace();
    if (at_ >= text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }
  bool peek(char c) {
    skipSpace();
    return at_ < text_.size() && text_[at_] == c;
  }
  void expect(char c) {
    if (!accept(c))
      malformed(llvm::Twine("expected '") + llvm::Twine(c) + "'");
  }
  llvm::StringRef rest() const { return llvm::StringRef(text_).drop_front(at_); }
  llvm::StringRef name() {
    skipSpace();
    llvm::StringRef found = rest().take_while(isName);
    at_ += found.size();
    return found;
  }
  void malformed(const llvm::Twine &what) {
    llvm::StringRef near = rest().take_front(40);
    d_.fail("malformed assembly: " + what + (near.empty() ? llvm::Twine(" at the end") : " at '" + near + "'"));
  }

  // Statements.
  void openScope() { scopes_.emplace_back(); }
  void closeScope();
  bool label();
  void directive();
  void declare();
  void statement();
  void branch(const AsmOperand *predicate);
  void patch(size_t branch, size_t target);

  // Operands.
  AsmOperand operand();
  AsmOperand group(char end);
  AsmOperand memory();
  AsmOperand number();
  AsmOperand bound();
  AsmOperand named(llvm::StringRef word);
  AsmOperand simple();

  Decoder &d_;
  const Rules &rules_;
  llvm::CallBase &call_;
  AsmBindings bindings_;
  std::string text_;
  size_t at_ = 0;
  std::vector<Scope> scopes_;
  Regs locals_;
};

// --- Statements ----------------------------------------------------------------------------------------------------

bool AsmParser::run() {
  // Registers of an assembly with branches live from its start to its end: the order of operations is not that of time.
  bool branches = llvm::StringRef(text_).contains("bra");
  size_t first = d_.operationCount();
  if (branches)
    d_.emitWide(assemblyLifetimeHandler(d_.width()), {}, {});
  if (!bindings_.begin())
    return false;
  openScope();
  for (skipSpace(); at_ < text_.size() && !d_.failed(); skipSpace()) {
    if (accept('{'))
      openScope();
    else if (accept('}'))
      closeScope();
    else if (peek('.'))
      directive();
    else if (!accept(';') && !label())
      statement();
  }
  if (scopes_.size() != 1 && !d_.failed())
    malformed("a scope is not closed");
  else if (!d_.failed())
    closeScope();
  if (d_.failed())
    return false;
  if (branches) {
    OpOperands &start = d_.operandsOf(d_.operation(first));
    Regs all = bindings_.registers(), written = bindings_.outputRegisters();
    written.append(locals_);
    for (Reg reg : written) {
      start.out.push_back(reg);
      start.outKinds.push_back(d_.kindOfReg(reg));
    }
    all.append(locals_);
    d_.emitWide(assemblyLifetimeHandler(d_.width()), {}, all);
  }
  bindings_.end();
  return !d_.failed();
}

/// Branches that find their label here are done; the others may find it outside.
void AsmParser::closeScope() {
  if (scopes_.empty())
    return malformed("a scope is closed that was not opened");
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (auto &[operation, target] : scope.branches) {
    auto found = scope.labels.find(target);
    if (found != scope.labels.end())
      patch(operation, found->second);
    else if (!scopes_.empty())
      scopes_.back().branches.emplace_back(operation, target);
    else
      d_.fail("malformed assembly: a branch leads to the unknown label '" + target + "'");
  }
}

void AsmParser::patch(size_t branch, size_t target) {
  d_.operation(branch).imm = static_cast<int64_t>(target) - static_cast<int64_t>(branch);
}

/// "name:" but not "name::".
bool AsmParser::label() {
  if (at_ >= text_.size() || !isNameStart(text_[at_]))
    return false;
  size_t begin = at_;
  std::string found = name().str();
  if (accept(':') && !peek(':')) {
    d_.emit(assemblyLabelHandler(d_.width()));
    scopes_.back().labels[found] = d_.operationCount();
    return true;
  }
  at_ = begin;
  return false;
}

void AsmParser::directive() {
  ++at_;
  llvm::StringRef word = name();
  if (word == "reg")
    return declare();
  if (word != "pragma" && word != "loc" && word != "branchtargets")
    return d_.fail("unsupported directive '." + word + "' in inline assembly");
  at_ = std::min(text_.find(';', at_), text_.size());
}

/// .reg .b32 a, b<4>;
void AsmParser::declare() {
  expect('.');
  llvm::StringRef type = name();
  std::optional<Kind> kind = kindOfType(type);
  if (!kind)
    return d_.fail("unsupported type '." + type + "' of a register in inline assembly");
  do {
    std::string base = name().str();
    unsigned count = 0;
    bool many = accept('<');
    if (many) {
      if (name().getAsInteger(10, count))
        return malformed("expected a number of registers");
      expect('>');
    }
    for (unsigned i = 0; i < (many ? count : 1); ++i) {
      AsmOperand variable;
      variable.kind = *kind;
      if (type == "b128") {
        variable.form = AsmOperand::Form::Group;
        variable.parts.resize(2);
        for (AsmOperand &part : variable.parts) {
          part.kind = Kind::I64;
          locals_.push_back(part.reg = d_.newReg(Kind::I64));
        }
      } else {
        locals_.push_back(variable.reg = d_.newReg(*kind));
      }
      scopes_.back().registers[many ? base + llvm::utostr(i) : base] = std::move(variable);
    }
  } while (accept(','));
  if (!accept(';'))
    malformed("expected ';'");
}

void AsmParser::statement() {
  size_t begin = at_;
  AsmOperand predicate;
  bool predicated = accept('@');
  if (predicated) {
    predicate = operand();
    if (predicate.form != AsmOperand::Form::Register || sizeOf(d_.kindOfReg(predicate.reg)) != 1)
      return malformed("expected a predicate register after '@'");
  }
  skipSpace();
  if (at_ >= text_.size() || !llvm::isAlpha(text_[at_]))
    return malformed("expected a statement");
  llvm::StringRef mnemonic = rest().take_while([](char c) { return isName(c) || c == '.' || c == ':'; });
  at_ += mnemonic.size();
  if (mnemonic == "bra" || mnemonic == "bra.uni")
    return branch(predicated ? &predicate : nullptr);
  AsmStatement statement{d_, call_, {}, mnemonic, {}, {}};
  mnemonic.split(statement.words, '.');
  while (!d_.failed() && !peek(';') && !peek('}') && at_ < text_.size()) {
    statement.operands.push_back(operand());
    if (!accept(','))
      break;
  }
  if (d_.failed())
    return;
  size_t end = at_;
  if (!accept(';') && !peek('}') && at_ < text_.size())
    return malformed("expected ';'");
  // Operands are shown as they were written.
  std::string shown = llvm::StringRef(text_).slice(begin, end).str();
  for (size_t i = 0; i < shown.size();)
    if (shown[i] == operandEnd)
      shown.erase(i, 1);
    else
      shown[i] = shown[i] == operandBegin ? '$' : shown[i], ++i;
  statement.text = shown;
  AsmRule rule = rules_.findAssembly(mnemonic);
  if (!rule)
    return d_.fail("unsupported assembly '" + statement.text + "'");
  if (predicated)
    d_.setPredicate(predicate.reg, predicate.negated);
  rule(statement);
  d_.clearPredicate();
}

void AsmParser::branch(const AsmOperand *predicate) {
  std::string target = name().str();
  if (target.empty())
    return malformed("expected a label");
  accept(';');
  scopes_.back().branches.emplace_back(d_.operationCount(), target);
  Op &op = d_.emit(assemblyBranchHandler(d_.width()));
  op.b = 2;
  if (!predicate)
    return;
  op.a = predicate->reg;
  op.registers |= Op::HasA;
  op.b = predicate->negated;
}

// --- Operands ------------------------------------------------------------------------------------------------------

/// An operand, or two results written a|b.
AsmOperand AsmParser::operand() {
  AsmOperand first = simple();
  if (!accept('|'))
    return first;
  AsmOperand both;
  both.form = AsmOperand::Form::Group;
  both.parts = {first, simple()};
  return both;
}

AsmOperand AsmParser::simple() {
  if (accept('{'))
    return group('}');
  if (accept('['))
    return memory();
  if (accept('!')) {
    AsmOperand inverse = simple();
    inverse.negated = !inverse.negated;
    return inverse;
  }
  skipSpace();
  char c = at_ < text_.size() ? text_[at_] : '\0';
  if (c == operandBegin)
    return bound();
  if (llvm::isDigit(c) || c == '-' || c == '+')
    return number();
  if (!isNameStart(c)) {
    malformed("expected an operand");
    return {};
  }
  // Special registers have dots in their names.
  size_t begin = at_;
  std::string word = name().str();
  if (c == '%' && scopes_.size() && peek('.')) {
    at_ = begin;
    word = rest().take_while([](char d) { return isName(d) || d == '.'; }).str();
    at_ += word.size();
  }
  return named(word);
}

AsmOperand AsmParser::group(char end) {
  AsmOperand all;
  all.form = AsmOperand::Form::Group;
  while (!d_.failed() && !accept(end)) {
    all.parts.push_back(operand());
    if (!accept(',') && !peek(end))
      malformed(llvm::Twine("expected '") + llvm::Twine(end) + "'");
  }
  return all;
}

/// [reg], [reg + 16], [16], [map, {x, y}]
AsmOperand AsmParser::memory() {
  AsmOperand place;
  place.form = AsmOperand::Form::Memory;
  AsmOperand base = simple();
  if (base.form == AsmOperand::Form::Number) {
    place.number = base.number;
  } else if (base.form == AsmOperand::Form::Register) {
    place.hasReg = true;
    place.reg = base.reg;
    place.kind = base.kind;
  } else if (!d_.failed()) {
    malformed("expected an address");
  }
  while (!d_.failed() && (peek('+') || peek('-'))) {
    bool minus = peek('-');
    ++at_;
    AsmOperand more = simple();
    if (more.form != AsmOperand::Form::Number)
      malformed("expected a number behind the address");
    place.number += minus ? -more.number : more.number;
  }
  while (!d_.failed() && accept(','))
    place.parts.push_back(operand());
  if (!d_.failed())
    expect(']');
  return place;
}

/// Decimal, hexadecimal, octal, binary; 0f3f800000, 0d..., 1.5e3.
AsmOperand AsmParser::number() {
  AsmOperand value;
  value.form = AsmOperand::Form::Number;
  bool minus = false;
  while (peek('-') || peek('+'))
    minus ^= text_[at_++] == '-';
  skipSpace();
  if (at_ < text_.size() && text_[at_] == operandBegin) {
    value = bound();
    value.number = minus ? -value.number : value.number;
    if (value.form != AsmOperand::Form::Number)
      malformed("expected a number");
    return value;
  }
  llvm::StringRef word = rest().take_while([](char c) { return llvm::isAlnum(c); });
  bool hexadecimal = word.starts_with_insensitive("0x");
  bool coded = word.starts_with_insensitive("0f") || word.starts_with_insensitive("0d");
  llvm::StringRef real = rest().take_while([](char c) { return llvm::isAlnum(c) || c == '.'; });
  if (!hexadecimal && !coded && (real.contains('.') || (word.contains_insensitive('e') && word[0] != '0'))) {
    if (real.ends_with_insensitive("e")) // The exponent's sign.
      real = rest().take_front(real.size() + 1 + rest().drop_front(real.size() + 1).take_while(llvm::isDigit).size());
    double parsed = 0;
    if (real.getAsDouble(parsed))
      malformed("expected a number");
    at_ += real.size();
    value.kind = Kind::F64;
    value.number = static_cast<int64_t>(llvm::bit_cast<uint64_t>(minus ? -parsed : parsed));
    return value;
  }
  at_ += word.size();
  uint64_t bits = 0;
  bool bad = coded ? word.drop_front(2).getAsInteger(16, bits) : word.rtrim("U").getAsInteger(0, bits);
  if (bad)
    malformed("expected a number");
  if (coded) {
    bool isDouble = word[1] == 'd' || word[1] == 'D';
    value.kind = isDouble ? Kind::F64 : Kind::F32;
    bits ^= minus ? 1ull << (isDouble ? 63 : 31) : 0;
  } else if (minus) {
    bits = 0 - bits;
  }
  value.number = static_cast<int64_t>(bits);
  return value;
}

AsmOperand AsmParser::bound() {
  size_t end = text_.find(operandEnd, at_);
  llvm::StringRef digits = llvm::StringRef(text_).slice(at_ + 1, end);
  unsigned index = 0;
  std::optional<AsmOperand> found;
  if (!digits.getAsInteger(10, index))
    found = bindings_.operand(index);
  at_ = end == std::string::npos ? text_.size() : end + 1;
  if (!found)
    d_.fail("malformed assembly: operand $" + digits + " does not exist");
  return found.value_or(AsmOperand());
}

AsmOperand AsmParser::named(llvm::StringRef word) {
  AsmOperand result;
  if (word == "_") {
    result.form = AsmOperand::Form::Ignored;
    return result;
  }
  for (size_t i = scopes_.size(); i-- > 0;)
    if (auto found = scopes_[i].registers.find(word); found != scopes_[i].registers.end())
      return found->second;
  if (word == "WARP_SZ") {
    result.form = AsmOperand::Form::Number;
    result.number = d_.width();
    return result;
  }
  if (word.starts_with("%")) {
    result.reg = specialRegister(d_, word);
    result.kind = d_.kindOfReg(result.reg);
    return result;
  }
  if (auto *variable = call_.getModule()->getNamedGlobal(word)) {
    result.reg = d_.addressOf(*variable, 0);
    result.kind = Kind::I64;
    return result;
  }
  d_.fail("malformed assembly: unknown name '" + word + "'");
  return result;
}

} // namespace

bool decodeInlineAssembly(Decoder &decoder, const Rules &rules, llvm::CallBase &call) {
  auto *assembly = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  std::string text = withoutEscapes(assembly->getAsmString(), decoder.site());
  return AsmParser(decoder, rules, call, std::move(text)).run();
}

} // namespace tilejit::sim
