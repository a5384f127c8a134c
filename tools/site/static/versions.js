// SPDX-License-Identifier: BSD-3-Clause
// The switch of versions in the side bar. Sites of several versions lie beside each other, each in a folder of its name,
// and beside those lies versions.js with the list (versions.py). A site that stands alone has no list, and no switch. All
// is read by script elements, which also work without a server.
"use strict";

(() => {
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const page = location.href.slice(root.href.length).replace(/[?#].*/, "");

  const read = (address, then, or) => {
    const script = document.createElement("script");
    script.src = address.href;
    script.onload = then;
    script.onerror = or;
    document.head.append(script);
  };

  /** The page of the same name in that version, or its first one. */
  const lead = (version) => {
    const other = new URL(`../${version}/`, root);
    const go = (has) => location.assign(new URL(has ? page : "index.html", other));
    read(new URL("pages.js", other), () => go(SITE_PAGES.includes(page)), () => go(false));
  };

  const draw = () => {
    const here = decodeURIComponent(root.pathname.split("/").at(-2));
    const place = document.querySelector(".sidebar-brand");
    if (!place || !SITE_VERSIONS.includes(here)) return;
    const label = document.createElement("label"), choice = document.createElement("select");
    label.className = "versions";
    label.append("Version ", choice);
    choice.append(...SITE_VERSIONS.map((each) => new Option(each, each, each === here, each === here)));
    choice.addEventListener("change", () => lead(choice.value));
    place.after(label);
  };

  document.addEventListener("DOMContentLoaded", () => read(new URL("../versions.js", root), draw, () => {}));
})();
