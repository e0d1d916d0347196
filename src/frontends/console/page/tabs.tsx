import type { Signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';

interface TabsProps<Name extends string> {
  readonly label: string;
  readonly names: readonly Name[];
  readonly tab: Signal<Name>;
  /** Default: its name. */
  readonly titleOf?: (name: Name) => ComponentChildren;
  readonly children: ComponentChildren;
}

/** Shows tabs with the keys of the WAI-ARIA tab pattern; a view has one of them. */
export function Tabs<Name extends string>(props: TabsProps<Name>): JSX.Element {
  const { label, names, tab, titleOf = (name) => name, children } = props;
  const move = (event: KeyboardEvent): void => {
    const at = names.indexOf(tab.value);
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: -1,
    };
    const next = names.at((moves[event.key] ?? at) % names.length);
    if (next === undefined || moves[event.key] === undefined) return;
    event.preventDefault();
    tab.value = next;
    document.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab.value === name}
            aria-controls="tab-panel"
            tabIndex={tab.value === name ? 0 : -1}
            onClick={() => (tab.value = name)}
          >
            {titleOf(name)}
          </button>
        ))}
      </div>
      <div id="tab-panel" class="panel" role="tabpanel" aria-labelledby={`tab-${tab.value}`} tabIndex={0}>
        {children}
      </div>
    </>
  );
}
