// SPDX-License-Identifier: BSD-3-Clause
// Runs a case of a bundled program, verifies its outputs, keeps events and values for the
// Inspector: example_runner --help.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/extension/evalue_util/print_evalue.h>
#include <executorch/extension/module/bundled_module.h>
#include <executorch/extension/runner_util/flags.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/runtime.h>

using executorch::etdump::ETDumpGen;
using executorch::extension::FlagTable;
using executorch::extension::bundled_module::BundledModule;
using executorch::runtime::Error;
using executorch::runtime::EventTracerDebugLogLevel;

namespace {

// For outputs that PyTorch computed in float32: sums are added up in another order there.
constexpr double kRtol = 1e-3;
constexpr double kAtol = 1e-5;

struct Options {
  std::string bundled_program_path = "model_bundled.bpte";
  int32_t testset_idx = 0;
  std::string etdump_path = "etdump.etdp";
  bool output_verification = false;
  bool print_output = false;
  bool dump_outputs = false;
  bool dump_intermediate_outputs = false;
  std::string debug_output_path = "debug_output.bin";
  int32_t debug_buffer_size = 262144;
};

Error write_file(const std::string& path, const void* data, size_t size) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  file.close();
  ET_CHECK_OR_RETURN_ERROR(!file.fail(), AccessFailed, "Cannot write %zu bytes to %s", size,
                           path.c_str());
  return Error::Ok;
}

// Values go to `buffer`, which outlives the ETDumpGen.
Error keep_values(const Options& options, std::vector<uint8_t>* buffer, ETDumpGen* gen) {
  if (!options.dump_outputs && !options.dump_intermediate_outputs) {
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(options.debug_buffer_size > 0, InvalidArgument,
                           "Expected --debug_buffer_size of 1 or more, got %d",
                           static_cast<int>(options.debug_buffer_size));
  buffer->resize(static_cast<size_t>(options.debug_buffer_size));
  gen->set_event_tracer_debug_level(options.dump_intermediate_outputs
                                        ? EventTracerDebugLogLevel::kIntermediateOutputs
                                        : EventTracerDebugLogLevel::kProgramOutputs);
  return gen->set_debug_buffer({buffer->data(), buffer->size()}).error();
}

Error write_events(const Options& options, const std::vector<uint8_t>& values, ETDumpGen* gen) {
  if (gen->get_num_lost_events() > 0) {
    ET_LOG(Error, "%zu events are lost: --debug_buffer_size is too small",
           gen->get_num_lost_events());
  }
  const auto result = gen->get_etdump_data();
  const std::unique_ptr<void, decltype(&std::free)> owner(result.buf, &std::free);
  if (result.buf == nullptr) {  // of a build without events
    return Error::Ok;
  }
  ET_CHECK_OK_OR_RETURN_ERROR(write_file(options.etdump_path, result.buf, result.size));
  return values.empty() ? Error::Ok
                        : write_file(options.debug_output_path, values.data(), values.size());
}

Error run(const Options& options) {
  ET_CHECK_OR_RETURN_ERROR(options.testset_idx >= 0, InvalidArgument,
                           "Expected --testset_idx of 0 or more, got %d",
                           static_cast<int>(options.testset_idx));
  std::vector<uint8_t> values;
  auto owned = std::make_unique<ETDumpGen>();
  ETDumpGen* const gen = owned.get();
  ET_CHECK_OK_OR_RETURN_ERROR(keep_values(options, &values, gen));
  auto module = ET_UNWRAP(
      BundledModule::from_file(options.bundled_program_path, nullptr, nullptr, std::move(owned)));
  ET_CHECK_OK_OR_RETURN_ERROR(module->load());
  const std::string method = ET_UNWRAP(module->program()->get_method_name(0));
  const auto index = static_cast<size_t>(options.testset_idx);
  const auto outputs = ET_UNWRAP(module->execute(method, index));
  for (size_t i = 0; options.print_output && i < outputs.size(); ++i) {
    std::cout << "Output " << i << ": " << outputs[i] << "\n";
  }
  ET_CHECK_OK_OR_RETURN_ERROR(write_events(options, values, gen));
  return options.output_verification ? module->verify_method_outputs(method, index, kRtol, kAtol)
                                     : Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  executorch::runtime::runtime_init();
  Options options;
  const FlagTable table{
      "example_runner: runs the first method of a bundled program on one of its test cases.",
      "example_runner --bundled_program_path=model.bpte --output_verification",
      {{"bundled_program_path", &options.bundled_program_path, "The bundled program (.bpte)."},
       {"testset_idx", &options.testset_idx, "Which test case of the method."},
       {"etdump_path", &options.etdump_path, "File for the events (ETDump)."},
       {"output_verification", &options.output_verification,
        "Holds the outputs against the expected ones; says nothing when they agree."},
       {"print_output", &options.print_output, "Prints the outputs."},
       {"dump_outputs", &options.dump_outputs, "Keeps the outputs of the method as values."},
       {"dump_intermediate_outputs", &options.dump_intermediate_outputs,
        "Keeps the values of all operators outside of delegates, too."},
       {"debug_output_path", &options.debug_output_path, "File for the values."},
       {"debug_buffer_size", &options.debug_buffer_size, "Bytes of memory for the values."}}};
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  return run(options) == Error::Ok ? 0 : 1;
}
