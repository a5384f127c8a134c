// SPDX-License-Identifier: BSD-3-Clause
// ExecuTorch in browsers and Node.

/** A member of ScalarType or Tag; compare by identity. */
export interface Named {
  readonly name: string;
  readonly value: number;
}

export type ScalarTypeName =
  | "Byte" | "Char" | "Short" | "Int" | "Long" | "Half" | "Float" | "Double" | "ComplexHalf" | "ComplexFloat"
  | "ComplexDouble" | "Bool" | "BFloat16" | "Float8_e5m2" | "Float8_e4m3fn" | "Float8_e5m2fnuz" | "Float8_e4m3fnuz"
  | "UInt16" | "UInt32" | "UInt64";

export type TagName =
  | "None" | "Tensor" | "String" | "Double" | "Int" | "Bool" | "ListBool" | "ListDouble" | "ListInt" | "ListTensor"
  | "ListScalar" | "ListOptionalTensor";

export type TensorData =
  | Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | Float32Array | Float64Array
  | BigInt64Array | BigUint64Array;

export type Element = number | bigint | boolean;

/** Its elements are JavaScript's: valid as long as someone has them. */
export interface Tensor {
  readonly scalarType: Named;
  readonly sizes: number[];
  /** Dimensions from outermost to innermost in memory. */
  readonly dimOrder: number[];
  /** In elements. */
  readonly strides: number[];
  /** Elements in the order of memory. Half and BFloat16 are their bits, complex numbers two elements. */
  readonly data: TensorData;
  /** Values, in the order of memory. */
  toArray(): Element[];
  /** Not needed. */
  delete(): void;
}

export interface TensorClass {
  zeros(sizes: Iterable<number>, scalarType?: Named): Tensor;
  zeroes(sizes: Iterable<number>, scalarType?: Named): Tensor;
  ones(sizes: Iterable<number>, scalarType?: Named): Tensor;
  /** Without a scalarType: Float for numbers, Long for bigints, Bool for booleans; likewise fromArray. */
  full(sizes: Iterable<number>, value: Element, scalarType?: Named): Tensor;
  fromArray(
    sizes: Iterable<number>, array: ArrayLike<Element>, scalarType?: Named, dimOrder?: ArrayLike<number>,
    strides?: ArrayLike<number>): Tensor;
  /** Float without a scalarType. */
  fromIter(
    sizes: Iterable<number>, iterator: Iterable<Element>, scalarType?: Named, dimOrder?: ArrayLike<number>,
    strides?: ArrayLike<number>): Tensor;
}

export interface TensorInfo {
  /** Upper bounds where sizes vary. */
  sizes: number[];
  minSizes: number[] | undefined;
  dimOrder: number[];
  scalarType: Named;
  isMemoryPlanned: boolean;
  nbytes: number;
  nBytes: number;
  name: string;
}

export interface MethodMeta {
  name: string;
  inputTags: Named[];
  inputNames: string[];
  inputTensorMeta: (TensorInfo | undefined)[];
  outputTags: Named[];
  outputNames: string[];
  outputTensorMeta: (TensorInfo | undefined)[];
  attributeTensorMeta: (TensorInfo | undefined)[];
  memoryPlannedBufferSizes: number[];
  backends: string[];
  numInstructions: number;
  /** How often each is called. */
  operators: Record<string, number>;
  delegates: Record<string, number>;
}

/** A number is a float, a bigint an integer. */
export type Value = Tensor | number | bigint | boolean | string | null;
export type Source = Uint8Array | ArrayBuffer | string;

export interface ETDumpResult {
  buffer: Uint8Array;
  delete(): void;
}

export interface Module {
  getMethods(): string[];
  loadMethod(name: string): void;
  unloadMethod(name: string): void;
  getMethodMeta(name: string): MethodMeta;
  getMethodMetadata(name: string): MethodMeta;
  /** Outputs are copies. */
  execute(name: string, inputs?: Value | Value[]): Value[];
  forward(inputs?: Value | Value[]): Value[];
  /** Where the program was built with events. */
  etdump?(): ETDumpResult;
  /** Frees the program's memory, which is freed some time after the last use otherwise. */
  delete(): void;
}

