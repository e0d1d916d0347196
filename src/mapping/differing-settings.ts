/** Settings of paths that need a path, or that two mappings of a path set differently. */
import { quoted, say } from '../finding.ts';
import type { Finding, Place, TextEdit } from '../document/document.ts';
import { type SecretReference, secretsText } from '../verify/verify.ts';
import { ownPath } from './body-kinds.ts';
import type { CompiledMapping, PathSettings } from './compiled-mapping.ts';
import type { MappingCode } from './mapping-codes.ts';
import type { PathKey } from './path-settings-schema.ts';
import { PATH_KEYS } from './path-settings.ts';

export function findPathSettings(mappings: readonly CompiledMapping[]): readonly Finding[] {
  const first = new Map<string, CompiledMapping>();
  return mappings.flatMap((mapping) =>
    PATH_KEYS.flatMap((key): readonly Finding[] => {
      const at = mapping.settingsAt?.[key];
      const { path } = mapping.match;
      if (at === undefined) return [];
      if (path === undefined) return [withoutPath(key, at)];
      const slot = `${path} ${key}`;
      const before = first.get(slot);
      first.set(slot, before ?? mapping);
      const beforeAt = before?.settingsAt?.[key];
      if (before === undefined || beforeAt === undefined || isSame(before.settings, mapping.settings, key))
        return [];
      return [differing({ key, path, at, before: beforeAt, values: [before, mapping] }, mappings)];
    }),
  );
}

function withoutPath(key: PathKey, at: Place): Finding {
  return {
    severity: 'error',
    code: 'PATH_SETTINGS_WITHOUT_PATH' satisfies MappingCode,
    message: say`${key} is applied before a mapping is chosen, so the mapping needs match.path`,
    at,
    hint: quoted(
      key === 'maxBodyBytes'
        ? 'add match.path, or set hooks.maxBodyBytes, which holds for every path'
        : 'add match.path with the name of the hook',
    ),
  };
}

function isSame(a: PathSettings, b: PathSettings, key: PathKey): boolean {
  return JSON.stringify(a[key]) === JSON.stringify(b[key]);
}

interface Difference {
  readonly key: PathKey;
  readonly path: string;
  readonly at: Place;
  readonly before: Place;
  readonly values: readonly [CompiledMapping, CompiledMapping];
}

/** Settings that go with what a sender sends, and not with what an operator wants. */
const KINDS: ReadonlySet<PathKey> = new Set(['bodyFormat', 'method', 'verify', 'challenge']);

function differing(difference: Difference, mappings: readonly CompiledMapping[]): Finding {
  const {
    key,
    path,
    at,
    before,
    values: [first, second],
  } = difference;
  const [was, is] = [first.settings[key], second.settings[key]];
  const isPlain = typeof is !== 'object' && typeof was !== 'object';
  const values = isPlain ? `, found ${String(is)} and ${String(was)}` : '';
  const joined = key === 'verify' ? joinSecrets(difference.values, mappings) : undefined;
  return {
    severity: 'error',
    code: 'PATH_SETTINGS_DIFFER' satisfies MappingCode,
    message: say`the mappings of the path "${path}" must not differ in ${key}${values}`,
    at,
    labels: [{ at: before, text: say`set here first` }],
    ...joined,
    hint:
      joined?.hint ??
      (KINDS.has(key)
        ? say`all mappings of a path share one ${key}; requests of two kinds need two paths: give this mapping one of its own, such as match: {path: ${ownPath(path, second)}}, and let its sender post there; where they are of one kind, set ${key} in only one of the mappings`
        : say`set ${key} in only one of the mappings of this path`),
  };
}

/** A verify takes so many secrets. */
const MAX_SECRETS = 8;

/** Two proofs that differ in their secrets alone: a list takes each, so both senders keep the one address. */
function joinSecrets(
  values: readonly [CompiledMapping, CompiledMapping],
  mappings: readonly CompiledMapping[],
): (Required<Pick<Finding, 'hint'>> & Pick<Finding, 'edit' | 'also'>) | undefined {
  const [first, second] = values;
  if (schemeOf(first) !== schemeOf(second)) return undefined;
  const alike = mappings.filter(
    (each) => each.match.path === first.match.path && schemeOf(each) === schemeOf(first),
  );
  const texts = new Set(alike.flatMap(secretsOf).map((secret) => JSON.stringify(secret)));
  if (texts.size === 0 || texts.size > MAX_SECRETS) return undefined;
  const secrets = [...texts].map((text) => JSON.parse(text) as SecretReference);
  const edits = [second, first].map(({ secretsAt }) => listAt(secretsAt, secrets));
  const [edit, also] = edits;
  const hint = `they differ in their secrets alone, and secrets is a list of which each is taken: write ${secretsText(secrets)} in both, or in one of the two, and remove verify from the other`;
  return edit === undefined || also === undefined
    ? { hint: quoted(hint) }
    : { hint: quoted(hint), edit, also: [also] };
}

const secretsOf = ({ settings: { verify } }: CompiledMapping): readonly SecretReference[] =>
  verify !== undefined && 'secrets' in verify.settings ? verify.settings.secrets : [];

/** A proof without its secrets, to compare. */
function schemeOf({ settings: { verify } }: CompiledMapping): string | undefined {
  return verify === undefined || !('secrets' in verify.settings)
    ? undefined
    : JSON.stringify({ ...verify.settings, secrets: [] });
}

/** The list in place of one in brackets. */
function listAt(at: Place | undefined, secrets: readonly SecretReference[]): TextEdit | undefined {
  const written = at?.source.text.slice(at.start, at.end);
  if (at === undefined || written?.startsWith('[') !== true) return undefined;
  const text = secretsText(secrets).slice('secrets: '.length);
  return { at, text: written.includes('"') ? text.replaceAll("'", '"') : text };
}
