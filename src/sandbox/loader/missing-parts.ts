/** What transforms written for Node or a browser miss here, and what to use instead. */
import { NODE_STAND_INS, VIRTUAL_MODULE } from '../names.ts';

const NO_NETWORK = noNetwork('${url}');
const NO_TIMERS = 'a transform has no timers, and nothing to wait for: return the result at once';
const NO_FILES =
  "a transform has no files: put the data into a .json file beside it and import that: import data from './data.json'";

const GLOBAL_HINTS: Readonly<Record<string, string>> = {
  fetch: NO_NETWORK,
  XMLHttpRequest: NO_NETWORK,
  WebSocket: NO_NETWORK,
  EventSource: NO_NETWORK,
  Request: NO_NETWORK,
  Response: NO_NETWORK,
  setTimeout: NO_TIMERS,
  setInterval: NO_TIMERS,
  setImmediate: NO_TIMERS,
  clearTimeout: NO_TIMERS,
  clearInterval: NO_TIMERS,
  clearImmediate: NO_TIMERS,
  queueMicrotask: 'write: await null',
  process: 'process has env only, with what transform.env of the mapping lists',
  global: 'write globalThis',
  performance: 'use Date.now(), which is the time when the request arrived',
  'crypto.subtle': `import createHash or createHmac from 'node:crypto'`,
  __dirname: NO_FILES,
  __filename: NO_FILES,
};

/** Names of globals, and members of some, that are not there. */
export const MISSING_GLOBALS: readonly string[] = Object.keys(GLOBAL_HINTS);

/** `call` is the code from the global on. */
export function hintForGlobal(name: string, call: string): string {
  const address = name === 'fetch' ? addressIn(call) : undefined;
  return address === undefined ? (GLOBAL_HINTS[name] ?? '') : noNetwork(address);
}

/** The agent has the network; what it is told to do stands in the mapping, and what it is told about in the message. */
function noNetwork(address: string): string {
  return `a transform has no network, so let the agent fetch it: in place of the call add a line to the message that is returned, \`Source: ${address}\`, and write in the mapping instructions: 'Fetch the address after Source first.' (or let the sender include the data in the body)`;
}

/** What is asked for, as it stands within a template literal. */
function addressIn(call: string): string | undefined {
  const [, first = ''] =
    /^\w{1,60}\(\s{0,9}(`[^`\\]{1,300}`|"[^"\\]{1,300}"|[A-Za-z_$][\w$.?]{0,80})\s{0,9}\)/.exec(call) ?? [];
  if (first === '') return undefined;
  return /^[`"]/.test(first) ? first.slice(1, -1) : `\${${first}}`;
}

const IMPORT_HINTS: readonly (readonly [RegExp, string])[] = [
  [/^(?:fs|fs\/promises|path|os|module)$/, NO_FILES],
  [/^(?:https?|http2|net|tls|dns|dgram|undici|axios|got|node-fetch|ws)$/, NO_NETWORK],
  [/^timers(?:\/promises)?$/, NO_TIMERS],
  [/^process$/, 'write process.env, which holds what transform.env of the mapping lists'],
  [/^(?:url|querystring)$/, 'URL and URLSearchParams are there without an import'],
  [/^(?:util|string_decoder)$/, 'TextEncoder, TextDecoder and structuredClone are there without an import'],
  [/^(?:child_process|worker_threads|cluster|vm)$/, 'a transform starts nothing: let the agent do that'],
];

/** What to do instead of importing `specifier`. */
export function hintForImport(specifier: string): string {
  const name = specifier.replace(/^node:/, '');
  const known = IMPORT_HINTS.find(([pattern]) => pattern.test(name))?.[1];
  return known ?? 'copy what you need into the transforms folder and import it with ./';
}

/** What a transform may import, for messages. */
export const IMPORTABLE = `relative paths, '${VIRTUAL_MODULE}', ${Object.keys(NODE_STAND_INS)
  .map((name) => `'node:${name}'`)
  .join(' and ')}`;
