import type { JSX } from 'preact';
import { ShownText } from './shown-text.tsx';

interface FactListProps {
  /** A name without a value, or with an empty one, is left out. */
  readonly facts: readonly (readonly [name: string, value: string | undefined])[];
}

export function FactList({ facts }: FactListProps): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined || value === '' ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <ShownText text={value} />
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}
