/** Session keys that transforms of an OpenClaw file make, and that this file does not let anybody choose. */
import type { LoadedConfig } from '../../engine/config/config.ts';
import { say, type Finding } from '../../base/finding.ts';
import type { CompiledMapping } from '../../engine/mapping/mapping.ts';

/** A key that a result may have, in the one form in which esbuild prints a file. */
const WRITTEN = /\bsessionKey: |\.sessionKey = |return \{[^{}]*?\bsessionKey\b/;

/** `code` is the linked code of transforms by the name that mappings use. */
export function findRefusedKeys(
  { settings: { hooks } }: LoadedConfig,
  mappings: readonly CompiledMapping[],
  code: ReadonlyMap<string, string>,
): readonly Finding[] {
  if (hooks.sessionKeys.allowFromRequest) return [];
  const used = mappings.flatMap(({ behaviours, transform }) =>
    behaviours.hasGatewaySessionKeys && transform !== undefined ? [transform] : [],
  );
  const writes = (module: string): boolean => {
    const text = code.get(module) ?? '';
    return WRITTEN.test(text) && !text.includes('sessionKeySource');
  };
  return [...new Map(used.map(({ module, at }) => [module, at]))].flatMap(([module, at]) =>
    writes(module)
      ? [
          {
            severity: 'warning',
            code: 'SESSION_KEY_REFUSED',
            message: say`the transform writes a session key, which this file does not allow, so a request whose result has one is answered 400`,
            hint: say`return sessionKeySource: 'static' beside a key that you vouch for, or set hooks.allowRequestSessionKey: true, and hooks.allowedSessionKeyPrefixes, without which the gateway does not start`,
            at,
          },
        ]
      : [],
  );
}
