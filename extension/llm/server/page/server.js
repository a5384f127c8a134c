// SPDX-License-Identifier: BSD-3-Clause
// What the page asks of the server, by OpenAI's routes, and what goes wrong as sentences.

export class ServerError extends Error {
  constructor(message, code = null) {
    super(message);
    this.code = code;
  }
}
const GONE = "The server cannot be reached. Is `executorch serve` still running?";

async function reach(address, options) {
  try { return await fetch(address, options); } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(GONE);
  }
}

async function refusal(response) {
  const text = await response.text();
  try {
    const { message, code } = JSON.parse(text).error;
    return new ServerError(message, code);
  } catch { return new ServerError(`The server answered ${response.status} ${response.statusText}: ${text.slice(0, 200)}`); }
}

/** The model's name, its context in tokens, what it takes, and how it samples. */
export async function describe() {
  const response = await reach("health");
  if (!response.ok) throw await refusal(response);
  return response.json();
}

/** Pieces of an answer as they come: {text}, {calls}, {usage, timings}, {reason}. */
export async function* answer(body, signal) {
  const response = await reach("v1/chat/completions", {
    method: "POST", signal, headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
  });
  if (!response.ok) throw await refusal(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let held = "";;) {
    let read;
    try { read = await reader.read(); } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ServerError(`The answer was cut off. ${GONE}`);
    }
    if (read.done) throw new ServerError("The answer was cut off.");
    const events = (held + read.value).split("\n\n");
    held = events.pop();
    for (const event of events) {
      if (event === "data: [DONE]") return;
      const data = JSON.parse(event.slice("data: ".length));
      if (data.error) throw new ServerError(data.error.message, data.error.code);
      if (data.usage) yield { usage: data.usage, timings: data.timings };
      const choice = data.choices[0];
      if (choice?.delta?.content) yield { text: choice.delta.content };
      if (choice?.delta?.tool_calls) yield { calls: choice.delta.tool_calls };
      if (choice?.finish_reason) yield { reason: choice.finish_reason };
    }
  }
}
