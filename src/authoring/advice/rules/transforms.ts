/** What transforms and templates made of a request, and was hardly meant. */
import { say } from '../../../base/finding.ts';
import { parseCode } from '../../../engine/hook/facts.ts';
import { hint, remedy } from '../rule.ts';

export const TRANSFORMS = [
  remedy('seconds_as_milliseconds', say`write new Date(seconds * 1000)`),
  remedy(
    'rounded_number',
    say`write exact(payload.order, 'id') for payload.order.id, with exact from the argument: ({ payload, exact }) => …`,
  ),
  remedy(
    'promise_as_text',
    say`write await before the call, and for a list of promises const lines = await Promise.all(list.map(…)), in an async function: a promise was put into a text before it was waited for`,
  ),
  hint('object_as_text', ['object-in-text', 'certain'], ({ isCollection }) =>
    isCollection
      ? 'write its elements, [...labels].join(", ") with its own name in place of labels: a Set, a Map or an iterator was put into a text'
      : 'name one of its fields, such as payload.user.name, or write JSON.stringify(…): an object was put into a text',
  ),
  remedy(
    'invalid_date',
    say`look at the field that new Date gets, which is no time, or nothing; for a number of seconds write new Date(seconds * 1000)`,
  ),
  remedy(
    'nan_as_text',
    say`look at the fields that the calculation reads: one is no number, or is not there; a text with a number in it needs Number(…)`,
  ),
  hint('undefined_as_text', ['absent-field', 'likely'], ({ isElement, isList }) => {
    if (isElement)
      return 'write ({ item }) => … and item.name: forEach calls the transform once for each element, and the element is item, not payload';
    return isList
      ? 'go through the list, as the body of this request is one, and payload has no fields: payload.map((one) => one.name).join(", ") for one text, or return payload.map((one) => ({ message: … })) for a run of each'
      : 'write payload.name ?? "none" for a field that may be missing: a field that was put into a text is not there; the body is payload of the one argument, ({ payload }) => …';
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
