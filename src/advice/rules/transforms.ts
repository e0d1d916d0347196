/** What transforms and templates made of a request, and was hardly meant. */
import { say } from '../../finding.ts';
import { parseCode } from '../../hook/facts.ts';
import { rule } from '../rule.ts';

const ALWAYS = (): true => true;

export const TRANSFORMS = [
  rule({
    on: 'seconds_as_milliseconds',
    name: 'seconds',
    confidence: 'certain',
    find: ({ fields }) => ({ time: fields.length === 1 ? (fields[0] ?? '') : 'seconds' }),
    say: ({ time }) => say`write new Date(${time} * 1000)`,
  }),
  rule({
    on: 'rounded_number',
    name: 'long-number',
    confidence: 'certain',
    find: ({ field }) => field,
    say: (field) => say`write exact(${field}), with exact from the argument: ({ payload, exact }) => …`,
  }),
  rule({
    on: 'repeated_list',
    name: 'list-of-each-element',
    confidence: 'certain',
    find: ALWAYS,
    say: () => say`remove forEach, or return one object for item: ({ item }) => …`,
  }),
  rule({
    on: 'promise_as_text',
    name: 'promise-without-await',
    confidence: 'certain',
    find: ALWAYS,
    say: () =>
      say`a promise was put into a text before it was waited for; write await before the call, and for a list of promises const lines = await Promise.all(list.map(…)), in an async function`,
  }),
  rule({
    on: 'object_as_text',
    name: 'object-in-text',
    confidence: 'certain',
    find: (facts) => facts,
    say: ({ isCollection }) =>
      isCollection
        ? say`a Set, a Map or an iterator was put into a text; write its elements, [...labels].join(", ") with its own name in place of labels`
        : say`an object was put into a text; name one of its fields, such as payload.user.name, or write JSON.stringify(…)`,
  }),
  rule({
    on: 'invalid_date',
    name: 'date-of-nothing',
    confidence: 'certain',
    find: ALWAYS,
    say: () =>
      say`new Date got what is no time, or nothing; look at the field that it gets, and for a number of seconds write new Date(seconds * 1000)`,
  }),
  rule({
    on: 'nan_as_text',
    name: 'number-of-nothing',
    confidence: 'certain',
    find: ALWAYS,
    say: () =>
      say`something that is no number, or is not there, was part of a calculation; look at the fields that it reads, a text with a number in it needs Number(…)`,
  }),
  rule({
    on: 'undefined_as_text',
    name: 'element-in-payload',
    confidence: 'certain',
    find: ({ isElement }) => (isElement ? true : undefined),
    say: () =>
      say`forEach calls the transform once for each element, and the element is item, not payload: write ({ item }) => … and item.name`,
  }),
  rule({
    on: 'undefined_as_text',
    name: 'field-of-list',
    confidence: 'certain',
    find: ({ isList }) => (isList ? true : undefined),
    say: () =>
      say`the body of this request is a list, and payload the list itself, which has no fields; go through it: payload.map((one) => one.name).join(", ") for one text, or return payload.map((one) => ({ message: … })) for a run of each`,
  }),
  rule({
    on: 'undefined_as_text',
    name: 'absent-field',
    confidence: 'likely',
    find: ALWAYS,
    say: () =>
      say`a field that was put into a text is not there; the body is payload of the one argument, ({ payload }) => …, and for a field that may be missing write payload.name ?? "none"`,
  }),
  rule({
    on: 'class_instance',
    name: 'class-instance',
    confidence: 'certain',
    find: ALWAYS,
    say: () => say`return a plain object`,
  }),
  rule({
    on: 'json_text',
    name: 'path-into-text',
    confidence: 'certain',
    find: (facts) => facts,
    say: ({ field, isBase64 }) =>
      say`let the sender send it as an object, or read it in a transform with ${parseCode(field, isBase64)}`,
  }),
  rule({
    on: 'same_dedupe_key',
    name: 'key-of-whole-body',
    confidence: 'certain',
    find: (facts) => facts,
    say: ({ key, field }) => say`write key: '${key}-{{${field}}}'`,
  }),
  rule({
    on: 'generated_mapping_id',
    name: 'made-id',
    confidence: 'certain',
    find: ({ id }) => id,
    say: (id) => say`add "id: ${id}" to the mapping so that it stays when mappings are moved`,
  }),
];
