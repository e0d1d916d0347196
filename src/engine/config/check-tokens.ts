import { say } from '../../base/finding.ts';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { LocatedValue, Path, Place } from '../../base/document/document.ts';
import { isJsonObject, type JsonObject, memberAt } from '../../base/json.ts';
import type { ConfigReporter } from './reporter.ts';

/** Visible ASCII, with spaces inside: what arrives in a header as it was sent (RFC 9110, section 5.5). */
const SENDABLE = /^[!-~](?:[ -~]*[!-~])?$/;

/** A hook token with fewer characters than this is worth a warning. */
const MIN_TOKEN_CHARS = 16;

const MIN_WORKER_TOKEN_CHARS = 32;

interface HookToken {
  readonly path: Path;
  readonly value: string;
}

/** A secret besides `gateway.token` that no hook token may equal, resolved. */
export interface ReservedSecret {
  readonly located: LocatedValue;
  readonly value: unknown;
}

/**
 * The rules about tokens, on resolved values whatever else is wrong with the file: one is required when hooks are
 * on, and none may be the gateway's own secret. Returns all tokens.
 */
export function checkTokens(
  reporter: ConfigReporter,
  value: unknown,
  options: {
    readonly dev: boolean;
    readonly needSecrets: boolean;
    readonly reserved: readonly ReservedSecret[];
  },
): readonly string[] {
  const whole = isJsonObject(value) ? value : {};
  const hooks = isJsonObject(whole['hooks']) ? whole['hooks'] : {};
  const isMissing = hooks['token'] === undefined && !Object.keys(hooks).some(isOtherName);
  // sluice dev makes a token of its own.
  if (hooks['enabled'] === true && isMissing && !options.dev) {
    reporter.report('TOKEN_REQUIRED', ['hooks', 'enabled'], {
      // An author looks at it, and it is not about to be served.
      severity: options.needSecrets ? 'error' : 'warning',
      message: say`hooks are enabled but hooks.token is missing: sluice serve will refuse to start`,
      hint: say`add token: '\${SLUICE_HOOK_TOKEN}' below hooks; make one with: openssl rand -hex 32`,
    });
  }
  const tokens = hookTokens(hooks);
  const secrets = ownSecrets(reporter, whole, options.reserved);
  for (const token of tokens) {
    checkForm(reporter, token);
    checkReuse(reporter, token, secrets);
  }
  const ofWorkers = workerTokens(whole);
  for (const [index, token] of ofWorkers.entries())
    checkWorkerToken(reporter, token, [
      ...secrets,
      ...[...tokens, ...ofWorkers.slice(0, index)].map(({ value: text, path }) => ({
        value: text,
        at: reporter.root.place(path),
      })),
    ]);
  return [...tokens, ...ofWorkers, ...secrets].map((secret) => secret.value);
}

/** `tokens`, `hookToken`: an unknown key, of which there is a finding. */
const isOtherName = (key: string): boolean =>
  /tokens?$/i.test(key) && !/^(?:previousTokens|queryToken)$/.test(key);

/** What no hook token may equal: the gateway's own token, and the secrets that are reserved besides. */
function ownSecrets(
  { root }: ConfigReporter,
  whole: JsonObject,
  reserved: readonly ReservedSecret[],
): readonly { readonly value: string; readonly at: Place }[] {
  const own = { value: memberAt(whole, ['gateway', 'token']), located: root.at(['gateway', 'token']) };
  return [own, ...reserved].flatMap(({ value, located }) =>
    typeof value === 'string' ? [{ value, at: located.place([]) }] : [],
  );
}

function checkForm(reporter: ConfigReporter, token: HookToken): void {
  if (!SENDABLE.test(token.value)) {
    reporter.report('INVALID_TOKEN', token.path, {
      message: say`a hook token begins or ends with white space, or contains a character that is not allowed in an HTTP header`,
      hint: say`use visible ASCII characters, for example of: openssl rand -hex 32`,
    });
  } else if (token.value.length < MIN_TOKEN_CHARS) {
    reporter.report('SHORT_TOKEN', token.path, {
      severity: 'warning',
      isOfSafety: true,
      message: say`a hook token is shorter than ${MIN_TOKEN_CHARS} characters: it can be guessed`,
      hint: say`make one with: openssl rand -hex 32`,
    });
  }
}

function checkReuse(
  reporter: ConfigReporter,
  token: HookToken,
  secrets: ReturnType<typeof ownSecrets>,
): void {
  const same = secrets.find((secret) => isSame(secret.value, token.value));
  if (same === undefined) return;
  reporter.report('TOKEN_REUSED', token.path, {
    message: say`a hook token is the same as the gateway's own secret`,
    hint: say`use another secret for hooks: a sender of hooks must not be able to control the gateway`,
    labels: [{ at: same.at, text: say`the gateway's secret` }],
  });
}

function hookTokens({ token, previousTokens }: JsonObject): readonly HookToken[] {
  const previous: readonly unknown[] = Array.isArray(previousTokens) ? previousTokens : [];
  const paths: readonly Path[] = [
    ['hooks', 'token'],
    ...previous.map((_, at) => ['hooks', 'previousTokens', at]),
  ];
  return [token, ...previous].flatMap((value, at) =>
    typeof value === 'string' && value !== '' ? [{ path: paths[at] as Path, value }] : [],
  );
}

/** A token of a worker as it is resolved. */
function workerTokens({ gateway }: JsonObject): readonly HookToken[] {
  const { runner, runners } = isJsonObject(gateway) ? gateway : {};
  const named = Object.entries(isJsonObject(runners) ? runners : {});
  const all: readonly (readonly [Path, unknown])[] = [
    [['gateway', 'runner'], runner],
    ...named.map(([name, each]) => [['gateway', 'runners', name], each] as const),
  ];
  return all.flatMap(([path, each]) => {
    if (!isJsonObject(each) || each['kind'] !== 'worker' || !Array.isArray(each['tokens'])) return [];
    const values: readonly unknown[] = each['tokens'];
    return values.flatMap((value, at) =>
      typeof value === 'string' ? [{ value, path: [...path, 'tokens', at] }] : [],
    );
  });
}

/** Who has it takes runs with their prompts, and writes their replies. */
function checkWorkerToken(
  reporter: ConfigReporter,
  token: HookToken,
  others: ReturnType<typeof ownSecrets>,
): void {
  const written = reporter.root.at(token.path).value;
  const isReference = typeof written !== 'string' || /^\$\{[^}]+\}$/.test(written);
  // A variable that is not set stands for itself.
  const isUnset = isReference && written === token.value;
  const isWeak = token.value.length < MIN_WORKER_TOKEN_CHARS || !SENDABLE.test(token.value);
  if (!isReference || (isWeak && !isUnset)) {
    reporter.report('INVALID_WORKER_TOKEN', token.path, {
      message: say`a token of a worker must be a reference to ${MIN_WORKER_TOKEN_CHARS} or more visible ASCII characters`,
      hint: say`write '\${NAME}' or {file: NAME}, and make the token with: openssl rand -hex 32`,
    });
  }
  const same = others.find((other) => isSame(other.value, token.value));
  if (same === undefined) return;
  reporter.report('TOKEN_REUSED', token.path, {
    message: say`a token of a worker is the same as another token`,
    hint: say`make another one for the worker: openssl rand -hex 32`,
    labels: [{ at: same.at, text: say`the other token` }],
  });
}

/** The carriers cut white space around a token, so it makes no difference here either. */
function isSame(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text.trim()).digest();
  return timingSafeEqual(hash(a), hash(b));
}
