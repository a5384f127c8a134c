// SPDX-License-Identifier: BSD-3-Clause
// Pictures and sound beside a message: chosen, dropped or pasted; pictures are made as small as models need them.
import { make } from "./markdown.js";

const SIDE = 1024; // pixels
const MAX_BYTES = 2 << 20; // all files of a talk go with each message, and the server takes 4 MiB
const SOUNDS = /^audio\/(wav|x-wav|mp3|mpeg)$/;

const read = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result);
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
});

async function picture(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = make("canvas", { width: Math.max(1, Math.round(bitmap.width * scale)), height: Math.max(1, Math.round(bitmap.height * scale)) });
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const type = file.type === "image/png" && file.size < MAX_BYTES / 4 ? "image/png" : "image/jpeg";
  return { kind: "image", name: file.name, type, url: canvas.toDataURL(type, 0.9) };
}

/** What goes with a message. An error with a sentence for what the model does not take. */
async function fileOf(file, modalities) {
  const kind = file.type.split("/")[0];
  const taken = modalities.filter((each) => each !== "text");
  if (!taken.includes(kind)) {
    throw new Error(`${file.name}: this model takes ${new Intl.ListFormat("en").format(["text", ...taken])}, not ${file.type || "files of this kind"}.`);
  }
  if (kind === "image") {
    return picture(file).catch(() => { throw new Error(`${file.name}: this browser does not read it as a picture.`); });
  }
  if (!SOUNDS.test(file.type)) throw new Error(`${file.name}: expected WAV or MP3, found ${file.type}.`);
  if (file.size > MAX_BYTES) throw new Error(`${file.name}: expected ${MAX_BYTES >> 20} MiB at most, found ${(file.size / 2 ** 20).toFixed(1)}.`);
  return { kind, name: file.name, type: file.type, url: await read(file) };
}

export const shown = ({ kind, name, url }) => (kind === "image"
  ? make("img", { src: url, alt: name }) : make("audio", { controls: "", src: url, "aria-label": name }));

/** The files of the message that is being written. */
export class Attachments {
  constructor({ tray, chooser, button, target }, say) {
    Object.assign(this, { tray, chooser, button, say, files: [], read: Promise.resolve(), modalities: ["text"] });
    button.onclick = () => chooser.click();
    chooser.onchange = async () => { await this.add(chooser.files); chooser.value = ""; };
    target.addEventListener("dragover", (event) => {
      if (event.dataTransfer.types.includes("Files")) { event.preventDefault(); target.classList.add("over"); }
    });
    for (const name of ["dragleave", "drop"]) target.addEventListener(name, () => target.classList.remove("over"));
    target.addEventListener("drop", (event) => {
      if (event.dataTransfer.files.length) { event.preventDefault(); this.add(event.dataTransfer.files); }
    });
    target.addEventListener("paste", (event) => {
      if (event.clipboardData.files.length && !event.clipboardData.types.includes("text/plain")) { event.preventDefault(); this.add(event.clipboardData.files); }
    });
  }

  /** Files are offered where the model takes any. */
  offer(modalities) {
    this.modalities = modalities;
    const kinds = modalities.filter((each) => each !== "text");
    this.button.hidden = kinds.length === 0;
    this.chooser.accept = kinds.map((kind) => `${kind}/*`).join(",");
  }

  /** One after the other, in the order in which they are given. */
  add(files) {
    this.say("");
    for (const file of files) {
      this.read = this.read.then(async () => {
        try { this.files.push(await fileOf(file, this.modalities)); } catch (error) { this.say(error.message); }
        this.draw();
      });
    }
    return this.read;
  }

  async take() {
    await this.read;
    const files = this.files;
    this.files = [];
    this.draw();
    return files;
  }

  draw() {
    this.tray.replaceChildren(...this.files.map((file) => {
      const remove = make("button", { type: "button", "aria-label": `Leave ${file.name} out` }, "×");
      remove.onclick = () => { this.files = this.files.filter((each) => each !== file); this.draw(); };
      return make("li", {}, shown(file), make("span", {}, file.name), remove);
    }));
  }
}
