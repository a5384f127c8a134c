// SPDX-License-Identifier: BSD-3-Clause
// Texts of a page that are hard to read: contrast by WCAG 2, from relative luminance of sRGB, (lighter + 0.05) /
// (darker + 0.05). A colour that lets others through is laid over what is below it. Pictures and what is hidden are
// left out.
((small, large) => {
  const parse = (text) => { const n = text.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const background = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const luminance = (colour) => {
    const [r, g, b] = colour.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text || !element.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    if (element.closest("script, style, svg, .visually-hidden")) continue;
    const style = getComputedStyle(element), below = background(element);
    const colour = over(parse(style.color), below);
    const [light, dark] = [luminance(colour), luminance(below)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05), size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? large : small)) {
      const key = `${style.color} on ${below.map(Math.round)}`;
      if (!found.has(key)) found.set(key, `${text.slice(0, 40)}: ${ratio.toFixed(2)}, ${key}`);
    }
  }
  return [...found.values()];
})
