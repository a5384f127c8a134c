// SPDX-License-Identifier: BSD-3-Clause
// Element types: one row each, with the array that holds them and how numbers become elements and back.

/** A member of an enumeration: compared by identity, printed by name. */
class Named {
  constructor(name, value) {
    this.name = name;
    this.value = value;
    Object.freeze(this);
  }
  toString() {
    return this.name;
  }
}

function enumeration(rows) {
  return Object.freeze(Object.fromEntries(rows.map(([name, value]) => [name, new Named(name, value)])));
}

export const Tag = enumeration(
  ["None", "Tensor", "String", "Double", "Int", "Bool", "ListBool", "ListDouble", "ListInt", "ListTensor", "ListScalar",
    "ListOptionalTensor"].map((name, value) => [name, value]));
export const TAGS = Object.values(Tag);

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/** Rounds to nearest, ties to even, as the runtime does. */
export function halfOfNumber(value) {
  single[0] = value;
  const sign = (bits[0] >>> 16) & 0x8000;
  const magnitude = bits[0] & 0x7fffffff;
  if (magnitude > 0x7f800000) {
    return sign | 0x7e00;
  }
  if (magnitude >= 0x47800000) {
    return sign | 0x7c00;
  }
  if (magnitude < 0x38800000) {
    // Multiples of 2^-24: adding 0.5 to 2^23 of them rounds by the unit that a float32 has there.
    single[0] = Math.abs(value) + 0.5;
    return sign | (bits[0] - 0x3f000000);
  }
  return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
}

export function numberOfHalf(half) {
  const exponent = (half >>> 10) & 31;
  const fraction = half & 0x3ff;
  const sign = half & 0x8000 ? -1 : 1;
  if (exponent === 31) {
    return fraction === 0 ? sign * Infinity : NaN;
  }
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

export function bfloatOfNumber(value) {
  single[0] = value;
  return Number.isNaN(value) ? 0x7fc0 : ((bits[0] + 0x7fff + ((bits[0] >>> 16) & 1)) >>> 16) & 0xffff;
}

export function numberOfBfloat(bfloat) {
  bits[0] = bfloat << 16;
  return single[0];
}

const same = (value) => value;
const boolean = [(value) => (value ? 1 : 0), Boolean];
const integer = [Number, same];
const bigint = [BigInt, same];
const half = [(value) => halfOfNumber(Number(value)), numberOfHalf];
const bfloat = [(value) => bfloatOfNumber(Number(value)), numberOfBfloat];

// Name, number in the program format, array, [element of a value, value of an element], values per element.
const ROWS = [
  ["Byte", 0, Uint8Array, integer],
  ["Char", 1, Int8Array, integer],
  ["Short", 2, Int16Array, integer],
  ["Int", 3, Int32Array, integer],
  ["Long", 4, BigInt64Array, bigint],
  ["Half", 5, Uint16Array, half],
  ["Float", 6, Float32Array, integer],
  ["Double", 7, Float64Array, integer],
  ["ComplexHalf", 8, Uint16Array, half, 2],
  ["ComplexFloat", 9, Float32Array, integer, 2],
  ["ComplexDouble", 10, Float64Array, integer, 2],
  ["Bool", 11, Uint8Array, boolean],
  ["BFloat16", 15, Uint16Array, bfloat],
  ["Float8_e5m2", 23, Uint8Array, integer],
  ["Float8_e4m3fn", 24, Uint8Array, integer],
  ["Float8_e5m2fnuz", 25, Uint8Array, integer],
  ["Float8_e4m3fnuz", 26, Uint8Array, integer],
  ["UInt16", 27, Uint16Array, integer],
  ["UInt32", 28, Uint32Array, integer],
  ["UInt64", 29, BigUint64Array, bigint],
];

export const ScalarType = enumeration(ROWS);
const DTYPES = new Map(ROWS.map(([name, value, array, [ofValue, toValue], width = 1]) =>
  [value, { scalarType: ScalarType[name], array, ofValue, toValue, width }]));

/** The row of a ScalarType, or of its number. */
export function dtypeOf(scalarType) {
  const number = typeof scalarType === "number" ? scalarType : scalarType && scalarType.value;
  const found = DTYPES.get(number);
  if (found === undefined) {
    throw new TypeError(`Unsupported Tensor type: ${number === undefined ? String(scalarType) : number}`);
  }
  return found;
}

/** What values without a ScalarType are: Float for numbers, Long for integers of any size, Bool. */
export function inferred(value) {
  return { bigint: ScalarType.Long, boolean: ScalarType.Bool }[typeof value] || ScalarType.Float;
}
