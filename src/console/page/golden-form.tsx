/** Keeps a request as a golden case, with places masked. */
import { useSignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import type { GoldenAnswer } from '../protocol.ts';
import { messageOf, postJson } from './api.ts';

export function GoldenForm({ id }: { readonly id: string }): JSX.Element {
  const isOpen = useSignal(false);
  const masks = useSignal('');
  const result = useSignal('');
  const keep = async (): Promise<void> => {
    const { isKept, said } = await keepCase(id, masks.value.split(/[\s,]+/).filter(Boolean));
    result.value = said;
    if (isKept) isOpen.value = false;
  };
  return (
    <>
      <button type="button" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
        Keep as golden case
      </button>
      {isOpen.value && <MaskForm masks={masks} onKeep={() => void keep()} />}
      <span role="status">{result.value}</span>
    </>
  );
}

/** Asks the service to write the case; never rejects. */
async function keepCase(
  id: string,
  masks: readonly string[],
): Promise<{ readonly isKept: boolean; readonly said: string }> {
  try {
    const answer = await postJson<GoldenAnswer>('/api/golden', { request: id, masks });
    if (answer.kind === 'refused') return { isKept: false, said: answer.problem };
    return { isKept: true, said: `kept: ${answer.files.join(', ')}` };
  } catch (error) {
    return { isKept: false, said: messageOf(error) };
  }
}

function MaskForm({ masks, onKeep }: { readonly masks: Signal<string>; onKeep(): void }): JSX.Element {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onKeep();
  };
  return (
    <form class="golden" onSubmit={submit}>
      <label>
        Mask the values at
        <input
          type="text"
          placeholder="payload.email, payload.users[].name"
          value={masks.value}
          onInput={(event) => (masks.value = event.currentTarget.value)}
        />
      </label>
      <button type="submit">Keep this request as a golden case</button>
    </form>
  );
}
