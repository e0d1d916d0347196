import { say } from '../../base/finding.ts';
import type { LocatedValue, Path, Place } from '../../base/document/document.ts';
import { isJsonObject, type JsonObject, memberAt } from '../../base/json.ts';
import type { ConfigReporter } from './reporter.ts';

/** Visible ASCII, with spaces inside: what arrives in a header as it was sent (RFC 9110, section 5.5). */
const SENDABLE = /^[!-~](?:[ -~]*[!-~])?$/;

/** A hook token with fewer characters than this is worth a warning. */
const MIN_TOKEN_CHARS = 16;

const MIN_WORKER_TOKEN_CHARS = 32;

interface Token {
  readonly path: Path;
  readonly value: string;
}

type OtherSecret = Pick<Token, 'value'> & { readonly at: Place };

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
    checkReuse(reporter, token, secrets, OF_HOOKS);
  }
  const ofWorkers = workerTokens(whole);
  const known = [
    ...secrets,
    ...tokens.map(({ value: text, path }) => ({ value: text, at: reporter.root.place(path) })),
  ];
  for (const token of ofWorkers) {
    checkWorkerToken(reporter, token);
    checkReuse(reporter, token, known, OF_A_WORKER);
    known.push({ value: token.value, at: reporter.root.place(token.path) });
  }
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
): readonly OtherSecret[] {
  const own = { value: memberAt(whole, ['gateway', 'token']), located: root.at(['gateway', 'token']) };
  return [own, ...reserved].flatMap(({ value, located }) =>
    typeof value === 'string' ? [{ value, at: located.place([]) }] : [],
  );
}

function checkForm(reporter: ConfigReporter, token: Token): void {
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

const OF_HOOKS = {
  message: say`a hook token is the same as the gateway's own secret`,
  hint: say`use another secret for hooks: a sender of hooks must not be able to control the gateway`,
  label: say`the gateway's secret`,
};
const OF_A_WORKER = {
  message: say`a token of a worker is the same as another token`,
  hint: say`make another one for the worker: openssl rand -hex 32`,
  label: say`the other token`,
};

function checkReuse(
  reporter: ConfigReporter,
  { path, value }: Token,
  others: readonly OtherSecret[],
  { label: text, ...said }: typeof OF_HOOKS,
): void {
  // The carriers cut white space around a token, so it makes no difference here either.
  const same = others.find((other) => other.value.trim() === value.trim());
  if (same !== undefined) reporter.report('TOKEN_REUSED', path, { ...said, labels: [{ at: same.at, text }] });
}

function hookTokens({ token, previousTokens }: JsonObject): readonly Token[] {
  const current = typeof token === 'string' ? [{ path: ['hooks', 'token'], value: token }] : [];
  return [...current, ...textsAt(['hooks', 'previousTokens'], previousTokens)].filter(
    ({ value }) => value !== '',
  );
}

function textsAt(path: Path, values: unknown): readonly Token[] {
  const all: readonly unknown[] = Array.isArray(values) ? values : [];
  return all.flatMap((value, at) => (typeof value === 'string' ? [{ value, path: [...path, at] }] : []));
}

function workerTokens({ gateway }: JsonObject): readonly Token[] {
  const { runner, runners } = isJsonObject(gateway) ? gateway : {};
  const tokensOf = (path: Path, each: unknown): readonly Token[] =>
    isJsonObject(each) && each['kind'] === 'worker' ? textsAt([...path, 'tokens'], each['tokens']) : [];
  const named = Object.entries(isJsonObject(runners) ? runners : {});
  return [
    ...tokensOf(['gateway', 'runner'], runner),
    ...named.flatMap(([name, each]) => tokensOf(['gateway', 'runners', name], each)),
  ];
}

/** Who has it takes runs with their prompts, and writes their replies. */
function checkWorkerToken(reporter: ConfigReporter, token: Token): void {
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
}
