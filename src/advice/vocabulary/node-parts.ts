/** What transforms written for Node or a browser miss here, and what to use instead. */
import { isBuiltin } from 'node:module';

const NO_NETWORK = noNetwork('${url}');
const NO_TIMERS = noTimers(10);
const NO_FILES =
  "a transform has no files: put data into a .json file beside it, import data from './data.json', and a text into a .js file, export default `…`, import text from './text.js'; a text for the agent is best written in the mapping, as instructions";
const WITH_FILES = 'it serves only to find files, and a transform has none: remove it';

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
  __dirname: WITH_FILES,
  __filename: WITH_FILES,
};

/** `call` is the code from the global on. */
export function hintForGlobal(name: string, call: string): string {
  if (name === 'setTimeout')
    return noTimers(
      Math.round(Number(/,\s{0,9}([\d_]{1,9}(?:e\d)?)\)/.exec(call)?.[1]?.replaceAll('_', '')) / 1000) || 10,
    );
  if (name !== 'fetch') return GLOBAL_HINTS[name] ?? '';
  return sentBy(call) ?? noNetwork(addressIn(call) ?? '${url}');
}

/** Nothing else changes while a transform runs; only the run can begin later. */
function noTimers(seconds: number): string {
  return `a transform has no timers, and nothing that it could wait for happens while it runs: remove this line and what waits for it; for a run that is to begin later write in the mapping, beside match, debounce: { key: '{{id}}', seconds: ${seconds} }, with the field that tells one thing from another in place of id`;
}

/** Code that tells something to another service in place of asking it. */
function sentBy(code: string): string | undefined {
  if (!/\bmethod:\s{0,9}['"](?:POST|PUT|PATCH)|\b\w{1,20}\.(?:post|put|patch)\(/i.test(code))
    return undefined;
  const channel = /hooks\.slack\.com|chat\.postMessage/.test(code)
    ? 'slack'
    : /discord/i.test(code)
      ? 'discord'
      : 'NAME';
  return `a transform has no network, and sends nothing itself: return the text as { message: … }; for a text that goes to people as it is write in the mapping action: notify, channel: ${channel} and to, for the reply of the agent deliver: true with these; any other service is called by the agent, which instructions tell so`;
}

/** The agent has the network; what it is told to do stands in the mapping, and what it is told about in the message. */
function noNetwork(address: string): string {
  return `a transform has no network, so let the agent fetch it: take out the call and what reads its answer, add a line to the message that is returned, \`Page: ${address}\`, and write in the mapping instructions: 'Fetch the address after Page first.' (or let the sender include the data in the body)`;
}

/** What is asked for, as it stands within a template literal. */
function addressIn(call: string): string | undefined {
  const [, first = ''] =
    /^[\w.]{1,60}\(\s{0,9}(`[^`\\]{1,300}`|"[^"\\]{1,300}"|'[^'\\]{1,300}'|[A-Za-z_$][\w$.?]{0,80})\s{0,9}[,)]/.exec(
      call,
    ) ?? [];
  if (first === '') return undefined;
  return /^[`"']/.test(first) ? first.slice(1, -1) : `\${${first}}`;
}

const NO_DATES = `the language knows dates, in any language and time zone: new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'Europe/Berlin' }).format(new Date(value)); a template without a transform prints one with {{date value "yyyy-MM-dd HH:mm" tz="Europe/Berlin"}}`;

const IMPORT_HINTS: readonly (readonly [RegExp, string])[] = [
  [/^(?:fs|fs\/promises|fs-extra)$/, NO_FILES],
  [/^(?:path|os|module)$/, WITH_FILES],
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
    /^(?:zod|joi|yup|valibot|superstruct|io-ts|runtypes)(?:\/|$)/,
    "a transform tests by itself what must be there: const { id } = payload; if (typeof id !== 'number') return null; (no run, 204), or throw new Error('no id') in place of return null (500, and the sender sends again); types alone: defineTransform<{ id: number }>(…)",
  ],
  [
    /^(?:lodash(?:-es|\.\w+)?|underscore|ramda)(?:\/|$)/,
    "the language has it: remove this line, and write methods such as payload.a?.b ?? 'none', Object.groupBy(list, (one) => one.key), [...new Set(list)] and list.toSorted((a, b) => a.key - b.key)",
  ],
];

/** What to do instead of importing `specifier` in a file whose text is `source`; `folder` is the one of transforms. */
export function hintForImport(specifier: string, source: string, folder: string): string {
  const name = specifier.replace(/^node:/, '');
  const known = IMPORT_HINTS.find(([pattern]) => pattern.test(name))?.[1];
  if (known === NO_NETWORK) return sentBy(source) ?? noNetwork(addressIn(callIn(source)) ?? '${url}');
  return known ?? (isBuiltin(specifier) ? NOT_OF_NODE : bundled(name, folder));
}

/** The first call in a file that looks like one to the network. */
function callIn(source: string): string {
  return (
    /\b(?:axios|got|ky|fetch|request|superagent|needle|https?)(?:\.\w{1,10})?\(.{1,400}/.exec(source)?.[0] ??
    ''
  );
}

const NOT_OF_NODE =
  'of Node a transform has only node:crypto and node:buffer: do without it, or let the agent do that';

/** A package is many files, which import each other by names: esbuild, which comes with Sluice, makes one of them. */
function bundled(name: string, folder: string): string {
  const named = /^[@\w./-]{1,100}$/.test(name) ? name : 'PACKAGE';
  const file = `${(named.split('/').at(-1) ?? '').replace(/\.(?:[cm]?js|ts)$/, '')}.mjs`;
  return `make one file of it: npx esbuild ${named} --bundle --format=esm --outfile=${folder}/${file}, and import './${file}' here; sluice check then says whether it runs: a package that needs Node, or changes objects of the language, does not; of a few lines copy only these`;
}
