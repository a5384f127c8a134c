// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/kernels/aten/pytorch_operator.h>

#include <new>
#include <utility>
#include <vector>

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <ATen/core/stack.h>
#include <c10/util/Exception.h>

#include <executorch/runtime/platform/log.h>

namespace executorch::kernels::aten_mode {

using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;

namespace {

// Outputs shrink from their largest size, of which PyTorch warns at every call.
class WarningsToLog final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    ET_LOG(Debug, "PyTorch: %s", warning.msg().c_str());
  }
};

template <typename T, typename Items>
c10::List<T> list_of(const Items& items) {
  c10::List<T> list;
  list.reserve(items.size());
  for (const auto& item : items) {
    list.push_back(item);
  }
  return list;
}

// The value as the schema's type has it: programs have integers for floating point, and for
// devices.
c10::IValue to_ivalue(const EValue& value, const c10::Type& type) {
  if (const auto* optional = type.castRaw<c10::OptionalType>()) {
    return value.isNone() ? c10::IValue() : to_ivalue(value, *optional->getElementType());
  }
  if (value.isTensor()) {
    return value.toTensor();
  }
  if (value.isInt()) {
    return type.kind() == c10::TypeKind::FloatType ? c10::IValue(static_cast<double>(value.toInt()))
           : type.kind() == c10::TypeKind::DeviceObjType
               ? c10::IValue(c10::Device(static_cast<c10::DeviceType>(value.toInt())))
               : c10::IValue(value.toInt());
  }
  if (value.isDouble()) {
    return value.toDouble();
  }
  if (value.isBool()) {
    return value.toBool();
  }
  if (value.isString()) {
    return std::string(value.toString());
  }
  if (value.isIntList()) {
    return list_of<int64_t>(value.toIntList());
  }
  if (value.isDoubleList()) {
    return list_of<double>(value.toDoubleList());
  }
  if (value.isBoolList()) {
    return list_of<bool>(value.toBoolList());
  }
  if (value.isTensorList()) {
    return list_of<Tensor>(value.toTensorList());
  }
  if (value.isListOptionalTensor()) {
    return list_of<std::optional<Tensor>>(value.toListOptionalTensor());
  }
  return {};
}

// The shapes of what an operator writes. PyTorch changes them before it finds that the memory does
// not suffice.
class OutputShapes {
 public:
  OutputShapes(const c10::FunctionSchema& schema, Span<EValue*> args) {
    for (size_t i = 0; i < schema.arguments().size(); ++i) {
      const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
      if (alias != nullptr && alias->isWrite() && args[i]->isTensor()) {
        const Tensor& tensor = args[i]->toTensor();
        outputs_.push_back({tensor, tensor.sizes().vec(), tensor.strides().vec()});
      }
    }
  }

  void restore() const {
    for (const Output& output : outputs_) {
      output.tensor.unsafeGetTensorImpl()->set_sizes_and_strides(output.sizes, output.strides);
    }
  }

 private:
  struct Output {
    Tensor tensor;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
  };
  std::vector<Output> outputs_;
};

void fail(KernelRuntimeContext& context, const PyTorchOperator& op, Error error, const char* why) {
  ET_LOG(Error, "%s.%s: %s", op.name, op.overload, why);
  context.fail(error);
}

}  // namespace

std::optional<c10::OperatorHandle> find(const PyTorchOperator& op) {
  return c10::Dispatcher::singleton().findSchema({op.name, op.overload});
}

void call(const std::optional<c10::OperatorHandle>& found, const PyTorchOperator& op,
          KernelRuntimeContext& context, Span<EValue*> args) {
  if (!found.has_value()) {
    return fail(context, op, Error::OperatorMissing,
                "the PyTorch of this program does not have it");
  }
  const auto& parameters = found->schema().arguments();
  if (args.size() < parameters.size()) {
    return fail(context, op, Error::InvalidArgument, "fewer arguments than its schema has");
  }
  const OutputShapes shapes(found->schema(), args);
  try {
    WarningsToLog handler;
    const c10::WarningUtils::WarningHandlerGuard warnings(&handler);
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    std::vector<c10::IValue> stack;
    stack.reserve(parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      stack.push_back(to_ivalue(*args[i], *parameters[i].type()));
    }
    found->callBoxed(&stack);
    return;
  } catch (const std::bad_alloc&) {
    fail(context, op, Error::MemoryAllocationFailed, "no memory");
  } catch (const c10::Error& error) {
    fail(context, op, Error::InvalidArgument, error.what_without_backtrace());
  } catch (const std::exception& error) {
    fail(context, op, Error::Internal, error.what());
  }
  shapes.restore();
}

}  // namespace executorch::kernels::aten_mode
