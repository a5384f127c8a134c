// SPDX-License-Identifier: BSD-3-Clause
// Execution: shapes of this call, outputs resized, pointers handed over, run.
#include <executorch/backends/xnnpack/runtime/XNNPACKBackend.h>
#include <executorch/backends/xnnpack/runtime/delegate.h>
#include <executorch/backends/xnnpack/runtime/profile.h>
#include <executorch/runtime/backend/tensor_arguments.h>

#include <cpuinfo.h>

#include <cinttypes>
#include <new>

namespace executorch::backends::xnnpack {

using executorch::aten::SizesType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;
using runtime::TensorView;

namespace {

/// The sizes in memory order; a scalar is one element.
Result<Shape> shape_in_memory(const TensorView& tensor) {
  const size_t rank = tensor.rank();
  ET_CHECK_OR_RETURN_ERROR(rank <= kMaxRank, InvalidArgument,
                           "XNNPACK takes at most %zu dimensions, found %zu", kMaxRank, rank);
  Shape shape;
  shape.rank = rank == 0 ? 1 : rank;
  shape.dims[0] = 1;
  for (size_t i = 0; i < rank; ++i) {
    shape.dims[i] = static_cast<size_t>(tensor.sizes()[tensor.dim_in_memory(i)]);
  }
  return shape;
}

Error resize_in_memory_order(const Tensor& tensor, const Shape& shape) {
  const size_t rank = static_cast<size_t>(tensor.dim());
  ET_CHECK_OR_RETURN_ERROR(shape.rank == rank || (rank == 0 && shape.num_elements() == 1),
                           InvalidArgument, "an output has %zu dimensions, expected %zu", rank,
                           shape.rank);
  SizesType sizes[kMaxRank] = {};
  const auto order = tensor.dim_order();
  for (size_t i = 0; i < rank; ++i) {
    sizes[order.empty() ? i : order[i]] = static_cast<SizesType>(shape.dims[i]);
  }
  return runtime::resize_tensor(tensor, {sizes, rank});
}

}  // namespace

Result<std::unique_ptr<Delegate>> Delegate::create(const Payload& payload,
                                                   const runtime::NamedDataMap* data,
                                                   const DelegateOptions& options) {
  auto delegate = std::unique_ptr<Delegate>(new (std::nothrow) Delegate());
  ET_CHECK_OR_RETURN_ERROR(delegate != nullptr, MemoryAllocationFailed, "no memory for a delegate");
  Executable& run = delegate->run_;
  const bool has_halves = cpuinfo_has_arm_neon_fp16_arith() || cpuinfo_has_x86_avx512fp16();
  run.graph = ET_UNWRAP(read_graph(*payload.graph, !has_halves));
  delegate->shapes_ = run.graph.shapes;
  delegate->is_profiled_ = options.profile;
  auto maker = std::make_unique<RuntimeMaker>(payload, data, options, run);
  ET_CHECK_OK_OR_RETURN_ERROR(maker->make());
  if (!maker->is_done()) {
    delegate->maker_ = std::move(maker);
  }
  return delegate;
}

Delegate::~Delegate() {
  if (!run_.runtimes.empty()) {
    const std::lock_guard<std::mutex> lock(run_.workspace->mutex);
    run_.runtimes.clear();
    if (!has_run_) {
      run_.workspace->end_first_run();
    }
  }
}

Error Delegate::read_input_shapes(Span<EValue*> args, bool& changed) {
  const auto arguments =
      ET_UNWRAP(runtime::TensorArguments::of(xnnpack_backend_key, args, args.size(), 0));
  for (size_t place = 0; place < run_.graph.externals.size(); ++place) {
    const TensorView tensor = ET_UNWRAP(
        arguments.argument(place, {run_.graph.externals[place].type, runtime::kAnyRank, false}));
    if (run_.graph.externals[place].is_output) {
      continue;
    }
    const Shape shape = ET_UNWRAP(shape_in_memory(tensor));
    Shape& known = shapes_[run_.graph.externals[place].value];
    ET_CHECK_OR_RETURN_ERROR(shape.rank == known.rank, InvalidArgument,
                             "argument %zu of an XNNPACK delegate: expected %zu dimensions, "
                             "found %zu",
                             place, known.rank, shape.rank);
    ET_CHECK_OR_RETURN_ERROR(shape.num_elements() > 0, InvalidArgument,
                             "argument %zu of an XNNPACK delegate: expected at least one element, "
                             "found none (an empty batch?); kernels of the CPU take empty tensors",
                             place);
    changed = changed || shape != known;
    known = shape;
  }
  return Error::Ok;
}

Error Delegate::propagate_shapes() {
  for (const GraphNode& node : run_.graph.nodes) {
    ET_CHECK_OR_RETURN_ERROR(infer_shape(node, shapes_) == Error::Ok, InvalidArgument,
                             "XNNPACK %s: inputs of these sizes do not go through the graph",
                             name_of(*node.node));
  }
  run_.boundaries.plan(run_.graph, run_.plan, shapes_);
  for (size_t place = 0; place < run_.plan.size(); ++place) {
    const SegmentRuntime& run = run_.runtimes[place];
    if (run_.plan[place].is_view) {
      continue;
    }
    if (run.own != nullptr) {
      ET_CHECK_OK_OR_RETURN_ERROR(run.own->reshape(shapes_));
    } else {
      ET_CHECK_OK_OR_RETURN_ERROR(reshape(run_.plan[place], run.runtime.get()));
    }
  }
  return Error::Ok;
}

Error Delegate::reshape(const Segment& segment, xnn_runtime_t runtime) {
  for (uint32_t place = 0; place < segment.arguments.size(); ++place) {
    const Shape& shape = shapes_[segment.arguments[place].value];
    if (!segment.arguments[place].is_output) {
      ET_CHECK_OK_OR_RETURN_ERROR(check_status(
          xnn_reshape_external_value(runtime, place, shape.rank, shape.dims), "a shape"));
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(xnn_reshape_runtime(runtime), "new shapes"));
  for (uint32_t place = 0; place < segment.arguments.size(); ++place) {
    if (!segment.arguments[place].is_output) {
      continue;
    }
    Shape found;
    ET_CHECK_OK_OR_RETURN_ERROR(check_status(
        xnn_get_external_value_shape(runtime, place, &found.rank, found.dims), "a shape"));
    ET_CHECK_OR_RETURN_ERROR(found == shapes_[segment.arguments[place].value], Internal,
                             "XNNPACK: value %" PRIu32 " has another shape than its nodes say",
                             segment.arguments[place].value);
  }
  return Error::Ok;
}

Error Delegate::resize_outputs(Span<EValue*> args) {
  for (uint32_t place = 0; place < run_.graph.externals.size(); ++place) {
    const auto& [value, is_output, type] = run_.graph.externals[place];
    if (is_output) {
      ET_CHECK_OK_OR_RETURN_ERROR(resize_in_memory_order(args[place]->toTensor(), shapes_[value]));
    }
  }
  return Error::Ok;
}

Error Delegate::set_up(Span<EValue*> args, bool is_needed) {
  const size_t bytes = run_.boundaries.size();
  void* const block = bytes == 0 ? nullptr : run_.workspace->between_segments(bytes);
  ET_CHECK_OR_RETURN_ERROR(bytes == 0 || block != nullptr, MemoryAllocationFailed,
                           "XNNPACK: no memory for %zu bytes between segments", bytes);
  const bool has_moved = is_needed || block != block_;
  block_ = block;
  addresses_.resize(run_.graph.values.size());
  for (uint32_t value = 0; has_moved && value < addresses_.size(); ++value) {
    addresses_[value] = run_.boundaries.data(value, block);
  }
  for (uint32_t place = 0; place < run_.graph.externals.size(); ++place) {
    void* data = args[place]->toTensor().mutable_data_ptr();
    ET_CHECK_OR_RETURN_ERROR(data != nullptr, InvalidArgument,
                             "argument %" PRIu32 " of an XNNPACK delegate has no memory", place);
    addresses_[run_.graph.externals[place].value] = data;
  }
  for (size_t index = 0; index < run_.plan.size(); ++index) {
    const Segment& segment = run_.plan[index];
    SegmentRuntime& run = run_.runtimes[index];
    if (segment.is_view) {
      const Operands& operands = run_.graph.nodes[segment.begin].operands;
      addresses_[operands.output] = addresses_[operands.inputs[0]];
    }
    if (segment.is_view || run.own != nullptr) {
      continue;
    }
    bool is_new = is_needed || run.pointers.empty();
    if (run.pointers.empty()) {
      run.pointers.resize(segment.arguments.size());
    }
    for (uint32_t place = 0; place < segment.arguments.size(); ++place) {
      const uint32_t value = segment.arguments[place].value;
      void* data = addresses_[value];
      is_new = is_new || run.pointers[place].data != data;
      run.pointers[place] = {place, data};
    }
    // When others move the workspace, XNNPACK sets up those that share it.
    if (is_new) {
      ET_CHECK_OK_OR_RETURN_ERROR(check_status(
          xnn_setup_runtime_v2(run.runtime.get(), run.pointers.size(), run.pointers.data()),
          "the arguments"));
    }
  }
  return Error::Ok;
}

Error Delegate::invoke(runtime::EventTracer* tracer) {
  for (size_t place = 0; place < run_.plan.size(); ++place) {
    if (run_.plan[place].is_view) {
      continue;
    }
    const SegmentRuntime& run = run_.runtimes[place];
    const et_timestamp_t start = is_profiled_ ? et_pal_current_ticks() : 0;
    if (run.own != nullptr) {
      Scratch& scratch = run_.workspace->scratch();
      const Error ran = run.own->run(addresses_, scratch);
      scratch.reset();
      ET_CHECK_OK_OR_RETURN_ERROR(ran);
      if (is_profiled_ && tracer != nullptr) {
        report_own(run.titles, *tracer, start);
      }
      continue;
    }
    ET_CHECK_OK_OR_RETURN_ERROR(check_status(xnn_invoke_runtime(run.runtime.get()), "to run"));
    if (is_profiled_ && tracer != nullptr) {
      report_operators(run.runtime.get(), run.titles, *tracer, start);
    }
  }
  return Error::Ok;
}

Error Delegate::execute(Span<EValue*> args, runtime::EventTracer* tracer) {
  ET_CHECK_OR_RETURN_ERROR(args.size() == run_.graph.externals.size(), InvalidArgument,
                           "an XNNPACK delegate of %zu arguments was called with %zu",
                           run_.graph.externals.size(), args.size());
  const std::lock_guard<std::mutex> lock(run_.workspace->mutex);
  if (maker_ != nullptr && has_run_) {
    ET_CHECK_OK_OR_RETURN_ERROR(maker_->finish());
    maker_.reset();
    has_shapes_ = false;
  }
  bool changed = !has_shapes_;
  has_shapes_ = false;  // until this call has got through
  ET_CHECK_OK_OR_RETURN_ERROR(read_input_shapes(args, changed));
  if (changed) {
    ET_CHECK_OK_OR_RETURN_ERROR(propagate_shapes());
  }
  ET_CHECK_OK_OR_RETURN_ERROR(resize_outputs(args));
  ET_CHECK_OK_OR_RETURN_ERROR(set_up(args, changed));
  has_shapes_ = true;
  const Error ran = invoke(tracer);
  if (!has_run_) {
    has_run_ = true;
    run_.workspace->end_first_run();  // there may be no other
  }
  return ran;
}

}  // namespace executorch::backends::xnnpack
