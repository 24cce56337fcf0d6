// Numbers as a reader wants them. Python's words.py has the same rules, digit for digit: a test compares the sentences.

const THIN = "\u202f"; // narrow no-break space, inside 1 000
const SPACE = "\u00a0"; // no-break space, between a number and its unit

const TIME = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const BYTES = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
const FLOP = [[1e15, "PFLOP"], [1e12, "TFLOP"], [1e9, "GFLOP"], [1e6, "MFLOP"], [1e3, "kFLOP"], [1, "FLOP"]];
const RATE = [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"]];

/** Plain decimal notation with `count` significant digits; every digit of a whole part is kept: 1784 stays 1 784. */
export function significant(value, count) {
  if (value === 0) return "0";
  const exponent = Number(value.toExponential(count - 1).split("e")[1]);
  const decimals = Math.max(0, count - 1 - exponent);
  const rounded = decimals === 0 ? String(Math.round(value)) : Number(value.toPrecision(count)).toFixed(decimals);
  const [whole, fraction] = rounded.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, THIN);
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** As `significant`, with a power of ten where that would be a row of noughts: 1.00 · 10¹². */
export function inPowers(value, count) {
  if (value >= 1e-3 && value < 1e6) return significant(value, count);
  const [digits, exponent] = value.toExponential(count - 1).split("e");
  return `${digits}${SPACE}·${SPACE}10${String(Number(exponent)).replace("-", "⁻").replace(/\d/g, (d) => RAISED[d])}`;
}

/** {number, unit}: the value in the largest unit that does not make it smaller than one. */
function scaled(value, units, count) {
  const [factor, unit] = units.find(([size]) => value >= size) || units[units.length - 1];
  return { number: significant(value / factor, count), unit };
}

function joined({ number, unit }) {
  return `${number}${SPACE}${unit}`;
}

// Parts for a readout tile, three digits.
export const timeParts = (seconds) => scaled(seconds, TIME, 3);
export const rateParts = (bytesPerSecond) => scaled(bytesPerSecond, RATE, 3);
export const bytesParts = (value) => scaled(value, BYTES, 3);
export const flopParts = (value) => scaled(value, FLOP, 3);
export const intensityParts = (value) => ({ number: significant(value, 3), unit: "FLOP/byte" });
export const percentParts = (value) => ({ number: significant(value, 3), unit: "%" });
export const tflopParts = (flopPerSecond) => ({ number: significant(flopPerSecond / 1e12, 3), unit: "TFLOP/s" });

// Running text. Two digits are enough for a time in a sentence; a tile beside it has three.
export const time = (seconds) => joined(scaled(seconds, TIME, 2));
export const time3 = (seconds) => joined(timeParts(seconds));
export const bytes = (value) => joined(bytesParts(value));
export const flop = (value) => joined(flopParts(value));
export const rate = (bytesPerSecond) => joined(rateParts(bytesPerSecond));
export const tflops = (flopPerSecond) => joined(tflopParts(flopPerSecond));
export const percent = (value) => `${significant(value, 2)}${SPACE}%`;
export const percent3 = (value) => joined(percentParts(value));
export const intensity = (value) => joined(intensityParts(value));

/** "an H100", "a V100": by the sound of the first letter's name; a word such as "Fake" is read as a word. */
export function withArticle(name) {
  return `${/^(?:[AEFHILMNORSX](?![a-z])|[AEIO])/.test(name) ? "an" : "a"} ${name}`;
}

/** "FP64, FP32 and FP16" */
export function listed(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** A tick label of a log axis: 0.1, 1, 10, 100, 1 000. */
export function tick(value) {
  return significant(value, 1);
}
