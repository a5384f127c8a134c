// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/aoti/runtime/constants.h>

#include <algorithm>

namespace executorch::backends::aoti {

using runtime::Error;
using runtime::Result;

namespace {

SlimTensor::Shape shape_of(const SlimTensor& tensor) {
  return {tensor.sizes(), tensor.strides(), 0, tensor.dtype()};
}

bool are_equal(SlimTensor::Numbers a, SlimTensor::Numbers b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

bool is_alike(const SlimTensor& a, const SlimTensor& b) {
  return a.dtype() == b.dtype() && are_equal(a.sizes(), b.sizes()) &&
         are_equal(a.strides(), b.strides());
}

}  // namespace

Result<Constants> constants_of(const std::shared_ptr<Container>& container, Place place) {
  Constants made;
  for (const auto& [name, tensor] : ET_UNWRAP(container->constants())) {
    // Some of a GPU's method are the host's, such as the predicate of a branch.
    if (tensor != nullptr && tensor->place().type == place.type) {
      auto view = ET_UNWRAP(SlimTensor::borrow(tensor->data(), shape_of(*tensor), tensor->place()));
      made[name] = std::make_shared<const Constant>(Constant{container, std::move(view)});
    }
  }
  return made;
}

Result<size_t> use(Container& container, const Constants& constants) {
  const auto names = ET_UNWRAP(container.constant_names());
  std::vector<ConstantEntry> entries;
  for (const auto& [name, in_library] : names) {
    const auto found = constants.find(name);
    if (found != constants.end()) {
      entries.push_back({in_library.c_str(), found->second->tensor.get()});
    }
  }
  if (!entries.empty()) {
    ET_CHECK_OK_OR_RETURN_ERROR(container.use_constants(entries, entries.size() == names.size()));
  }
  return entries.size();
}

SharedConstants& SharedConstants::instance() {
  static SharedConstants shared;
  return shared;
}

Result<Constants> SharedConstants::share(const std::shared_ptr<Container>& container, Place place,
                                         const std::function<Error()>& load) {
  const auto names = ET_UNWRAP(container->constant_names());
  const int device = static_cast<int>(place.type) * 256 + place.index;
  const std::lock_guard<std::mutex> lock(mutex_);
  Constants known;
  for (const auto& each : names) {
    const auto found = by_name_.find({device, each.first});
    if (found == by_name_.end()) {
      continue;
    }
    if (auto constant = found->second.lock()) {
      known[each.first] = std::move(constant);
    } else {
      by_name_.erase(found);
    }
  }
  if (known.size() < names.size()) {
    ET_CHECK_OK_OR_RETURN_ERROR(load());
    for (auto& [name, constant] : ET_UNWRAP(constants_of(container, place))) {
      const auto found = known.find(name);
      if (found == known.end()) {
        by_name_[{device, name}] = constant;
        known[name] = constant;
        continue;
      }
      ET_CHECK_OR_RETURN_ERROR(
          is_alike(*found->second->tensor, *constant->tensor), Internal,
          "AOTInductor: %s has another dtype, shape or strides than the one of the same name that "
          "a "
          "method loaded before has: load one of them without weight_sharing_across_methods",
          name.c_str());
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(use(*container, known).error());
  return known;
}

Result<bool> SessionState::add(const Constants& constants) {
  bool is_any = false;
  for (const std::string& name : names_) {
    const auto found = constants.find(name);
    if (found == constants.end()) {
      continue;
    }
    is_any = true;
    const SlimTensor& tensor = *found->second->tensor;
    const auto noted = initial_.find(name);
    if (noted != initial_.end()) {
      ET_CHECK_OR_RETURN_ERROR(is_alike(*noted->second, tensor), Internal,
                               "AOTInductor: methods of one session have %s of several shapes",
                               name.c_str());
      continue;
    }
    auto copy = ET_UNWRAP(SlimTensor::empty(shape_of(tensor), {}));
    ET_CHECK_OK_OR_RETURN_ERROR(copy_tensor(tensor, *copy));
    initial_[name] = std::move(copy);
    places_[name] = tensor.place();
  }
  return is_any;
}

std::vector<std::string> SessionState::missing() const {
  std::vector<std::string> names;
  for (const std::string& name : names_) {
    if (initial_.count(name) == 0) {
      names.push_back(name);
    }
  }
  return names;
}

size_t SessionState::num_bytes() const {
  size_t sum = 0;
  for (const auto& each : initial_) {
    sum += each.second->storage()->num_bytes();
  }
  return sum;
}

Result<int> SessionState::create() {
  Buffers made;
  for (const auto& [name, initial] : initial_) {
    made[name] = ET_UNWRAP(SlimTensor::empty(shape_of(*initial), places_.at(name)));
    ET_CHECK_OK_OR_RETURN_ERROR(copy_tensor(*initial, *made[name]));
  }
  sessions_[++last_] = std::move(made);
  return last_;
}

Error SessionState::destroy(int token) {
  return sessions_.erase(token) == 1 ? Error::Ok : Error::NotFound;
}

const SessionState::Buffers* SessionState::buffers(int token) const {
  const auto found = sessions_.find(token);
  return found == sessions_.end() ? nullptr : &found->second;
}

SessionScope& session_scope() {
  thread_local SessionScope scope;
  return scope;
}

}  // namespace executorch::backends::aoti
