import type { PathSettings } from '../mapping/mapping.ts';
import { createVerifier, type SenderDoor } from '../verify/verify.ts';
import { createAddressList } from './addresses.ts';
import type { ServerDeps } from './deps.ts';

/** What a path's settings say of its requests before they are believed, made ready once for each generation. */
export interface PathDoor {
  /** Absent where the hook token is the proof. */
  readonly sender: SenderDoor | undefined;
  /** Whether requests may come from this address. */
  allows(address: string): boolean;
}

/** What doors are made with, and where they are kept. */
interface DoorContext {
  readonly deps: Pick<ServerDeps, 'fetchJson'>;
  readonly clock: () => number;
  /** Doors of paths that set one; settings of replaced generations are collected with them. */
  readonly doors: WeakMap<PathSettings, PathDoor>;
}

const OPEN: PathDoor = { sender: undefined, allows: () => true };

/** The door of a path; settings are the same object for as long as their generation lives. */
export function doorOf(context: DoorContext, settings: PathSettings): PathDoor {
  if (settings.verify === undefined && settings.allowFrom === undefined) return OPEN;
  const known = context.doors.get(settings);
  if (known !== undefined) return known;
  const door = createDoor(context, settings);
  context.doors.set(settings, door);
  return door;
}

function createDoor({ clock, deps }: DoorContext, { verify, allowFrom }: PathSettings): PathDoor {
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
