"""What a block of the model launches: operators, kernels and their share of the block's time."""

from typing import NamedTuple


class KernelShape(NamedTuple):
    """`{tokens}` in a shape is filled in by rank."""
    operator: str
    name: str
    type: str
    core: str
    share: float
    input_shapes: str
    output_shapes: str


class BlockShape(NamedTuple):
    duration_ns: int
    kernels: tuple


def _matmul(share, inputs, outputs):
    return KernelShape("aten::mm", "aclnnMm_MatMulV3Common_MatMulV3", "MatMulV3", "AI_CORE", share, inputs, outputs)


def _grouped(share, inputs, outputs):
    return KernelShape("npu::npu_grouped_matmul", "aclnnGroupedMatmul_GroupedMatmul_GroupedMatmul", "GroupedMatmul",
                       "AI_CORE", share, inputs, outputs)


def _vector(operator, kind, share, inputs, outputs):
    return KernelShape(operator, f"aclnn{kind}_{kind}AiCore_{kind}", kind, "AI_VECTOR_CORE", share, inputs, outputs)


def _attention(operator, kind, share):
    return KernelShape(operator, f"aclnn{kind}_{kind}_{kind}", kind, "MIX_AIC", share,
                       "4096,1,2048;4096,1,2048;4096,1,2048", "4096,1,2048")


ACTIVATION = "4096,8192"
WIDE = "4096,7168"
TOKENS = "{tokens},8192"
WIDE_TOKENS = "{tokens},7168"

_ATTENTION_FORWARD = (
    _vector("npu::npu_rms_norm", "RmsNorm", 0.04, f"{ACTIVATION};8192", ACTIVATION),
    _matmul(0.31, f"{ACTIVATION};8192,3072", "4096,3072"),
    _attention("npu::npu_fusion_attention", "FlashAttentionScore", 0.45),
    _matmul(0.20, "4096,2048;2048,8192", ACTIVATION),
)
_ATTENTION_BACKWARD = (
    _matmul(0.20, f"{ACTIVATION};8192,2048", "4096,2048"),
    _attention("npu::npu_fusion_attention_grad", "FlashAttentionScoreGrad", 0.48),
    _matmul(0.28, "4096,3072;3072,8192", ACTIVATION),
    _vector("npu::npu_rms_norm_backward", "RmsNormGrad", 0.04, f"{ACTIVATION};{ACTIVATION};8192", ACTIVATION),
)
_MLP_FORWARD = (
    _vector("npu::npu_rms_norm", "RmsNorm", 0.04, f"{ACTIVATION};8192", ACTIVATION),
    _matmul(0.50, f"{ACTIVATION};8192,14336", "4096,14336"),
    _vector("npu::npu_swiglu", "SwiGlu", 0.08, "4096,14336", WIDE),
    _matmul(0.38, f"{WIDE};7168,8192", ACTIVATION),
)
_MLP_BACKWARD = (
    _matmul(0.38, f"{ACTIVATION};8192,7168", WIDE),
    _vector("npu::npu_swiglu_backward", "SwiGluGrad", 0.09, f"{WIDE};4096,14336", "4096,14336"),
    _matmul(0.53, "4096,14336;14336,8192", ACTIVATION),
)
_EXPERTS_FORWARD = (
    _grouped(0.54, f"{TOKENS};8,8192,14336;8", "{tokens},14336"),
    _vector("npu::npu_swiglu", "SwiGlu", 0.08, "{tokens},14336", WIDE_TOKENS),
    _grouped(0.38, f"{WIDE_TOKENS};8,7168,8192;8", TOKENS),
)
_EXPERTS_BACKWARD = (
    _grouped(0.40, f"{TOKENS};8,8192,7168;8", WIDE_TOKENS),
    _vector("npu::npu_swiglu_backward", "SwiGluGrad", 0.09, WIDE_TOKENS + ";{tokens},14336", "{tokens},14336"),
    _grouped(0.51, "{tokens},14336;8,14336,8192;8", TOKENS),
)
_OPTIMIZER = (
    _vector("npu::npu_apply_adam_w", "ApplyAdamWV2", 0.90, "100663296;100663296;100663296", "100663296"),
    _vector("aten::copy_", "Cast", 0.10, "100663296", "100663296"),
)

MS = 1_000_000
BLOCKS = {
    "attention_forward": BlockShape(4 * MS, _ATTENTION_FORWARD),
    "attention_backward": BlockShape(9 * MS, _ATTENTION_BACKWARD),
    "mlp_forward": BlockShape(6 * MS, _MLP_FORWARD),
    "mlp_backward": BlockShape(12 * MS, _MLP_BACKWARD),
    "experts_forward": BlockShape(6 * MS, _EXPERTS_FORWARD),
    "experts_backward": BlockShape(12 * MS, _EXPERTS_BACKWARD),
    "optimizer": BlockShape(3 * MS, _OPTIMIZER),
}


def block_kernel_count(kind):
    return len(BLOCKS[kind].kernels)


def kernels_of(block):
    """(shape, start ns, end ns) of each kernel: a launch gap, then the kernel; the last one takes the rounding."""
    shapes = BLOCKS[block.kind].kernels
    result = []
    start = block.start_ns
    for shape in shapes:
        start += block.gap_ns
        last = shape is shapes[-1]
        end = block.end_ns if last else start + int(block.busy_ns * shape.share)
        result.append((shape, start, end))
        start = end
    return result
