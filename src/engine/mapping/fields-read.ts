/* Which fields of a request decide what becomes of it: those that conditions, keys and routes of its mappings read. */
import type { JsonValue } from '../../base/json.ts';
import { type CompiledMapping, DECIDING } from './compiled-mapping.ts';
import { isListOperator, operationOf } from './condition/condition-check.ts';
import type { Sender } from '../senders/senders.ts';
import { canonicalPath } from './scope.ts';

/** Fields that are read, from the root of the request, as a tree; `*` stands for each element of a list. */
export interface FieldsRead {
  isRead: boolean;
  readonly below: Map<string, FieldsRead>;
}

/** The fields that decide about requests of a hook name. */
export function decidingFields(mappings: readonly CompiledMapping[], path: string): FieldsRead {
  const root = newField();
  for (const { match, templates, forEach, ignoreSenders, startedBy, accounts = [] } of mappings) {
    if (match.path !== undefined && match.path !== path) continue;
    if (match.source !== undefined) add(root, ['payload', 'source']);
    if (match.when !== undefined) readRule(match.when.rule, (keys) => add(root, fromRoot(keys)));
    const looksFor =
      startedBy !== undefined || (ignoreSenders !== undefined && ignoreSenders.from === undefined);
    for (const field of [...(looksFor ? accounts : []), ...fieldsOf(startedBy?.sender)])
      add(root, ['payload', ...field.split('.')]);
    const items = forEach === undefined ? [] : [...fromRoot(forEach.keys), '*'];
    for (const [key, { source }] of templates) {
      if (!DECIDING.test(key)) continue;
      for (const keys of namesIn(source))
        add(root, keys[0] === 'item' ? [...items, ...keys.slice(1)] : fromRoot(keys));
    }
  }
  return root;
}

/** What `startedBy` reads of what a sender says beside the account. */
const fieldsOf = ({ accountId, bots = {}, role, permission }: Partial<Sender> = {}): readonly string[] => [
  ...(accountId === undefined ? [] : [accountId]),
  ...Object.keys(bots),
  ...Object.values(permission?.parts ?? {}).flatMap(({ fields = [] }) => fields),
  ...(role?.from ?? []).flatMap(({ of, is }) => [of, is]),
];

const newField = (): FieldsRead => ({ isRead: false, below: new Map() });

/** A bare name is one of the payload. */
const fromRoot = (keys: readonly string[]): readonly string[] => JSON.parse(canonicalPath(keys)) as string[];

function add(root: FieldsRead, keys: readonly string[]): void {
  let field = root;
  for (const key of keys) {
    const name = /^\d+$/.test(key) ? '*' : key;
    const next = field.below.get(name) ?? newField();
    field.below.set(name, next);
    field = next;
  }
  field.isRead = true;
}

type Keys = readonly string[];
type Read = (keys: Keys) => void;

/** The rule within a list operator reads its elements. */
function readRule(rule: JsonValue, read: Read): void {
  if (Array.isArray(rule)) for (const each of rule as readonly JsonValue[]) readRule(each, read);
  const operation = operationOf(rule);
  if (operation === undefined) return;
  const { operator, operands } = operation;
  const [first = null, inner = null, ...more] = operands;
  if (operator === 'var') {
    if (typeof first === 'string') read(first === '' ? [] : first.split('.'));
  } else if (isListOperator(operator)) {
    for (const field of fieldsOfElements(elementsOf(first, read), inner)) {
      // `reduce` hands its rule an element, and what became of those before it.
      if (operator !== 'reduce') read(field.flat());
      else if (field[1][0] !== 'accumulator') read([...field[0], ...field[1].slice(1)]);
    }
    readRule(more, read);
  } else readRule(operands, read);
}

/** What a rule reads of each of some elements: the element, and the path within it. */
const fieldsOfElements = (elements: readonly Keys[], rule: JsonValue): readonly (readonly [Keys, Keys])[] => {
  const fields: (readonly [Keys, Keys])[] = [];
  readRule(rule, (keys) => fields.push(...elements.map((element) => [element, keys] as const)));
  return fields;
};

/** The elements of the list that a rule makes; what it reads to make it is read. */
function elementsOf(rule: JsonValue, read: Read): readonly Keys[] {
  const { operator, operands = [] } = operationOf(rule) ?? {};
  const [first = null, inner = null] = operands;
  if (operator === 'var') {
    const lists: Keys[] = [];
    readRule(rule, (keys) => lists.push([...keys, '*']));
    return lists;
  }
  if (operator !== 'map' && operator !== 'filter') return operands.flatMap((each) => elementsOf(each, read));
  const elements = elementsOf(first, read);
  const fields = fieldsOfElements(elements, inner).map((field) => field.flat());
  if (operator === 'map') return fields;
  for (const field of fields) read(field);
  return elements;
}

/** Every path that an expression names; a word that is a helper names no field. */
function namesIn(template: string): readonly (readonly string[])[] {
  const inside = [...template.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, text = '']) => text);
  return inside.flatMap((text) =>
    [...text.matchAll(/[A-Za-z_][\w.[\]/-]*/g)].map(([word]) =>
      word.split(/[.[\]/]+/).filter((key) => key !== '' && key !== 'this'),
    ),
  );
}
