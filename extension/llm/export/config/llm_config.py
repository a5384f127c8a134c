# SPDX-License-Identifier: BSD-3-Clause
"""The tree of options of an export: every field is a key `group.field` of a YAML file or the command line.

What a field alone can have wrong is refused here; combinations in `rules.py`.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, field, fields, make_dataclass
from enum import Enum
from typing import ClassVar

from executorch.backends.discovery import language_models
from executorch.extension.llm.model.families import FAMILIES
from executorch.extension.llm.quantization.budget_text import budget_of

# the qmode of a GGUF file's own codes and scales, its default, and the one of weights as floats, all others'
GGUF_BITS = "gguf"
FLOAT_WEIGHTS = "float"


class _Choice(str, Enum):
    """Values are their own names; what is printed is the value."""

    def __str__(self) -> str:
        return str(self.value)


# every family of the table, and what torchtune defines
ModelType = _Choice("ModelType", {name: name for name in (*FAMILIES, "llama3_2_vision")})
PreqMode = _Choice(
    "PreqMode", {"preq_8da4w": "8da4w", "preq_8da4w_out_8da8w": "8da4w_output_8da8w"}
)
DtypeOverride = _Choice("DtypeOverride", {name: name for name in ("fp32", "fp16", "bf16")})
SpinQuant = _Choice("SpinQuant", {"cuda": "cuda", "native": "native"})
CoreMLQuantize = _Choice("CoreMLQuantize", {"b4w": "b4w", "c4w": "c4w"})
CoreMLComputeUnit = _Choice(
    "CoreMLComputeUnit",
    {name: name for name in ("cpu_only", "cpu_and_gpu", "cpu_and_ne", "all")},
)
OpenvinoDevice = _Choice("OpenvinoDevice", {name: name for name in ("CPU", "GPU", "NPU")})
VgfQuantizeScope = _Choice("VgfQuantizeScope", {"full": "full", "linear": "linear"})
QuantizeScope = VgfQuantizeScope
_PT2E = """xnnpack_dynamic xnnpack_dynamic_qc4 openvino_4wo openvino_8wo qnn_8a8w qnn_16a16w
    qnn_16a4w coreml_c4w coreml_8a_c8w coreml_8a_c4w coreml_baseline_8a_c8w coreml_baseline_8a_c4w vulkan_8w
    tosa_8a8w ethosu_8a8w ethosu_16a8w vgf_8a8w vgf_16a8w"""
# what the documents name, and what backends of this package say besides
Pt2eQuantize = _Choice(
    "Pt2eQuantize",
    {
        name: name
        for names in (
            _PT2E.split(),
            *(each.pt2e_quantizations for each in language_models().values()),
        )
        for name in names
    },
)


@dataclass
class LoraConfig:
    """An adapter: its files, or a rank, an alpha and the layers that have it."""

    adapter_checkpoint: str | None = None
    adapter_config: str | None = None
    lora_rank: int = 0
    lora_alpha: int = 0
    target_modules: list[str] = field(default_factory=list)
    adapter_quant: str | None = None


@dataclass
class BaseConfig:
    model_class: ModelType = ModelType.llama3
    params: str | None = None
    checkpoint: str | None = None
    lora_config: LoraConfig | None = None
    tokenizer_path: str | None = None
    metadata: str | None = None
    use_lora: int = 0
    preq_mode: PreqMode | None = None
    preq_group_size: int = 32
    preq_embedding_quantize: str = "8,0"


@dataclass
class ModelConfig:
    dtype_override: DtypeOverride = DtypeOverride.fp32
    enable_dynamic_shape: bool = True
    use_shared_embedding: bool = False
    use_sdpa_with_kv_cache: bool = False
    # taken and without effect: it says how tables lie, not what a program computes
    expand_rope_table: bool = False
    use_attention_sink: str | None = None
    output_prune_map: str | None = None
    input_prune_map: str | None = None
    use_kv_cache: bool = False
    quantize_kv_cache: bool = False
    # of the caches that llama::update_cache writes; default: the model's, and fp16 with a GGUF file's quantization
    kv_cache_dtype: DtypeOverride | None = None
    local_global_attention: list[int] | None = None

    def __post_init__(self) -> None:
        sink = self.use_attention_sink
        if sink and not re.fullmatch(r"\d+,\d+(,\d+)?", sink):
            raise ValueError(
                f"model.use_attention_sink: expected 'sink,window' as in '4,2044', found {sink!r}"
            )


@dataclass
class ExportConfig:
    max_seq_length: int = 128
    max_context_length: int = 128
    # more than 1: the program goes on with as many texts in one call, see docs/design/051-llm-runner.md
    max_sessions: int = 1
    # a method `embed`, too, which turns a text into a vector; the server's /v1/embeddings calls it
    embed: bool = False
    # the tokenizer, chat template and settings of generation are in the program, too: one file is enough
    tokenizer_in_program: bool = True
    output_dir: str = "."
    output_name: str | None = None
    so_library: str | None = None
    export_only: bool = False
    foundation_weights_file: str | None = None
    lora_weights_file: str | None = None

    def __post_init__(self) -> None:
        if self.max_seq_length < 1:
            raise ValueError(
                f"export.max_seq_length: expected 1 or more, found {self.max_seq_length}"
            )
        if self.max_sessions < 1:
            raise ValueError(f"export.max_sessions: expected 1 or more, found {self.max_sessions}")
        if self.max_context_length < self.max_seq_length:
            raise ValueError(
                f"export.max_context_length: expected at least export.max_seq_length ({self.max_seq_length}), "
                f"found {self.max_context_length}"
            )


@dataclass
class DebugConfig:
    profile_memory: bool = False
    profile_path: str | None = None
    generate_etrecord: bool = False
    generate_full_logits: bool = False
    verbose: bool = False


@dataclass
class MethodConfig:
    """One method of a program with several: its name, and its adapter."""

    method_name: str = "forward"
    lora_config: LoraConfig | None = None
    export_seq_len: int | None = None


@dataclass
class MultimethodConfig:
    methods: list[MethodConfig] = field(default_factory=list)
    share_mutable_buffers: bool = False


@dataclass
class QuantizationConfig:
    QMODE_OPTIONS: ClassVar[list[str]] = [
        "int8",
        "8da4w",
        "8da4w-gptq",
        "4w",
        GGUF_BITS,
        FLOAT_WEIGHTS,
    ]
    AO_QUANT_PATTERNS: ClassVar[list[str]] = [r"torchao:8da(\d+)w", r"torchao:fpa(\d+)w"]
    EMBEDDING_PATTERNS: ClassVar[list[str]] = [
        r"[248],(\d+|none|None)",
        r"torchao:[1-8],\d+(,\w+)?",
    ]

    qmode: str | None = None
    # "perplexity +3%" or "80 MB": the form of each matrix is chosen by a text (calibration_data)
    budget: str | None = None
    embedding_quantize: str | None = None
    pt2e_quantize: Pt2eQuantize | None = None
    group_size: int | None = None
    use_spin_quant: SpinQuant | None = None
    use_qat: bool = False
    quantize_scope: QuantizeScope = QuantizeScope.full
    # of the rows that a GGUF file's quantization are multiplied with: 8, or 16, which cost time
    activation_bits: int = 8
    calibration_tasks: list[str] | None = None
    calibration_limit: int | None = None
    calibration_seq_length: int | None = None
    calibration_data: str = "Once upon a time"
    use_hqq: bool = True

    def __post_init__(self) -> None:
        if self.qmode is not None and not self._known_qmode(self.qmode):
            raise ValueError(
                f"quantization.qmode: expected one of {', '.join(self.QMODE_OPTIONS)}, torchao:8da<bits>w or "
                f"torchao:fpa<bits>w with 1 to 8 bits, found {self.qmode!r}"
            )
        if self.budget is not None:
            budget_of(self.budget)
        table = self.embedding_quantize
        if table and not any(re.fullmatch(p, table) for p in self.EMBEDDING_PATTERNS):
            raise ValueError(
                "quantization.embedding_quantize: expected 'bits,group' with 2, 4 or 8 bits, or "
                f"'torchao:bits,group' with 1 to 8, found {table!r}"
            )
        if self.activation_bits not in (8, 16):
            raise ValueError(
                f"quantization.activation_bits: expected 8 or 16, found {self.activation_bits}"
            )
        if self.group_size is not None and self.group_size < 1:
            raise ValueError(
                f"quantization.group_size: expected 1 or more, found {self.group_size}"
            )

    @property
    def floats(self) -> bool:
        """Whether weights stay as the checkpoint's floats."""
        return self.qmode in (None, FLOAT_WEIGHTS)

    @property
    def own_bits(self) -> bool:
        """Whether matrices stay the blocks of a GGUF file, which operators on the CPU read."""
        return self.qmode == GGUF_BITS

    @property
    def few_bits(self) -> str | None:
        """The qmode that makes integers of weights; None where they stay floats, or the blocks that they are."""
        return None if self.qmode in (GGUF_BITS, FLOAT_WEIGHTS) else self.qmode

    def _known_qmode(self, mode: str) -> bool:
        if mode in self.QMODE_OPTIONS:
            return True
        found = [m for p in self.AO_QUANT_PATTERNS if (m := re.fullmatch(p, mode))]
        return any(1 <= int(m[1]) <= 8 for m in found)


