/** Calls one transform with the argument that comes over standard input and prints its result. */
import { registerHooks } from 'node:module';
import { text } from 'node:stream/consumers';
import { createExactText } from './isolate/exact-numbers.ts';
import { VIRTUAL_MODULE } from './names.ts';

// As in the sandbox, `sluice` need not be installed where the transform lies.
const author = new URL(import.meta.url.endsWith('.ts') ? './author.ts' : './author.js', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) => next(specifier === VIRTUAL_MODULE ? author : specifier, context),
});

const [, , url = '', exportName = ''] = process.argv;
const json = await text(process.stdin);
const argument = JSON.parse(json) as Record<string, unknown>;
const parsed = { json, value: argument };
argument['exact'] = createExactText(() => parsed);
const loaded = (await import(url)) as Record<string, unknown>;
const transform = exportName === '' ? (loaded['default'] ?? loaded['transform']) : loaded[exportName];
if (typeof transform !== 'function') throw new TypeError(`${url} exports no function ${exportName}`.trim());
// Breakpoints in the transform are hit from here on.
const result: unknown = await (transform as (argument: unknown) => unknown)(argument);
process.stdout.write(`${result === undefined ? 'undefined' : JSON.stringify(result, undefined, 2)}\n`);
