// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// Calls find their rule by the name of the function; inline assembly goes to the parser of the vendor's syntax.

#include "decode/Assembly.h"
#include "decode/Decoder.h"

#include "amd/Rules.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"

namespace tilejit::sim {

const Regs &Call::regs(unsigned argument) const { return decoder.regs(call.getArgOperand(argument)); }
Reg Call::reg(unsigned argument) const { return decoder.reg(call.getArgOperand(argument)); }
Kind Call::kind(unsigned argument) const {
  return decoder.kindOf(call.getArgOperand(argument)->getType()->getScalarType());
}

Regs Call::allRegs() const {
  Regs all;
  for (unsigned i = 0; i < size(); ++i) {
    const Regs part = regs(i);
    all.append(part.begin(), part.end());
  }
  return all;
}

int64_t Call::constant(unsigned argument) const {
  if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(argument)))
    return number->getBitWidth() == 1 ? static_cast<int64_t>(number->getZExtValue()) : number->getSExtValue();
  decoder.fail("argument " + llvm::Twine(argument) + " of '" + name + "' must be a constant");
  return 0;
}

const Regs &Call::results() const { return decoder.freshResults(&call); }

Reg Call::result() const {
  const Regs &all = results();
  if (all.size() == 1)
    return all[0];
  decoder.fail("'" + name + "' gives no scalar");
  return decoder.newReg(Kind::I64);
}

CallRule Rules::findCall(llvm::StringRef name) const {
  auto exact = calls_.find(name);
  if (exact != calls_.end())
    return exact->second;
  for (size_t length = name.size(); length > 0; --length) {
    auto found = prefixes_.find(name.take_front(length));
    if (found != prefixes_.end())
      return found->second;
  }
  return nullptr;
}

AsmRule Rules::findAssembly(llvm::StringRef mnemonic) const {
  for (llvm::StringRef words = mnemonic; !words.empty(); words = words.rsplit('.').first) {
    auto found = statements_.find(words);
    if (found != statements_.end())
      return found->second;
    if (!words.contains('.'))
      break;
  }
  return nullptr;
}

void decodeCall(Decoder &decoder, const Rules &rules, llvm::CallBase &call) {
  if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    bool known =
        decoder.chip().info.nvidia ? decodeInlineAssembly(decoder, rules, call) : decodeAmdAssembly(decoder, call);
    if (!known && !decoder.failed())
      decoder.fail("unsupported inline assembly '" + assembly->getAsmString() + "'");
    return;
  }
  llvm::Function *callee = call.getCalledFunction();
  if (!callee)
    return decoder.fail("unsupported call through a pointer");
  CallRule rule = rules.findCall(callee->getName());
  if (!rule)
    return decoder.fail((callee->isIntrinsic() ? "unsupported intrinsic '" : "call of unknown function '") +
                        callee->getName() + "'");
  Call site{decoder, call, callee->getName()};
  rule(site);
}

} // namespace tilejit::sim
