import { parseDocument } from '../../src/base/document/facts.ts';
import type { LocatedValue } from '../../src/base/document/document.ts';
import type { Scope } from '../../src/engine/mapping/mapping.ts';
import type { HookRequest, JsonValue } from '../../src/base/request.ts';
import { said } from './said.ts';

/** A scope around a payload; everything else can be given too. */
export function scopeOf(
  payload: JsonValue,
  request: Partial<HookRequest> = {},
  more: Partial<Scope> = {},
): Scope {
  return {
    request: {
      id: '00000000-0000-4000-8000-000000000001',
      receivedAt: Date.UTC(2026, 10, 20, 9, 30),
      seed: 1,
      nonce: '0123456789abcdef',
      path: 'github',
      url: '/hooks/github',
      headers: {},
      query: {},
      bodySha256: '',
      ...request,
      payload,
    },
    ...more,
  };
}

/** Data as a parsed JSON document, as if a file held it. */
export function located(value: unknown): LocatedValue {
  return locatedText(JSON.stringify(value), 'json');
}

export function locatedText(text: string, format: 'yaml' | 'json' = 'yaml'): LocatedValue {
  const { document, findings } = parseDocument({ file: `mapping.${format}`, text }, format);
  if (document === undefined) throw new Error(JSON.stringify(findings.map(({ message }) => said(message))));
  return document.root;
}
