/** Names inside the blocks of a template of another language, as paths of this one: each block over a value begins anew. */
import { templatePath } from '../../mapping/mapping.ts';

/** A path from the element of a block so deep in blocks. */
interface Anchored {
  readonly depth: number;
  readonly keys: readonly string[];
}

interface Block {
  readonly close: string;
  /** How many blocks over values it is. */
  readonly inner: number;
  /** What some names stand for inside: `Name` for `@key`. */
  readonly names: Readonly<Record<string, string>>;
}

export class ForeignScope {
  readonly #blocks: Block[] = [];
  readonly #variables = new Map<string, Anchored | string>();

  get depth(): number {
    return this.#blocks.reduce((sum, { inner }) => sum + inner, 0);
  }

  get isOpen(): boolean {
    return this.#blocks.length > 0;
  }

  open(close: string, inner = 0, names: Block['names'] = {}): void {
    this.#blocks.push({ close, inner, names });
  }

  /** Undefined where no block is open. */
  close(): string | undefined {
    return this.#blocks.pop()?.close;
  }

  /** A name of its own for a path from where the template stands, or for a word such as `@index`. */
  name(variable: string, path: readonly string[] | string): void {
    this.#variables.set(variable, typeof path === 'string' ? path : { depth: this.depth, keys: path });
  }

  has(variable: string): boolean {
    return this.#variables.has(variable);
  }

  /** What a variable with keys below it is here. */
  variable(name: string, keys: readonly string[]): string | undefined {
    const found = this.#variables.get(name);
    if (found === undefined) return undefined;
    if (typeof found === 'string') return keys.length === 0 ? found : undefined;
    return this.#from(found.depth, [...found.keys, ...keys]);
  }

  /** A path from the element of the innermost block. */
  here(keys: readonly string[]): string {
    const { names = {} } = this.#blocks.at(-1) ?? {};
    const name = keys.join('.');
    return (Object.hasOwn(names, name) ? names[name] : undefined) ?? this.#from(this.depth, keys);
  }

  /** A path from the whole payload. */
  root(keys: readonly string[]): string {
    return this.#from(0, keys);
  }

  #from(depth: number, keys: readonly string[]): string {
    const up = '../'.repeat(this.depth - depth);
    if (keys.length === 0) return up === '' ? 'this' : up.slice(0, -1);
    return up + templatePath(keys);
  }
}
