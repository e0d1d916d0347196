/** Completion of the editor: the service knows what can be written at a place, with the paths of the chosen request. */
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { Completion } from '../protocol.ts';
import { postJson } from './api.ts';
import { requestId } from './author-store.ts';

export async function complete(
  { state, pos, explicit, aborted }: CompletionContext,
  file: string,
): Promise<CompletionResult | null> {
  const chosen = requestId.value === '' ? {} : { request: requestId.value };
  const asked = { file, text: state.doc.toString(), pos, explicit, ...chosen };
  const found = await postJson<Completion>('/api/complete', asked).catch(() => undefined);
  if (found === undefined || found.options.length === 0 || aborted) return null;
  return { ...found, options: [...found.options], validFor: new RegExp(found.validFor) };
}
