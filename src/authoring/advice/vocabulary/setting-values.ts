/** How values of the configuration were meant that it does not take. */
import { holdsCredentials } from '../../../base/document/document.ts';
import type { SchemaAdvice } from '../schema-hints.ts';
import { isJsonObject } from '../../../base/json.ts';
import { SETTING_WORDS } from './settings.ts';
import { theirValue, theirWord } from './openclaw-settings.ts';

const valueOfSetting: NonNullable<SchemaAdvice['value']> = (key, value) => {
  if (key === 'hooks.mappings' && isJsonObject(value))
    return { hint: 'write a list: "- id: NAME" in place of "NAME:", with the rest of each below it' };
  if (typeof value !== 'string') return theirValue(key, value);
  if (key === 'hooks.mappings')
    return {
      hint: `write mappingsDir: ${value.replace(/\/?[^/]*\.(?:ya?ml|json)$/i, '') || './mappings'} in its place: files of mappings are found in a folder`,
    };
  const address =
    /\.(?:url|publicUrl|baseUrl)$/.test(key) && key !== 'storage.url' ? wholeAddress(value) : undefined;
  return address === undefined ? undefined : { hint: `write ${address}`, text: JSON.stringify(address) };
};

/** An address without its scheme. */
function wholeAddress(written: string): string | undefined {
  const text = written.trim();
  if (!/^(?:[\w-]+\.)*[\w-]+(?::\d{1,5})?(?:\/[\w./-]*)?$/.test(text) || holdsCredentials(text))
    return undefined;
  const isHere = /^(?:localhost|127\.|10\.|192\.168\.)|:\d/.test(text);
  return `${isHere ? 'http' : 'https'}://${text}`;
}

/** The token of another gateway. */
function missingSetting(key: string, beside: unknown): string | undefined {
  if (!isJsonObject(beside) || beside['kind'] !== 'forward') return undefined;
  if (!/^gateway\.runner(?:s\.[^.]+)?\.token$/.test(key)) return undefined;
  return "add token: '${OPENCLAW_HOOKS_TOKEN}', with the hook token of that gateway in the variable";
}

/** What is known of words and values of others in the configuration. */
export const CONFIGURATION_WORDS: SchemaAdvice = {
  missing: missingSetting,
  value: valueOfSetting,
  otherFile: theirWord,
  keys: SETTING_WORDS,
};
