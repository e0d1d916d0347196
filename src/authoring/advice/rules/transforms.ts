import { parseCode } from '../../../engine/hook/facts.ts';
import type { Rules } from '../rule.ts';

export const TRANSFORMS: Rules = {
  object_as_text: [
    ({ isCollection }) =>
      isCollection
        ? 'write its elements, [...labels].join(", ") with its own name in place of labels: a Set, a Map or an iterator was put into a text'
        : 'name one of its fields, such as payload.user.name, or write JSON.stringify(…): an object was put into a text',
  ],
  undefined_as_text: [
    ({ isElement, isList }) => {
      if (isElement)
        return 'write ({ item }) => … and item.name: forEach calls the transform once for each element, and the element is item, not payload';
      return isList
        ? 'go through the list, as the body of this request is one, and payload has no fields: payload.map((one) => one.name).join(", ") for one text, or return payload.map((one) => ({ message: … })) for a run of each'
        : 'write payload.name ?? "none" for a field that may be missing: a field that was put into a text is not there; the body is payload of the one argument, ({ payload }) => …';
    },
  ],
  json_text: [
    ({ field, isBase64 }) =>
      `let the sender send it as an object, or read it in a transform with ${parseCode(field, isBase64)}`,
  ],
  same_dedupe_key: [
    ({ key }) =>
      `let the key read the element: write key: '${key}-{{item.id}}', or {{index}} where it has no id`,
  ],
  generated_mapping_id: [
    ({ id }) => `add "id: ${id}" to the mapping so that it stays when mappings are moved`,
  ],
};
