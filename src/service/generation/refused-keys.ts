/** Session keys that transforms of an OpenClaw file make, and that this file does not let anybody choose. */
import type { LoadedConfig } from '../../engine/config/config.ts';
import { say, type Finding, type Place, type SourceText, type Subject } from '../../base/finding.ts';
import type { CompiledMapping } from '../../engine/mapping/mapping.ts';

/** A key that a result may have, in the one form in which esbuild prints a file. */
const WRITTEN = /\bsessionKey: |\.sessionKey = |return \{[^{}]*?\bsessionKey\b/;

interface TransformModule extends Subject {
  readonly source: SourceText;
  readonly code: string;
  readonly exports: readonly string[];
  readonly placeOf: (offset: number, length: number) => Place | undefined;
}

export function findRefusedKeys(
  { settings: { hooks } }: LoadedConfig,
  mappings: readonly CompiledMapping[],
  subjects: readonly Subject[],
): readonly Finding[] {
  if (hooks.sessionKeys.allowFromRequest) return [];
  const modules = mappings.flatMap(({ behaviours, transform }) =>
    behaviours.hasGatewaySessionKeys && transform !== undefined
      ? [transform.module.replace(/^\.\//, '')]
      : [],
  );
  const isUsed = ({ exports, source }: TransformModule): boolean =>
    exports.length > 0 &&
    modules.some((module) => source.file === module || source.file.endsWith(`/${module}`));
  const looked = subjects.filter((subject): subject is TransformModule => subject.kind === 'module');
  return looked.flatMap((module): readonly Finding[] => {
    const [written] = isUsed(module) ? (WRITTEN.exec(module.code) ?? []) : [];
    if (written === undefined || module.code.includes('sessionKeySource')) return [];
    const offset = module.code.indexOf(written) + written.indexOf('sessionKey');
    const at = module.placeOf(offset, 'sessionKey'.length);
    return [
      {
        severity: 'warning',
        code: 'SESSION_KEY_REFUSED',
        message: say`the transform writes a session key, which this file does not allow, so a request whose result has one is answered 400`,
        hint: say`return sessionKeySource: 'static' beside a key that you vouch for, or set hooks.allowRequestSessionKey: true, and hooks.allowedSessionKeyPrefixes, without which the gateway does not start`,
        ...(at && { at }),
      },
    ];
  });
}
