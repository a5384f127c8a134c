// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/aot/graph_builder.h>

#include <cstring>
#include <deque>

namespace executorch::backends::qualcomm {

namespace {

/// A tensor as QNN takes it; it refers to the data.
class QnnTensor {
 public:
  explicit QnnTensor(const TensorData& data) {
    tensor_.version = QNN_TENSOR_VERSION_1;
    auto& made = tensor_.v1;
    made.name = data.name.c_str();
    made.type = static_cast<Qnn_TensorType_t>(data.type);
    made.dataType = static_cast<Qnn_DataType_t>(data.dtype);
    made.rank = static_cast<uint32_t>(data.dims.size());
    made.dimensions = const_cast<uint32_t*>(data.dims.data());
    made.memType = QNN_TENSORMEMTYPE_RAW;
    if (data.type == QNN_TENSOR_TYPE_STATIC) {
      made.clientBuf.data = const_cast<void*>(data.data);
      made.clientBuf.dataSize = static_cast<uint32_t>(data.nbytes);
    }
    made.quantizeParams.encodingDefinition = QNN_DEFINITION_UNDEFINED;
    made.quantizeParams.quantizationEncoding = QNN_QUANTIZATION_ENCODING_UNDEFINED;
    if (data.encoding) {
      set_encoding(*data.encoding);
    }
  }
  QnnTensor(const QnnTensor&) = delete;
  QnnTensor& operator=(const QnnTensor&) = delete;

  Qnn_Tensor_t& get() { return tensor_; }

 private:
  void set_encoding(const EncodingData& data) {
    Qnn_QuantizeParams_t& params = tensor_.v1.quantizeParams;
    params.encodingDefinition = QNN_DEFINITION_DEFINED;
    params.quantizationEncoding = static_cast<Qnn_QuantizationEncoding_t>(data.type);
    const auto count = static_cast<uint32_t>(data.scales.size());
    switch (params.quantizationEncoding) {
      case QNN_QUANTIZATION_ENCODING_SCALE_OFFSET:
        params.scaleOffsetEncoding.scale = data.scales[0];
        params.scaleOffsetEncoding.offset = data.offsets[0];
        break;
      case QNN_QUANTIZATION_ENCODING_BW_SCALE_OFFSET:
        params.bwScaleOffsetEncoding.bitwidth = data.bitwidth;
        params.bwScaleOffsetEncoding.scale = data.scales[0];
        params.bwScaleOffsetEncoding.offset = data.offsets[0];
        break;
      case QNN_QUANTIZATION_ENCODING_AXIS_SCALE_OFFSET:
        set_pairs(data);
        params.axisScaleOffsetEncoding.axis = data.axis;
        params.axisScaleOffsetEncoding.numScaleOffsets = count;
        params.axisScaleOffsetEncoding.scaleOffset = pairs_.data();
        break;
      case QNN_QUANTIZATION_ENCODING_BLOCKWISE_EXPANSION: {
        set_pairs(data);
        const auto* scales = reinterpret_cast<const uint8_t*>(data.block_scales.data());
        blocks_.axis = data.axis;
        blocks_.scaleOffsets = pairs_.data();
        blocks_.numBlocksPerAxis = static_cast<uint32_t>(data.block_scales.size()) / count;
        blocks_.blockScaleBitwidth = data.bitwidth;
        blocks_.blockScaleStorageType = QNN_BLOCKWISE_EXPANSION_BITWIDTH_SCALE_STORAGE_8;
        blocks_.blocksScale8 = const_cast<uint8_t*>(scales);
        params.blockwiseExpansion = &blocks_;
        break;
      }
      default:
        params.bwAxisScaleOffsetEncoding.bitwidth = data.bitwidth;
        params.bwAxisScaleOffsetEncoding.axis = data.axis;
        params.bwAxisScaleOffsetEncoding.numElements = count;
        params.bwAxisScaleOffsetEncoding.scales = const_cast<float*>(data.scales.data());
        params.bwAxisScaleOffsetEncoding.offsets = const_cast<int32_t*>(data.offsets.data());
        break;
    }
  }

  void set_pairs(const EncodingData& data) {
    pairs_.resize(data.scales.size());
    for (size_t i = 0; i < pairs_.size(); ++i) {
      pairs_[i].scale = data.scales[i];
      pairs_[i].offset = data.offsets[i];
    }
  }

