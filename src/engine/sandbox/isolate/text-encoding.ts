/** `TextEncoder` and `TextDecoder` for transforms: UTF-8 only. */
import { decodeUtf8, encodeUtf8 } from './utf8.ts';

export class TextEncoder {
  get encoding(): string {
    return 'utf-8';
  }
  encode(input: unknown = ''): Uint8Array {
    return encodeUtf8(String(input));
  }
}

export class TextDecoder {
  readonly #fatal: boolean;
  readonly #keepMark: boolean;
  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    if (!/^\s*(?:utf-?8|unicode-1-1-utf-8)\s*$/i.test(String(label))) {
      throw new RangeError(`a transform decodes UTF-8 only, not ${String(label).slice(0, 40)}`);
    }
    this.#fatal = options.fatal === true;
    this.#keepMark = options.ignoreBOM === true;
  }
  get encoding() {
    return 'utf-8';
  }
  get fatal() {
    return this.#fatal;
  }
  get ignoreBOM() {
    return this.#keepMark;
  }
  decode(input?: ArrayBuffer | ArrayBufferView) {
    if (input === undefined) return '';
    const bytes = ArrayBuffer.isView(input)
      ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
      : new Uint8Array(input);
    const text = decodeUtf8(bytes, this.#fatal);
    return !this.#keepMark && text.startsWith('\uFEFF') ? text.slice(1) : text;
  }
}
