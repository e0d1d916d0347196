/** Keeps a request as a golden case, with places masked. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { GoldenAnswer } from '../protocol.ts';
import { messageOf, postJson } from './api.ts';
import { plainText } from './shown-text.tsx';

export function GoldenForm({ id }: { readonly id: string }): JSX.Element {
  const isOpen = useSignal(false);
  const masks = useSignal('');
  const result = useSignal('');
  const keep = async (): Promise<void> => {
    const places = masks.value.split(/[\s,]+/).filter(Boolean);
    try {
      const answer = await postJson<GoldenAnswer>('/api/golden', { request: id, masks: places });
      isOpen.value = answer.kind === 'refused';
      if (answer.kind === 'refused') return void (result.value = answer.problem);
      const { files, leftOut } = answer;
      const without = `, without what may be secret: ${plainText(leftOut.join(', '))}`;
      result.value = `kept: ${files.join(', ')}${leftOut.length === 0 ? '' : without}`;
    } catch (error) {
      result.value = messageOf(error);
    }
  };
  return (
    <>
      <button type="button" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
        Keep as golden case
      </button>
      {isOpen.value && (
        <form
          class="golden"
          onSubmit={(event) => {
            event.preventDefault();
            void keep();
          }}
        >
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
      )}
      <span role="status">{result.value}</span>
    </>
  );
}
