"""The counted traffic of a matrix product: by hand, by formula, and by walking through every access."""

import pytest

import roofcourse as rc
from roofcourse import loopnest
from roofcourse.loopnest import Traffic

SHAPES = [(4, 4, 4), (6, 4, 5), (1, 7, 3), (5, 1, 4), (8, 12, 6), (7, 5, 9)]


def test_naive_by_hand():
    # 2 x 2 x 2, room for 3 numbers. Each of the four sums reads two of X and two of A, and nothing is left of them when
    # the next sum starts: 8 and 8. Each result is written once.
    assert loopnest.traffic("naive", 2, 2, 2) == Traffic(x=8, a=8, y=4)
    assert loopnest.simulate("naive", 2, 2, 2, capacity=3) == Traffic(x=8, a=8, y=4)


def test_rows_by_hand():
    # 3 x 4 x 2: a row of Y is finished before the next begins, so X is read once, and A (8 numbers) for each of 3 rows.
    assert loopnest.traffic("rows", 3, 4, 2) == Traffic(x=6, a=24, y=12)


def test_blocked_by_hand():
    # 4 x 4 x 4 in tiles of 2: four tiles of Y; each reads two rows of X and two columns of A, 8 numbers each.
    assert loopnest.traffic("blocked", 4, 4, 4, block=2) == Traffic(x=32, a=32, y=16)
    # 5 rows make three rows of tiles, the last one not full; 4 columns make two columns of tiles.
    assert loopnest.traffic("blocked", 5, 4, 6, block=2) == Traffic(x=5 * 6 * 2, a=6 * 4 * 3, y=20)


def test_perfect_is_the_compulsory_traffic():
    for m, n, k in SHAPES:
        assert loopnest.traffic("perfect", m, n, k) == Traffic(m * k, k * n, m * n)
        assert loopnest.work("perfect", m, n, k, "fp16") == rc.gemm(m, n, k, "fp16")


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_naive_formula_against_the_walk(m, n, k):
    # Three numbers of room: nothing but the running sum survives.
    counted = loopnest.traffic("naive", m, n, k)
    walked = loopnest.simulate("naive", m, n, k, capacity=3)
    if k > 2:  # with k <= 2 a row of X can survive in three places
        assert (walked.x, walked.y) == ((m * k * n) if n > 1 else m * k, counted.y)
        assert walked.a == counted.a
    assert walked.total <= counted.total


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_rows_formula_against_the_walk(m, n, k):
    # The row of Y is used again and again; A streams through. A cache needs twice the room of one that knows this.
    room = 2 * n + 2
    counted = loopnest.traffic("rows", m, n, k)
    walked = loopnest.simulate("rows", m, n, k, capacity=room)
    if n * k > room:
        assert walked == counted
    else:  # A fits as well, and then it is read once
        assert walked.total <= counted.total


