"""FLOP and bytes of functions whose counts are worked out by hand. x is (8, 16) in FP32: 128 numbers, 512 bytes."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402

from roofcourse import work  # noqa: E402
from roofcourse.place import views  # noqa: E402
from roofcourse.place.count import count, effective_bytes  # noqa: E402
from roofcourse.place.formulas import attention_flop  # noqa: E402

x, w, b = torch.ones(8, 16), torch.ones(16, 16), torch.ones(16)
q, kv = torch.ones(1, 4, 8, 16), torch.ones(1, 2, 8, 16)
table = torch.ones(1000, 16)
rows = torch.tensor([3, 5])
other = torch.empty(8, 16)
two_rows, columns = torch.empty(2, 16), torch.zeros(2, 16, dtype=torch.int64)
filters = torch.ones(4, 8, 3)
# The same matrix as x, as a slice of a larger tensor: its rows one after the other, or with a gap after each.
of_many, of_wide = torch.ones(10, 8, 16)[3], torch.ones(8, 64)[:, 16:32]


def counted(call):
    with torch.no_grad():
        return count(call)


@pytest.mark.parametrize(
    ("name", "call", "flop", "moved"),
    [
        ("softmax", lambda: F.softmax(x, -1), 5 * 128, 1024),
        # The same with out= as without: torch gives those forms other names, and no tags.
        ("gelu with out", lambda: torch.ops.aten.gelu.out(x, out=other), 5 * 128, 1024),
        ("elu with out", lambda: torch.ops.aten.elu.out(x, out=other), 3 * 128, 1024),
        ("mish with out", lambda: torch.ops.aten.mish.out(x, out=other), 5 * 128, 1024),
        ("softplus with out", lambda: torch.ops.aten.softplus.out(x, out=other), 3 * 128, 1024),
        ("hardswish", lambda: F.hardswish(x), 4 * 128, 1024),
        ("hardswish with out", lambda: torch.ops.aten.hardswish.out(x, out=other), 4 * 128, 1024),
        ("sigmoid with out", lambda: torch.sigmoid(x, out=other), 3 * 128, 1024),
        ("log_softmax with out", lambda: torch.log_softmax(x, -1, out=other), 5 * 128, 1024),
        ("sum with out", lambda: torch.sum(x, 1, out=torch.empty(8)), 128, 512 + 32),
        ("product with out", lambda: torch.mm(x, w, out=other), 4096, 512 + 1024 + 512),
        # Two rows picked, two written, two indices of 8 bytes: not the 1000 rows of the table.
        ("rows picked with out", lambda: torch.index_select(table, 0, rows, out=two_rows), 0, 128 + 16 + 128),
        ("gather with out", lambda: torch.gather(table, 0, columns, out=two_rows), 0, 128 + 256 + 128),
        # 2 x 8 x 16 x 16; x, w, b and the result once each.
        ("softmax with out", lambda: torch.softmax(x, -1, out=other), 5 * 128, 1024),
        ("linear", lambda: F.linear(x, w, b), 4096, 512 + 1024 + 64 + 512),
        # multiply, add, compare on 128 numbers, and a sum of 128: x comes in, one number leaves.
        ("chain", lambda: (x * 2 + 1).relu_().sum(), 4 * 128, 512 + 4),
        ("two arrays", lambda: x + w[:8], 128, 3 * 512),
        ("with a factor", lambda: torch.add(x, x, alpha=3), 2 * 128, 1024),
        ("halves of one array", lambda: x[:4] + x[4:], 64, 512 + 256),
        ("one row for all", lambda: b.expand(8, 16) * 2, 128, 64 + 512),
        ("cast", lambda: x.to(torch.bfloat16), 0, 512 + 256),
        ("copy", lambda: torch.empty(8, 16).copy_(x), 0, 1024),
        ("two rows of a table", lambda: F.embedding(rows, table), 0, 128 + 16 + 128),
        ("a view", lambda: x.T, 0, 0),
        ("square", lambda: x**2, 128, 1024),
        ("cube", lambda: x**3, 256, 1024),
        ("integers", lambda: rows + 1, 0, 32),
        ("comparison", lambda: x > 0, 0, 512 + 128),
        ("matrix times vector", lambda: torch.mv(w, b), 2 * 256, 1024 + 64 + 64),
        # 5 n log2 n with n = 16 is 320 for a complex row, half of it for a real one; 9 complex numbers leave.
        ("fft", lambda: torch.fft.rfft(x), 8 * 160, 512 + 8 * 9 * 8),
        ("layer norm", lambda: F.layer_norm(x, (16,), b, b), 8 * 128, 512 + 64 + 512),
        ("convolution", lambda: F.conv1d(x[None], filters), 2 * 4 * 8 * 3 * 14, 512 + 384 + 4 * 14 * 4),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_counts_of_a_whole_function(name, call, flop, moved):
    found = counted(call)
    assert found.bytes == moved
    assert found.flop == flop


@pytest.mark.parametrize("a", [x, of_many, of_wide], ids=["its own", "a slice", "columns"])
def test_views_that_overlap_are_read_once(a):
    assert counted(lambda: a[:-2] + a[1:-1] + a[2:]).bytes == 512 + 6 * 64
    assert counted(lambda: (a[:-1], a[1:] * 2)).bytes == 448 + 448
    product = counted(lambda: a @ a.t())
    assert product.bytes == product.operators[0].bytes == 512 + 8 * 8 * 4
    assert counted(lambda: a + a.view(torch.int32)).bytes == 1024


def test_windows_over_some_columns_are_read_once():
    assert counted(lambda: x[:, :4].unfold(0, 3, 1).sum(-1)).bytes == 8 * 4 * 4 + 6 * 4 * 4


def test_views_side_by_side_are_all_read():
    q3, k3, v3 = torch.ones(8, 64)[:, :48].chunk(3, 1)  # 8 rows of 16 numbers each, between each other's
    assert counted(lambda: q3 + k3 + v3).bytes == 3 * 512 + 512
    assert counted(lambda: q3 + k3).operators[0].bytes == 2 * 512 + 512
    assert counted(lambda: x[0:8:2] + x[1:8:2]).bytes == 512 + 256
    assert counted(lambda: x[:2] + x[2:4] + x[6:]).bytes == 3 * 128 + 128
    assert counted(lambda: (x[:0].sum(), x[:2].sum())).bytes == 128 + 8
    # Rows 0 to 3 are read by two that overlap, row 7 by one that lies apart.
    assert counted(lambda: (x[:3].sum(), x[1:4].sum(), x[7:].sum())).bytes == 4 * 64 + 64 + 3 * 4


def test_views_that_leave_are_written_once():
    def call():
        y = x + 1
        return y[:-1], y[1:], y.t()

    assert counted(call).bytes == 1024


def test_gaps_count_as_covered_where_a_table_of_them_would_be_too_large(monkeypatch):
    monkeypatch.setattr(views, "LARGEST_TABLE", 1)
    # Three views of 6 x 64 bytes; from the first byte to the last they span 7 rows of 256 and 64.
    assert counted(lambda: of_wide[:-2] + of_wide[1:-1] + of_wide[2:]).bytes == 3 * 384 + 384
    assert counted(lambda: x[:-2] + x[1:-1] + x[2:]).bytes == 512 + 384
    assert counted(lambda: of_wide @ of_wide.t()).bytes == 512 + 256  # one view, told by its dimensions


def test_what_is_written_in_place_is_read_and_written():
    y = torch.ones(8, 16)
    assert counted(lambda: y.add_(1)).bytes == 1024
    assert counted(lambda: torch.add(y, y, out=y)).bytes == 1024
    assert counted(lambda: torch.add(x, 1, out=y)).bytes == 1024
    assert counted(lambda: y.zero_()).bytes == 512


def test_operators_are_counted_each_with_its_own_traffic():
    found = counted(lambda: (x * 2 + 1).relu_().sum())
    assert [(o.name, o.calls, o.flop, o.bytes) for o in found.operators] == [
        ("mul", 1, 128, 1024),
        ("add", 1, 128, 1024),
        ("relu", 1, 128, 1024),
        ("sum", 1, 128, 516),
    ]
    assert found.calls == 4
    assert {o.counted_by for o in found.operators} == {"formula"}


def test_calls_of_one_operator_are_one_row():
    (row,) = counted(lambda: x.exp().exp().exp()).operators
    assert (row.calls, row.flop, row.bytes) == (3, 384, 3 * 1024)


def test_attention_on_the_cpu_causal_and_with_grouped_heads():
    # 4 heads, 8 x 8 pairs, 2 x 16 FLOP for each of the two products.
    whole = 4 * 64 * (2 * 16 + 2 * 16)
    plain = counted(lambda: F.scaled_dot_product_attention(q, q, q))
    assert (plain.flop, plain.torch_flop, plain.matrix_flop) == (whole, 0, whole)
    assert plain.bytes == 2 * 2048  # q, k and v are one tensor here; the result is as large
    causal = counted(lambda: F.scaled_dot_product_attention(q, q, q, is_causal=True))
    assert causal.flop == whole * 36 / 64 == work.attention(1, 4, 8, 8, 16, causal=True).flop
    grouped = counted(lambda: F.scaled_dot_product_attention(q, kv, kv, enable_gqa=True))
    assert grouped.flop == whole
    assert grouped.bytes == 2048 + 1024 + 2048  # k and v are one tensor of half the heads


@pytest.mark.parametrize(("queries", "keys", "pairs"), [(8, 8, 36), (2, 8, 3), (8, 2, 1 + 2 * 7)])
def test_causal_pairs_as_torch_means_them(queries, keys, pairs):
    a, c = torch.ones(1, 1, queries, 4), torch.ones(1, 1, keys, 4)
    assert attention_flop(a, c, c, causal=True) == pairs * (2 * 4 + 2 * 4)


def test_attention_by_the_unfused_path_agrees_with_the_fused_one():
    mask = torch.zeros(8, 8)
    fused = counted(lambda: F.scaled_dot_product_attention(q, q, q)).flop
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel([SDPBackend.MATH]):
        unfused = counted(lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=mask))
    assert unfused.matrix_flop == fused
    assert unfused.flop > fused  # softmax and scaling are operators of their own there


def test_gemm_agrees_with_the_counting_rule_of_the_course():
    a, c = torch.ones(8, 32, dtype=torch.bfloat16), torch.ones(32, 64, dtype=torch.bfloat16)
    found = counted(lambda: a @ c)
    rule = work.gemm(8, 64, 32, "bf16")
    assert (found.flop, found.bytes, found.precision, found.product) == (rule.flop, rule.bytes, "bf16", (8, 64, 32))
    assert found.torch_flop == rule.flop


def test_modules_read_their_parameters_once():
    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.GELU(), torch.nn.Linear(16, 16)).requires_grad_(False)
    found = counted(lambda: model(x))
    assert found.flop == 2 * 4096 + 5 * 128
    assert found.bytes == 512 + 2 * (1024 + 64) + 512  # what lies between the layers does not leave
    assert found.product is None


c8x16, c16 = torch.ones(8, 16, dtype=torch.complex64), torch.ones(16, dtype=torch.complex64)


@pytest.mark.parametrize(
    ("call", "multiply_adds"),
    [
        (lambda: c8x16 @ c8x16.t(), 8 * 16 * 8),
        (lambda: torch.addmm(c8x16[:, :8], c8x16, c8x16.t()), 8 * 16 * 8),
        (lambda: torch.bmm(c8x16[None], c8x16.t()[None]), 8 * 16 * 8),
        (lambda: torch.mv(c8x16, c16), 8 * 16),
        (lambda: torch.dot(c16, c16), 16),
        (lambda: torch.vdot(c16, c16), 16),
    ],
    ids=["mm", "addmm", "bmm", "mv", "dot", "vdot"],
)
def test_a_complex_multiply_add_is_eight_flop(call, multiply_adds):
    """(a + bi)(c + di) + (e + fi): four multiplications; one addition each in ac - bd and ad + bc, two for the sum."""
    found = counted(call)
    assert found.flop == 8 * multiply_adds
    assert (found.precision, found.product) == ("fp32", None)  # not to be compared with a real one of its shape


def test_a_product_of_int8_is_counted_in_operations():
    a, b = torch.ones(32, 16, dtype=torch.int8), torch.ones(16, 64, dtype=torch.int8)
    found = counted(lambda: torch._int_mm(a, b))
    assert (found.flop, found.matrix_flop, found.torch_flop) == (2 * 32 * 64 * 16, 2 * 32 * 64 * 16, 0)
    assert (found.precision, found.product) == ("int8", (32, 64, 16))
    assert found.bytes == work.gemm(32, 64, 16, "int8").bytes == 32 * 16 + 16 * 64 + 4 * 32 * 64


def test_what_nobody_can_count_is_named():
    found = counted(lambda: torch.linalg.svd(w))
    assert [o.name for o in found.uncounted] == ["_linalg_svd"]
    assert found.uncounted[0].flop is None


def test_memory_that_is_used_again_is_not_taken_for_the_old_one():
    def call():
        total = torch.zeros(())
        for _ in range(5):
            total = total + (x * 2).sum()  # each x * 2 may get the address of the one before
        return total

    assert counted(call).bytes == 512 + 4


def test_memory_from_elsewhere_in_the_place_of_what_was_made_is_not_taken_for_it():
    numbers = np.ones(1000, dtype=np.float32)

    def call():
        (x * 2).sum()  # made and given back: what comes next may get its place
        return torch.from_numpy(numbers).sum()

    for _ in range(5):
        assert counted(call).bytes == 512 + 4000 + 4


def test_counting_keeps_no_memory():
    gone = []

    def call():
        numbers = np.ones(1000, dtype=np.float32)
        gone.append(weakref.ref(numbers))
        return torch.from_numpy(numbers).sum()

    def calls():
        call()
        assert gone[0]() is None  # while the counting goes on

    assert counted(calls).bytes == 4000


def test_effective_bytes_of_views():
    assert effective_bytes(x) == 512
    assert effective_bytes(b.expand(8, 16)) == 64
    assert effective_bytes(w[:1].expand(8, 16)) == 64
    assert effective_bytes(x.T) == 512
    assert effective_bytes(x[::2]) == 256
    assert effective_bytes(torch.eye(3).to_sparse()) is None


def test_backward_is_seen_when_gradients_are_on():
    leaf = torch.ones(16, 16, requires_grad=True)
    found = count(lambda: (x @ leaf).sum().backward())
    assert found.matrix_flop == 2 * 2 * 8 * 16 * 16  # the product, and the gradient of leaf


@pytest.mark.parametrize(
    ("operator", "rest"),
    [
        ("_scaled_dot_product_flash_attention", (0.0, True)),  # dropout, is_causal
        ("_scaled_dot_product_efficient_attention", (None, False, 0.0, True)),  # bias, log-sum-exp, dropout, is_causal
        ("_scaled_dot_product_cudnn_attention", (None, False, 0.0, True)),
        ("_scaled_dot_product_flash_attention_for_cpu", (0.0, True)),
    ],
)
def test_causal_is_read_where_each_backend_has_it(operator, rest):
    from roofcourse.place.formulas import flop

    func = getattr(torch.ops.aten, operator).default
    assert flop(func, (q, q, q, *rest), {}, (q,), {}) == (4 * 36 * (2 * 16 + 2 * 16), "formula")
    assert flop(func, (q, q, q), {}, (q,), {}) == (4 * 64 * (2 * 16 + 2 * 16), "formula")
