import type { Generation } from '../../../service/generation/generation.ts';
import { findSender } from '../../../engine/senders/senders.ts';
import type { Check } from './doctor-machine.ts';

/** A shared secret with fewer characters can be guessed from one signed request, away from this service. */
const MIN_SECRET_CHARS = 16;

/** The secrets of senders as they are here: whether they are there, long enough, and used in one place only. */
export function checkSenders({ config, table }: Generation): readonly Check[] {
  const owners = tokenOwners(config.settings);
  const proofs = [...table.paths].flatMap((path) => {
    const { verify } = table.settingsOf(path);
    return verify === undefined ? [] : [{ path, scheme: verify.settings.scheme, secrets: verify.secrets }];
  });
  const problems = proofs
    .filter(({ scheme }) => !PUBLIC_KEYS.has(scheme) && findSender(scheme)?.secret?.public !== true)
    .flatMap(({ path, ...proof }) => secretProblems(path, { ...proof, owners }));
  if (problems.length > 0) return problems;
  const count = proofs.length;
  const text =
    count === 0 ? 'no path has a proof of its own' : `${String(count)} paths have a proof of their own`;
  return [{ area: 'senders', ok: true, text }];
}

/** What a secret of a sender must not equal, by its value. */
function tokenOwners({ hooks, gateway }: Generation['config']['settings']): Map<string, string> {
  const owners = new Map<string, string>();
  for (const token of [hooks.token, ...hooks.previousTokens])
    if (token !== undefined) owners.set(token, 'hooks.token');
  if (gateway.token !== undefined) owners.set(gateway.token, 'gateway.token');
  return owners;
}

/** General proofs with public keys, which are no secrets. */
const PUBLIC_KEYS: ReadonlySet<string> = new Set(['ed25519', 'ecdsa', 'oidc']);

interface PathSecrets {
  readonly scheme: string;
  readonly secrets: readonly string[];
  /** Where each secret was met first. */
  readonly owners: Map<string, string>;
}

function secretProblems(path: string, { scheme, secrets, owners }: PathSecrets): readonly Check[] {
  return secrets.flatMap((secret, index) => {
    const which = `/${path} (${scheme}), secret ${String(index + 1)}`;
    if (secret === '') return [problem(`${which} is not set here: "sluice check" names its reference`)];
    const owner = owners.get(secret);
    owners.set(secret, owner ?? `/${path}`);
    const short = `${which} has fewer than ${String(MIN_SECRET_CHARS)} characters and can be guessed; make a longer one and set it at the sender, too`;
    const shared = `${which} is the same as that of ${owner}: who knows one of them can use both; give each a secret of its own`;
    return [
      ...(secret.length < MIN_SECRET_CHARS ? [problem(short)] : []),
      ...(owner === undefined || owner === `/${path}` ? [] : [problem(shared)]),
    ];
  });
}

function problem(text: string): Check {
  return { area: 'senders', ok: false, text };
}
