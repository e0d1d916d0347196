import { inWords } from '../../../base/document/facts.ts';
import { say } from '../../../base/finding.ts';
import {
  quote,
  templateKeys,
  unknownKeys,
  type MappingsSubject,
  type MappingSubject,
} from '../../../engine/mapping/facts.ts';
import { MAPPING_KEYS } from '../../../engine/mapping/mapping.ts';
import type { LookFinding, Look } from '../rule.ts';
import { retryHeaders, webhookIds } from '../vocabulary/senders.ts';

/**
 * Matches a header, the time of receipt or the count of attempts without a format: `{{date now
 * "yyyy-MM-dd"}}` makes a key of one day, and is meant so.
 */
const EXPRESSION =
  /\{\{\s*(headers\.\[?([\w-]+)\]?|now|(?:[\w-]+\.)*(?:\w*_)?(?:attempts?|attempt_(?:number|count)|retr(?:y|ies)_?(?:count|number|num)?))\s*\}\}/g;
const isVolatile = ([, , header]: readonly unknown[]): boolean =>
  typeof header !== 'string' || retryHeaders().has(header.toLowerCase());

/** A repeat does not have the same volatile part, so no repeat is ever found. */
function volatileKey({ source: { dedupe }, located }: MappingSubject): readonly LookFinding[] {
  const key = typeof dedupe === 'object' ? dedupe.key : '';
  const [, read] = [...key.matchAll(EXPRESSION)].find(isVolatile) ?? [];
  if (read === undefined) return [];
  return [
    {
      message: say`${quote(read)} is new each time ${read === 'now' ? 'a request comes' : 'the sender tries'}, so this key never finds a repeat`,
      at: located.place(['dedupe', 'key']),
      hint: say`write the id that the sender gives the event, which is the same on each try, and leave this part out`,
    },
  ];
}

const READ = /\{\{\s*([\w-]+(?:\.\[?[\w-]+\]?)*)\s*\}\}/g;

/** With a key that is the same for all events, everything after the first event counts as a repeat. */
function constantKey(subject: MappingSubject): readonly LookFinding[] {
  const { source, located, compiled } = subject;
  const { dedupe, verify } = source;
  const key = typeof dedupe === 'object' && dedupe.key !== 'body' ? dedupe.key : undefined;
  if (key === undefined) return [];
  const reads = [...key.matchAll(READ)].map(([, path = '']) => path.replaceAll(/[[\]]/g, ''));
  const isLiteral = !key.includes('{{');
  const ofAll = webhookIds(verify?.scheme ?? '', compiled.match.path ?? '');
  const isOfWebhook = reads.length === key.split('{{').length - 1 && reads.every((path) => ofAll.has(path));
  if (!isLiteral && !isOfWebhook) return [];
  return [
    {
      message: isLiteral
        ? say`the key is the text ${quote(key)} for every request, so all after the first are taken for repeats of it`
        : say`${inWords(reads)} ${reads.length === 1 ? 'names' : 'name'} the webhook and not the event, so all events after the first are taken for repeats of it`,
      at: located.place(['dedupe', 'key']),
      hint: say`write what is new for each event, such as '{{id}}' for the id that its sender gives it, as only braces read a field; for one run in a time write key: '{{path}}'`,
    },
  ];
}

function ofOtherAction({ source, located }: MappingSubject): readonly LookFinding[] {
  const { action = 'agent', transform, textTemplate } = source;
  if (action === 'agent' || (action !== 'skip' && transform !== undefined)) return [];
  const keys = [...MAPPING_KEYS].flatMap(([key, { actions }]) => {
    // A wrong text of a run or a wake is a finding of its own.
    const isRead = actions?.includes(action) !== false || (action !== 'skip' && key.endsWith('Template'));
    return isRead || located.at([key]).value === undefined ? [] : [key];
  });
  const [first] = keys;
  if (first === undefined) return [];
  const named = inWords(keys.map((key) => `"${key}"`));
  const isOne = keys.length === 1;
  // A key that belongs to a run may be the only sign that a run is meant.
  const isText = action === 'wake' && textTemplate !== undefined;
  const renamed = isText ? ', its text messageTemplate' : '';
  return [
    {
      message: say`${named} ${isOne ? 'has' : 'have'} no effect with action ${action}`,
      at: located.place([first], 'key'),
      hint: say`make it a run of an agent, which takes ${isOne ? first : 'them'} (its action is agent${renamed}); else remove ${isOne ? 'it' : inWords(keys)}`,
    },
  ];
}

function withoutTemplate({ source, isWhole, located }: MappingSubject): readonly LookFinding[] {
  const { action = 'agent', transform } = source;
  const [key, wrong] = templateKeys(action);
  const isText = source[key] !== undefined || source[wrong] !== undefined || transform !== undefined;
  if (action === 'skip' || isText || !isWhole) return [];
  return [
    {
      message: say`the mapping has neither ${key} nor transform: a body without a text in "text" or "message" is answered 400`,
      at: located.place([]),
      hint: say`add ${key}, e.g. ${key}: "{{json payload}}"`,
    },
  ];
}

/** All ignored keys of the OpenClaw file are named in one finding. */
function ignoredKeys({ entries }: MappingsSubject): readonly LookFinding[] {
  const ignored = entries.flatMap((entry) => unknownKeys(entry).map((key) => ({ entry, key })));
  const [first] = ignored;
  if (first === undefined) return [];
  const names = [...new Set(ignored.map(({ key }) => `"${key.slice(0, 40)}"`))];
  return [
    {
      message: say`Sluice does not use these keys of mappings and ignores them: ${names.slice(0, 8).join(', ')}${names.length > 8 ? ', …' : ''}`,
      at: first.entry.value.place([first.key], 'key'),
      hint: say`keep them if the gateway reads this file, too; otherwise remove them`,
    },
  ];
}

export const KEYS: readonly Look[] = [
  { on: 'mapping', codes: ['DEDUPE_KEY_CONSTANT'], find: constantKey },
  { on: 'mapping', codes: ['DEDUPE_KEY_VOLATILE'], find: volatileKey },
  { on: 'mapping', codes: ['MAPPING_KEY_WITHOUT_EFFECT'], find: ofOtherAction },
  { on: 'mapping', codes: ['MAPPING_WITHOUT_TEMPLATE'], find: withoutTemplate },
  { on: 'mappings', codes: ['OPENCLAW_KEYS_IGNORED'], find: ignoredKeys },
];
