/** What transforms and templates made of a request, and was hardly meant. */
import { say } from '../../finding.ts';
import { parseCode } from '../../hook/facts.ts';
import { hint, remedy } from '../rule.ts';

export const TRANSFORMS = [
  remedy('seconds_as_milliseconds', say`write new Date(seconds * 1000)`),
  remedy(
    'rounded_number',
    say`write exact(payload.order, 'id') for payload.order.id, with exact from the argument: ({ payload, exact }) => …`,
  ),
  remedy(
    'promise_as_text',
    say`a promise was put into a text before it was waited for; write await before the call, and for a list of promises const lines = await Promise.all(list.map(…)), in an async function`,
  ),
  hint('object_as_text', ['object-in-text', 'certain'], ({ isCollection }) =>
    isCollection
      ? 'a Set, a Map or an iterator was put into a text; write its elements, [...labels].join(", ") with its own name in place of labels'
      : 'an object was put into a text; name one of its fields, such as payload.user.name, or write JSON.stringify(…)',
  ),
  remedy(
    'invalid_date',
    say`new Date got what is no time, or nothing; look at the field that it gets, and for a number of seconds write new Date(seconds * 1000)`,
  ),
  remedy(
    'nan_as_text',
    say`something that is no number, or is not there, was part of a calculation; look at the fields that it reads, a text with a number in it needs Number(…)`,
  ),
  hint('undefined_as_text', ['absent-field', 'likely'], ({ isElement, isList }) => {
    if (isElement)
      return 'forEach calls the transform once for each element, and the element is item, not payload: write ({ item }) => … and item.name';
    return isList
      ? 'the body of this request is a list, and payload the list itself, which has no fields; go through it: payload.map((one) => one.name).join(", ") for one text, or return payload.map((one) => ({ message: … })) for a run of each'
      : 'a field that was put into a text is not there; the body is payload of the one argument, ({ payload }) => …, and for a field that may be missing write payload.name ?? "none"';
  }),
  remedy('class_instance', say`return a plain object`),
  hint(
    'json_text',
    ['path-into-text', 'certain'],
    ({ field, isBase64 }) =>
      `let the sender send it as an object, or read it in a transform with ${parseCode(field, isBase64)}`,
  ),
  hint(
    'same_dedupe_key',
    ['key-of-whole-body', 'certain'],
    ({ key }) =>
      `let the key read the element: write key: '${key}-{{item.id}}', or {{index}} where it has no id`,
  ),
  hint(
    'generated_mapping_id',
    ['made-id', 'certain'],
    ({ id }) => `add "id: ${id}" to the mapping so that it stays when mappings are moved`,
  ),
];
