/** `btoa` and `atob` for transforms. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function encodeBase64(input: unknown): string {
  const text = String(input);
  let out = '';
  for (let at = 0; at < text.length; at += 3) {
    const units = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)];
    if (units.some((unit) => unit > 0xff)) throw new TypeError('btoa takes characters up to U+00FF');
    const [a = 0, b = 0, c = 0] = units.map((unit) => (Number.isNaN(unit) ? 0 : unit));
    const bits = (a << 16) | (b << 8) | c;
    const left = text.length - at;
    out += ALPHABET.charAt(bits >> 18) + ALPHABET.charAt((bits >> 12) & 63);
    out +=
      (left > 1 ? ALPHABET.charAt((bits >> 6) & 63) : '=') + (left > 2 ? ALPHABET.charAt(bits & 63) : '=');
  }
  return out;
}

export function decodeBase64(input: unknown): string {
  let text = String(input).replace(/[\t\n\f\r ]/g, '');
  if (text.length % 4 === 0) text = text.replace(/={1,2}$/, '');
  if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text))
    throw new TypeError('atob found text that is no base64');
  let out = '';
  let bits = 0;
  let held = 0;
  for (const character of text) {
    bits = ((bits << 6) | ALPHABET.indexOf(character)) & 0xffffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += String.fromCharCode((bits >> held) & 0xff);
  }
  return out;
}