@dataclass
class XNNPackConfig:
    enabled: bool = False
    extended_ops: bool = False


@dataclass
class CoreMLConfig:
    enabled: bool = False
    enable_state: bool = False
    preserve_sdpa: bool = False
    quantize: CoreMLQuantize | None = None
    ios: int = 15
    compute_units: CoreMLComputeUnit = CoreMLComputeUnit.cpu_only

    def __post_init__(self) -> None:
        if self.ios not in (15, 16, 17, 18):
            raise ValueError(f"backend.coreml.ios: expected 15, 16, 17 or 18, found {self.ios}")


@dataclass
class VulkanConfig:
    enabled: bool = False
    force_fp16: bool = False


@dataclass
class QNNConfig:
    enabled: bool = False
    use_sha: bool = False
    soc_model: str = "SM8650"
    use_qnn_sha: bool = False
    optimized_rotation_path: str | None = None
    num_sharding: int = 0


@dataclass
class MPSConfig:
    enabled: bool = False


@dataclass
class OpenvinoConfig:
    enabled: bool = False
    device: OpenvinoDevice = OpenvinoDevice.CPU
    nncf_compression_group_size: int = 32
    openvino_awq: bool = False
    openvino_scale_estimation: bool = False


@dataclass
class TorchAOKernelsConfig:
    use_torchao_kernels_linear: bool = False
    use_torchao_kernels_tied_embedding: bool = False


