// SPDX-License-Identifier: BSD-3-Clause
// What the page shows as text, and the inputs that it makes.

const UNITS = ["B", "KiB", "MiB", "GiB"];
export function bytesText(bytes) {
  const unit = bytes === 0 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), 3);
  return `${Number((bytes / 1024 ** unit).toPrecision(3))} ${UNITS[unit]}`;
}

export const timeText = (ms) => (ms < 1 ? `${(1000 * ms).toFixed(0)} µs` : ms < 1000 ? `${ms.toPrecision(3)} ms` : `${(ms / 1000).toFixed(2)} s`);

export const threadsText = ({ numThreads, whyOneThread }) =>
  (numThreads > 1 ? `${numThreads} threads` : whyOneThread === "" ? "one thread" : `one thread: ${whyOneThread}`);

/** Sizes as 1 × 3 × 224, a range where they vary. */
export function sizesText(info) {
  const one = (size, i) => (info.minSizes !== undefined && info.minSizes[i] !== size ? `${info.minSizes[i]} to ${size}` : String(size));
  return info.sizes.length === 0 ? "scalar" : info.sizes.map(one).join(" × ");
}

const ARRAYS = {
  Byte: Uint8Array, Char: Int8Array, Short: Int16Array, Int: Int32Array, Long: BigInt64Array, Half: Uint16Array, Float: Float32Array,
  Double: Float64Array, Bool: Uint8Array, BFloat16: Uint16Array, UInt16: Uint16Array, UInt32: Uint32Array, UInt64: BigUint64Array,
};
const ONES = { Half: 0x3c00, BFloat16: 0x3f80 };
const IS_FRACTION = new Set(["Float", "Double"]);

/** A tensor of a worker's message. Random: fractions from 0 to 1; other types have ones and zeros, which are ids of something. */
export function filled(info, how) {
  const dtype = info.scalarType.name;
  const array = ARRAYS[dtype];
  if (array === undefined) {
    throw new Error(`expected an input of another type than ${dtype}`);
  }
  const count = info.sizes.reduce((product, size) => product * size, 1);
  const isBig = array === BigInt64Array || array === BigUint64Array;
  const one = isBig ? 1n : ONES[dtype] ?? 1;
  const zero = isBig ? 0n : 0;
  const value = { ones: () => one, zeros: () => zero, random: () => (IS_FRACTION.has(dtype) ? Math.random() : Math.random() < 0.5 ? zero : one) }[how];
  return { dtype, sizes: info.sizes, dimOrder: info.dimOrder, data: array.from({ length: count }, value) };
}

/** Type, sizes and first values of what a method gave. */
export function resultText(value) {
  if (value === null || typeof value !== "object") {
    return [typeof value, "", String(value)];
  }
  const list = Array.from(value.data.slice(0, 6), (each) => (typeof each === "number" ? Number(each.toPrecision(5)) : each));
  return [value.dtype, value.sizes.join(" × "), list.join(", ") + (value.data.length > 6 ? ", …" : "")];
}
