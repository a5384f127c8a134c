// SPDX-License-Identifier: BSD-3-Clause
// Tokenizers without a program, where the build has them (EXECUTORCH_BUILD_TOKENIZERS_WASM): ids of a text and back.

const KINDS = ["HFTokenizer", "Tiktoken", "SPTokenizer", "Llama2cTokenizer", "Tekken"];

/** A class for each format of files, by its name; none where the build has none. */
export function tokenizerClasses(core) {
  const functions = core.runtime.tokenizers;
  if (functions === undefined) {
    return {};
  }
  const left = new FinalizationRegistry((address) => functions.remove(address));

  class Tokenizer {
    #address;

    constructor(kind) {
      this.#address = functions.create(kind) >>> 0;
      left.register(this, this.#address, this);
    }

    get #place() {
      if (this.#address === 0) {
        throw new Error("expected a tokenizer, found one after delete()");
      }
      return this.#address;
    }

    /** A path of the program's files, or bytes. What was loaded before stays where this fails. */
    load(data) {
      const isPath = typeof data === "string";
      const path = isPath ? data : "/tokenizer";
      if (!isPath) {
        if (!(data instanceof ArrayBuffer || ArrayBuffer.isView(data))) {
          throw new TypeError(`Unsupported data type: ${data === null ? "null" : typeof data}`);
        }
        core.runtime.writeFile(path, data instanceof ArrayBuffer ? new Uint8Array(data)
          : new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      }
      try {
        if (!core.scope((scope) => functions.load(this.#place, scope.text(path)))) {
          throw new Error("Failed to load tokenizer");
        }
      } finally {
        if (!isPath) {
          core.runtime.removeFile(path);
        }
      }
    }

    /** What `make(count's place)` gives, as bytes; it is freed. */
    #bytes(doing, width, make) {
      return core.scope((scope) => {
        const count = scope.zeros(4);
        const address = make(scope, count) >>> 0;
        if (address === 0) {
          throw new Error(doing);
        }
        const result = core.bytes(address, width * core.view.getUint32(count, true)).slice();
        core.free(address);
        return result;
      });
    }

    encode(text, bos = 0, eos = 0) {
      const bytes = new TextEncoder().encode(text);
      const ids = this.#bytes("Failed to encode text", 8, (scope, count) =>
        functions.encode(this.#place, scope.data(bytes), bytes.length, bos, eos, count));
      return Array.from(new BigUint64Array(ids.buffer));
    }

    /** decode(previous, current): what an id adds to the text behind another. decode(ids): their text, as a beginning. */
    decode(previous, current = undefined) {
      const ids = current === undefined ? [this.bosTok, ...Array.from(previous, BigInt)] : [BigInt(previous), BigInt(current)];
      const text = new TextDecoder();
      let result = "";
      for (let i = 1; i < ids.length; ++i) {
        result += text.decode(this.#bytes("Failed to decode token", 1, (scope, count) =>
          functions.decode(this.#place, ids[i - 1], ids[i], count)), { stream: true });
      }
      return result + text.decode();
    }

    #fact(index) {
      return core.scope((scope) => {
        const facts = scope.zeros(32);
        functions.facts(this.#place, facts);
        return core.view.getBigUint64(facts + 8 * index, true);
      });
    }

    get vocabSize() { return Number(this.#fact(0)); }
    get bosTok() { return this.#fact(1); }
    get eosTok() { return this.#fact(2); }
    get isLoaded() { return this.#fact(3) !== 0n; }

    delete() {
      left.unregister(this);
      functions.remove(this.#address);
      this.#address = 0;
    }
  }

  const classes = Object.fromEntries(KINDS.map((name, kind) =>
    [name, { [name]: class extends Tokenizer { constructor() { super(kind); } } }[name]]));
  return { ...classes, SpTokenizer: classes.SPTokenizer };
}
