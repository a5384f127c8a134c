// SPDX-License-Identifier: BSD-3-Clause
// Tensors in JavaScript's memory: valid as long as someone has them, whatever the program's memory does.
import { ScalarType, dtypeOf, inferred } from "./dtypes.mjs";

const MOST_OF_ITERATOR = 8388608;

function countOf(sizes) {
  return sizes.reduce((product, size) => product * size, 1);
}

function checkedSizes(sizes) {
  const list = Array.from(sizes, Number);
  const wrong = list.findIndex((size) => !Number.isInteger(size) || size < 0 || size > 0x7fffffff);
  if (wrong >= 0) {
    throw new RangeError(`expected sizes from 0 to 2147483647, found ${list[wrong]} for dim ${wrong}`);
  }
  return list;
}

/** Strides in elements of a tensor whose dimensions are in memory in this order. */
function stridesOf(sizes, dimOrder) {
  const strides = new Array(sizes.length);
  let step = 1;
  for (const dim of [...dimOrder].reverse()) {
    strides[dim] = step;
    step *= Math.max(sizes[dim], 1);
  }
  return strides;
}

/** dimOrder and strides as the caller has them, either of which may be empty; checked. */
function layoutOf(sizes, dimOrder, strides) {
  const rank = sizes.length;
  if (dimOrder.length !== 0 && dimOrder.length !== rank) {
    throw new Error("dim_order size must match sizes or be empty.");
  }
  if (strides.length !== 0 && strides.length !== rank) {
    throw new Error("strides size must match sizes or be empty.");
  }
  let order = Array.from(dimOrder, Number);
  if (order.length === 0) {
    order = sizes.map((_, dim) => dim);
    if (strides.length !== 0) {
      order.sort((a, b) => strides[b] - strides[a] || a - b);
    }
  }
  if (new Set(order).size !== rank || order.some((dim) => !Number.isInteger(dim) || dim < 0 || dim >= rank)) {
    throw new Error(`expected a dim_order of 0 to ${rank - 1}, each once, found [${order}]`);
  }
  const expected = stridesOf(sizes, order);
  // The stride of a dimension with one element is never used.
  const wrong = expected.findIndex((stride, dim) => strides.length !== 0 && sizes[dim] !== 1 && strides[dim] !== stride);
  if (wrong >= 0) {
    throw new Error(`invalid strides for dim ${wrong}: expected ${expected[wrong]}, found ${strides[wrong]}`);
  }
  return { dimOrder: order, strides: expected };
}

export class Tensor {
  #data;

  /** `data` is the array that the dtype has; it is kept, not copied. Users have zeros(), ones(), full(), fromArray(), fromIter(). */
  constructor(scalarType, sizes, data, dimOrder = [], strides = []) {
    this.sizes = checkedSizes(sizes);
    this.scalarType = dtypeOf(scalarType).scalarType;
    Object.assign(this, layoutOf(this.sizes, dimOrder, strides));
    this.#data = data;
  }

  static full(sizes, value, scalarType = inferred(value)) {
    const dtype = dtypeOf(scalarType);
    const data = new dtype.array(countOf(checkedSizes(sizes)) * dtype.width);
    return new Tensor(scalarType, sizes, data.fill(dtype.ofValue(value)));
  }

  static zeros(sizes, scalarType = ScalarType.Float) {
    return Tensor.full(sizes, 0, scalarType);
  }

  static zeroes(sizes, scalarType = ScalarType.Float) {
    return Tensor.zeros(sizes, scalarType);
  }

  static ones(sizes, scalarType = ScalarType.Float) {
    return Tensor.full(sizes, 1, scalarType);
  }

  /** Values in the order of memory; an array of the dtype's own kind is copied as it is. */
  static fromArray(sizes, array, scalarType = undefined, dimOrder = [], strides = []) {
    const dtype = dtypeOf(scalarType === undefined ? inferred(array[0]) : scalarType);
    const count = countOf(checkedSizes(sizes)) * dtype.width;
    if (array.length < count) {
      throw new Error(`Required ${count} elements, given ${array.length}`);
    }
    const taken = array.length === count ? array : Array.prototype.slice.call(array, 0, count);
    const data = array instanceof dtype.array ? dtype.array.from(taken) : dtype.array.from(taken, dtype.ofValue);
    return new Tensor(dtype.scalarType, sizes, data, dimOrder, strides);
  }

  static fromIter(sizes, iterator, scalarType = ScalarType.Float, dimOrder = [], strides = []) {
    const values = [];
    for (const value of iterator) {
      if (values.length === MOST_OF_ITERATOR) {
        throw new RangeError(`expected an iterator of at most ${MOST_OF_ITERATOR} values`);
      }
      values.push(value);
    }
    return Tensor.fromArray(sizes, values, scalarType, dimOrder, strides);
  }

  /** The elements, in the order of memory: what is written there is the tensor's value. Half and BFloat16 are their bits. */
  get data() {
    if (this.#data === null) {
      throw new Error("expected a tensor, found one after delete()");
    }
    return this.#data;
  }

  /** The values as numbers, bigints or booleans, in the order of memory. */
  toArray() {
    return Array.from(this.data, dtypeOf(this.scalarType).toValue);
  }

  /** Lets go of the elements. Not needed: a tensor is JavaScript's. */
  delete() {
    this.#data = null;
  }
}
