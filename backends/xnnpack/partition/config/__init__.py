# SPDX-License-Identifier: BSD-3-Clause
"""All configurations that `XnnpackPartitioner(configs=...)` takes: one per row of the table of ops, under the names
that users know."""

from __future__ import annotations

from executorch.backends.xnnpack.partition.config.xnnpack_config import (
    ConfigPrecisionType,
    XNNPartitionerConfig,
    config_of,
)

AbsConfig = config_of("AbsConfig", "aten.abs.default")
AddConfig = config_of("AddConfig", "aten.add.Tensor")
AddmmConfig = config_of("AddmmConfig", "aten.addmm.default")
AvgPoolingConfig = config_of("AvgPoolingConfig", "aten.avg_pool2d.default")
BatchNormConfig = config_of("BatchNormConfig", "aten._native_batch_norm_legit_no_training.default")
BMMConfig = config_of("BMMConfig", "aten.bmm.default")
CatConfig = config_of("CatConfig", "aten.cat.default")
CeilConfig = config_of("CeilConfig", "aten.ceil.default")
ClampConfig = config_of("ClampConfig", "aten.clamp.default")
CloneConfig = config_of("CloneConfig", "aten.clone.default")
CloneDimOrderConfig = config_of("CloneDimOrderConfig", "dim_order_ops._clone_dim_order.default")
ConstantPadConfig = config_of("ConstantPadConfig", "aten.constant_pad_nd.default")
ConvolutionConfig = config_of("ConvolutionConfig", "aten.convolution.default")
CosConfig = config_of("CosConfig", "aten.cos.default")
DeQuantizedPerTensorConfig = config_of(
    "DeQuantizedPerTensorConfig", "quantized_decomposed.dequantize_per_tensor.default"
)
DivConfig = config_of("DivConfig", "aten.div.Tensor")
EluConfig = config_of("EluConfig", "aten.elu.default")
ExpConfig = config_of("ExpConfig", "aten.exp.default")
ExpandCopyConfig = config_of("ExpandCopyConfig", "aten.expand_copy.default")
FloorConfig = config_of("FloorConfig", "aten.floor.default")
GeluConfig = config_of("GeluConfig", "aten.gelu.default")
HardswishConfig = config_of("HardswishConfig", "aten.hardswish.default")
HardtanhConfig = config_of("HardtanhConfig", "aten.hardtanh.default")
LayerNormConfig = config_of("LayerNormConfig", "aten.native_layer_norm.default")
LeakyReLUConfig = config_of("LeakyReLUConfig", "aten.leaky_relu.default")
LinearConfig = config_of("LinearConfig", "aten.linear.default")
LogConfig = config_of("LogConfig", "aten.log.default")
MaxPool2dConfig = config_of("MaxPool2dConfig", "aten.max_pool2d_with_indices.default")
MaximumConfig = config_of("MaximumConfig", "aten.maximum.default")
MeanDimConfig = config_of("MeanDimConfig", "aten.mean.dim")
MinimumConfig = config_of("MinimumConfig", "aten.minimum.default")
MMConfig = config_of("MMConfig", "aten.mm.default")
MulConfig = config_of("MulConfig", "aten.mul.Tensor")
NegConfig = config_of("NegConfig", "aten.neg.default")
PermuteConfig = config_of("PermuteConfig", "aten.permute_copy.default")
PowConfig = config_of("PowConfig", "aten.pow.Tensor_Scalar")
PreluConfig = config_of("PreluConfig", "aten.prelu.default")
QuantizedPerTensorConfig = config_of(
    "QuantizedPerTensorConfig", "quantized_decomposed.quantize_per_tensor.default"
)
ReciprocalSquareRootConfig = config_of("ReciprocalSquareRootConfig", "aten.rsqrt.default")
ReLUConfig = config_of("ReLUConfig", "aten.relu.default")
SelectCopyConfig = config_of("SelectCopyConfig", "aten.select_copy.int")
SigmoidConfig = config_of("SigmoidConfig", "aten.sigmoid.default")
SinConfig = config_of("SinConfig", "aten.sin.default")
SliceCopyConfig = config_of("SliceCopyConfig", "aten.slice_copy.Tensor")
SoftmaxConfig = config_of("SoftmaxConfig", "aten._softmax.default")
SquareRootConfig = config_of("SquareRootConfig", "aten.sqrt.default")
SqueezeCopyConfig = config_of("SqueezeCopyConfig", "aten.squeeze_copy.dims")
SubConfig = config_of("SubConfig", "aten.sub.Tensor")
SumDimConfig = config_of("SumDimConfig", "aten.sum.dim_IntList")
TanhConfig = config_of("TanhConfig", "aten.tanh.default")
UnsqueezeCopyConfig = config_of("UnsqueezeCopyConfig", "aten.unsqueeze_copy.default")
UpsampleBilinear2dConfig = config_of("UpsampleBilinear2dConfig", "aten.upsample_bilinear2d.vec")
ViewCopyConfig = config_of("ViewCopyConfig", "aten.view_copy.default")

ALL_PARTITIONER_CONFIGS: list[type[XNNPartitionerConfig]] = [
    each
    for each in list(globals().values())
    if isinstance(each, type) and issubclass(each, XNNPartitionerConfig) and hasattr(each, "op")
]

__all__ = [
    "ALL_PARTITIONER_CONFIGS",
    "ConfigPrecisionType",
    "XNNPartitionerConfig",
    *(config.__name__ for config in ALL_PARTITIONER_CONFIGS),
]
