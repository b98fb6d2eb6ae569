"""Makes examples/sample: two ranks of an invented training job, as an Ascend PyTorch profile.

    python3 examples/make_sample.py [FOLDER]

The model is a one-block transformer, trained data-parallel on two devices for the steps 10 to 12. After step 10 the
clock of rank 1's device falls from 1800 to 1200 MHz. From then on rank 0 is done first and waits in the all-reduces:
that is what the profile should show. The same files, byte for byte, come out of every run.
"""

import pathlib
import sys

import sample_files
from sample_rank import Kernel, Rank

EPOCH_NS = 1_767_225_600_000_000_000  # 2026-01-01
GROUP = "4203175508219440127"
STEPS = (10, 11, 12)

TOKENS, HIDDEN, VOCABULARY = "8,256", "8,256,512", "8192,512"
VECTOR, CUBE, MIX = "AI_VECTOR_CORE", "AI_CORE", "MIX_AIC"
EMBEDDING = Kernel("aclnnEmbedding_GatherV2_GatherV2", "GatherV2", VECTOR, 40, 40, f"{VOCABULARY};2048", "2048,512")
LAYER_NORM = Kernel("aclnnLayerNorm_LayerNormV3_LayerNormV3", "LayerNormV3", VECTOR, 48, 60, f"{HIDDEN};512;512", HIDDEN)
QKV = Kernel("aclnnAddmm_MatMulCommon_MatMulV2", "MatMulV2", CUBE, 24, 210, "2048,512;512,1536;1536", "2048,1536")
ATTENTION = Kernel("aclnnFlashAttentionScore_FlashAttentionScore_FlashAttentionScore", "FlashAttentionScore", MIX, 24, 320,
                   f"{HIDDEN};{HIDDEN};{HIDDEN}", HIDDEN)
FFN_UP = Kernel("aclnnAddmm_MatMulCommon_MatMulV2", "MatMulV2", CUBE, 24, 280, "2048,512;512,2048;2048", "2048,2048")
GELU = Kernel("aclnnGelu_GeluAiCore_Gelu", "Gelu", VECTOR, 48, 70, "2048,2048", "2048,2048")
FFN_DOWN = Kernel("aclnnAddmm_MatMulCommon_MatMulV2", "MatMulV2", CUBE, 24, 280, "2048,2048;2048,512;512", "2048,512")
HEAD = Kernel("aclnnMatmul_MatMulCommon_MatMulV2", "MatMulV2", CUBE, 24, 520, "2048,512;512,8192", "2048,8192")
LOSS = Kernel("aclnnNLLLoss_NLLLossAiCore_NLLLoss", "NLLLoss", VECTOR, 48, 110, "2048,8192;2048", "1")
HEAD_GRAD = Kernel("aclnnMm_MatMulCommon_MatMulV2", "MatMulV2", CUBE, 24, 980, "8192,2048;2048,512", VOCABULARY)
FFN_DOWN_GRAD = Kernel("aclnnMm_MatMulCommon_MatMulV2", "MatMulV2", CUBE, 24, 540, "2048,2048;2048,512", "2048,512")
GELU_GRAD = Kernel("aclnnGeluBackward_GeluGradAiCore_GeluGrad", "GeluGrad", VECTOR, 48, 95, "2048,2048;2048,2048", "2048,2048")
FFN_UP_GRAD = Kernel("aclnnMm_MatMulCommon_MatMulV2", "MatMulV2", CUBE, 24, 540, "512,2048;2048,2048", "512,2048")
ATTENTION_GRAD = Kernel("aclnnFlashAttentionScoreGrad_FlashAttentionScoreGrad_FlashAttentionScoreGrad",
                        "FlashAttentionScoreGrad", MIX, 24, 690, f"{HIDDEN};{HIDDEN};{HIDDEN};{HIDDEN}", HIDDEN)
LAYER_NORM_GRAD = Kernel("aclnnLayerNormBackward_LayerNormGradV3_LayerNormGradV3", "LayerNormGradV3", VECTOR, 48, 120,
                         f"{HIDDEN};{HIDDEN};512", f"{HIDDEN};512;512")
EMBEDDING_GRAD = Kernel("aclnnEmbeddingDenseBackward_EmbeddingDenseGradV2_EmbeddingDenseGradV2", "EmbeddingDenseGradV2", VECTOR, 48,
                        150, "2048,512;2048", VOCABULARY)
ADAMW = Kernel("aclnnForeachAddcdivScalar_ForeachAddcdivScalar_ForeachAddcdivScalar", "ForeachAddcdivScalar", VECTOR, 48, 260,
               f"{VOCABULARY};512,1536;512,2048;2048,512;512,8192", f"{VOCABULARY};512,1536;512,2048;2048,512;512,8192")


