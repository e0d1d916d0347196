import { signal } from '@preact/signals';
import type { ComponentType, JSX } from 'preact';

/** A view whose code is loaded when it is first shown. */
export function lazyView(load: () => Promise<ComponentType>): ComponentType {
  const loaded = signal<{ readonly View?: ComponentType; readonly problem?: string } | undefined>(undefined);
  let isAsked = false;
  const ask = (): void => {
    isAsked = true;
    load().then(
      (View) => (loaded.value = { View }),
      () => {
        isAsked = false;
        loaded.value = { problem: 'the editor could not be loaded; is the service running?' };
      },
    );
  };
  return function LazyView(): JSX.Element {
    if (!isAsked) ask();
    const { View, problem = 'Loading…' } = loaded.value ?? {};
    return View === undefined ? <p class="empty quiet">{problem}</p> : <View />;
  };
}