@pytest.mark.parametrize("block", [2, 3, 4])
@pytest.mark.parametrize(("m", "n", "k"), [(12, 12, 12), (8, 12, 16), (7, 5, 9), (12, 10, 11)])
def test_blocked_formula_against_the_walk(m, n, k, block):
    # Tiles of X, A and Y take 3 b^2; one more keeps the tile of Y from being dropped between two steps.
    counted = loopnest.traffic("blocked", m, n, k, block)
    walked = loopnest.simulate("blocked", m, n, k, capacity=4 * block**2, block=block)
    assert walked.y == counted.y
    assert walked.x <= counted.x
    assert walked.a <= counted.a
    # What a tile used last may still be there when the next tile starts: at most one tile of each per tile of Y.
    tiles = -(-m // block) * -(-n // block)
    assert counted.total - walked.total <= 2 * block**2 * tiles


def test_blocked_walk_equals_the_formula_where_nothing_survives():
    # Long sums (k well past the room): a tile of X or A is gone before it could be used by the next tile of Y.
    for block, k in ((2, 32), (3, 48), (4, 64)):
        counted = loopnest.traffic("blocked", 3 * block, 2 * block, k, block)
        assert loopnest.simulate("blocked", 3 * block, 2 * block, k, 4 * block**2, block) == counted


@pytest.mark.parametrize("order", loopnest.ORDERS)
def test_with_room_for_everything_each_matrix_moves_once(order):
    m, n, k = 6, 5, 7
    everything = m * k + k * n + m * n
    assert loopnest.simulate(order, m, n, k, everything, block=2) == Traffic(m * k, k * n, m * n)


def test_caches_serve_a_part_of_the_naive_loop():
    # A row of X comes back after 2k other numbers. With that much room it is read once per row of Y, and only A again.
    m = n = k = 16
    assert loopnest.simulate("naive", m, n, k, capacity=2 * k + 2) == Traffic(m * k, k * n * m, m * n)
    assert loopnest.simulate("naive", m, n, k, capacity=k) == loopnest.traffic("naive", m, n, k)


def test_more_room_never_moves_more():
    for order in loopnest.ORDERS:
        totals = [loopnest.simulate(order, 9, 8, 7, room, block=3).total for room in (3, 8, 20, 40, 80, 200, 400)]
        assert totals == sorted(totals, reverse=True), order
        assert totals[-1] == 9 * 7 + 7 * 8 + 9 * 8


def test_intensity_of_each_order_in_fp32():
    n = 4096
    of = {order: loopnest.work(order, n, n, n, "fp32").intensity for order in loopnest.ORDERS}
    assert of["naive"] == pytest.approx(2 * n / (4 * (2 * n + 1)))  # a quarter
    assert of["rows"] == pytest.approx(2 * n / (4 * (n + 2)))  # a half: the second document's naive product
    assert of["blocked"] == pytest.approx(64 / 4 / (1 + 64 / (2 * n)))
    assert of["perfect"] == pytest.approx(n / 6)
    assert of["rows"] == pytest.approx(0.5, rel=1e-3)
    # The second document writes Q = 4 N^3 bytes for it, and 12 N^2 for the perfect one.
    assert loopnest.traffic("rows", n, n, n).bytes("fp32") == pytest.approx(4 * n**3, rel=1e-3)
    assert loopnest.traffic("perfect", n, n, n).bytes("fp32") == 12 * n**2


def test_fast_memory_that_each_order_asks_for():
    assert loopnest.fast_memory("naive", 100, 200) == 3  # the sum, one of X, one of A
    assert loopnest.fast_memory("rows", 100, 200) == 202
    assert loopnest.fast_memory("blocked", 100, 200, block=8) == 64 + 8 + 1
    assert loopnest.fast_memory("perfect", 100, 200) == 20_101


def test_every_order_does_the_same_work():
    for order in loopnest.ORDERS:
        assert loopnest.work(order, 5, 6, 7, "fp64").flop == 2 * 5 * 6 * 7
        if order != "naive":
            products = sum(name == "a" for name, *_ in loopnest.accesses(order, 5, 6, 7, block=2))
            assert products == 5 * 6 * 7


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: loopnest.traffic("tiled", 2, 2, 2), "no loop order 'tiled'; there are: naive, rows, blocked, perfect"),
        (lambda: loopnest.traffic("naive", 0, 2, 2), "m is a whole number of at least 1, not 0"),
        (lambda: loopnest.traffic("blocked", 2, 2, 2, block=1.5), "block is a whole number of at least 1, not 1.5"),
        (lambda: loopnest.traffic("naive", 2, 2, True), "k is a whole number of at least 1, not True"),
        (lambda: loopnest.simulate("naive", 2, 2, 2, 0), "capacity is a whole number of at least 1, not 0"),
    ],
)
def test_wrong_sizes_and_orders_are_refused(call, words):
    with pytest.raises(ValueError, match="^" + words.replace("(", r"\(") + "$"):
        call()