def forward(r):
    """Runs the model; returns the activations and the sequence numbers that the backward pass needs."""
    blocks, sequences = [], []

    def layer(module, name, kernel, inner=None):
        dims = ";\r\n".join(kernel.inputs.split(";"))
        sequences.append(r.next_sequence())
        with r.frame("", module=module), r.op(name, dims, "c10::BFloat16", sequences[-1] if not inner else -1):
            if not inner:
                blocks.append(r.allocate(2048 + 1024 * (kernel.full_clock_us // 100)))
                r.launch(kernel)
                return
            with r.op(inner, dims, "c10::BFloat16", sequences[-1]):
                blocks.append(r.allocate(2048 + 1024 * (kernel.full_clock_us // 100)))
                r.launch(kernel)

    with r.frame("tiny/model.py(40): forward"):
        layer("Embedding", "aten::embedding", EMBEDDING)
        layer("LayerNorm", "aten::layer_norm", LAYER_NORM, "aten::native_layer_norm")
        layer("Attention", "aten::linear", QKV, "aten::addmm")
        r.workspace("MatMulV2", 1024)
        layer("Attention", "npu::npu_fusion_attention", ATTENTION)
        layer("FeedForward", "aten::linear", FFN_UP, "aten::addmm")
        layer("FeedForward", "aten::gelu", GELU)
        layer("FeedForward", "aten::linear", FFN_DOWN, "aten::addmm")
        layer("Head", "aten::matmul", HEAD, "aten::mm")
        layer("Loss", "aten::cross_entropy_loss", LOSS, "aten::nll_loss_forward")
    return blocks, sequences


def backward(r, step, blocks, sequences):
    """Yields at each all-reduce (see Rank.all_reduce)."""
    def grad(node, name, kernel, *indices):
        sequence = sequences[indices[0]]
        with r.op(node, sequence=sequence, fwd_thread=1):
            with r.op(name, ";\r\n".join(kernel.inputs.split(";")), "c10::BFloat16"):
                r.launch(kernel)
        for index in indices:
            r.release(blocks[index])

    def reduce_bucket(number, count):
        with r.op("c10d::allreduce_", str(count), "float"):
            yield from r.all_reduce(f"hcom_allReduce__{GROUP[-3:]}_{2 * (step - STEPS[0]) + number}_1", count)

    with r.frame("torch/_tensor.py(492): backward"), r.on_autograd_thread():
        grad("MmBackward0", "aten::mm", HEAD_GRAD, 7, 8)
        yield from reduce_bucket(0, 4_194_304)
        grad("AddmmBackward0", "aten::mm", FFN_DOWN_GRAD, 6)
        grad("GeluBackward0", "aten::gelu_backward", GELU_GRAD, 5)
        grad("AddmmBackward0", "aten::mm", FFN_UP_GRAD, 4)
        r.workspace("MatMulV2", 2048)
        grad("NpuFusionAttentionBackward0", "npu::npu_fusion_attention_grad", ATTENTION_GRAD, 3, 2)
        grad("NativeLayerNormBackward0", "aten::native_layer_norm_backward", LAYER_NORM_GRAD, 1)
        grad("EmbeddingBackward0", "aten::embedding_dense_backward", EMBEDDING_GRAD, 0)
        yield from reduce_bucket(1, 7_340_032)


def train_step(r, step):
    with r.step(step), r.frame("train.py(27): train_step"):
        with r.frame("train.py(19): next_batch"), r.op("aten::to", TOKENS, "int"), r.op("aten::copy_", TOKENS, "int"):
            r.copy("acl_memcpy_host_to_device", 12)
        blocks, sequences = forward(r)
        yield from backward(r, step, blocks, sequences)
        with r.frame("torch/optim/adamw.py(164): step"), r.op("Optimizer.step#AdamW.step"):
            r.wait_for_collectives()
            with r.op("aten::_fused_adamw_", VOCABULARY, "float"):
                r.launch(ADAMW)
        with r.op("aten::item", "1", "float"), r.op("aten::_local_scalar_dense", "1", "float"):
            r.copy("acl_memcpy_device_to_host", 3)
            r.synchronize()
    r.spend(80, 120)


def train(r):
    r.set_clock(1800)
    r.spend(900, 1100)
    for step in STEPS:
        if r.rank == 1 and step == STEPS[1]:
            r.set_clock(1200)
        yield from train_step(r, step)


def run_together(jobs):
    """Runs both ranks; at each collective everybody goes on when the last one is ready."""
    ready = [next(job, None) for job in jobs]
    while ready[0] is not None:
        both_ready = max(ready)
        ready = [resume(job, both_ready) for job in jobs]


def resume(job, value):
    try:
        return job.send(value)
    except StopIteration:
        return None


def make_sample(folder):
    ranks = [Rank(0, EPOCH_NS), Rank(1, EPOCH_NS + 40_000)]
    run_together([train(rank) for rank in ranks])
    for rank in ranks:
        sample_files.write_rank(rank, pathlib.Path(folder) / f"rank{rank.rank}_ascend_pt", GROUP)


if __name__ == "__main__":
    make_sample(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "sample")
