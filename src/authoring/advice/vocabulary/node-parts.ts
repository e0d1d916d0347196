import { isBuiltin } from 'node:module';

const NO_NETWORK =
  'let the agent fetch it, as a transform has no network: return the address in the message, and say in instructions of the mapping what to do with it; a text that goes to people as it is is action: notify';
/** Nothing else changes while a transform runs; only the run can begin later. */
const NO_TIMERS =
  'remove this line and what waits for it, as nothing that a transform could wait for happens while it runs; for a run that is to begin later, the mapping has debounce';
const NO_FILES =
  "put data into a .json file beside it, as a transform has no files: import data from './data.json', and a text into a .js file, export default `…`, import text from './text.js'; a text for the agent is best written in the mapping, as instructions";
const ONLY_ENV =
  'use process.env, which holds what transform.env of the mapping lists: process has nothing else';

const GLOBALS: readonly (readonly [RegExp, string])[] = [
  [/^(?:fetch|XMLHttpRequest|WebSocket|EventSource|Request)$/, NO_NETWORK],
  [/^Response$/, 'return { message: … }: what the sender is answered is the key answer of the mapping'],
  [/^(?:set|clear)(?:Timeout|Interval|Immediate)$/, NO_TIMERS],
  [/^__(?:dirname|filename)$/, NO_FILES],
  [/^queueMicrotask$/, 'write: await null'],
  [/^process$/, ONLY_ENV],
  [/^global$/, 'write globalThis'],
  [/^performance$/, 'use Date.now(), which is the time when the request arrived'],
  [/^crypto\.subtle$/, "import createHash or createHmac from 'node:crypto'"],
];

const hintIn = (hints: typeof GLOBALS, name: string): string | undefined =>
  hints.find(([pattern]) => pattern.test(name))?.[1];

export const hintForGlobal = (name: string): string => hintIn(GLOBALS, name) ?? '';

const MODULES: readonly (readonly [RegExp, string])[] = [
  [/^(?:fs|fs\/promises|path|os|module)$/, NO_FILES],
  [/^(?:https?|http2|net|tls|dns|dgram|undici|axios|got|node-fetch)$/, NO_NETWORK],
  [/^timers(?:\/promises)?$/, NO_TIMERS],
  [/^process$/, ONLY_ENV],
  [
    /^(?:url|querystring|util|string_decoder)$/,
    'remove this line: URL, URLSearchParams, TextEncoder, TextDecoder and structuredClone are there without an import',
  ],
];

/** Says what to do instead of importing `specifier`; `folder` is the one of transforms. */
export function hintForImport(specifier: string, folder: string): string {
  const name = specifier.replace(/^node:/, '');
  return hintIn(MODULES, name) ?? (isBuiltin(specifier) ? NOT_OF_NODE : bundled(name, folder));
}

const NOT_OF_NODE =
  'do without it, or let the agent do that: of Node a transform has only node:crypto and node:buffer';

/** A package is many files that import each other by name. esbuild, which comes with Sluice, makes one file of them. */
function bundled(name: string, folder: string): string {
  const named = /^[@\w./-]{1,100}$/.test(name) ? name : 'PACKAGE';
  const file = `${(named.split('/').at(-1) ?? '').replace(/\.(?:[cm]?js|ts)$/, '')}.mjs`;
  return `write its path from this file, where it is one of yours, as paths of tsconfig.json are not read; of a package make one file: npx esbuild ${named} --bundle --format=esm --outfile=${folder}/${file}, and import './${file}' here; sluice check then says whether it runs: a package that needs Node, or changes objects of the language, does not; of a few lines copy only these`;
}
