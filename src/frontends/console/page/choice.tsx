import type { JSX } from 'preact';
import { plainText } from './shown-text.tsx';

/** Offers one of the names, or all of them, which is the empty one. */
export function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly names: readonly string[];
  readonly onChange: (value: string) => void;
  /** Default: the name. */
  readonly textOf?: (name: string) => string;
}): JSX.Element {
  return (
    <select
      aria-label={props.label}
      class={props.value === '' ? '' : 'chosen'}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    >
      <option value="">{props.label}: all</option>
      {props.names.map((name) => (
        <option key={name} value={name}>
          {plainText(props.textOf?.(name) ?? name, 60)}
        </option>
      ))}
    </select>
  );
}
