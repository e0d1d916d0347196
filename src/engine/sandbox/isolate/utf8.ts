/** Encodes text; a lone surrogate becomes U+FFFD. */
export function encodeUtf8(input: string): Uint8Array {
  // encodeURIComponent is the engine's own UTF-8 encoder; it takes well-formed text only.
  const text = input.toWellFormed();
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  const escaped = encodeURIComponent(text);
  for (let at = 0; at < escaped.length; at += 1) {
    let byte = escaped.charCodeAt(at);
    if (byte === 0x25) {
      byte = Number.parseInt(escaped.slice(at + 1, at + 3), 16);
      at += 2;
    }
    bytes[length] = byte;
    length += 1;
  }
  return bytes.slice(0, length);
}

/** Decodes by the WHATWG rules: each maximal ill-formed part becomes one U+FFFD. */
export function decodeUtf8(bytes: Uint8Array, fatal: boolean): string {
  let text = '';
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at] ?? 0;
    at += 1;
    if (lead < 0x80) {
      text += String.fromCharCode(lead);
      continue;
    }
    const more =
      lead >= 0xc2 && lead <= 0xdf
        ? 1
        : lead >= 0xe0 && lead <= 0xef
          ? 2
          : lead >= 0xf0 && lead <= 0xf4
            ? 3
            : 0;
    let point = more === 0 ? -1 : lead & (0x3f >> more);
    for (let index = 0; index < more; index += 1) {
      const next = bytes[at] ?? 0;
      const least = index > 0 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      const most = index > 0 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      if (at >= bytes.length || next < least || next > most) {
        point = -1;
        break;
      }
      point = (point << 6) | (next & 0x3f);
      at += 1;
    }
    if (point < 0 && fatal) throw new TypeError('the bytes are no valid UTF-8');
    text += point < 0 ? '\uFFFD' : String.fromCodePoint(point);
  }
  return text;
}
