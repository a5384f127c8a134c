// SPDX-License-Identifier: BSD-3-Clause
// Conversations, in this browser's IndexedDB. What it does not keep is kept in the page, and told.
const NAME = "executorch-chat";
const TITLES = "titles"; // what a list needs, without the messages
const TALKS = "talks";

const answered = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
const finished = (transaction) => new Promise((resolve, reject) => {
  transaction.oncomplete = () => resolve();
  transaction.onabort = () => reject(transaction.error ?? new DOMException("", "AbortError"));
});

function open() {
  const asked = indexedDB.open(NAME, 1);
  asked.onupgradeneeded = () => {
    for (const store of [TITLES, TALKS]) asked.result.createObjectStore(store, { keyPath: "id" });
  };
  return answered(asked);
}

export class Store {
  /** `tell`: is called with a sentence when something cannot be kept, and with "" when all is. */
  constructor(tell) {
    Object.assign(this, { tell, unkept: new Map(), database: null });
  }

  async run(mode, work) {
    this.database ??= (async () => open())();
    try {
      const transaction = (await this.database).transaction([TITLES, TALKS], mode);
      const end = finished(transaction);
      const asked = work(transaction.objectStore(TITLES), transaction.objectStore(TALKS));
      await end;
      return asked?.result;
    } catch (error) {
      if (error.name === "InvalidStateError") this.database = null; // the browser closed it
      throw error;
    }
  }

  async put(talk) {
    const copy = structuredClone(talk);
    const { id, title, changed } = copy;
    try {
      await this.run("readwrite", (titles, talks) => {
        titles.put({ id, title, changed });
        talks.put(copy);
      });
      this.unkept.delete(id);
    } catch (error) {
      this.unkept.set(id, copy);
      this.tell(error.name === "QuotaExceededError"
        ? "This browser's storage is full. This conversation is kept until the page is closed: export it, or delete others."
        : `This browser keeps no conversations for this page (${error.name}). They are kept until the page is closed: export those you need.`);
      return;
    }
    if (this.unkept.size === 0) this.tell("");
  }

  async get(id) {
    if (this.unkept.has(id)) return structuredClone(this.unkept.get(id));
    return this.run("readonly", (_, talks) => talks.get(id)).catch(() => undefined);
  }

  async remove(id) {
    this.unkept.delete(id);
    await this.run("readwrite", (titles, talks) => {
      titles.delete(id);
      talks.delete(id);
    }).catch(() => {});
    for (const talk of [...this.unkept.values()]) await this.put(talk); // there may be room now
  }

  /** Names and times, the newest first. */
  async list() {
    const kept = await this.run("readonly", (titles) => titles.getAll()).catch(() => []);
    const rows = new Map([...kept, ...this.unkept.values()].map(({ id, title, changed }) => [id, { id, title, changed }]));
    return [...rows.values()].sort((a, b) => b.changed - a.changed);
  }
}