  Qnn_Tensor_t tensor_{};
  std::vector<Qnn_ScaleOffset_t> pairs_;
  Qnn_BlockwiseExpansion_t blocks_{};
};

/// An operator with its parameters; those that are arrays are constants of the graph.
class QnnOperator {
 public:
  QnnOperator(const OperatorData& data, std::deque<QnnTensor>& tensors) : data_(data) {
    for (const uint32_t place : data.inputs) {
      inputs_.push_back(tensors[place].get());
    }
    for (const uint32_t place : data.outputs) {
      outputs_.push_back(tensors[place].get());
    }
  }

  /// `create`: tells the graph of an array's tensor. Why not, or empty.
  template <typename Create>
  std::string add_parameters(Create create) {
    for (const ParameterData& data : data_.parameters) {
      Qnn_Param_t made{};
      made.name = data.name.c_str();
      if (data.dims.empty()) {
        made.paramType = QNN_PARAMTYPE_SCALAR;
        made.scalarParam.dataType = static_cast<Qnn_DataType_t>(data.dtype);
        std::memcpy(&made.scalarParam.uint64Value, data.bytes.data(),
                    std::min(data.bytes.size(), sizeof(made.scalarParam.uint64Value)));
      } else {
        arrays_.push_back({data_.name + "_" + data.name,
                           static_cast<uint32_t>(QNN_TENSOR_TYPE_STATIC), data.dtype, data.dims,
                           std::nullopt, data.bytes.data(), data.bytes.size()});
        tensors_.emplace_back(arrays_.back());
        const std::string why = create(tensors_.back().get());
        if (!why.empty()) {
          return why;
        }
        made.paramType = QNN_PARAMTYPE_TENSOR;
        made.tensorParam = tensors_.back().get();
      }
      parameters_.push_back(made);
    }
    return "";
  }

  /// Valid as long as this.
  Qnn_OpConfig_t config() {
    Qnn_OpConfig_t made{};
    made.version = QNN_OPCONFIG_VERSION_1;
    made.v1.name = data_.name.c_str();
    made.v1.packageName = data_.package.c_str();
    made.v1.typeName = data_.type.c_str();
    made.v1.numOfParams = static_cast<uint32_t>(parameters_.size());
    made.v1.params = parameters_.data();
    made.v1.numOfInputs = static_cast<uint32_t>(inputs_.size());
    made.v1.inputTensors = inputs_.data();
    made.v1.numOfOutputs = static_cast<uint32_t>(outputs_.size());
    made.v1.outputTensors = outputs_.data();
    return made;
  }

 private:
  const OperatorData& data_;
  std::vector<Qnn_Tensor_t> inputs_, outputs_;
  std::vector<Qnn_Param_t> parameters_;
  std::deque<TensorData> arrays_;
  std::deque<QnnTensor> tensors_;
};

/// Options of a graph for Hexagon, and the pointers that QNN takes.
struct GraphConfigs {
  explicit GraphConfigs(const Options& options) {
    if (!options.is_htp()) {
      return;
    }
    if (options.is_half) {
      add(QNN_HTP_GRAPH_CONFIG_OPTION_PRECISION).precision = QNN_PRECISION_FLOAT16;
    }
    if (options.vtcm_mb > 0) {
      add(QNN_HTP_GRAPH_CONFIG_OPTION_VTCM_SIZE).vtcmSizeInMB = options.vtcm_mb;
    }
    if (!options.folds_relu) {
      add(QNN_HTP_GRAPH_CONFIG_OPTION_FOLD_RELU_ACTIVATION_INTO_CONV_OFF)
          .foldReluActivationIntoConvOff = true;
    }
    if (!options.uses_conv_hmx) {
      add(QNN_HTP_GRAPH_CONFIG_OPTION_SHORT_DEPTH_CONV_ON_HMX_OFF).shortDepthConvOnHmxOff = true;
    }
  }

  const QnnGraph_Config_t** pointers() {
    for (QnnHtpGraph_CustomConfig_t& each : custom_) {
      QnnGraph_Config_t config{};
      config.option = QNN_GRAPH_CONFIG_OPTION_CUSTOM;
      config.customConfig = &each;
      configs_.push_back(config);
    }
    for (const QnnGraph_Config_t& each : configs_) {
      pointers_.push_back(&each);
    }
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

 private:
  QnnHtpGraph_CustomConfig_t& add(QnnHtpGraph_ConfigOption_t option) {
    custom_.emplace_back();
    custom_.back().option = option;
    return custom_.back();
  }

  std::deque<QnnHtpGraph_CustomConfig_t> custom_;
  std::deque<QnnGraph_Config_t> configs_;
  std::vector<const QnnGraph_Config_t*> pointers_;
};

/// A context that is being made, freed in the end.
class OpenContext {
 public:
  explicit OpenContext(const Session& session) : session_(session) {}
  ~OpenContext() {
    if (handle_ != nullptr) {
      session_.functions().contextFree(handle_, nullptr);
    }
  }
  OpenContext(const OpenContext&) = delete;
  OpenContext& operator=(const OpenContext&) = delete;

