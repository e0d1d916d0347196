import { signal } from '@preact/signals';

/** Says shortly what was done; screen readers read it out. */
export const toast = signal('');
let toastTimer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  toast.value = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (toast.value = ''), 4_000);
}

/** Copies a text; `what` names it, where it is long; default the text itself. */
export function copy(text: string, what = text): void {
  navigator.clipboard.writeText(text).then(
    () => say(`copied ${what}`),
    () => say(`could not copy ${what}`),
  );
}
