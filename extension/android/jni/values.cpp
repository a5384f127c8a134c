// SPDX-License-Identifier: BSD-3-Clause
// Packs and unpacks values.
#include <executorch/extension/android/jni/values.h>

#include <cstring>
#include <limits>

#include <executorch/extension/android/jni/java.h>
#include <executorch/runtime/core/tag.h>

namespace executorch::extension::jni {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::Tag;

namespace {

double to_double(jlong bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

jlong to_bits(double value) {
  jlong bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

TensorPtr to_tensor(JNIEnv* env, const jlong* dtype_rank_sizes, jobject buffer) {
  const jlong rank = dtype_rank_sizes[1];
  std::vector<SizesType> sizes;
  for (jlong i = 0; i < rank; ++i) {
    const jlong size = dtype_rank_sizes[2 + i];
    if (size > std::numeric_limits<SizesType>::max()) {
      fail(Error::InvalidArgument, "a size of " + std::to_string(size) + " is beyond 32 bits");
    }
    sizes.push_back(static_cast<SizesType>(size));
  }
  return from_blob(env->GetDirectBufferAddress(buffer), std::move(sizes),
                   static_cast<ScalarType>(dtype_rank_sizes[0]));
}

bool is_contiguous(const Tensor& tensor) {
  const auto order = tensor.dim_order();
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) {
      return false;
    }
  }
  return true;
}

// Elements in the order of the sizes, whatever order they have in memory.
void copy_elements(const Tensor& tensor, char* out) {
  const auto* data = static_cast<const char*>(tensor.const_data_ptr());
  if (is_contiguous(tensor)) {
    std::memcpy(out, data, tensor.nbytes());
    return;
  }
  const auto width = static_cast<size_t>(tensor.element_size());
  std::vector<SizesType> index(tensor.sizes().size(), 0);
  for (size_t at = 0; at < tensor.nbytes(); at += width) {
    size_t offset = 0;
    for (size_t dim = 0; dim < index.size(); ++dim) {
      offset += static_cast<size_t>(index[dim]) * static_cast<size_t>(tensor.strides()[dim]);
    }
    std::memcpy(out + at, data + offset * width, width);
    for (size_t dim = index.size(); dim-- > 0 && ++index[dim] == tensor.sizes()[dim];) {
      index[dim] = 0;
    }
  }
}

jobject to_buffer(JNIEnv* env, const Tensor& tensor, TensorMemory memory) {
  if (memory == TensorMemory::Borrowed && is_contiguous(tensor) && tensor.nbytes() > 0) {
    return made(env, env->NewDirectByteBuffer(tensor.mutable_data_ptr(),
                                              static_cast<jlong>(tensor.nbytes())));
  }
  if (tensor.nbytes() > static_cast<size_t>(std::numeric_limits<jint>::max())) {
    fail(Error::NotSupported, "an output of " + std::to_string(tensor.nbytes()) +
                                  " bytes is beyond what a buffer of Java holds");
  }
  const jobject buffer =
      made(env, env->CallStaticObjectMethod(java().byte_buffer, java().allocate_direct,
                                            static_cast<jint>(tensor.nbytes())));
  if (tensor.nbytes() > 0) {
    copy_elements(tensor, static_cast<char*>(env->GetDirectBufferAddress(buffer)));
  }
  return buffer;
}

jobject append(JNIEnv* env, const EValue& value, TensorMemory memory, std::vector<jlong>* header) {
  header->push_back(static_cast<jlong>(value.tag));
  switch (value.tag) {
    case Tag::None:
      return nullptr;
    case Tag::Tensor: {
      const Tensor& tensor = value.toTensor();
      header->push_back(static_cast<jlong>(tensor.scalar_type()));
      header->push_back(tensor.dim());
      header->insert(header->end(), tensor.sizes().begin(), tensor.sizes().end());
      return to_buffer(env, tensor, memory);
    }
    case Tag::String:
      return to_java(env, value.toString());
    case Tag::Int:
      header->push_back(value.toInt());
      return nullptr;
    case Tag::Double:
      header->push_back(to_bits(value.toDouble()));
      return nullptr;
    case Tag::Bool:
      header->push_back(value.toBool() ? 1 : 0);
      return nullptr;
    default:
      fail(Error::NotSupported, std::string("Java has no value for an output of kind ") +
                                    runtime::tag_to_string(value.tag));
  }
}

}  // namespace

Inputs::Inputs(JNIEnv* env, jlongArray header, jobjectArray objects) {
  const std::vector<jlong> numbers = to_numbers(env, header);
  const jsize count = env->GetArrayLength(objects);
  values_.reserve(static_cast<size_t>(count));
  size_t at = 0;
  for (jsize i = 0; i < count; ++i) {
    switch (const auto kind = static_cast<Tag>(numbers[at++])) {
      case Tag::Tensor: {
        const jobject buffer = made(env, env->GetObjectArrayElement(objects, i));
        tensors_.push_back(to_tensor(env, &numbers[at], buffer));
        env->DeleteLocalRef(buffer);
        values_.emplace_back(*tensors_.back());
        at += 2 + static_cast<size_t>(numbers[at + 1]);
        break;
      }
      case Tag::Int:
        values_.emplace_back(static_cast<int64_t>(numbers[at++]));
        break;
      case Tag::Double:
        values_.emplace_back(to_double(numbers[at++]));
        break;
      case Tag::Bool:
        values_.emplace_back(numbers[at++] != 0);
        break;
      default:
        fail(Error::InvalidArgument, "input " + std::to_string(i) +
                                         ": expected Tensor, Int, Double or Bool, got " +
                                         runtime::tag_to_string(kind));
    }
  }
}

jobjectArray to_java(JNIEnv* env, const std::vector<EValue>& values, TensorMemory memory) {
  const auto count = static_cast<jsize>(values.size());
  const jobjectArray packed = made(env, env->NewObjectArray(count + 1, java().object, nullptr));
  std::vector<jlong> header;
  for (jsize i = 0; i < count; ++i) {
    const jobject object = append(env, values[static_cast<size_t>(i)], memory, &header);
    env->SetObjectArrayElement(packed, i + 1, object);
    check_java(env);
    env->DeleteLocalRef(object);
  }
  env->SetObjectArrayElement(packed, 0, to_java(env, header));
  check_java(env);
  return packed;
}

}  // namespace executorch::extension::jni