@dataclass
class TosaConfig:
    enabled: bool = False
    version: str = "TOSA-1.0+INT"


@dataclass
class EthosUConfig:
    enabled: bool = False
    target: str = "ethos-u85-128"
    memory_mode: str = "default"
    system_config: str = "default"
    extra_flags: list[str] | None = None


@dataclass
class VgfConfig:
    enabled: bool = False
    compile_spec: str | None = "TOSA-1.0+INT"
    compiler_flags: list[str] = field(default_factory=list)
    quantize_scope: VgfQuantizeScope = VgfQuantizeScope.full


@dataclass
class MLXConfig:
    enabled: bool = False


@dataclass
class FoundBackendConfig:
    """Of a backend that the documents do not name."""

    enabled: bool = False


def _with_found_backends(documented: type) -> type:
    """A field more for each other backend of this package that lowers language models."""
    known = {each.name for each in fields(documented)}
    more = [name for name in language_models() if name not in known]
    rows = [(name, FoundBackendConfig, field(default_factory=FoundBackendConfig)) for name in more]
    return make_dataclass(documented.__name__, rows, bases=(documented,)) if rows else documented


@_with_found_backends
@dataclass
class BackendConfig:
    xnnpack: XNNPackConfig = field(default_factory=XNNPackConfig)
    coreml: CoreMLConfig = field(default_factory=CoreMLConfig)
    vulkan: VulkanConfig = field(default_factory=VulkanConfig)
    qnn: QNNConfig = field(default_factory=QNNConfig)
    mps: MPSConfig = field(default_factory=MPSConfig)
    openvino: OpenvinoConfig = field(default_factory=OpenvinoConfig)
    torchao: TorchAOKernelsConfig = field(default_factory=TorchAOKernelsConfig)
    tosa: TosaConfig = field(default_factory=TosaConfig)
    ethosu: EthosUConfig = field(default_factory=EthosUConfig)
    vgf: VgfConfig = field(default_factory=VgfConfig)
    mlx: MLXConfig = field(default_factory=MLXConfig)


@dataclass
class LlmConfig:
    """One export. `from_args` reads the older command line's namespace."""

    base: BaseConfig = field(default_factory=BaseConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    export: ExportConfig = field(default_factory=ExportConfig)
    debug: DebugConfig = field(default_factory=DebugConfig)
    multimethod: MultimethodConfig = field(default_factory=MultimethodConfig)
    quantization: QuantizationConfig = field(default_factory=QuantizationConfig)
    backend: BackendConfig = field(default_factory=BackendConfig)

    @classmethod
    def from_args(cls, args: argparse.Namespace) -> LlmConfig:
        from executorch.extension.llm.export.config.flag_table import config_from_flags

        return config_from_flags(args, cls)
