import { say } from '../../base/finding.ts';
import type { LoadedConfig, ReferenceReader } from '../../engine/config/config.ts';
import type { Finding } from '../../base/document/document.ts';
import type { CompiledMapping, RoutingTable } from '../../engine/mapping/mapping.ts';
import { nameOfSecret, type SecretReference, signsUrl } from '../../engine/verify/verify.ts';

/**
 * The paths that ask for another proof than the hook token, for `sluice check`: who signs, which secrets are not set
 * here, and which mappings without a path do not take their requests.
 */
export function listProofs(
  table: RoutingTable,
  { hooksPath, noticePath }: { readonly hooksPath: string; readonly noticePath: string | undefined },
  read: ReferenceReader['read'],
): readonly string[] {
  const paths = new Set([...table.paths, ...(noticePath === undefined ? [] : [noticePath])]);
  const owned = [...paths].filter((path) => table.isOwned(path));
  if (owned.length === 0) return [];
  const leftOut = table.mappings.filter(({ match }) => match.path === undefined).map(({ id }) => id);
  return [
    'paths with a proof of their own, in place of the hook token:',
    ...owned.map((path) => `  ${hooksPath}/${path}  ${describeProof(table, path, read)}`),
    ...(leftOut.length === 0
      ? []
      : [`  mappings without a path, which do not take these requests: ${leftOut.join(', ')}`]),
  ];
}

function describeProof(table: RoutingTable, path: string, read: ReferenceReader['read']): string {
  const { verify, requireToken } = table.settingsOf(path);
  if (verify === undefined) return '';
  const { settings } = verify;
  const references: readonly SecretReference[] = 'secrets' in settings ? settings.secrets : [];
  const missing = references.filter((reference) => read(reference) === undefined).map(nameOfSecret);
  return [
    settings.scheme,
    ...(references.length > 1 ? [`${String(references.length - 1)} retired`] : []),
    ...(requireToken === true ? ['and the hook token as well (requireToken)'] : []),
    ...(missing.length === 0 ? [] : [`not set here: ${missing.join(', ')}`]),
  ].join(', ');
}

/** Reports paths whose senders sign the address, where nothing says what the address is. */
export function findMissingUrl(
  { settings: { server } }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  if (server.publicUrl !== undefined || server.trustedProxies.length > 0) return [];
  const signing = mappings.filter(
    ({ settings: { verify } }) => verify !== undefined && signsUrl(verify.settings),
  );
  return signing.slice(0, 1).map(({ settingsAt, at }) => ({
    severity: 'warning',
    code: 'PUBLIC_URL_MISSING',
    message: say`this sender signs the address that it calls, and nothing says what that is`,
    at: settingsAt?.verify ?? at,
    hint: say`set server.publicUrl to the address that senders call, e.g. https://hooks.example.com`,
  }));
}
