// SPDX-License-Identifier: BSD-3-Clause
// The interface in a thread of its own: the same calls, as promises.
import type { Answer, GenerateOptions, Message, MethodMeta, ScalarTypeName, TensorData } from "./index.mjs";

/** A tensor of a message. */
export interface PackedTensor {
  sizes: number[];
  data: TensorData;
  dtype: ScalarTypeName;
  dimOrder: number[];
}

export type PackedValue = PackedTensor | number | bigint | boolean | string | null;

export interface WorkerModule {
  getMethods(): Promise<string[]>;
  loadMethod(name: string): Promise<void>;
  getMethodMeta(name: string): Promise<MethodMeta>;
  execute(name: string, inputs?: PackedValue | PackedValue[]): Promise<PackedValue[]>;
  forward(inputs?: PackedValue | PackedValue[]): Promise<PackedValue[]>;
  delete(): Promise<void>;
}

export interface WorkerTextSession {
  /** onText gets pieces of the answer as they come. */
  generate(prompt: string, settings?: GenerateOptions, onText?: (piece: string) => void): Promise<Answer>;
  chat(messages: Message[], settings?: GenerateOptions, onText?: (piece: string) => void): Promise<Answer>;
  delete(): Promise<void>;
}

export interface WorkerInterface {
  version: string;
  numThreads: number;
  whyOneThread: string;
  load(data: Uint8Array | ArrayBuffer, files?: (Uint8Array | ArrayBuffer)[]): Promise<WorkerModule>;
  loadText(
    program: Uint8Array | ArrayBuffer,
    options?: { tokenizer?: Uint8Array | ArrayBuffer; tokenizerName?: string }): Promise<WorkerTextSession>;
  memoryUsed(): Promise<number>;
  /** Ends the thread, with all that it has. */
  terminate(): void;
}

export function loadInWorker(options?: { wasm?: ArrayBuffer | Uint8Array | string; threads?: number }): Promise<WorkerInterface>;
