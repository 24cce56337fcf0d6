// Logarithmic axes, and the height of a chart.

/** A function from a value to a pixel: `from` lands on `start`, `to` on `end`. */
export function logScale(from, to, start, end) {
  const low = Math.log10(from);
  const perDecade = (end - start) / (Math.log10(to) - low);
  return (value) => start + (Math.log10(value) - low) * perDecade;
}

/** The powers of ten within [from, to]. */
export function decades(from, to) {
  const powers = [];
  for (let e = Math.ceil(Math.log10(from) - 1e-9); e <= Math.log10(to) + 1e-9; e += 1) powers.push(Number(`1e${e}`));
  return powers;
}

/** 2, 3, ... 9 times each power of ten within (from, to): the light lines that show that an axis is logarithmic. */
export function betweenDecades(from, to) {
  const values = [];
  for (let e = Math.floor(Math.log10(from)); e < Math.log10(to); e += 1) {
    for (let k = 2; k < 10; k += 1) {
      const value = k * Number(`1e${e}`);
      if (value > from && value < to) values.push(value);
    }
  }
  return values;
}

/** The foot of an axis of FLOP/s: `usual`, or lower by whole decades where an own device has less bandwidth. */
export function lowestThroughput(devices, usual = 0.02e12, lowestIntensity = 0.1) {
  const own = devices.filter((device) => "own" in device).map((device) => Number(`1e${Math.floor(Math.log10(device.bandwidth * lowestIntensity))}`));
  return Math.min(usual, ...own);
}

/** The height of a wide chart: `usual`, or less in a low window, a telephone on its side, so that slider and point are seen together. */
export const seenWith = (usual) => Math.min(usual, Math.max(260, window.innerHeight - 150));
