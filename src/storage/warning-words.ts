/* What the codes of warnings mean that a decision keeps: it has no more of them, as their sentences may quote the body. */

/** By the code; what to do about it follows behind a colon or semicolon. */
const WARNINGS: Readonly<Record<string, string>> = {
  blank_dedupe_key: 'the dedupe key was blank, so a repeat of this request is not recognised',
  class_instance: 'the transform returned an instance of a class; return a plain object',
  helper_argument:
    'a helper or block of a template got what is of no use to it; "sluice explain" of a kept request says which',
  invalid_date:
    'the transform wrote "Invalid Date": new Date got what is no time; for a number of seconds write new Date(seconds * 1000)',
  json_text:
    'a field that the template reads into is a text that holds JSON, so what rendered empty was not found in it: let the sender send an object, or read the text in a transform with JSON.parse',
  nan_as_text:
    'the transform wrote "NaN": something that is no number was part of a calculation; a text with a number in it needs Number(…)',
  object_as_text:
    'the transform wrote "[object …]": an object was put into a text; name one of its fields, or write JSON.stringify(…), of a Set [...labels].join(", ")',
  printed_json:
    'the template printed a list of objects, or an object, as JSON: name the field to print, such as {{join items ", " "name"}} or {{user.name}}, or write {{json items}} where JSON is meant; "sluice explain" of a kept request says which',
  promise_as_text:
    'the transform wrote "[object Promise]": write await before the call, and for a list await Promise.all(list.map(…))',
  repeated_list:
    'forEach calls the transform once for each element, and each call returned the same list, so there are too many actions; remove forEach, or return one object for item: ({ item }) => …',
  rounded_number:
    "the transform returned a number of the body with its last digits rounded, so two of them may look the same; write exact(payload, 'id') with the name of that field, and exact from the argument: ({ payload, exact }) => …",
  same_dedupe_key:
    'the dedupe key is the same for each element of forEach, so those after the first count as repeats of it and make nothing: let the key read the element, such as {{item.id}} or {{index}}',
  seconds_as_milliseconds:
    'the transform made a date of January 1970 from a number of seconds; JavaScript counts milliseconds: write new Date(seconds * 1000)',
  undefined_as_text:
    'the transform wrote "undefined": a field that it put into a text is not there; the body is payload of its one argument, ({ payload }) => …',
};

/** The code with its sentence. */
export const warningText = (warning: string): string =>
  Object.hasOwn(WARNINGS, warning) ? `${warning}: ${WARNINGS[warning]}` : warning;

/** In a few plain words, for a line among others: the sentence up to what to do about it. */
export function warningWords(warning: string): string {
  const text = Object.hasOwn(WARNINGS, warning) ? WARNINGS[warning] : undefined;
  return text?.replace(/[:;] .*$/, '') ?? warning.replaceAll('_', ' ');
}
