#include "analysis/cpu_device/op_roles.h"

#include <algorithm>

namespace steplens::analysis {
namespace {

// Operators of aten, sorted.
constexpr std::string_view kBookkeepers[] = {
    "_conj",
    "_fw_primal",
    "_has_compatible_shallow_copy_type",
    "_neg_view",
    "_reshape_alias",
    "_unpack_dual",
    "_unsafe_view",
    "_version",
    "adjoint",
    "alias",
    "align_as",
    "align_tensors",
    "align_to",
    "as_strided",
    "as_strided_",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_tensors",
    "broadcast_to",
    "can_cast",
    "chunk",
    "conj",
    "detach",
    "detach_",
    "diagonal",
    "dsplit",
    "empty",
    "empty_like",
    "empty_quantized",
    "empty_strided",
    "expand",
    "expand_as",
    "flatten",
    "hsplit",
    "imag",
    "is_leaf",
    "is_pinned",
    "is_same_size",
    "lift",
    "lift_fresh",
    "mH",
    "mT",
    "matrix_H",
    "meshgrid",
    "moveaxis",
    "movedim",
    "narrow",
    "new_empty",
    "new_empty_strided",
    "numel",
    "numpy_T",
    "output_nr",
    "permute",
    "promote_types",
    "ravel",
    "real",
    "record_stream",
    "refine_names",
    "rename",
    "rename_",
    "requires_grad_",
    "reshape",
    "reshape_as",
    "resize_",
    "resize_as_",
    "resolve_conj",
    "resolve_neg",
    "result_type",
    "retain_grad",
    "select",
    "set_",
    "set_data",
    "size",
    "slice",
    "split",
    "split_with_sizes",
    "squeeze",
    "squeeze_",
    "stride",
    "swapaxes",
    "swapaxes_",
    "swapdims",
    "swapdims_",
    "sym_numel",
    "sym_size",
    "sym_stride",
    "t",
    "t_",
    "tensor_split",
    "transpose",
    "transpose_",
    "unbind",
    "unflatten",
    "unfold",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsqueeze",
    "unsqueeze_",
    "view",
    "view_as",
    "view_as_complex",
    "view_as_real",
    "vsplit",
};
constexpr std::string_view kMovers[] = {
    "_local_scalar_dense",
    "_to_copy",
    "_to_cpu",
    "clone",
    "contiguous",
    "copy",
    "copy_",
    "fill",
    "fill_",
    "full",
    "full_like",
    "item",
    "lift_fresh_copy",
    "new_full",
    "new_ones",
    "new_zeros",
    "ones",
    "ones_like",
    "pin_memory",
    "scalar_tensor",
    "to",
    "type_as",
    "zero",
    "zero_",
    "zeros",
    "zeros_like",
};

template <size_t kCount>
bool IsListed(const std::string_view (&sorted)[kCount], std::string_view name) {
  return std::binary_search(std::begin(sorted), std::end(sorted), name);
}

// "AddBackward0": a node that was generated from a formula, and calls operators for its work.
bool IsGeneratedNode(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  return last != name.npos && last + 1 < name.size() &&
         name.substr(0, last + 1).ends_with("Backward");
}

// What the framework's engine and its data-parallel wrapper put around the operators they call.
bool IsRangeOfTheEngine(std::string_view name) {
  return name.starts_with("autograd::engine::") || name.starts_with("torch::autograd::") ||
         name.starts_with("torch.distributed.") || name.starts_with("torch::distributed::") ||
         name == "AccumulateGrad";
}

}  // namespace

OpRole RoleOfOperator(std::string_view name, bool is_node) {
  if (IsRangeOfTheEngine(name) || (is_node && IsGeneratedNode(name))) return OpRole::kKeepsBooks;
  constexpr std::string_view kSpace = "aten::";
  if (!name.starts_with(kSpace)) return OpRole::kComputes;
  name.remove_prefix(kSpace.size());
  name = name.substr(0, name.find('.'));  // "empty.memory_format"
  if (IsListed(kBookkeepers, name)) return OpRole::kKeepsBooks;
  return IsListed(kMovers, name) ? OpRole::kMoves : OpRole::kComputes;
}

}  // namespace steplens::analysis
