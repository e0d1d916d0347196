import {
  TEMPLATE_KEYS,
  printedText,
  type CompiledMapping,
  type CompiledTemplate,
  type PrintedJson,
  type RenderTrace,
  type Scope,
  type WorkBudget,
} from '../mapping/mapping.ts';
import type { Finding } from '../../base/finding.ts';
import { HookError } from '../../base/errors.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { RenderedTemplate, HookFacts } from './evaluation.ts';
import { warn, type RawFields } from './action-fields.ts';
import type { HookRequest } from '../../base/request.ts';

/** What a draft is to become. A notification has the fields of a run, as far as they concern its delivery. */
export type DraftKind = 'wake' | 'agent' | 'notify';

/** An action before its rules were applied. */
export interface Draft {
  readonly kind: DraftKind;
  readonly fields: RawFields;
  /** Whether a transform of an OpenClaw file says that its session key is its own, and not made of what came in. */
  readonly isKeyOwn?: boolean;
  /** Keys of its conversation that a transform adds. */
  readonly keys?: readonly string[];
}

/** Renders a mapping's template for a scope; records what it left empty where somebody wants to know. */
export type Render = (field: string, template: CompiledTemplate, scope: Scope) => string;

/** UTF-16 units of a rendered text that a trace holds. */
const MAX_TEXT_CHARS = 20_000;

/** Makes the function that renders, counts, and records what rendered empty; with `full` everything. */
export function createRender(
  work: WorkBudget,
  {
    templates,
    warnings,
    full,
  }: { readonly templates: RenderedTemplate[]; readonly warnings: Finding[]; readonly full: boolean },
): Render {
  return (field, template, scope) => {
    const printed: PrintedJson[] = [];
    const trace: RenderTrace = { empty: [], branches: [], printed };
    let rendered: { readonly text?: string } = {};
    try {
      const text = template.render(scope, trace);
      if (full) rendered = { text: text.slice(0, MAX_TEXT_CHARS) };
      work.render(text);
      return text;
    } catch (error) {
      if (error instanceof HookError) throw error;
      throw new HookError('mapping_failed', `the mapping's ${field} template could not be rendered`, {
        cause: error,
      });
    } finally {
      if (printed.length > 0)
        warn(warnings, {
          code: 'printed_json',
          field,
          message: [...new Set(printed.map(printedText))].join('; '),
          facts: { printed },
        });
      if (trace.empty.length > 0) {
        warnOfJsonText(warnings, field, { empty: trace.empty, scope });
      }
      if (full || trace.empty.length > 0) {
        const index = scope.index === undefined ? {} : { index: scope.index };
        const source = full ? { source: { template, scope: withoutWork(scope) } } : {};
        templates.push({ field, at: template.at, ...trace, ...rendered, ...index, ...source });
      }
    }
  };
}

/** Warns of the first path that leads into a text which holds JSON, among those that found nothing. */
function warnOfJsonText(
  warnings: Finding[],
  field: string,
  { empty, scope }: { readonly empty: RenderTrace['empty']; readonly scope: Scope },
): void {
  for (const { expression } of empty) {
    const found = jsonTextOn(expression.trim(), scope);
    if (found === undefined) continue;
    const { path, code, isBase64 } = found;
    const facts: HookFacts['json_text'] = { field: code, isBase64 };
    const message = `${path} is ${encodedWords(isBase64)}, so ${expression.trim()} finds nothing in it`;
    warn(warnings, { code: 'json_text', field, message, facts });
    return;
  }
}

/** Asking costs the request nothing. */
function withoutWork({ work: _work, ...scope }: Scope): Scope {
  return scope;
}

/** Fills a mapping's templates. Without text template and transform the payload's own text is the text. */
export function renderDraft(mapping: CompiledMapping, scope: Scope, render: Render): Draft {
  const kind = mapping.action === 'skip' ? 'agent' : mapping.action;
  const text = draftText(mapping, kind, scope, render);
  const fields: Record<string, JsonValue> = {};
  const [mode, words] = kind === 'wake' ? (['mode', 'text'] as const) : (['wakeMode', 'message'] as const);
  if (mapping.wakeMode !== undefined) fields[mode] = mapping.wakeMode;
  if (text !== undefined) fields[words] = text;
  if (kind === 'wake') return { kind, fields };
  if (mapping.deliver !== undefined) fields['deliver'] = mapping.deliver;
  if (mapping.timeoutSeconds !== undefined) fields['timeoutSeconds'] = mapping.timeoutSeconds;
  for (const field of TEMPLATE_KEYS) {
    const template = mapping[field];
    if (template === undefined) continue;
    const value = render(field, template, scope).trim();
    if (value !== '') fields[field] = value;
  }
  return { kind, fields };
}

