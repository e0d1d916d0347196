import { printInLine, quoted } from '../../../base/finding.ts';
import type { HookFacts } from '../../../engine/hook/facts.ts';
import { defined } from '../../../base/json.ts';
import { advise } from '../advice.ts';

/** A decision stores only the code of a warning, so these sentences fit any request. */
const KEPT: Readonly<Record<string, readonly [message: string, facts?: HookFacts[keyof HookFacts]]>> = {
  blank_dedupe_key: ['the dedupe key was blank, so a repeat of this request is not recognised'],
  class_instance: ['the transform returned an instance of a class', {}],
  invalid_date: ['the transform wrote "Invalid Date"', {}],
  json_text: [
    'a field that the template reads into is a text that holds JSON, so what rendered empty was not found in it',
    { field: 'payload.NAME', isBase64: false },
  ],
  nan_as_text: ['the transform wrote "NaN"', {}],
  object_as_text: ['the transform wrote "[object …]"', { isCollection: false }],
  printed_json: [
    'the template printed a list of objects, or an object, as JSON: name the field to print, such as {{join items ", " "name"}} or {{user.name}}, or write {{json items}} where JSON is meant; "sluice explain" of a kept request says which',
  ],
  promise_as_text: ['the transform wrote "[object Promise]"', {}],
  rounded_number: [
    'the transform returned a number of the body with its last digits rounded, so two of them may look the same',
    {},
  ],
  same_dedupe_key: [
    'the dedupe key is the same for each element of forEach, so those after the first count as repeats of it and make nothing: let the key read the element, such as {{item.id}} or {{index}}',
  ],
  seconds_as_milliseconds: [
    'the transform made a date of January 1970 from a number of seconds; JavaScript counts milliseconds',
    {},
  ],
  undefined_as_text: ['the transform wrote "undefined"', { isElement: false, isList: false }],
};

/** Returns the code of a stored warning with its sentence. */
export function keptWarning(code: string): string {
  const [message, facts] = Object.hasOwn(KEPT, code) ? (KEPT[code] ?? []) : [];
  if (message === undefined) return code;
  const about = { severity: 'warning', code, message: quoted(message), ...defined({ facts }) } as const;
  return [code, ...advise([about]).map(printInLine)].join(': ');
}
