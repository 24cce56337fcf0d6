// What every kind's spec has: devices and precisions, looked up by key, and their values in a link.

export const deviceOf = (spec, key) => spec.devices.find((device) => device.key === key);
/** What a chart calls a device: a machine's own name can be long. */
export const labelOf = (device) => device.label || device.name;
/** "AMD EPYC (run of 2026-11-30)": a device in a list of choices. */
export const titleOf = (device) => ("own" in device ? `${device.name} (run of ${device.own})` : device.name);
/** Who measured what is shown of a device. */
export const sourceOf = (spec, device) => ("own" in device ? `run of ${device.own}` : spec.source);
/** N = K of a device's M sweep; that of the cards where it has none. */
export const sizeOf = (spec, device, precision) => device.roofs[precision.name]?.n || spec.n;
export const precisionOf = (spec, name) => spec.precisions.find((precision) => precision.name === name);

/** The key of a device or the name of a precision written in a link; undefined when there is no such one. */
export function acceptName(spec, key, text) {
  if (key === "device") return deviceOf(spec, text) && text;
  const name = text === "fp8" ? "fp8_e4m3" : text;
  return precisionOf(spec, name) && name;
}

/** The number from `low` to `high` that is written in a link; undefined for anything else. */
export function acceptWithin(text, [low, high]) {
  const value = text.trim() === "" ? NaN : Number(text);
  return value >= low && value <= high ? value : undefined;
}