  std::string open(const Options& options) {
    QnnHtpContext_CustomConfig_t custom{};
    custom.option = QNN_HTP_CONTEXT_CONFIG_OPTION_WEIGHT_SHARING_ENABLED;
    custom.weightSharingEnabled = true;
    QnnContext_Config_t config{};
    config.option = QNN_CONTEXT_CONFIG_OPTION_CUSTOM;
    config.customConfig = &custom;
    const QnnContext_Config_t* configs[] = {options.shares_weights ? &config : nullptr, nullptr};
    return session_.why_failed(session_.functions().contextCreate(
                                   session_.backend(), session_.device(), configs, &handle_),
                               "QnnContext_create");
  }

  std::string add(const GraphData& data, const Options& options);
  std::string binary(std::string& out) const;

 private:
  const Session& session_;
  Qnn_ContextHandle_t handle_ = nullptr;
};

/// Arguments are made first, in their order: a context binary tells of them in the order in which
/// they were made.
std::vector<uint32_t> order_of(const GraphData& data) {
  std::vector<uint32_t> order(data.inputs);
  order.insert(order.end(), data.outputs.begin(), data.outputs.end());
  for (uint32_t place = 0; place < data.tensors.size(); ++place) {
    const uint32_t type = data.tensors[place].type;
    if (type != QNN_TENSOR_TYPE_APP_WRITE && type != QNN_TENSOR_TYPE_APP_READ) {
      order.push_back(place);
    }
  }
  return order;
}

std::string OpenContext::add(const GraphData& data, const Options& options) {
  const Functions& functions = session_.functions();
  Qnn_GraphHandle_t graph = nullptr;
  GraphConfigs configs(options);
  std::string why = session_.why_failed(
      functions.graphCreate(handle_, data.name.c_str(), configs.pointers(), &graph),
      "QnnGraph_create", "graph " + data.name);
  const auto create = [&](Qnn_Tensor_t& tensor) {
    return session_.why_failed(functions.tensorCreateGraphTensor(graph, &tensor),
                               "QnnTensor_createGraphTensor");
  };
  std::deque<QnnTensor> tensors;
  for (const TensorData& tensor : data.tensors) {
    tensors.emplace_back(tensor);
  }
  for (const uint32_t place : order_of(data)) {
    why = why.empty() ? create(tensors[place].get()) : why;
  }
  for (const OperatorData& each : data.operators) {
    QnnOperator made(each, tensors);
    why = why.empty() ? made.add_parameters(create) : why;
    if (!why.empty()) {
      return why;
    }
    why = session_.why_failed(functions.graphAddNode(graph, made.config()), "QnnGraph_addNode",
                              "operator " + each.name);
  }
  return why.empty() ? session_.why_failed(functions.graphFinalize(graph, nullptr, nullptr),
                                           "QnnGraph_finalize", "graph " + data.name)
                     : why;
}

std::string OpenContext::binary(std::string& out) const {
  const Functions& functions = session_.functions();
  Qnn_ContextBinarySize_t size = 0, written = 0;
  std::string why = session_.why_failed(functions.contextGetBinarySize(handle_, &size),
                                        "QnnContext_getBinarySize");
  if (why.empty()) {
    out.resize(size);
    why = session_.why_failed(functions.contextGetBinary(handle_, out.data(), size, &written),
                              "QnnContext_getBinary");
    out.resize(why.empty() && written <= size ? written : 0);
  }
  return why;
}

}  // namespace

std::string why_refused(const Session& session, const GraphData& graph) {
  std::deque<QnnTensor> tensors;
  for (const TensorData& tensor : graph.tensors) {
    tensors.emplace_back(tensor);
  }
  for (const OperatorData& each : graph.operators) {
    QnnOperator made(each, tensors);
    made.add_parameters([](Qnn_Tensor_t&) { return std::string(); });
    const std::string why = session.why_failed(
        session.functions().backendValidateOpConfig(session.backend(), made.config()),
        "QnnBackend_validateOpConfig", "operator " + each.type);
    if (!why.empty()) {
      return why;
    }
  }
  return "";
}

std::string compile(const Session& session, const Options& options,
                    const std::vector<const GraphData*>& graphs, std::string& out) {
  OpenContext context(session);
  std::string why = context.open(options);
  for (const GraphData* graph : graphs) {
    why = why.empty() ? context.add(*graph, options) : why;
  }
  return why.empty() ? context.binary(out) : why;
}

}  // namespace executorch::backends::qualcomm
