/*
 * What a rendered text is made of: the operator's own words, and for each expression what it printed and the path it
 * was read from. Handlebars joins its output itself, so a rendering that is asked for its pieces prints marks with a
 * random name round each expression, and the text is taken apart along them. That is a rendering of its own beside the
 * one that counts: asking changes no outcome.
 */
import { randomUUID } from 'node:crypto';
import type { TemplatePiece } from '../compiled-mapping.ts';
import { RESERVED_NAMES } from '../scope.ts';
import type { Located } from './template-checks.ts';

/** A block that reads an element, while it is rendered. */
interface Context {
  /** Where the element stands, e.g. `payload.commits.0`; undefined where that cannot be said. */
  readonly path: string | undefined;
  /** Names after `as |…|`: the first stands for the element. */
  readonly param: string | undefined;
}

/** Gathers the pieces of one rendering. */
export class PieceRecorder {
  readonly #name = randomUUID();
  readonly #printed: { readonly expression: Located; readonly path: string | undefined }[] = [];
  readonly #contexts: Context[] = [];
  readonly #read = new Set<string>();

  /** What an expression printed, between marks. */
  mark(expression: Located, text: string): string {
    this.#note(expression.text);
    const number = this.#printed.push({ expression, path: this.#resolve(expression.text) }) - 1;
    return `\u0001${this.#name}:${number}\u0002${text}\u0001${this.#name}\u0002`;
  }

  /** A block asks what it is given, whichever side it takes. */
  ask(opening: string): void {
    this.#note(/^\{\{~?#?(?:else\s+)?\w+\s([^|}]*)/.exec(opening)?.[1] ?? '');
  }

  /** Enters an element of the block whose opening is given; `key` is absent for `with`. */
  enter(opening: string, key?: string | number): void {
    const [, value = '', param] =
      /^\{\{~?#\w+\s+(.+?)(?:\s+as\s+\|\s*(\w+)[^|]*\|)?\s*~?\}\}$/s.exec(opening) ?? [];
    const path = this.#resolve(value);
    this.#contexts.push({ path: path === undefined || key === undefined ? path : `${path}.${key}`, param });
  }

  leave(): void {
    this.#contexts.pop();
  }

  /** Takes the marked text apart. */
  pieces(text: string): readonly TemplatePiece[] {
    const found: TemplatePiece[] = [];
    const marks = new RegExp(`\u0001${this.#name}:(\\d+)\u0002([^]*?)\u0001${this.#name}\u0002`, 'g');
    let from = 0;
    for (const match of text.matchAll(marks)) {
      if (match.index > from) found.push({ text: text.slice(from, match.index) });
      const printed = this.#printed[Number(match[1])];
      if (printed !== undefined) found.push(pieceOf(printed.expression, match[2] ?? '', printed.path));
      from = match.index + match[0].length;
    }
    if (from < text.length) found.push({ text: text.slice(from) });
    return found;
  }

  /** All paths that were read. */
  get paths(): readonly string[] {
    return [...this.#read];
  }

  #note(expression: string): void {
    for (const path of resolvePaths(expression, this.#contexts)) this.#read.add(path);
  }

  #resolve(expression: string): string | undefined {
    return resolvePath(expression, this.#contexts);
  }
}

/** One piece that an expression printed. */
export function pieceOf(
  expression: Located,
  text: string,
  path = resolvePath(expression.text, []),
): TemplatePiece {
  return {
    text,
    expression: expression.text,
    at: expression.at,
    ...(path === undefined ? {} : { path }),
  };
}

/** The path an expression reads first, from the request's root: `payload.commits.0.message`. */
function resolvePath(expression: string, contexts: readonly Context[]): string | undefined {
  const [token] = pathTokens(expression);
  return token === undefined ? undefined : resolveToken(token, contexts);
}

/** All paths that an expression reads. */
export function resolvePaths(expression: string, contexts: readonly Context[] = []): readonly string[] {
  return [...pathTokens(expression)].flatMap((token) => resolveToken(token, contexts) ?? []);
}

function* pathTokens(expression: string): Generator<string> {
  const tokens = expression.match(/"[^"]*"|'[^']*'|[()]|(?:\[[^\]]*\]|[^\s()[])+/g) ?? [];
  const isCall = tokens.length > 1;
  for (const [index, token] of tokens.entries()) {
    const isHelper = isCall && (index === 0 || tokens[index - 1] === '(');
    // tz=item.zone
    const value = token.replace(/^\w+=/, '');
    if (isHelper || /^(?:["'()]|$)|=/.test(value) || /^(?:-?\d.*|true|false|null|undefined|as)$/.test(value))
      continue;
    yield value;
  }
}

function resolveToken(token: string, contexts: readonly Context[]): string | undefined {
  const plain = token.replaceAll(/\.?\[["']?([^\]"']*)["']?\]/g, '.$1');
  if (plain.startsWith('@root.')) return fromRoot(plain.slice('@root.'.length));
  if (plain.startsWith('@')) return undefined;
  const up = /^(?:\.\.\/?)*/.exec(plain)?.[0] ?? '';
  const open = contexts.slice(0, contexts.length - (up.match(/\.\./g)?.length ?? 0));
  const rest = plain
    .slice(up.length)
    .replace(/^(?:this|\.)(?:[./]|$)/, '')
    .replaceAll('/', '.');
  const [first = '', ...keys] = rest.split('.');
  const named = open.findLast(({ param }) => param !== undefined && param === first);
  if (named !== undefined) return joined(named.path, keys);
  const context = open.at(-1);
  if (context === undefined) return rest === '' ? 'payload' : fromRoot(rest);
  return joined(context.path, rest === '' ? [] : [first, ...keys]);
}

function joined(path: string | undefined, keys: readonly string[]): string | undefined {
  return path === undefined ? undefined : [path, ...keys].join('.');
}

function fromRoot(path: string): string {
  const first = path.split('.', 1)[0] ?? '';
  return (RESERVED_NAMES as readonly string[]).includes(first) ? path : `payload.${path}`;
}
