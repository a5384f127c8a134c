// SPDX-License-Identifier: BSD-3-Clause
// EthosUBackend for bare metal: a verified payload, scratch of temporary memory, Arm's driver.
#include <executorch/backends/arm/runtime/EthosUBackend.h>
#include <executorch/backends/arm/runtime/ethosu_driver_api.h>
#include <executorch/backends/arm/runtime/payload.h>
#include <executorch/runtime/backend/delegate_event.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/backend/tensor_arguments.h>

#include <cstring>
#include <iterator>
#include <new>

extern "C" {
ET_WEAK uint8_t* ethosu_fast_scratch = nullptr;
ET_WEAK size_t ethosu_fast_scratch_size = 0;
ET_WEAK void arm_ethos_io_memcpy(void* dst, const void* src, size_t size) {
  std::memcpy(dst, src, size);
}
ET_WEAK void EthosUBackend_execute_begin(void) {}
ET_WEAK void EthosUBackend_execute_end(void) {}
}

namespace executorch::backends::arm {

using executorch::aten::ScalarType;
using runtime::DelegateEvent;
using runtime::Error;
using runtime::EValue;
using runtime::EventTracer;
using runtime::Result;
using runtime::Span;
using runtime::TensorArguments;
using runtime::TensorView;

namespace {

constexpr char kName[] = "EthosUBackend";
constexpr size_t kScratchAlignment = 16;

/// Which elements a tensor may have, and of how many bytes.
struct Element {
  ScalarType dtype;
  size_t nbytes;
};
constexpr Element kElements[] = {{ScalarType::Int, 4},
                                 {ScalarType::Short, 2},
                                 {ScalarType::Char, 1},
                                 {ScalarType::Byte, 1},
                                 {ScalarType::Bool, 1}};

/// The rule of an argument by the dtype that it has: dense in memory, in any order of dimensions,
/// since the compiler has turned the port instead.
Result<runtime::TensorRule> rule_of(const EValue& value, size_t element_size, size_t index) {
  if (!value.isTensor()) {
    return runtime::TensorRule{ScalarType::Int};  // no rule fits it, and the error says so
  }
  const auto dtype = value.toTensor().scalar_type();
  for (const Element& each : kElements) {
    if (each.dtype == dtype && each.nbytes == element_size) {
      return runtime::TensorRule{dtype, runtime::kAnyRank, false};
    }
  }
  ET_LOG(Error, "%s: argument %zu: expected integers of %zu bytes, found dtype %d", kName, index,
         element_size, static_cast<int>(dtype));
  return Error::InvalidProgram;
}

/// Calls the platform's hooks around an execution.
struct Hooks final {
  Hooks() { EthosUBackend_execute_begin(); }
  ~Hooks() { EthosUBackend_execute_end(); }
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;
};

void read_counters(ethosu_driver* driver, PmuCounters& out) {
  if (ETHOSU_PMU_Get_CCNTR != nullptr) {
    out.cycles = ETHOSU_PMU_Get_CCNTR(driver);
  }
  for (uint32_t i = 0; ETHOSU_PMU_Get_EVCNTR != nullptr && i < kNumPmuCounters; ++i) {
    out.events[i] = ETHOSU_PMU_Get_EVCNTR(driver, i);
  }
}

Error run(const Payload& payload, uint8_t* scratch, EventTracer* tracer) {
  PmuCounters counters;
  DelegateEvent event(tracer, "+EthosUBackend::execute()NPU");
  ethosu_driver* driver = ethosu_reserve_driver();
  ET_CHECK_OR_RETURN_ERROR(driver != nullptr, InvalidState, "%s: there is no driver", kName);
  uint64_t bases[] = {reinterpret_cast<uintptr_t>(payload.weights.data()),
                      reinterpret_cast<uintptr_t>(scratch),
                      reinterpret_cast<uintptr_t>(ethosu_fast_scratch)};
  const size_t sizes[] = {payload.weights.size(), payload.scratch_size, ethosu_fast_scratch_size};
  const int status =
      ethosu_invoke_v3(driver, payload.commands.data(), static_cast<int>(payload.commands.size()),
                       bases, sizes, static_cast<int>(std::size(bases)), nullptr);
  read_counters(driver, counters);
  event.set_metadata(&counters, sizeof(counters));
  ethosu_release_driver(driver);
  ET_CHECK_OR_RETURN_ERROR(status == 0, InvalidProgram,
                           "%s: the driver refused a command stream of %zu bytes, status %d", kName,
                           payload.commands.size(), status);
  return Error::Ok;
}

/// Rows of a port that are longer than the tensor's end in padding; rows of half as many bytes have
/// two values of 4 bits in a byte, the lower first.
enum class Rows { kSame, kPadded, kHalf };

Result<Rows> rows_of(const Port& port, const TensorView& out, size_t index) {
  if (out.nbytes() == port.nbytes()) {
    return Rows::kSame;
  }
  const bool is_even = out.nbytes() % port.num_rows == 0;
  const size_t row = out.nbytes() / port.num_rows;
  const size_t port_row = port.row * port.element_size;
  if (is_even && row > 0 && row < port_row && row % port.element_size == 0) {
    return Rows::kPadded;
  }
  if (is_even && row == 2 * port_row && port.element_size == 1 && out.dtype() == ScalarType::Char) {
    return Rows::kHalf;
  }
  ET_LOG(Error, "%s: output %zu of %zu bytes: expected %zu rows of %zu bytes", kName, index,
         out.nbytes(), port.num_rows, port_row);
  return Error::InvalidProgram;
}

int8_t of_4_bits(uint8_t bits) {
  return static_cast<int8_t>(bits < 8 ? bits : bits - 16);
}

void give(const Port& port, Rows rows, const uint8_t* scratch, const TensorView& out) {
  const uint8_t* from = scratch + port.offset;
  auto* to = out.mutable_data<int8_t>();
  if (rows == Rows::kSame) {
    arm_ethos_io_memcpy(to, from, port.nbytes());
    return;
  }
  const size_t row = out.nbytes() / port.num_rows, port_row = port.row * port.element_size;
  for (size_t i = 0; i < port.num_rows; ++i) {
    if (rows == Rows::kPadded) {
      arm_ethos_io_memcpy(to + i * row, from + i * port_row, row);
      continue;
    }
    for (size_t j = 0; j < port_row; ++j) {
      const uint8_t two = from[i * port_row + j];
      to[i * row + 2 * j] = of_4_bits(two & 15);
      to[i * row + 2 * j + 1] = of_4_bits(two >> 4);
    }
  }
}

/// One execution: arguments are checked in whole before the first byte is copied.
class Execution final {
 public:
  Execution(const Payload& payload, const TensorArguments& arguments, Span<EValue*> args)
      : payload_(payload), arguments_(arguments), args_(args) {}

