import { channelIdOf, type DeliveryTarget, type CallbackAddress } from '../../base/action.ts';
import type { Path } from '../../base/document/document.ts';
import { say } from '../../base/finding.ts';
import { defined } from '../../base/json.ts';
import { checkChannel, type CheckedNames, checkRecipient } from './check-names.ts';
import type { CompiledMapping } from './compiled-mapping.ts';
import type { CompileOptions } from './compile-options.ts';
import { type Reporter, quote, type Report } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

/** A channel and a recipient that are no templates; undefined where the mapping has none. */
export function compileTarget(
  compiling: CheckedNames,
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
export function compileApproval(compiling: CheckedNames): CompiledMapping['approve'] {
  const target = compileTarget(compiling, 'approve');
  return target && { ...target, withinSeconds: compiling.source.approve?.withinSeconds ?? HOUR_SECONDS };
}

/** Reports expressions where only a literal is possible. */
function isLiteral({ reporter }: CheckedNames, path: Path, text: string | undefined): boolean {
  if (text?.includes('{{') !== true) return true;
  reporter.report(path, {
    code: 'NOT_LITERAL',
    message: say`"${path.join('.')}" is literal: it cannot contain expressions ({{…}})`,
    hint: say`write a fixed value: who gets it is not the sender's to choose`,
  });
  return false;
}

interface Parts {
  readonly source: Pick<MappingSource, 'callbackUrl'>;
  readonly reporter: Reporter;
  readonly options: CompileOptions;
}

/** The address that the outcome of a run is posted to, as it is written; undefined where none can be used. */
export function compileCallback({ source, reporter, options }: Parts): CallbackAddress | undefined {
  const { callbackUrl: written } = source;
  if (written === undefined) return undefined;
  const isReference = typeof written !== 'string' || /^\$\{[A-Za-z_]\w*\}$/.test(written);
  const url = isReference ? options.resolveReference?.(written) : written;
  // Without a resolver (check, explain, test) the reference stands for itself.
  if (isReference && options.resolveReference === undefined) return undefined;
  if (url !== undefined && isLiteralUrl(url)) return written;
  reporter.report(['callbackUrl'], isReference ? NO_URL_REFERRED_TO : noLiteralUrl(written));
  return undefined;
}

function isLiteralUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:\/\/[^/]/i.test(url) && !/\{\{|\$\{/.test(url);
}

const NO_URL_REFERRED_TO: Report = {
  code: 'INVALID_CALLBACK_URL',
  message: say`the value that callbackUrl refers to is not an http or https URL`,
  hint: say`set the variable, or write into the file, an address such as https://example.com/done`,
};

const noLiteralUrl = (written: string): Report => ({
  code: 'INVALID_CALLBACK_URL',
  message: say`callbackUrl must be a literal http or https URL, found ${quote(written)}`,
  hint: say`write an address such as https://example.com/done, or only \${NAME} to take it from an environment variable; an address out of the request is never called`,
});
