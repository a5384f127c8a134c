// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/stand_in/tensors.h>

namespace executorch::backends::qualcomm::stand_in {

namespace {

/// `dims`: of the tensor, as encodings by blocks do not say how many scales they have.
std::unique_ptr<qnn_stand_in::EncodingT> encoding_of(const Qnn_QuantizeParams_t& params,
                                                     const std::vector<uint32_t>& dims) {
  if (params.encodingDefinition != QNN_DEFINITION_DEFINED) {
    return nullptr;
  }
  auto made = std::make_unique<qnn_stand_in::EncodingT>();
  made->type = params.quantizationEncoding;
  const auto add = [&](float scale, int32_t offset) {
    made->scales.push_back(scale);
    made->offsets.push_back(offset);
  };
  switch (params.quantizationEncoding) {
    case QNN_QUANTIZATION_ENCODING_SCALE_OFFSET:
      add(params.scaleOffsetEncoding.scale, params.scaleOffsetEncoding.offset);
      break;
    case QNN_QUANTIZATION_ENCODING_BW_SCALE_OFFSET:
      made->bitwidth = params.bwScaleOffsetEncoding.bitwidth;
      add(params.bwScaleOffsetEncoding.scale, params.bwScaleOffsetEncoding.offset);
      break;
    case QNN_QUANTIZATION_ENCODING_AXIS_SCALE_OFFSET: {
      const Qnn_AxisScaleOffset_t& axis = params.axisScaleOffsetEncoding;
      made->axis = axis.axis;
      for (uint32_t i = 0; i < axis.numScaleOffsets; ++i) {
        add(axis.scaleOffset[i].scale, axis.scaleOffset[i].offset);
      }
      break;
    }
    case QNN_QUANTIZATION_ENCODING_BW_AXIS_SCALE_OFFSET: {
      const Qnn_BwAxisScaleOffset_t& axis = params.bwAxisScaleOffsetEncoding;
      made->axis = axis.axis;
      made->bitwidth = axis.bitwidth;
      for (uint32_t i = 0; i < axis.numElements; ++i) {
        add(axis.scales[i], axis.offsets == nullptr ? 0 : axis.offsets[i]);
      }
      break;
    }
    case QNN_QUANTIZATION_ENCODING_BLOCKWISE_EXPANSION: {
      const Qnn_BlockwiseExpansion_t& blocks = *params.blockwiseExpansion;
      const auto axis = static_cast<size_t>(blocks.axis);
      const uint32_t count = axis < dims.size() ? dims[axis] : 0;
      made->axis = blocks.axis;
      made->bitwidth = blocks.blockScaleBitwidth;
      for (uint32_t i = 0; i < count; ++i) {
        add(blocks.scaleOffsets[i].scale, blocks.scaleOffsets[i].offset);
      }
      const uint8_t* scales = blocks.blocksScale8;
      made->block_scales.assign(scales, scales + size_t{count} * blocks.numBlocksPerAxis);
      break;
    }
    default:
      break;
  }
  return made;
}

}  // namespace

std::unique_ptr<TensorSpec> spec_of(const Qnn_Tensor_t& tensor) {
  const Qnn_TensorV1_t& given = tensor.v1;
  auto made = std::make_unique<TensorSpec>();
  made->name = given.name == nullptr ? "" : given.name;
  made->type = given.type;
  made->dtype = given.dataType;
  made->dims.assign(given.dimensions, given.dimensions + given.rank);
  made->encoding = encoding_of(given.quantizeParams, made->dims);
  return made;
}

Qnn_Tensor_t tensor_of(TensorSpec& spec, uint32_t id) {
  Qnn_Tensor_t tensor{};
  tensor.version = QNN_TENSOR_VERSION_1;
  tensor.v1.id = id;
  tensor.v1.name = spec.name.c_str();
  tensor.v1.type = static_cast<Qnn_TensorType_t>(spec.type);
  tensor.v1.dataType = static_cast<Qnn_DataType_t>(spec.dtype);
  tensor.v1.rank = static_cast<uint32_t>(spec.dims.size());
  tensor.v1.dimensions = spec.dims.data();
  Qnn_QuantizeParams_t& params = tensor.v1.quantizeParams;
  params.quantizationEncoding = QNN_QUANTIZATION_ENCODING_UNDEFINED;
  if (spec.encoding != nullptr && spec.encoding->scales.size() == 1) {
    params.encodingDefinition = QNN_DEFINITION_DEFINED;
    params.quantizationEncoding = QNN_QUANTIZATION_ENCODING_SCALE_OFFSET;
    params.scaleOffsetEncoding = {spec.encoding->offsets[0], spec.encoding->scales[0]};
  }
  return tensor;
}

}  // namespace executorch::backends::qualcomm::stand_in
