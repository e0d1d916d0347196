/** What transforms written for Node or a browser miss here, and what to use instead. */
import { isBuiltin } from 'node:module';
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

const NO_DATES = `the language knows dates, in any language and time zone: new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'Europe/Berlin' }).format(new Date(value)); a template without a transform prints one with {{date value "yyyy-MM-dd HH:mm" tz="Europe/Berlin"}}`;

const IMPORT_HINTS: readonly (readonly [RegExp, string])[] = [
  [/^(?:fs|fs\/promises|path|os|module|fs-extra)$/, NO_FILES],
  [
    /^(?:https?|http2|net|tls|dns|dgram|undici|axios|got|ky|superagent|request|needle|node-fetch|cross-fetch|ws|stripe|openai|pg|redis)$|^(?:@octokit|@slack|@anthropic-ai|@supabase)\//,
    NO_NETWORK,
  ],
  [/^timers(?:\/promises)?$/, NO_TIMERS],
  [
    /^(?:process|dotenv(?:\/config)?)$/,
    'write process.env, which holds what transform.env of the mapping lists',
  ],
  [/^(?:url|querystring|qs|query-string)$/, 'URL and URLSearchParams are there without an import'],
  [/^(?:util|string_decoder)$/, 'TextEncoder, TextDecoder and structuredClone are there without an import'],
  [/^(?:child_process|worker_threads|cluster|vm)$/, 'a transform starts nothing: let the agent do that'],
  [
    /^(?:dayjs|moment|date-fns|luxon)\/(?:(?:esm|dist)\/)?(?:locale|plugin)\/|^date-fns\/locale$/,
    'remove this line: Intl.DateTimeFormat has all languages and time zones',
  ],
  [/^(?:dayjs|moment|moment-timezone|date-fns|date-fns-tz|luxon)(?:\/|$)/, NO_DATES],
  [
    /^(?:uuid|nanoid|cuid|ulid|short-uuid)(?:\/|$)/,
    "import { randomUUID } from 'node:crypto', and write randomUUID()",
  ],
  [
    /^(?:crypto-js|md5|sha1|js-sha256|hash\.js)(?:\/|$)/,
    "import { createHash, createHmac } from 'node:crypto', and write createHash('sha256').update(text).digest('hex')",
  ],
  [
    /^(?:lodash(?:-es|\.\w+)?|underscore|ramda)(?:\/|$)/,
    "the language has most of it: payload.a?.b ?? '' in place of get, Object.groupBy(list, fn) of groupBy, [...new Set(list)] of uniq, list.toSorted(fn) of sortBy",
  ],
];

/** What to do instead of importing `specifier`. */
export function hintForImport(specifier: string): string {
  const name = specifier.replace(/^node:/, '');
  const known = IMPORT_HINTS.find(([pattern]) => pattern.test(name))?.[1];
  return known ?? (isBuiltin(specifier) ? NOT_OF_NODE : copied(name));
}

const NOT_OF_NODE =
  'of Node a transform has only node:crypto and node:buffer: do without it, or let the agent do that';

/** A package is many files, which import each other by names: only a build in one file can be copied. */
function copied(name: string): string {
  const file = `./${(name.split('/').at(-1) ?? '').replace(/\.(?:[cm]?js|ts)$/, '').slice(0, 60)}.mjs`;
  return `copy its build as one ES module (most packages have one, such as dist/NAME.mjs, that imports nothing) into the transforms folder and import '${file}'; of a few lines copy only these`;
}

/** What a transform may import, for messages. */
export const IMPORTABLE = `relative paths, '${VIRTUAL_MODULE}', ${Object.keys(NODE_STAND_INS)
  .map((name) => `'node:${name}'`)
  .join(' and ')}`;
