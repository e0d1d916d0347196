import { quoted, type Finding } from '../finding.ts';
import { findCoverageGaps } from '../verify/verify.ts';
import type { CompiledMapping } from './compiled-mapping.ts';
import type { MappingCode } from './mapping-codes.ts';

/** Proofs that do not cover what their path uses of a request, at the `verify` that is written first. */
export function findProofGaps(mappings: readonly CompiledMapping[]): {
  readonly diagnostics: readonly Finding[];
  /** Those with which a service ran: it starts with them, and says so. */
  readonly contained: readonly Finding[];
} {
  const seen = new Set<string>();
  const diagnostics: Finding[] = [];
  const contained: Finding[] = [];
  for (const { match, settings, settingsAt } of mappings) {
    const { verify } = settings;
    const at = settingsAt?.verify;
    if (match.path === undefined || verify === undefined || at === undefined || seen.has(match.path))
      continue;
    seen.add(match.path);
    const all = mappings.filter((each) => each.match.path === match.path).map((each) => each.settings);
    const method = all.find((each) => each.method !== undefined)?.method;
    const bodyFormat = all.find((each) => each.bodyFormat !== undefined)?.bodyFormat;
    for (const { message, hint, isFatal } of findCoverageGaps(verify, { method, bodyFormat })) {
      const code = 'PROOF_NOT_COVERING' satisfies MappingCode;
      const found: Finding = { severity: 'error', code, message: quoted(message), at, hint: quoted(hint) };
      diagnostics.push(found);
      if (isFatal !== true) contained.push(found);
    }
  }
  return { diagnostics, contained };
}