export interface ModuleClass {
  /** A .pte and the .ptd files that it needs, which are copied. Paths are those of the program's own files. */
  load(data: Source, dataFiles?: Source[]): Module;
}

export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

/** What is not given is the program's, or the runner's. A temperature of 0 takes the best token. */
export interface GenerateOptions {
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  repetitionPenalty?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  maxNewTokens?: number;
  seed?: number | bigint;
  numBos?: number;
  numEos?: number;
  ignoresEnd?: boolean;
  promptLookup?: number;
  stops?: string[];
  grammar?: string;
  grammarType?: "json_schema" | "gbnf";
  /** Of chat(): chatml, llama3 or gemma; that of the program without. */
  format?: string;
}

export interface Answer {
  text: string;
  reason: "nothing" | "end_of_text" | "length" | "context_full" | "stopped" | "stop_text";
  promptTokens: number;
  newTokens: number;
  promptSeconds: number;
  answerSeconds: number;
}

/** A context, behind which each prompt and answer goes. In a program built with EXECUTORCH_BUILD_EXTENSION_LLM_RUNNER. */
export interface TextSession {
  readonly position: number;
  /** onText gets each piece, of whole characters; false ends the answer. */
  generate(prompt: string, options?: GenerateOptions, onText?: (piece: string) => unknown): Answer;
  chat(messages: Message[], options?: GenerateOptions, onText?: (piece: string) => unknown): Answer;
  rewind(position: number): void;
  encode(text: string): bigint[];
  decode(ids: ArrayLike<bigint>): string;
  delete(): void;
}

export interface TextSessionClass {
  /** Bytes of a .pte; of a tokenizer, where the program carries none, and the file name that says its kind. */
  load(
    program: Uint8Array | ArrayBuffer,
    options?: {
      tokenizer?: Uint8Array | ArrayBuffer; tokenizerName?: string; dataFiles?: (Uint8Array | ArrayBuffer)[];
    }): TextSession;
}

export interface Tokenizer {
  /** A path of the program's own files, or bytes. */
  load(data: Source): void;
  encode(text: string, bos?: number, eos?: number): bigint[];
  /** What an id adds to the text behind another. */
  decode(previous: bigint | number, current: bigint | number): string;
  decode(ids: Iterable<bigint | number>): string;
  /** 0 before load(), like the next two. */
  readonly vocabSize: number;
  readonly bosTok: bigint;
  readonly eosTok: bigint;
  readonly isLoaded: boolean;
  delete(): void;
}
export type TokenizerClass = new () => Tokenizer;

export interface ExecuTorchError extends Error {
  /** A number of executorch::runtime::Error. */
  code: number;
  codeName: string;
  /** What was expected, what was found, and where. */
  reason: string;
}

export interface ExecuTorch {
  Module: ModuleClass;
  Tensor: TensorClass;
  ScalarType: Readonly<Record<ScalarTypeName, Named>>;
  Tag: Readonly<Record<TagName, Named>>;
  TextSession: TextSessionClass;
  ExecuTorchError: { new (code: number, message: string, doing?: string): ExecuTorchError };
  /** In a program built with EXECUTORCH_BUILD_TOKENIZERS_WASM, like the next ones. */
  HFTokenizer?: TokenizerClass;
  Tiktoken?: TokenizerClass;
  SPTokenizer?: TokenizerClass;
  SpTokenizer?: TokenizerClass;
  Llama2cTokenizer?: TokenizerClass;
  Tekken?: TokenizerClass;
  version: string;
  numThreads: number;
  /** Where more threads were asked for and one is there: a sentence. */
  whyOneThread: string;
  memoryUsed(): number;
}

/** wasm: bytes or a URL of executorch.wasm, where it is not beside the package's files. threads: how many of them, 1 without;
 * they need the package's folder threads, and in browsers a page that is cross-origin isolated. */
export function load(options?: { wasm?: ArrayBuffer | Uint8Array | URL | string; threads?: number }): Promise<ExecuTorch>;
export default load;
