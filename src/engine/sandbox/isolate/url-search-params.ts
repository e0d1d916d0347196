/** `URLSearchParams` for transforms. */
import { cutAt, textOf } from './url-parser.ts';

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll('%20', '+')
    .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

export class URLSearchParams {
  #pairs: [string, string][] = [];
  /** Set by the URL that owns these. */
  #changed: (() => void) | undefined;

  constructor(init: unknown = '', changed?: () => void) {
    this.#changed = changed;
    if (typeof init === 'object' && init !== null) {
      const pairs =
        Symbol.iterator in init ? [...(init as Iterable<[unknown, unknown]>)] : Object.entries(init);
      this.#pairs = pairs.map(([name, value]) => [String(name), String(value)]);
    } else {
      const parts = String(init).replace(/^\?/, '').split('&');
      for (const part of parts.filter((one) => one !== '')) {
        const [name, value = ''] = cutAt(part, '=');
        this.#pairs.push([decode(name), decode(value)]);
      }
    }
  }
  get size() {
    return this.#pairs.length;
  }
  append(name: unknown, value: unknown) {
    this.#pairs.push([String(name), String(value)]);
    this.#changed?.();
  }
  delete(name: unknown, value?: unknown) {
    const [gone, only] = [String(name), value === undefined ? undefined : textOf(value)];
    const keeps = ([one, held]: [string, string]) => one !== gone || (only !== undefined && held !== only);
    this.#pairs = this.#pairs.filter(keeps);
    this.#changed?.();
  }
  get(name: unknown) {
    return this.#pairs.find(([one]) => one === String(name))?.[1] ?? null;
  }
  getAll(name: unknown) {
    return this.#pairs.filter(([one]) => one === String(name)).map(([, value]) => value);
  }
  has(name: unknown, value?: unknown) {
    const values = this.getAll(name);
    return value === undefined ? values.length > 0 : values.includes(textOf(value));
  }
  set(name: unknown, value: unknown) {
    const at = this.#pairs.findIndex(([one]) => one === String(name));
    const others = this.#pairs.filter(([one], index) => one !== String(name) || index === at);
    const pair: [string, string] = [String(name), String(value)];
    this.#pairs = at < 0 ? [...others, pair] : others.map((one) => (one[0] === pair[0] ? pair : one));
    this.#changed?.();
  }
  sort() {
    this.#pairs = this.#pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#changed?.();
  }
  forEach(visit: (value: string, name: string, params: unknown) => void) {
    for (const [name, value] of this.#pairs) visit(value, name, this);
  }
  *entries() {
    for (const [name, value] of this.#pairs) yield [name, value] as [string, string];
  }
  *keys() {
    for (const [name] of this.#pairs) yield name;
  }
  *values() {
    for (const [, value] of this.#pairs) yield value;
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  toString() {
    return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  }
}
