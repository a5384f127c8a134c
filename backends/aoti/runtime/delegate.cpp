// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/aoti/runtime/delegate.h>

#include <executorch/runtime/backend/tensor_arguments.h>

#include <cstring>
#include <new>
#include <utility>

namespace executorch::backends::aoti {

using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Result;
using runtime::Span;
using runtime::TensorArguments;
using runtime::TensorView;

namespace {

Result<FreeableBuffer> data_of(const NamedDataMap* map, const std::string& key) {
  return map == nullptr ? Result<FreeableBuffer>(Error::NotFound) : map->get_data(key);
}

Span<const uint8_t> bytes_of(const FreeableBuffer& buffer) {
  return {static_cast<const uint8_t*>(buffer.data()), buffer.size()};
}

/// A view of an argument, whatever its dim order. InvalidArgument for one of another device.
Result<std::unique_ptr<SlimTensor>> view_of(const DeviceRow& row, const TensorView& argument) {
  const auto* tensor = argument.tensor().unsafeGetTensorImpl();
  ET_CHECK_OR_RETURN_ERROR(
      tensor->device_type() == row.place.type && tensor->device_index() == row.place.index,
      InvalidArgument, "%s: expected a tensor on device %d:%d, found one on %d:%d", row.backend,
      static_cast<int>(row.place.type), row.place.index, static_cast<int>(tensor->device_type()),
      tensor->device_index());
  const auto found = runtime::Elements::of(argument.tensor());
  Device* device = ET_UNWRAP(find_device(row.place.type));
  ET_CHECK_OK_OR_RETURN_ERROR(device->check_memory(found.data, row.place.index));
  return SlimTensor::borrow(
      found.data, {{found.sizes, found.rank}, {found.strides, found.rank}, 0, found.dtype},
      row.place);
}

aten::ScalarType dtype_of(const EValue& value) {
  return value.isTensor() ? value.toTensor().scalar_type() : aten::ScalarType::Float;
}

}  // namespace

Result<PayloadKeys> PayloadKeys::read(Span<const uint8_t> payload, const std::string& method_name) {
  const std::string text(reinterpret_cast<const char*>(payload.data()), payload.size());
  if (text.empty()) {
    const std::string start = method_name.empty() ? "" : method_name + "_";
    return PayloadKeys{start + "so_blob", start + "weights_blob"};
  }
  const size_t line = text.find('\n');
  const bool are_two = line != std::string::npos && line > 0 && line + 1 < text.size() &&
                       text.find('\n', line + 1) == std::string::npos;
  ET_CHECK_OR_RETURN_ERROR(are_two, Internal,
                           "payload of AOTInductor: expected two lines, keys of named data, found "
                           "%zu other bytes",
                           text.size());
  return PayloadKeys{text.substr(0, line), text.substr(line + 1)};
}

Result<std::unique_ptr<Delegate>> Delegate::create(const DeviceRow& row,
                                                   Span<const uint8_t> payload,
                                                   const NamedDataMap* named_data,
                                                   const AotiOptions& options) {
  const PayloadKeys keys = ET_UNWRAP(PayloadKeys::read(payload, options.method_name));
  ET_CHECK_OR_RETURN_ERROR(options.allow_native_code, NotSupported,
                           "%s: the program carries native code (%s), which is not allowed here: "
                           "set the option allow_native_code for files that you trust",
                           row.backend, keys.library.c_str());
  const auto library = data_of(named_data, keys.library);
  ET_CHECK_OR_RETURN_ERROR(library.ok(), Internal,
                           "%s: expected the shared library %s in the program's named data: "
                           "error %d",
                           row.backend, keys.library.c_str(), static_cast<int>(library.error()));
  auto loaded = ET_UNWRAP(NativeLibrary::load(keys.library, bytes_of(*library), row.shims));
  const Device* device = ET_UNWRAP(find_device(row.place.type));
  std::shared_ptr<Container> container =
      ET_UNWRAP(Container::create(std::move(loaded), device->name()));
  std::unique_ptr<Delegate> made(new (std::nothrow) Delegate(row, std::move(container)));
  ET_CHECK_OR_RETURN_ERROR(made != nullptr, MemoryAllocationFailed, "no memory for a delegate");
  const auto load = [&] { return made->load_constants(named_data, keys.constants); };
  if (options.shares_constants) {
    made->constants_ =
        ET_UNWRAP(SharedConstants::instance().share(made->container_, row.place, load));
  } else {
    ET_CHECK_OK_OR_RETURN_ERROR(load());
  }
  ET_CHECK_OK_OR_RETURN_ERROR(made->join_sessions());
  return made;
}

Error Delegate::load_constants(const NamedDataMap* named_data, const std::string& key) {
  const auto expected = container_->constants_size();
  if (expected.ok() && *expected == 0) {
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(expected.ok() || expected.error() == Error::NotSupported, Internal,
                           "%s: %s", row_.backend, key.c_str());
  const auto found = data_of(named_data, key);
  ET_CHECK_OR_RETURN_ERROR(found.ok(), NotFound,
                           "%s: no weights %s in the program and the data files that were given: "
                           "load %s of the same export beside the program",
                           row_.backend, key.c_str(), row_.data_file);
  ET_CHECK_OR_RETURN_ERROR(!expected.ok() || *expected == found->size(), InvalidExternalData,
                           "%s: weights %s: expected %zu bytes, found %zu: load %s of the same "
                           "export",
                           row_.backend, key.c_str(), expected.ok() ? *expected : size_t{0},
                           found->size(), row_.data_file);
  return container_->load_constants(bytes_of(*found));
}

Error Delegate::join_sessions() {
  const auto& state = session_scope().loading;
  if (state == nullptr) {
    return Error::Ok;
  }
  const Constants all = constants_.empty() ? ET_UNWRAP(constants_of(container_, row_.place)) : constants_;
  if (ET_UNWRAP(state->add(all))) {
    sessions_ = state;
    constants_ = all;
  }
  return Error::Ok;
}

Error Delegate::enter_session() {
  const SessionScope& scope = session_scope();
  const int wanted = sessions_ != nullptr && scope.running == sessions_ ? scope.token : 0;
  const SessionState::Buffers* buffers = wanted == 0 ? nullptr : sessions_->buffers(wanted);
  ET_CHECK_OR_RETURN_ERROR(wanted == 0 || buffers != nullptr, InvalidArgument,
                           "%s: session %d is not there", row_.backend, wanted);
  if (wanted == session_) {
    return Error::Ok;
  }
  const auto names = ET_UNWRAP(container_->constant_names());
  std::vector<ConstantEntry> entries;
  for (const std::string& name : sessions_->names()) {
    const auto own = constants_.find(name);
    const auto in_library = names.find(name);
    if (own != constants_.end() && in_library != names.end()) {
      entries.push_back({in_library->second.c_str(),
                         wanted == 0 ? own->second->tensor.get() : buffers->at(name).get()});
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(container_->use_constants(entries, /*are_all=*/false));
  session_ = wanted;
  return Error::Ok;
}

Error Delegate::execute(Span<EValue*> args, void* stream, MethodRunner* runner) {
  ET_CHECK_OK_OR_RETURN_ERROR(enter_session());
  const size_t num_inputs = container_->num_inputs(), num_outputs = container_->num_outputs();
  const auto arguments =
      ET_UNWRAP(TensorArguments::of(row_.backend, args, num_inputs, num_outputs));
  Container::Tensors inputs;
  for (size_t i = 0; i < num_inputs; ++i) {
    const auto view = ET_UNWRAP(
        arguments.input(i, {dtype_of(*args[i]), runtime::kAnyRank, /*is_contiguous=*/false}));
    inputs.push_back(ET_UNWRAP(view_of(row_, view)));
  }
  const auto outputs =
      ET_UNWRAP(runner != nullptr && session_ == 0 ? runner->run(*container_, std::move(inputs))
                                                   : container_->run(std::move(inputs), stream));
  for (size_t i = 0; i < num_outputs; ++i) {
    ET_CHECK_OR_RETURN_ERROR(outputs[i] != nullptr, Internal, "%s: output %zu was not made",
                             row_.backend, i);
    const auto view = ET_UNWRAP(arguments.output(
        i, {outputs[i]->dtype(), static_cast<int>(outputs[i]->dim()), /*is_contiguous=*/false}));
    const auto sizes = outputs[i]->sizes();
    ET_CHECK_OK_OR_RETURN_ERROR(view.resize(aten::ArrayRef<int64_t>(sizes.data(), sizes.size())));
    const auto planned = ET_UNWRAP(view_of(row_, view));
    ET_CHECK_OK_OR_RETURN_ERROR(copy_tensor(*outputs[i], *planned));
  }
  return Error::Ok;
}

}  // namespace executorch::backends::aoti
