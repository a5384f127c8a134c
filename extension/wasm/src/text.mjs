// SPDX-License-Identifier: BSD-3-Clause
// Text: a session over a language model has a context, behind which each prompt and answer goes. Calls end when the answer
// does; pieces of it come to a function meanwhile.

const REASONS = ["nothing", "end_of_text", "length", "context_full", "stopped", "stop_text"];
const SAMPLING = { temperature: "temperature", topK: "top_k", topP: "top_p", minP: "min_p", repetitionPenalty: "repetition_penalty",
  frequencyPenalty: "frequency_penalty", presencePenalty: "presence_penalty" };

/** The class of sessions of one instance of the program, which has files. */
export function textSessionClass(core) {
  const left = new FinalizationRegistry((handle) => core.release(handle));
  let numFiles = 0;
  let receive = null;  // of the call that runs
  let failure = null;
  let callback = 0;

  /** The function that the program calls with each piece; made once, since a table's place is never given back. */
  function onText() {
    if (callback === 0) {
      callback = core.runtime.addFunction((context, text, size) => {
        try {
          return receive(new TextDecoder().decode(core.bytes(text >>> 0, size >>> 0).slice())) === false ? 1 : 0;
        } catch (error) {
          failure = error;
          return 1;
        }
      }, "iiii");
    }
    return callback;
  }

  /** Runs `work` with paths of files that hold these bytes; they go when the session has been made. */
  function withFiles(files, work) {
    const paths = files.map(({ name, bytes }) => {
      const path = `/text-${++numFiles}-${name}`;
      core.runtime.writeFile(path, bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes);
      return path;
    });
    try {
      return work(paths);
    } finally {
      paths.forEach((path) => core.runtime.removeFile(path));
    }
  }

  function optionsOf(options, scope) {
    const sampling = Object.keys(SAMPLING).filter((key) => options[key] !== undefined)
      .map((key) => ({ name: scope.text(SAMPLING[key]), value: options[key] }));
    const stops = options.stops ?? [];
    return scope.struct("ExecuTorchGenerateOptions", {
      sampling: scope.structs("ExecuTorchSetting", sampling), num_sampling: sampling.length,
      max_new_tokens: options.maxNewTokens ?? 0,
      has_seed: options.seed === undefined ? 0 : 1, seed: BigInt(options.seed ?? 0),
      num_bos: options.numBos ?? 0, num_eos: options.numEos ?? 0, ignores_end: options.ignoresEnd ? 1 : 0,
      prompt_lookup: options.promptLookup ?? 0,
      stops: scope.data(Uint32Array.from(stops, (stop) => scope.text(stop))), num_stops: stops.length,
      grammar: scope.text(options.grammar ?? null), grammar_type: scope.text(options.grammarType ?? null),
      on_text: onText(),
    });
  }

  return class TextSession {
    #handle;

    /** Users have load(). */
    constructor(handle) {
      this.#handle = handle;
      left.register(this, handle, this);
    }

    /** Bytes of a .pte; of a tokenizer, if the program carries none, whose name says its kind; of .ptd files. */
    static load(program, { tokenizer = null, tokenizerName = "tokenizer.json", dataFiles = [] } = {}) {
      const files = [{ name: "model.pte", bytes: program }, ...dataFiles.map((bytes) => ({ name: "data.ptd", bytes })),
        ...(tokenizer === null ? [] : [{ name: tokenizerName, bytes: tokenizer }])];
      return withFiles(files, (paths) => core.scope((scope) => {
        const data = paths.slice(1, 1 + dataFiles.length);
        const options = scope.struct("ExecuTorchTextOptions", {
          program: scope.text(paths[0]), tokenizer: tokenizer === null ? 0 : scope.text(paths[paths.length - 1]),
          data_files: scope.data(Uint32Array.from(data, (path) => scope.text(path))), num_data_files: data.length,
        });
        const handle = scope.zeros(8);
        core.call("Failed to load a language model", "text_new", options, 1, handle);
        return new TextSession(core.view.getBigUint64(handle, true));
      }));
    }

    #answer(name, options, receiver, values) {
      let text = "";
      receive = (piece) => {
        text += piece;
        return receiver === undefined ? true : receiver(piece);
      };
      failure = null;
      return core.scope((scope) => {
        const result = scope.struct("ExecuTorchTextResult");
        core.call("Failed to generate", name, this.#handle, ...values(scope), optionsOf(options, scope), result);
        if (failure !== null) {
          throw failure;
        }
        const found = core.read("ExecuTorchTextResult", result);
        return {
          text, reason: REASONS[found.reason], promptTokens: Number(found.prompt_tokens), newTokens: Number(found.new_tokens),
          promptSeconds: found.prompt_seconds, answerSeconds: found.answer_seconds,
        };
      });
    }

    /** Appends a prompt and an answer. onText gets each piece; false ends the answer. */
    generate(prompt, options = {}, onText = undefined) {
      return this.#answer("text_generate", options, onText, (scope) => [scope.text(prompt)]);
    }

    /** Answers a conversation of {role, content}; what it shares with the one before is not computed again. */
    chat(messages, options = {}, onText = undefined) {
      return this.#answer("text_chat", options, onText, (scope) => [
        scope.structs("ExecuTorchMessage", messages.map(({ role, content }) => ({ role: scope.text(role), content: scope.text(content) }))),
        messages.length, scope.text(options.format ?? null)]);
    }

    get position() {
      return core.scope((scope) => {
        const place = scope.zeros(8);
        core.call("Failed to read the position", "text_position", this.#handle, place);
        return Number(core.view.getBigInt64(place, true));
      });
    }

    rewind(position) {
      core.call("Failed to rewind", "text_rewind", this.#handle, BigInt(position));
    }

    encode(text) {
      return core.scope((scope) => {
        const [address, count] = [scope.text(text), scope.zeros(4)];
        core.call("Failed to encode text", "text_encode", this.#handle, address, 0, 0, count);
        const size = core.view.getUint32(count, true);
        const ids = scope.allocate(8 * size);
        core.call("Failed to encode text", "text_encode", this.#handle, address, ids, size, count);
        return Array.from({ length: size }, (_, i) => core.view.getBigUint64(ids + 8 * i, true));
      });
    }

    decode(ids) {
      return core.scope((scope) => {
        const [given, count] = [scope.data(BigUint64Array.from(ids, BigInt)), scope.zeros(4)];
        core.call("Failed to decode token", "text_decode", this.#handle, given, ids.length, 0, 0, count);
        const size = core.view.getUint32(count, true);
        const text = scope.allocate(size);
        core.call("Failed to decode token", "text_decode", this.#handle, given, ids.length, text, size, count);
        return new TextDecoder().decode(core.bytes(text, size).slice());
      });
    }

    delete() {
      left.unregister(this);
      core.release(this.#handle);
      this.#handle = 0n;
    }
  };
}
