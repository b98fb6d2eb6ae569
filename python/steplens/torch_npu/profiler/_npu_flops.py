"""Operations of the device's own functions (torch_npu.npu_*), from the arguments of a call. None: it is not known, no mark.

They are written from the functions' public descriptions and have not met the real ones: arguments that do not fit make no mark.
"""

from __future__ import annotations

import math
from typing import Any, Iterable, Optional, Sequence

# Places of batch, heads, sequence and the width of a head. "H" is heads and width in one.
_LAYOUTS = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, None, 1, 2), "SBH": (1, None, 0, 2)}


def _sparse_area_doubled(rows: int, columns: int, mode: int) -> Optional[int]:
    """Twice the number of (query, key) pairs that a mask leaves."""
    if mode == 0:
        return 2 * rows * columns
    if mode == 2:
        return 2 * rows * columns - columns * columns if rows >= columns else rows * rows
    if mode == 3:
        return columns * columns if rows >= columns else 2 * rows * columns - rows * rows
    return None


def _lengths(cumulative: Iterable[int]) -> list[int]:
    """Lengths of sequences from where they end; ends that are 0 at the tail are padding."""
    ends = _numbers(cumulative)
    while ends and ends[-1] == 0:
        ends.pop()
    return [end - begin for begin, end in zip([0] + ends[:-1], ends)]


def _numbers(values: Any) -> list[int]:
    return [int(value) for value in (values.tolist() if hasattr(values, "tolist") else values)]


def _attention(query: Any, key: Any, value: Any, heads: int, layout: str, mode: int, ends_q: Any, ends_kv: Any) -> Optional[int]:
    if layout == "TND":
        pairs = sum(q * kv for q, kv in zip(_lengths(ends_q), _lengths(ends_kv)))
        return 2 * query.shape[1] * (query.shape[2] + value.shape[2]) * pairs
    if layout not in _LAYOUTS:
        return None
    batch, head, sequence, width = _LAYOUTS[layout]
    doubled = _sparse_area_doubled(query.shape[sequence], key.shape[sequence], mode)
    if doubled is None:
        return None
    width_q, width_v = query.shape[width], value.shape[width]
    if head is None:
        width_q //= heads
        width_v //= key.shape[width] // width_q  # the heads of keys and values, which may be fewer
    else:
        heads = query.shape[head]
    return query.shape[batch] * heads * doubled * (width_q + width_v)


def fusion_attention(query, key, value, head_num, input_layout, *, actual_seq_qlen=None, actual_seq_kvlen=None, sparse_mode=0, **_):
    return _attention(query, key, value, head_num, input_layout, sparse_mode, actual_seq_qlen, actual_seq_kvlen)


def fused_infer_attention(query, key, value, *, actual_seq_lengths=None, actual_seq_lengths_kv=None, num_heads=1,
                          input_layout="BSH", sparse_mode=0, **_):
    return _attention(query, key, value, num_heads, input_layout, sparse_mode, actual_seq_lengths, actual_seq_lengths_kv)


def _product(left: Sequence[int], columns: int) -> int:
    return 2 * math.prod(left) * columns


def all_gather_mm(input, mat2, hcom, world_size, **_):
    return 2 * input.shape[0] * world_size * input.shape[1] * mat2.shape[1]


def transpose_batch_matmul(input, weight, *, perm_x1=(0, 1, 2), perm_x2=(0, 1, 2), **_):
    left = [input.shape[place] for place in perm_x1]
    right = [weight.shape[place] for place in perm_x2]
    return _product(left, right[-1])


def plain_matmul(x1, x2, *_args, **_):
    return _product(x1.shape, x2.shape[-1])


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def grouped_matmul(x, weight, *, group_list=None, group_list_type=0, **_):
    inputs = x if _is_list(x) else [x]
    weights = weight if _is_list(weight) else [weight]
    if len(inputs) == len(weights):
        return sum(_product(left.shape, right.shape[-1]) for left, right in zip(inputs, weights))
    if len(inputs) != 1 or group_list is None:
        return None
    lengths = _numbers(group_list)
    is_cumulative = group_list_type == 0 and lengths == sorted(lengths)
    lengths = _lengths(lengths) if is_cumulative else lengths
    return sum(2 * rows * right.shape[-2] * right.shape[-1] for rows, right in zip(lengths, weights))


def grouped_matmul_swiglu_quant(x, weight, *_args, **_):
    return _product(x.shape, weight.shape[-1])


def _columns(weight: Any, is_transposed: bool) -> int:
    return weight.shape[-2] if is_transposed else weight.shape[-1]


def _with_optional_mm(flops: int, mm_x: Any, mm_weight: Any, is_transposed: bool) -> int:
    if mm_x is None or mm_weight is None:
        return flops
    return flops + _product(mm_x.shape, _columns(mm_weight, is_transposed))


def alltoallv_gmm(gmm_x, gmm_weight, hcom, ep_world_size, send_counts, recv_counts, *, mm_x=None, mm_weight=None,
                  trans_gmm_weight=False, trans_mm_weight=False, **_):
    rows = sum(_numbers(recv_counts))  # the received rows are multiplied
    gmm = 2 * rows * gmm_x.shape[-1] * _columns(gmm_weight, trans_gmm_weight)
    return _with_optional_mm(gmm, mm_x, mm_weight, trans_mm_weight)


def gmm_alltoallv(gmm_x, gmm_weight, hcom, ep_world_size, send_counts, recv_counts, *, mm_x=None, mm_weight=None,
                  trans_gmm_weight=False, trans_mm_weight=False, **_):
    gmm = _product(gmm_x.shape, _columns(gmm_weight, trans_gmm_weight))
    return _with_optional_mm(gmm, mm_x, mm_weight, trans_mm_weight)


def block_sparse_attention(query, key, value, block_sparse_mask, block_shape, *, q_input_layout="TND", actual_seq_lengths=None,
                           actual_seq_lengths_kv=None, **_):
    """`block_sparse_mask`: batch, heads, blocks of queries, blocks of keys; 1 is active."""
    if q_input_layout == "TND":
        rows, columns = _lengths(actual_seq_lengths), _lengths(actual_seq_lengths_kv)
    elif q_input_layout == "BNSD":
        rows, columns = [query.shape[2]] * query.shape[0], [key.shape[2]] * key.shape[0]
    else:
        return None
    mask = block_sparse_mask.tolist()
    active = sum(max(0, min(block_shape[0], rows[batch] - i * block_shape[0])) *
                 max(0, min(block_shape[1], columns[batch] - j * block_shape[1]))
                 for batch, of_heads in enumerate(mask) for of_rows in of_heads
                 for i, of_columns in enumerate(of_rows) for j, is_active in enumerate(of_columns) if is_active)
    return 2 * active * (query.shape[-1] + value.shape[-1])


FORMULAS = {f"torch_npu:{name}": formula for name, formula in {
    "npu_fusion_attention": fusion_attention,
    "npu_fused_infer_attention_score": fused_infer_attention,
    "npu_all_gather_base_mm": all_gather_mm,
    "npu_transpose_batchmatmul": transpose_batch_matmul,
    "npu_grouped_matmul": grouped_matmul,
    "npu_quant_matmul_gelu": plain_matmul,
    "npu_grouped_matmul_swiglu_quant": grouped_matmul_swiglu_quant,
    "npu_alltoallv_gmm": alltoallv_gmm,
    "npu_gmm_alltoallv": gmm_alltoallv,
    "npu_block_sparse_attention": block_sparse_attention,
}.items()}
