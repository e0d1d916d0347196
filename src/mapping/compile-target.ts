import { channelIdOf, type DeliveryTarget } from '../action.ts';
import type { Path } from '../document/document.ts';
import { say } from '../finding.ts';
import { defined } from '../json.ts';
import { checkChannel, checkRecipient } from './check-names.ts';
import type { CompiledMapping } from './compiled-mapping.ts';
import type { CompileOptions } from './compile-options.ts';
import type { Reporter } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

interface AddressingMapping {
  readonly source: MappingSource;
  readonly reporter: Reporter;
  readonly options: CompileOptions;
}

/** A channel and a recipient that are no templates; undefined where the mapping has none. */
export function compileTarget(
  compiling: AddressingMapping,
  key: 'fallback' | 'approve',
): DeliveryTarget | undefined {
  const target = compiling.source[key];
  if (target === undefined) return undefined;
  const { channel: written, to: recipient } = target;
  const channel = checkChannel(compiling, [key, 'channel'], written);
  const to = recipient === undefined ? undefined : String(recipient).trim();
  if (isLiteral(compiling, [key, 'to'], to) && to !== undefined && channel !== undefined) {
    checkRecipient(compiling, [key, 'to'], { channel, to, options: compiling.options });
  }
  return { channel: channelIdOf(written.trim().toLowerCase()), ...defined({ to }) };
}

const HOUR_SECONDS = 3_600;

/** Who is asked whether a run begins. */
export function compileApproval(compiling: AddressingMapping): CompiledMapping['approve'] {
  const target = compileTarget(compiling, 'approve');
  return target && { ...target, withinSeconds: compiling.source.approve?.withinSeconds ?? HOUR_SECONDS };
}

/** Reports expressions where only a literal is possible. */
function isLiteral({ reporter }: AddressingMapping, path: Path, text: string | undefined): boolean {
  if (text?.includes('{{') !== true) return true;
  reporter.report(path, {
    code: 'NOT_LITERAL',
    message: say`"${path.join('.')}" is literal: it cannot contain expressions ({{…}})`,
    hint: say`write a fixed value: who gets it is not the sender's to choose`,
  });
  return false;
}
