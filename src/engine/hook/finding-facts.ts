import type { PrintedJson, Unfit } from '../mapping/mapping.ts';

/** What a warning on a request says beside its sentence, by code. Names of fields are the sender's; no value is here. */
export interface HookFacts {
  seconds_as_milliseconds: object;
  rounded_number: object;
  promise_as_text: object;
  /** Whether it is a list or a table of values. */
  object_as_text: { readonly isCollection: boolean };
  invalid_date: object;
  nan_as_text: object;
  /** Whether the transform got an element of a batch, or a body that is a list. */
  undefined_as_text: { readonly isElement: boolean; readonly isList: boolean };
  class_instance: object;
  /** The text with JSON in it, as JavaScript writes its path. */
  json_text: { readonly field: string; readonly isBase64: boolean };
  /** The key as it is written. */
  same_dedupe_key: { readonly key: string };
  /** The id that was made. */
  generated_mapping_id: { readonly id: string };
  /** What helpers and blocks of a template got; the values are the sender's. */
  helper_argument: { readonly unfit: readonly Unfit[] };
  printed_json: { readonly printed: readonly PrintedJson[] };
}