function draftText(
  mapping: CompiledMapping,
  kind: DraftKind,
  scope: Scope,
  render: Render,
): string | undefined {
  if (mapping.text !== undefined) {
    return render(kind === 'wake' ? 'textTemplate' : 'messageTemplate', mapping.text, scope);
  }
  if (mapping.transform !== undefined) return undefined;
  return ownText(scope.item ?? scope.request.payload, kind);
}

/** The payload's own `text` or `message`, the action's own word first. */
function ownText(payload: JsonValue, kind: DraftKind): string | undefined {
  if (!isJsonObject(payload)) return undefined;
  const words = kind === 'wake' ? (['text', 'message'] as const) : (['message', 'text'] as const);
  for (const word of words) {
    const value = Object.hasOwn(payload, word) ? payload[word] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return undefined;
}

/* Fields that hold JSON as a text, as it is or in base64: no path of a condition or a template leads into one. */

interface EncodedField {
  /** As the reader of it wrote it; `payload` of the body itself. */
  readonly path: string;
  readonly code: string;
  readonly isBase64: boolean;
}

interface JsonTextScope {
  readonly request: Pick<HookRequest, 'payload'>;
  readonly item?: JsonValue | undefined;
}

/** Longer texts are not decoded to be looked at. */
const MAX_DECODED_CHARS = 262_144;

/** The JSON of a text, with how it stands there; undefined of any other text. */
export function readEncoded(text: string): { readonly json: string; readonly isBase64: boolean } | undefined {
  if (isJsonLike(text)) return { json: text, isBase64: false };
  // What begins with `{` or `[` begins so in base64.
  const isBase64 = /^(?:e[a-zA-Z0-9]|W[a-zA-Z0-9])[\w+/-]{6,}={0,2}$/.test(text);
  if (!isBase64 || text.length > MAX_DECODED_CHARS) return undefined;
  const json = Buffer.from(text, 'base64').toString('utf8');
  return isJsonLike(json) ? { json, isBase64 } : undefined;
}

const isJsonLike = (text: string): boolean => /^\s*[{[]/.test(text) && /[}\]]\s*$/.test(text);

/** The part of a path at which there is a text with JSON in it. */
export function jsonTextOn(path: string, { request, item }: JsonTextScope): EncodedField | undefined {
  if (!/^[A-Za-z_][\w-]*(?:\.[\w-]+)+$/.test(path)) return undefined;
  const [first = '', ...rest] = path.split('.');
  const roots = { payload: request.payload, item: item ?? null, headers: null, query: null };
  const hasRoot = Object.hasOwn(roots, first);
  let value: JsonValue | undefined = hasRoot ? roots[first as keyof typeof roots] : request.payload;
  const keys = hasRoot ? rest : [first, ...rest];
  for (const [index, key] of keys.entries()) {
    if (typeof value === 'string') {
      const before = keys.slice(0, index);
      const root = hasRoot ? first : 'payload';
      const found = readEncoded(value);
      const path = (hasRoot ? [first, ...before] : before).join('.') || root;
      return found && { path, code: codeOf(root, before), isBase64: found.isBase64 };
    }
    const isInside: boolean = (isJsonObject(value) || Array.isArray(value)) && Object.hasOwn(value, key);
    value = isInside ? (value as Readonly<Record<string, JsonValue>>)[key] : undefined;
  }
  return undefined;
}

/** Writes a path of a body as JavaScript does. */
export const codeOf = (root: string, keys: readonly string[]): string =>
  [
    root,
    ...keys.map((key) =>
      /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${/^\d+$/.test(key) ? key : JSON.stringify(key)}]`,
    ),
  ].join('');

/** How a transform reads it; `code` is the field in JavaScript. */
export const parseCode = (code: string, isBase64: boolean): string =>
  isBase64 ? `JSON.parse(Buffer.from(${code}, 'base64').toString('utf8'))` : `JSON.parse(${code})`;

/** What such a field is, for people. */
export const encodedWords = (isBase64: boolean): string =>
  isBase64 ? 'JSON in base64' : 'a text that holds JSON';
