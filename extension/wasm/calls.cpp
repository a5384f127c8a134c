// SPDX-License-Identifier: BSD-3-Clause
// What a method calls, for pages that show a program: the number of its instructions, and how often
// each operator and each delegate is called, as JSON.
#include <executorch/schema/program_generated.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace executorch::extension {
namespace {

namespace fb = ::executorch_flatbuffer;

using Counts = std::map<std::string, size_t>;

std::string full_name(const fb::Operator& called) {
  const std::string overload = called.overload() == nullptr ? "" : called.overload()->str();
  return called.name()->str() + (overload.empty() ? "" : "." + overload);
}

void count(const fb::ExecutionPlan& plan, const fb::Instruction& instruction, Counts& operators,
           Counts& delegates) {
  if (const auto* kernel = instruction.instr_args_as_KernelCall()) {
    ++operators[full_name(*plan.operators()->Get(kernel->op_index()))];
  } else if (const auto* delegate = instruction.instr_args_as_DelegateCall()) {
    ++delegates[plan.delegates()->Get(delegate->delegate_index())->id()->str()];
  }
}

/// Names of operators and backends are identifiers, but nobody checked that.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') {
      result += '\\';
    }
    result += static_cast<unsigned char>(each) < ' ' ? ' ' : each;
  }
  return result + '"';
}

std::string json_of(const Counts& counts) {
  std::string result;
  for (const auto& [name, times] : counts) {
    result += (result.empty() ? "" : ", ") + quoted(name) + ": " + std::to_string(times);
  }
  return "{" + result + "}";
}

}  // namespace
}  // namespace executorch::extension

/// Of a program that was loaded, so that its bytes are known to be one. The text is the caller's,
/// to be freed; null if there is no memory.
extern "C" char* executorch_wasm_calls(const void* program, const char* method) {
  namespace et = ::executorch::extension;
  et::Counts operators;
  et::Counts delegates;
  size_t instructions = 0;
  for (const auto* plan : *executorch_flatbuffer::GetProgram(program)->execution_plan()) {
    if (plan->name()->str() != method) {
      continue;
    }
    for (const auto* chain : *plan->chains()) {
      for (const auto* instruction : *chain->instructions()) {
        ++instructions;
        et::count(*plan, *instruction, operators, delegates);
      }
    }
  }
  const std::string text = "{\"numInstructions\": " + std::to_string(instructions) +
                           ", \"operators\": " + et::json_of(operators) +
                           ", \"delegates\": " + et::json_of(delegates) + "}";
  char* const result = static_cast<char*>(std::malloc(text.size() + 1));
  if (result != nullptr) {
    std::memcpy(result, text.c_str(), text.size() + 1);
  }
  return result;
}
