import type { CallbackAddress } from '../action.ts';
import { say } from '../finding.ts';
import type { CompileOptions } from './compile-options.ts';
import { quote, type Report, type Reporter } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

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
