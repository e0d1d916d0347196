import { signal } from '@preact/signals';

/** Says shortly what was done; read out by screen readers. */
export const toast = signal('');
let toastTimer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  toast.value = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (toast.value = ''), 4_000);
}

export function copy(text: string): void {
  navigator.clipboard.writeText(text).then(
    () => say(`copied ${text}`),
    () => say(`could not copy ${text}`),
  );
}
