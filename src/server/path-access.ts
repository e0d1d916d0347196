import type { PathSettings } from '../mapping/mapping.ts';
import { createVerifier, type SenderCheck } from '../verify/verify.ts';
import { createAddressList } from './addresses.ts';
import type { ServerDeps } from './deps.ts';

/** What a path's settings say of its requests before they are believed, made ready once for each generation. */
export interface PathAccess {
  /** Absent where the hook token is the proof. */
  readonly sender: SenderCheck | undefined;
  /** Whether requests may come from this address. */
  allows(address: string): boolean;
}

/** What accesses are made with, and where they are kept. */
interface AccessContext {
  readonly deps: Pick<ServerDeps, 'fetchJson'>;
  readonly clock: () => number;
  /** Of paths that set something; settings of replaced generations are collected with them. */
  readonly accesses: WeakMap<PathSettings, PathAccess>;
}

const OPEN: PathAccess = { sender: undefined, allows: () => true };

/** What a path asks; settings are the same object for as long as their generation lives. */
export function accessOf(context: AccessContext, settings: PathSettings): PathAccess {
  if (settings.verify === undefined && settings.allowFrom === undefined) return OPEN;
  const known = context.accesses.get(settings);
  if (known !== undefined) return known;
  const access = createAccess(context, settings);
  context.accesses.set(settings, access);
  return access;
}

function createAccess({ clock, deps }: AccessContext, { verify, allowFrom }: PathSettings): PathAccess {
  const { fetchJson = unreachable } = deps;
  return {
    sender:
      verify === undefined
        ? undefined
        : { proof: verify, verifier: createVerifier(verify, { clock, fetchJson }) },
    allows: allowFrom === undefined ? OPEN.allows : createAddressList(allowFrom).has,
  };
}

function unreachable(): Promise<never> {
  return Promise.reject(new Error('this server was given no way to fetch keys'));
}
