// The roofline model: the few formulas that a page without Python needs. Their twin is roofcourse/roofline.py and work.py;
// a browser test holds the two equal to 1e-9. SI units: FLOP, bytes, seconds.

/**
 * Bytes of X (M x K) times A (K x N) = Y (M x N), each matrix moved once, as a function of M:
 * perRow * M + fixed + perTile * ceil(M / 128). FP8 reads one-byte inputs, writes two-byte results and two 4-byte scales;
 * NVFP4 has half-byte inputs, two-byte results, and one scale byte per 16 inputs, for whole tiles of 128 rows.
 */
export function gemmTraffic(n, k, precision) {
  if (precision.name === "fp8_e4m3") return { perRow: k + 2 * n, fixed: k * n + 8, perTile: 0 };
  if (precision.name === "nvfp4") return { perRow: 0.5 * k + 2 * n, fixed: 0.5 * k * n + (k * n) / 16, perTile: 8 * k };
  const size = precision.bytes;
  return { perRow: size * (k + n), fixed: size * k * n, perTile: 0 };
}

/** {flop, bytes, intensity} of the product. */
export function gemm(m, n, k, precision) {
  const traffic = gemmTraffic(n, k, precision);
  const flop = 2 * m * n * k;
  const bytes = traffic.perRow * m + traffic.fixed + traffic.perTile * Math.ceil(m / 128);
  return { flop, bytes, intensity: flop / bytes };
}

/** The M (a real number) at which the product's intensity equals `ridge`; null where no M from 0 to `largest` does. */
export function rowsAtIntensity(ridge, n, k, precision, largest) {
  const { perRow, fixed, perTile } = gemmTraffic(n, k, precision);
  const slope = 2 * n * k - ridge * perRow; // FLOP per row, less what its own bytes cost at the ridge
  if (slope <= 0) return null;
  for (let tiles = 1; tiles * 128 < largest + 128; tiles += 1) {
    const m = (ridge * (fixed + perTile * tiles)) / slope;
    if (perTile === 0 || m <= tiles * 128) return m <= largest ? m : null;
  }
  return null;
}

/** Lower bounds of the time of (flop, bytes) under a roof {peak, bandwidth}, and which of them is the longer. */
export function timeBounds(flop, bytes, peak, bandwidth) {
  const computeSeconds = flop / peak;
  const memorySeconds = bytes / bandwidth;
  return {
    computeSeconds,
    memorySeconds,
    seconds: Math.max(computeSeconds, memorySeconds),
    bound: memorySeconds > computeSeconds ? "memory" : "compute",
  };
}

/** Attainable throughput at an arithmetic intensity. */
export function attainable(intensity, peak, bandwidth) {
  return Math.min(peak, bandwidth * intensity);
}
