/** Completion of the editor: of the file's text, with the paths of the chosen request. */
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { completeAt } from '../complete-at.ts';
import type { Vocabulary } from '../protocol.ts';
import type { Value } from './exact-json.ts';

/** What is known beside the text; asked each time, as it changes. */
export interface Completing {
  readonly vocabulary: () => Vocabulary | undefined;
  readonly payload: () => Value | undefined;
  readonly headers: () => Readonly<Record<string, string>>;
}

export function complete(
  { state, pos, explicit }: CompletionContext,
  { vocabulary, payload, headers, fileName }: Completing & { readonly fileName: string },
): CompletionResult | null {
  const samples = [{ headers: headers(), payload: payload() }];
  const offer = completeAt(
    { fileName, text: state.doc.toString(), pos, explicit },
    { vocabulary: vocabulary(), samples },
  );
  return offer && { ...offer, options: [...offer.options] };
}
