/** A value as a console shows it. Reads properties of a transform's objects, so it may run its getters. */
export function printValue(value: unknown): string {
  try {
    if (typeof value === 'string') return value;
    if (typeof value === 'bigint') return `${String(value)}n`;
    if (typeof value === 'function') return '[function]';
    if (typeof value !== 'object' || value === null) return String(value);
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (value instanceof Map) return `Map ${printValue([...value])}`;
    if (value instanceof Set) return `Set ${printValue([...value])}`;
    const text = JSON.stringify(value);
    return typeof text === 'string' ? text : '[object]';
  } catch {
    return '[unprintable]';
  }
}

/** Length in UTF-8 of well-formed text. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) bytes += unit > 0x7ff ? (unit >= 0xd800 && unit <= 0xdfff ? 1 : 2) : 1;
  }
  return bytes;
}
