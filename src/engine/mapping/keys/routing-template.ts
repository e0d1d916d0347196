import { didYouMean } from '../../../base/document/document.ts';
import { quoted, say, type Sentence } from '../../../base/finding.ts';
import type { CompiledTemplate } from '../compiled-mapping.ts';
import type { MappingCode, Reporter } from '../mapping-codes.ts';
import type { KeyCompiling } from './mapping-key.ts';

/** A template that says where a reply goes or what runs: what the request decides has to be trusted to do so. */
export function routingTemplate(at: KeyCompiling): CompiledTemplate | undefined {
  const { key, source, reporter, behaviours } = at;
  const compiled = at.template([key]);
  const untrusted = compiled?.reads.filter((name) => name !== 'now' && name !== 'index') ?? [];
  if (untrusted.length === 0 || behaviours.trustsSenders || source.trust?.includes(key) === true)
    return compiled;
  reporter.report([key], {
    severity: 'warning',
    code: 'UNTRUSTED_ROUTING',
    message: say`"${key}" is taken from the request (${untrusted.slice(0, 3).join(', ')}): whoever sends it decides`,
    facts: { key },
  });
  return compiled;
}

/** A reference as the configuration takes it, which mappings do not replace. */
export const holdsReference = (text: string): boolean => /\$\{([A-Za-z_]\w*)\}/.test(text);

interface Name {
  readonly key: string;
  readonly written: string;
  /** Undefined where it is not known which there are. */
  readonly known: readonly string[] | undefined;
  readonly finding: { readonly code: MappingCode; readonly severity?: 'warning'; readonly message: Sentence };
  /** What is meant in place of it, where that is known otherwise than by its letters. */
  readonly meant?: string | undefined;
  /** What else may be done. */
  readonly otherwise?: string;
}

/** A name that leads nowhere is a finding. */
export function checkName(
  reporter: Reporter,
  { key, written, known, finding, meant, otherwise = '' }: Name,
): void {
  if (known === undefined || known.includes(written)) return;
  const near = meant ?? didYouMean(written, known);
  const all = known.length === 0 ? '' : `choose one of: ${known.join(' ')}`;
  reporter.report([key], {
    ...finding,
    hint:
      near === undefined
        ? quoted([all, otherwise].filter(Boolean).join('; or '))
        : say`did you mean "${near}"?`,
    ...(near === undefined ? {} : { replace: { from: written, to: near } }),
  });
}