  Error check() const {
    for (size_t i = 0; i < payload_.inputs.size(); ++i) {
      const TensorView in = ET_UNWRAP(input(i));
      ET_CHECK_OR_RETURN_ERROR(in.numel() == payload_.inputs[i].numel(), InvalidProgram,
                               "%s: input %zu: expected %zu elements, found %zu", kName, i,
                               payload_.inputs[i].numel(), in.numel());
    }
    for (size_t i = 0; i < payload_.outputs.size(); ++i) {
      const TensorView out = ET_UNWRAP(output(i));
      ET_CHECK_OK_OR_RETURN_ERROR(out.resize(out.sizes()));
      ET_UNWRAP(rows_of(payload_.outputs[i], out, i));
    }
    return Error::Ok;
  }

  Error copy_inputs(uint8_t* scratch) const {
    for (size_t i = 0; i < payload_.inputs.size(); ++i) {
      const TensorView in = ET_UNWRAP(input(i));
      arm_ethos_io_memcpy(scratch + payload_.inputs[i].offset, in.data<void>(), in.nbytes());
    }
    return Error::Ok;
  }

  Error copy_outputs(const uint8_t* scratch) const {
    for (size_t i = 0; i < payload_.outputs.size(); ++i) {
      const TensorView out = ET_UNWRAP(output(i));
      give(payload_.outputs[i], ET_UNWRAP(rows_of(payload_.outputs[i], out, i)), scratch, out);
    }
    return Error::Ok;
  }

 private:
  Result<TensorView> input(size_t i) const {
    return arguments_.input(i, ET_UNWRAP(rule_of(*args_[i], payload_.inputs[i].element_size, i)));
  }
  Result<TensorView> output(size_t i) const {
    const size_t at = payload_.inputs.size() + i;
    return arguments_.output(i,
                             ET_UNWRAP(rule_of(*args_[at], payload_.outputs[i].element_size, at)));
  }

  const Payload& payload_;
  const TensorArguments& arguments_;
  Span<EValue*> args_;
};

class EthosUBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override { return true; }

  /// The payload stays in use: `processed` is not freed.
  Result<runtime::DelegateHandle*> init(runtime::BackendInitContext& context,
                                        runtime::FreeableBuffer* processed,
                                        runtime::ArrayRef<runtime::CompileSpec>) const override {
    auto& allocator = *context.get_runtime_allocator();
    const Span<const uint8_t> bytes(static_cast<const uint8_t*>(processed->data()),
                                    processed->size());
    const Payload payload = ET_UNWRAP(open_payload(bytes, allocator));
    auto* place = allocator.allocateInstance<Payload>();
    ET_CHECK_OR_RETURN_ERROR(place != nullptr, MemoryAllocationFailed, "%s: no memory for a handle",
                             kName);
    return static_cast<runtime::DelegateHandle*>(new (place) Payload(payload));
  }

  Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                Span<EValue*> args) const override {
    const Payload& payload = *static_cast<const Payload*>(handle);
    EventTracer* tracer = context.event_tracer();
    const Hooks hooks;
    const DelegateEvent whole(tracer, "EthosUBackend::execute()");
    const auto arguments =
        ET_UNWRAP(TensorArguments::of(kName, args, payload.inputs.size(), payload.outputs.size()));
    const Execution execution(payload, arguments, args);
    ET_CHECK_OK_OR_RETURN_ERROR(execution.check());
    auto* scratch =
        static_cast<uint8_t*>(context.allocate(payload.scratch_size, kScratchAlignment));
    ET_CHECK_OR_RETURN_ERROR(
        scratch != nullptr || payload.scratch_size == 0, MemoryAllocationFailed,
        "Failed to allocate scratch buffer of %zu bytes from temp_allocator", payload.scratch_size);
    {
      const DelegateEvent event(tracer, "+EthosUBackend::execute()handles.input.memcpy()");
      ET_CHECK_OK_OR_RETURN_ERROR(execution.copy_inputs(scratch));
    }
    ET_CHECK_OK_OR_RETURN_ERROR(run(payload, scratch, tracer));
    return execution.copy_outputs(scratch);
  }
};

}  // namespace

Error register_ethosu_backend() {
  static EthosUBackend backend;
  return runtime::register_backend({kName, &backend});
}

}  // namespace executorch::backends::arm

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_executorch_delegate_ethos_u =
    executorch::backends::arm::register_ethosu_backend();
/// Firmware for 1.4 calls this so that its linker keeps this file.
void executorch_delegate_EthosUBackend_registered(void) {}
}
