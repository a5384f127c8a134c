# SPDX-License-Identifier: BSD-3-Clause
"""A parameter that is accepted is read: obeyed, or refused with a reason. What is not read stands in a table."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from executorch.test.repository import parameters
from executorch.test.repository.parameters import Unread, unread
from executorch.test.repository.sources import ROOT, with_suffix

# reason -> "module:Class:function parameter", shell wildcards allowed
NOT_READ: dict[str, list[str]] = {
    "others override or call it with these arguments; this one needs fewer": [
        "partitioner:ArmPartitioner:claim program",
        "qnn_partitioner:QnnPartitioner:claim program",
        "qnn_partitioner:QnnOperatorSupport:is_node_supported submodules",
        "layout:channels_last step",
        "layout:plain step",
        "elementwise:cuts_nothing constants",
        "neutron_partitioner:NeutronPartitioner:claim program",
        "enn_partitioner:EnnOperatorSupport:is_node_supported submodules",
        "enn_partitioner:EnnPartitioner:claim program",
        "partitioner:NeuropilotOperatorsSupport:is_node_supported submodules",
        "partitioner:NeuropilotPartitioner:ops_to_not_decompose ep",
        "writer:GraphWriter:make_input place",
        "writer:GraphWriter:make_value layout",
        "writer:GraphWriter:read_constant *",
        "neutron_partitioner:NeutronPartitioner:ops_to_not_decompose ep",
        "writer:TfliteWriter:*",
        "partitioner:OpenvinoOperatorsSupport:is_node_supported submodules",
        "static:StaticValues:is_computed node",
        "partitioner:ArmPartitioner:ops_to_not_decompose ep",
        "specification:TosaLoweringContext:__exit__ _",
        "__init__:Handle:__exit__ _",
        "writer:TosaWriter:make_input place",
        "writer:TosaWriter:transpose node",
        "tokenizers:HuggingFaceTokenizer:encode bos",
        "tokenizers:HuggingFaceTokenizer:encode eos",
        "fuse_transpose_or_permute_op_pairs_pass:FuseTransposeOrPermuteOpPairsPass:get_fused_node graph_module",
        "fuse_transpose_or_permute_op_pairs_pass:FuseTransposeOrPermuteOpPairsPass:get_fused_node producer",
        "permute_pass_utils:FuseOpPairsAcrossBranchesPass:can_fuse_for_chain producer",
        "permute_pass_utils:FuseOpPairsAcrossBranchesPass:check_ok_to_fuse producer",
        "permute_pass_utils:FuseOpPairsAcrossBranchesPass:get_fused_node graph_module",
        "permute_pass_utils:FuseOpPairsAcrossBranchesPass:get_fused_node producer",
        "node_visitor:NodeVisitor:get_serialized_buffer_index vals_to_ids",
        "xnnpack_config:XNNPartitionerConfig:check_common_constraints ep",
        "xnnpack_partitioner:XnnpackPartitioner:ops_to_not_decompose ep",
        "passes:edge_passes method_name",
        "cortex_m_pass_manager:edge_passes method_name",
        "operator_support:DontPartition:is_node_supported submodules",
        "operator_support:DontPartitionModule:is_node_supported submodules",
        "operator_support:DontPartitionName:is_node_supported submodules",
        "partitioner:Partitioner:ops_to_not_decompose ep",
        "partitioner:TablePartitioner:*",
        "writer:Writer:*",
        "payload:Payload:*",
        "graph:GraphWriter:*",
        "payload:VulkanWriter:*",
        "payload:MpsWriter:*",
        "vulkan_graph_serialize:serialize_custom_shaders *",
        "aoti_backend:AotiBackend:*",
        "aoti_cpu:AotiCpuBackend:*",
        "cuda_backend:CudaBackend:*",
        "metal_backend:MetalBackend:*",
        "aoti_partitioner:AotiPartitioner:why_not node",
        "eager:select_as_symint *",
        "eager_quantized:* weight_sums",
        "eager_quantized:* kernel_size",
        "layouts:permute operands",
        "exportable:identity fqn",
        "exportable:to_exportable fqn",
        "memory_planning:PositionBasedGreedyWithHierarchy:__call__ graph_*",
        "memory_planning:greedy graph_module",
        "memory_planning:greedy graph_signature",
        "memory_planning:naive graph_module",
        "memory_planning:naive graph_signature",
        "sym_shape_eval_pass:index_Tensor kwargs",
        "sym_shape_eval_pass:nonzero kwargs",
        "template:Recorder:__torch_dispatch__ types",
        "tracer:DispatchTracer:call_module m",
        "tracer:DummyProxy:__getitem__ key",
        "tracer:PythonTensor:__repr__ options",
        "tracer:PythonTensor:__torch_dispatch__ types",
        "_ops:EdgeOpOverload:__deepcopy__ memo",
    ],
    "schemas of operators are the documents': other arguments say the same, or it is for a chip alone": [
        "convolutions:quantized_* offset",
        "convolutions:quantized_* out_multiplier",
        "convolutions:quantized_* out_shift",
        "formulas:dequantize_per_tensor *",
        "data_movement:idma_copy *",
        "matmul:quantized_linear offset",
        "matmul:linalg_svd driver",
        "reductions:softmax_f32_f32 half_to_float",
        "reductions:quantized_softmax mask",
        "topk:topk sorted",
    ],
    "says what a checkpoint is; nothing that is computed depends on it": [
        "args:ModelArgs base_model_name_or_path",
        "args:ModelArgs bos_count",
        "args:ModelArgs bos_idx",
        "args:ModelArgs eos_count",
        "args:ModelArgs eos_idx",
        "args:ModelArgs kv_io_bit_width",
        "args:ModelArgs model_architecture",
        "args:ModelArgs peft_type",
    ],
    "every kind of attention is made and called with the same": [
        "attention:AttentionMHA:__init__ _kwargs",
        "attention:AttentionSkip:__init__ args",
        "attention:AttentionSkip:__init__ kwargs",
        "attention:AttentionSkip:forward *",
        "static_attention:StaticAttention:__init__ rope",
        "sdpa:SDPASimple:forward input_pos",
        "mixers:AttentionGatedDeltaNet:__init__ _kwargs",
        "mixers:AttentionGatedDeltaNet:__init__ rope",
        "mixers:AttentionGatedDeltaNet:forward freqs_cos",
        "mixers:AttentionGatedDeltaNet:forward freqs_sin",
        "caches:KVCacheWithAttentionSink:evict_tokens *",
        "sessions:RopeOfSessions:get_freqs seq_len",
    ],
    "torchao gives it to observers of every kind": [
        "observers:WeightObserverBase:__init__ kwargs",
    ],
    "scripts read it, of the flags that they have in common": [
        "config:QnnConfig ci",
        "config:QnnConfig ip",
        "config:QnnConfig direct_build_folder",
    ],
    "of a backend that is not in this package, which enabling it says": [
        "llm_config:EthosUConfig *",
        "llm_config:QNNConfig *",
    ],
    "torch asks it for shapes, with all arguments of an operator": [
        "custom_ops:*_meta *",
        "custom_ops:custom_sdpa *",
    ],
    "a node knows its graph, and its values the dtype": [
        "view_copy_to_squeeze_unsqueeze:ViewCopyToSqueezeUnsqueezePass:replace_view_copy_node graph_module",
        "decompose_batch_norm:DecomposeBatchNorm:replace_bn_node_with_conv graph_module",
        "constant_prop_pass:get_data exported_program",
    ],
    "either value gives the same: what it asks for is always so here": [
        "arm_quantizer:TOSAQuantizer:__init__ use_composable_quantizer",
        # captured programs have composed operators whole
        "compiler:trace ops_to_keep",
        # the decomposition makes no tensors
        "decompose_sdpa:DecomposeScaledDotProductAttention allow_non_fake_inputs",
        "decompose_sdpa:DecomposeScaledDotProductAttention:call allow_non_fake_inputs",
        # it says how tables of positions lie, not what a program computes
        "llm_config:ModelConfig expand_rope_table",
        # files hold bounds, so arenas are planned by bounds
        "_config:ExecutorchBackendConfig dynamic_memory_planning_mode",
        # a fused node takes the value of the node it replaces
        "quant_fusion_pass:QuantFusionPass:__init__ _fix_node_meta_val",
        "quant_fusion_pass:QuantFusionPass:__init__ node_value_dict",
        # the range of an operator's quantized weight: its values are in it
        "_quant_patterns_and_replacements:embedding_byte weight_quant_max",
        "_quant_patterns_and_replacements:embedding_byte weight_quant_min",
    ],
    "arguments of upstream's operators and sizes that no result depends on": [
        "cmsis_nn:avgpool_buffer_size dim_dst_width",
        "cmsis_nn:depthwise_conv_wrapper_buffer_size ch_mult",
        "cmsis_nn:depthwise_conv_wrapper_buffer_size stride_hw",
        "cmsis_nn:transpose_conv_buffer_size *",
        "cmsis_nn:transpose_conv_reverse_conv_buffer_size *",
        "operators:quantized_* *scratch",
        "operators:quantized_avg_pool2d *",
        "operators:quantized_depthwise_conv2d depth_multiplier",
        "operators:quantized_max_pool2d *_zero_point",
        "operators:softmax *_zero_point",
    ],
    "read as a whole (asdict, vars, getattr with a computed name)": [
        "qc_schema:HtpInfo *",
        "qc_schema:QnnExecuTorch* *",
        "_results:ExecutionPlanDiff delegates_only_in_a",
        "_results:ExecutionPlanDiff delegates_only_in_b",
        "_results:ExecutionPlanDiff instruction_count_a",
        "_results:ExecutionPlanDiff instruction_count_b",
        "_results:ExecutionPlanDiff non_const_buffer_sizes_a",
        "_results:ExecutionPlanDiff non_const_buffer_sizes_b",
        "_results:ExecutionPlanDiff operators_only_in_a",
        "_results:ExecutionPlanDiff operators_only_in_b",
        "_results:ExecutionPlanDiff value_count_a",
        "_results:ExecutionPlanDiff value_count_b",
        "llm_config:BackendConfig mlx",
        "padding:Sides bottom",
        # which are written as JSON
        "package:M* *",
        # of backends, which become compile specs
        "options:*Options *",
        "tracer:ExirDynamoConfig allow_rnn",
        "tracer:ExirDynamoConfig assume_static_by_default",
    ],
    "documented: buffers that a program writes are its own in any case as yet": [
        "qnn_partitioner:QnnPartitioner:__init__ skip_mutable_buffer",
    ],
    "documented: of upstream's messages, and of a table of embeddings, which stays float as yet": [
        "qnn_partitioner:QnnOperatorSupport:__init__ is_qnn_partitioner",
        "qnn_partitioner:QnnOperatorSupport:__init__ phase",
        "qconfig:QuantizationConfig per_channel_embedding",
    ],
    "documented: of older SDKs of NXP, and data that a program has anyway": [
        "neutron_partitioner:NeutronPartitioner:__init__ post_quantization_state_dict",
        "neutron_target_spec:NeutronTargetSpec:__init__ converter_flavor",
        "nxp_backend:generate_neutron_compile_spec neutron_converter_flavor",
        "nxp_backend:generate_neutron_compile_spec system_config",
    ],
    "of the one that takes everything": ["node_finders:GlobalNodeFinder:takes node"],
    "told to those who ask; says nothing about what to do": [
        "converted:NeutronNodeArtifacts *_indices",
        "payload:Payload *_map",
        "payload:Payload num_arguments",
        "graph:XNNHeader CONSTANT_DATA_OFFSET_OFFSET",
        "graph:XNNHeader CONSTANT_DATA_SIZE_OFFSET",
        "graph:XNNHeader FLATBUFFER_OFFSET_OFFSET",
        "graph:XNNHeader FLATBUFFER_SIZE_OFFSET",
        "_results:ElementDiff flat_index",
        "_results:TensorDataDiff tensor_b",
        "op_table:Row is_custom",
        # the suite's flows are made of them
        "manifest:BackendManifest flows",
        "base_schema:Node named_args",
        "base_schema:Node output_shapes",
        "base_schema:OperatorGraph graph_name",
        "schema_flatcc:AllocationEvent allocation_size",
        "schema_flatcc:AllocationEvent allocator_id",
        "schema_flatcc:Event allocation_event",
        "schema_flatcc:RunData allocators",
        "model:ETKernelKeyOpArgMeta arg_name",
        "_ops:EdgeDialectArgument allowed_types",
    ],
}


def test_every_parameter_is_read_or_stands_in_the_table() -> None:
    found = {f"{Path(one.where).name.replace('.py:', ':')} {one.name}" for one in unread()}
    listed = [entry for entries in NOT_READ.values() for entry in entries]
    ignored = [one for one in found if not any(fnmatchcase(one, entry) for entry in listed)]
    assert sorted(ignored) == [], "accepted and ignored: obey it, refuse it, or add a reason"
    left = [entry for entry in listed if not any(fnmatchcase(one, entry) for one in found)]
    assert left == [], "read by now: take it out of the table"
    assert len(listed) == len(set(listed))


IGNORING = '''
from dataclasses import dataclass

@dataclass
class Options:
    obeyed: int = 0
    forgotten: int = 0

class Public:
    def __init__(self, kept_for_nobody: int) -> None:
        self.kept_for_nobody = kept_for_nobody

    def obeys(self, options: Options) -> int:
        return options.obeyed

    def ignores(self, value: int, *more: int, **options: int) -> int:
        value = 3
        return len(more)

    def for_others(self, value: int) -> None:
        """Those who derive write it."""
        raise NotImplementedError

def _private(value: int) -> int:
    return 1
'''


def test_what_is_ignored_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Path("exir/example.py")
    parameters._read_anywhere.cache_clear()
    monkeypatch.setattr(parameters, "sources", lambda: {here: ast.parse(IGNORING)})
    found = unread()
    parameters._read_anywhere.cache_clear()
    assert found == [
        Unread("exir/example.py:Options", "forgotten"),
        Unread("exir/example.py:Public", "kept_for_nobody"),
        Unread("exir/example.py:Public:ignores", "value"),
        Unread("exir/example.py:Public:ignores", "options"),
    ]


# C++ parameters without a name: "file name", and why.
UNNAMED = {
    "shims.cpp layout opaque opaque_size non_blocking": "documented: all are strided, and copied when the call returns",
    "memory_manager.h constant_allocator": "of older files; the constructor is deprecated",
    "thread_parallel_interface.h thread_num": "one thread",
    "tokenizer_log.cpp file line": "the exception says which file of the user it is",
    "arguments.h convert": "both ways are the same",
    "log_capture.cpp timestamp function length": "the text has none of them",
    "status.cpp timestamp function length": "callers are told file and line",
    "adamw.cpp options": "other rules' buffers depend on them",
    "op_sdpa.cpp dropout_p": "documented: attention in programs drops nothing out",
    "op_sdpa_impl.h dropout_p": "documented: attention in programs drops nothing out",
    "convolutions.cpp offset out_multiplier out_shift": "documented: the scales say the same; nothing has an offset",
    "cuda_shims.cpp index": "a thread has one stream, whatever the device",
    "kernel_shims.cpp stable": "the sort is",
    "kernel_shims.cpp layout device pinned": "numbers are dense, on the GPU of the index",
    "elementwise.cpp quant_min quant_max": "stored values are within them",
    "data_movement.cpp task_num channel": "copies are done when they return",
    "matmul.cpp offset": "documented: nothing has one",
    "reductions.cpp mask half_to_float": "the mask's type says all; values are float32",
    "svd.cpp driver": "there is one algorithm",
    "fd_reader.cpp size": "free() needs none",
    "simd_math-inl.h d": "names the vector's type",
    "binary_simd.cpp i n": "one value for all elements",
    "reduction_simd.cpp scale": "maxima are not scaled",
    "dim_order_ops.cpp dim_order non_blocking": "the result has its dim order; copies are done when they return",
    "tensor_parser_aten.cpp allocator": "PyTorch allocates its tensors",
    "tensor_parser_portable.cpp nbytes": "portable tensors do not know how large their memory is",
    "tensor_ptr_aten.cpp dim_order dynamism": "PyTorch's tensors follow their strides, and may be resized",
    "tensor_util_aten.cpp dim_order dynamism": "PyTorch's tensors follow their strides, and may be resized",
    "tensor_util_portable.cpp dim_order": "strides come with it",
}


def _cpp_sources() -> list[tuple[str, str]]:
    folders = ("backends", "devtools", "exir", "extension", "kernels", "runtime", "schema")
    paths = [
        path
        for path in with_suffix(".cpp", ".h")
        if path.parts[0] in folders and not {"test", "testing_util"} & {*path.parts}
    ]
    return [(p.name, (ROOT / p).read_text()) for p in paths if not p.stem.endswith("_test")]


def test_cpp_says_why_it_does_not_read_a_parameter() -> None:
    """`(void)name;` has its reason on the line or on that of the one before; what has no name stands in the table."""
    offences, unnamed = [], set()
    for name, text in _cpp_sources():
        explained = False
        for line in text.splitlines():
            is_unread = re.match(r"\s*\(void\)\w+;", line) is not None
            explained = is_unread and (explained or "//" in line)
            if is_unread and not explained:
                offences.append(f"{name}: {line.strip()}")
        unnamed |= {(name, each) for each in re.findall(r"[\w&*>] /\*\s*(\w+)\s*\*/[,)]", text)}
    assert offences == []
    listed = {(file, each) for file, *names in map(str.split, UNNAMED) for each in names}
    assert unnamed == listed


def test_python_modules_in_cpp_read_what_they_bind() -> None:
    """A lambda behind py::arg that leaves its parameter without a name ignores it."""
    ignored = [
        f"{path.relative_to(ROOT)}: {text.strip()}"
        for path in sorted((ROOT / "extension" / "pybindings").glob("*.cpp"))
        if "py::arg" in path.read_text()
        for text in re.findall(r"[^\n(,]*/\*\w+\*/", path.read_text())
    ]
    assert ignored == []
