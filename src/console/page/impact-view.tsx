/** Which requests a change would treat otherwise, each with its difference. */
import type { JSX } from 'preact';
import { busy, impact } from './author-store.ts';
import { count } from './format.ts';
import { ShownText } from './shown-text.tsx';

/** Differences that are open at first. */
const OPEN = 3;

export function ImpactView(): JSX.Element {
  const found = impact.value;
  if (found === undefined) {
    return (
      <p class="quiet">
        {busy.value === '' ? 'A file with errors cannot be tried.' : 'trying all requests…'}
      </p>
    );
  }
  const { kept, golden, changes } = found;
  return (
    <>
      <p>
        <strong>
          {changes.length} of {kept + golden} would change
        </strong>{' '}
        <span class="quiet">
          {count(kept, 'kept request')}, {count(golden, 'golden case')}; nothing was sent or performed
        </span>
      </p>
      {changes.map(({ name, kind, difference }, index) => (
        <details key={name} open={index < OPEN}>
          <summary>
            <span class="quiet">{kind}</span>{' '}
            {kind === 'kept' ? <a href={`/request/${name}`}>{name}</a> : name}
          </summary>
          <pre class="difference">
            {difference.split('\n').map((line, number) => (
              <div key={number} class={{ '+': 'added', '-': 'removed' }[line[0] ?? ''] ?? ''}>
                <ShownText text={line} />
              </div>
            ))}
          </pre>
        </details>
      ))}
    </>
  );
}
