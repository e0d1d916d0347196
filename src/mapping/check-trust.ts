import { say } from '../finding.ts';
import type { CompiledTemplate } from './compiled-mapping.ts';
import type { Reporter } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

interface Checked {
  readonly source: Pick<MappingSource, 'trust'>;
  readonly reporter: Reporter;
}

/** What the request decides has to be trusted to do so, and only that. */
export function checkTrust(checked: Checked, key: string, compiled: CompiledTemplate | undefined): void {
  const { source, reporter } = checked;
  const untrusted = compiled?.reads.filter((name) => name !== 'now' && name !== 'index') ?? [];
  const trustedAt = source.trust?.findIndex((trusted) => trusted === key) ?? -1;
  if (untrusted.length === 0 && trustedAt !== -1) reportNeedlessTrust(reporter, key, trustedAt);
  if (untrusted.length === 0 || trustedAt !== -1) return;
  reporter.report([key], {
    severity: 'warning',
    code: 'UNTRUSTED_ROUTING',
    message: say`"${key}" is taken from the request (${untrusted.slice(0, 3).join(', ')}): whoever sends it decides`,
    hint: say`write a fixed value; or add "trust: [${key}]" if only a sender that you trust can write it, as behind a signature`,
  });
}

/** Left there, it would silence the warning on the day the value comes from the request. */
function reportNeedlessTrust(reporter: Reporter, key: string, index: number): void {
  reporter.report(['trust', index], {
    severity: 'warning',
    code: 'MAPPING_KEY_WITHOUT_EFFECT',
    message: say`"trust" names "${key}", which takes nothing from the request`,
    hint: say`remove "${key}" from the list`,
  });
}
